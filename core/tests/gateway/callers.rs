//! Who calls: tasks of any runtime, other executors, plain threads. A query runs where it is called, and is answered
//! everywhere.

use std::{
    sync::{Arc, Barrier},
    thread,
    time::Duration,
};

use kassa::{BlockingGateway, Gateway, PaymentError};
use tokio::runtime::{Builder, Runtime};

use crate::{
    alone,
    support::{Answer, Op, Server, reply_bytes},
};

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn replying() -> Server {
    Server::replying(200, &Op::QrStatus.success_body())
}

#[test]
fn one_runtime_after_another_asks() {
    alone::run("callers::leaves_no_connection_behind", &[]);
}

/// Programs that make a runtime for each job would run out of file descriptors.
#[test]
#[ignore = "alone in its process, by one_runtime_after_another_asks"]
fn leaves_no_connection_behind() {
    let server = replying();
    let gateway = server.gateway();
    let open = || std::fs::read_dir("/dev/fd").unwrap().count();
    let ask = || current_thread().block_on(Op::QrStatus.run(&gateway)).unwrap();
    ask();
    let before = open();
    for _ in 0..50 {
        ask();
    }
    assert_eq!(server.connections(), 51, "each has a connection of its own");
    // The server's ends are in this process, too, and close when its threads have seen the others.
    while open() > before + 2 {
        thread::yield_now();
    }
    // The gateway that was made beside them works on.
    let runtime = current_thread();
    runtime.block_on(async {
        Op::QrStatus.run(&gateway).await.unwrap();
        Op::QrStatus.run(&gateway).await.unwrap();
    });
    assert_eq!(server.connections(), 52, "and keeps it");
}

/// Neither can be asked of a runtime. The HTTP client panics in one, and no panic may cross to a caller.
#[test]
fn a_runtime_without_io_or_timers_will_do() {
    let server = replying();
    for mut runtime in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        for runtime in [runtime.build().unwrap(), runtime.enable_io().build().unwrap()] {
            let gateway = server.gateway();
            for _ in 0..3 {
                runtime.block_on(Op::QrStatus.run(&gateway)).unwrap();
            }
        }
    }
}

/// The thread that could drive the connection is blocked by its own caller: it waits in vain, but not for ever.
#[test]
fn a_query_that_nothing_drives_ends_with_its_deadline() {
    let server = replying();
    let gateway = Gateway::new(server.config().with_query_deadline(Duration::from_millis(300))).unwrap();
    let asked = current_thread().block_on(async { pollster::block_on(Op::QrStatus.run(&gateway)) });
    assert!(matches!(asked, Err(PaymentError::Unavailable { .. })), "{asked:?}");
}

/// Nobody drives the connection between two calls, so nobody sees that the gateway has closed it until the next one.
#[test]
fn a_blocking_query_does_not_fail_for_a_connection_that_was_closed_meanwhile() {
    let bytes = reply_bytes(200, "", Op::QrStatus.success_body().as_bytes());
    let answered = Arc::new(Barrier::new(2));
    let is_answered = answered.clone();
    let server = Server::start(move |_| Answer::BytesThenCloseAt(bytes.clone(), is_answered.clone()));
    let gateway = BlockingGateway::new(server.config().with_query_retries(0)).unwrap();
    for number in 1..=20 {
        Op::QrStatus.ask_blocking(&gateway).unwrap();
        answered.wait();
        server.wait_for_closed(number);
    }
    assert_eq!(server.connections(), 20);
}

#[test]
fn a_blocking_query_finds_the_connection_of_the_one_before_whatever_thread_that_was_on() {
    alone::run("callers::hands_its_connection_on", &[]);
}

#[test]
#[ignore = "alone in its process, by a_blocking_query_finds_the_connection_of_the_one_before"]
fn hands_its_connection_on() {
    let server = replying();
    let gateway = BlockingGateway::new(server.config()).unwrap();
    for _ in 0..10 {
        let gateway = gateway.clone();
        thread::spawn(move || Op::QrStatus.ask_blocking(&gateway).unwrap()).join().unwrap();
    }
    assert_eq!(server.connections(), 1);

    let many: Vec<_> = (0..40)
        .map(|_| {
            let gateway = gateway.clone();
            thread::spawn(move || {
                for _ in 0..10 {
                    Op::QrStatus.ask_blocking(&gateway).unwrap();
                }
            })
        })
        .collect();
    many.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(server.received().len(), 10 + 400);
}
