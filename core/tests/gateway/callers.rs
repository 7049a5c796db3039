//! Who calls: tasks of any runtime, other executors, plain threads. A query runs where it is called, and is answered
//! everywhere.

use std::{
    sync::{Arc, Barrier},
    thread,
    time::Duration,
};

use kassa::{BlockingGateway, FakeFault, FakeGateway, Gateway, PaymentError, PaymentRef, PollPolicy, WatchReport};
use kassa_test_patience::{wait_until, wait_until_async};
use tokio::runtime::{Builder, Runtime};

use crate::{
    alone,
    support::{Answer, Op, Server, response, response_bytes},
};

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn responding() -> Server {
    Server::responding(200, &Op::QrStatus.success_body())
}

#[test]
fn one_runtime_after_another_asks() {
    alone::run("callers::leaves_no_connection_behind", &[]);
}

/// Programs that make a runtime for each job would run out of file descriptors.
#[test]
#[ignore = "alone in its process, by one_runtime_after_another_asks"]
fn leaves_no_connection_behind() {
    let server = responding();
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
    wait_until(&format!("no more than {} descriptors are open", before + 2), || open() <= before + 2);
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
    let server = responding();
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
    let server = responding();
    let gateway = Gateway::new(server.config().with_query_deadline(Duration::from_millis(300))).unwrap();
    let asked = current_thread().block_on(async { pollster::block_on(Op::QrStatus.run(&gateway)) });
    assert!(matches!(asked, Err(PaymentError::Unavailable { .. })), "{asked:?}");
}

/// Nobody drives the connection between two calls, so nobody sees that the gateway has closed it until the next one.
fn does_not_fail_for_a_connection_that_was_closed_meanwhile(ask: impl Fn(&Gateway)) {
    let bytes = response_bytes(200, "", Op::QrStatus.success_body().as_bytes());
    let answered = Arc::new(Barrier::new(2));
    let is_answered = answered.clone();
    let server = Server::start(move |_| Answer::BytesThenCloseAt(bytes.clone(), is_answered.clone()));
    let gateway = Gateway::new(server.config().with_query_retries(0)).unwrap();
    for number in 1..=20 {
        ask(&gateway);
        answered.wait();
        server.wait_for_closed(number);
    }
    assert_eq!(server.connections(), 20);
}

#[test]
fn a_blocking_query_does_not_fail_for_a_connection_that_was_closed_meanwhile() {
    does_not_fail_for_a_connection_that_was_closed_meanwhile(|gateway| {
        Op::QrStatus.ask_blocking(&BlockingGateway::from(gateway.clone())).unwrap();
    });
}

#[test]
fn nor_does_one_on_a_runtime_that_its_host_drives_now_and_then() {
    let runtime = current_thread();
    does_not_fail_for_a_connection_that_was_closed_meanwhile(|gateway| {
        runtime.block_on(Op::QrStatus.run(gateway)).unwrap();
    });
}

/// A program that waits for the next report now and then, each time with a runtime of its own.
#[test]
fn a_watchs_query_goes_on_while_nobody_waits_for_it() {
    let go_on = Arc::new(Barrier::new(2));
    let is_on = go_on.clone();
    let server = Server::start(move |_| {
        is_on.wait();
        response(200, &Op::QrStatus.success_body())
    });
    let payment = PaymentRef::mbank("order-1", 100);
    let watch = server.gateway().watch(payment, PollPolicy::default()).unwrap();
    let first = current_thread();
    first.block_on(async {
        tokio::select! {
            report = watch.next() => panic!("the server has not answered yet: {report:?}"),
            () = wait_until_async("the query arrives", async || !server.received().is_empty()) => {}
        }
    });
    go_on.wait();
    let report = current_thread().block_on(watch.next()).unwrap();
    assert!(matches!(report, Some(WatchReport::Status { .. })), "{report:?}");
    assert_eq!(server.received().len(), 1, "it was not asked anew");
}

/// The host's runtime is blocked by the caller, so nothing may wait for it to wake anybody.
#[tokio::test]
async fn a_blocking_caller_in_a_task_is_answered_by_the_fake_gateway() {
    let fake = FakeGateway::new().unwrap();
    let gateway = BlockingGateway::from(fake.gateway());
    fake.fail_next(FakeFault::ServerError);
    fake.fail_next(FakeFault::NoResponse);
    let asked = gateway.qr_status("1");
    assert!(asked.is_err(), "{asked:?}");
    fake.fail_next(FakeFault::ServerError);
    let asked = pollster::block_on(fake.gateway().qr_status("1"));
    assert!(asked.is_err(), "{asked:?}");
}

#[test]
fn a_blocking_query_finds_the_connection_of_the_one_before_whatever_thread_that_was_on() {
    alone::run("callers::hands_its_connection_on", &[]);
}

#[test]
#[ignore = "alone in its process, by a_blocking_query_finds_the_connection_of_the_one_before"]
fn hands_its_connection_on() {
    let server = responding();
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
