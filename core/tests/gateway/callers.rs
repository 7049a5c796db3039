//! Callers: tasks of any runtime, other executors, plain threads. A query runs where it is called, and is answered
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
    let query = || current_thread().block_on(Op::QrStatus.run(&gateway)).unwrap();
    query();
    let before = open();
    for _ in 0..50 {
        query();
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

/// A caller's runtime need have neither. The HTTP client panics in such a runtime, and no panic may reach a caller.
#[test]
fn runtime_without_io_or_timers_will_do() {
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
fn undriven_query_ends_at_its_deadline() {
    let server = responding();
    let gateway = Gateway::new(server.config().with_query_deadline(Duration::from_millis(300))).unwrap();
    let result = current_thread().block_on(async { pollster::block_on(Op::QrStatus.run(&gateway)) });
    assert!(matches!(result, Err(PaymentError::Unavailable { .. })), "{result:?}");
}

/// Nothing drives the connection between two calls, so the next call finds that the gateway has closed it.
fn assert_queries_survive_closed_sockets(query: impl Fn(&Gateway)) {
    let bytes = response_bytes(200, "", Op::QrStatus.success_body().as_bytes());
    let answered = Arc::new(Barrier::new(2));
    let is_answered = answered.clone();
    let server = Server::start(move |_| Answer::BytesThenCloseAt(bytes.clone(), is_answered.clone()));
    let gateway = Gateway::new(server.config().with_query_retries(0)).unwrap();
    for number in 1..=20 {
        query(&gateway);
        answered.wait();
        server.wait_for_closed(number);
    }
    assert_eq!(server.connections(), 20);
}

#[test]
fn blocking_query_survives_closed_socket() {
    assert_queries_survive_closed_sockets(|gateway| {
        Op::QrStatus.ask_blocking(&BlockingGateway::from(gateway.clone())).unwrap();
    });
}

#[test]
fn query_on_idle_runtime_survives_closed_socket() {
    let runtime = current_thread();
    assert_queries_survive_closed_sockets(|gateway| {
        runtime.block_on(Op::QrStatus.run(gateway)).unwrap();
    });
}

/// A program that waits for the next report now and then, each time with a runtime of its own.
#[test]
fn watch_query_continues_without_waiting_caller() {
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
    assert_eq!(server.received().len(), 1, "no second query was sent");
}

/// The host's runtime is blocked by the caller, so nothing may wait for it.
#[tokio::test]
async fn fake_gateway_answers_blocking_caller_in_task() {
    let fake = FakeGateway::new().unwrap();
    let gateway = BlockingGateway::from(fake.gateway());
    fake.fail_next(FakeFault::ServerError);
    fake.fail_next(FakeFault::NoResponse);
    let result = gateway.qr_status("1");
    assert!(result.is_err(), "{result:?}");
    fake.fail_next(FakeFault::ServerError);
    let result = pollster::block_on(fake.gateway().qr_status("1"));
    assert!(result.is_err(), "{result:?}");
}

#[test]
fn blocking_query_on_any_thread_reuses_socket() {
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
