//! Subscribers of `tracing` that panic or block: code of the host, which must cost no payment its answer.

use std::{
    panic,
    sync::{
        Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use kassa::{BlockingGateway, Credentials, Gateway, GatewayConfig, PaymentError};
use kassa_test_patience::patience;
use tracing::{
    Event, Metadata, Subscriber,
    span::{Attributes, Id, Record},
};

use crate::{
    alone,
    support::{Op, Server},
};

#[test]
fn subscriber_that_panics_costs_no_answer() {
    alone::run("subscribers::panics", &[]);
}

#[test]
fn subscriber_that_blocks_costs_no_answer() {
    alone::run("subscribers::blocks", &[]);
}

/// A subscriber that wants everything, and does something evil whenever it is called.
struct Hostile<F> {
    calls: Mutex<Sender<Call>>,
    evil: F,
}

/// One event that it heard of.
#[derive(Debug)]
struct Call {
    target: &'static str,
    thread: Option<String>,
}

impl<F: Fn() + Send + Sync + 'static> Subscriber for Hostile<F> {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        (self.evil)();
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {
        (self.evil)();
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {
        (self.evil)();
    }

    fn event(&self, event: &Event<'_>) {
        let call = Call { target: event.metadata().target(), thread: thread::current().name().map(str::to_owned) };
        self.calls.lock().unwrap().send(call).unwrap();
        (self.evil)();
    }

    fn enter(&self, _: &Id) {
        (self.evil)();
    }

    fn exit(&self, _: &Id) {
        (self.evil)();
    }
}

/// For the whole process, as the host's own would be.
fn subscribe(evil: impl Fn() + Send + Sync + 'static) -> Receiver<Call> {
    let (sender, calls) = channel();
    tracing::subscriber::set_global_default(Hostile { calls: Mutex::new(sender), evil }).unwrap();
    calls
}

#[test]
#[ignore = "alone in its process, by subscriber_that_panics_costs_no_answer"]
fn panics() {
    let say = panic::take_hook();
    panic::set_hook(Box::new(move |what| {
        if !matches!(thread::current().name(), Some("kassa-log" | "kassa-telemetry")) {
            say(what);
        }
    }));
    let calls = subscribe(|| panic!("a subscriber that panics"));
    everything_is_answered(Op::all());
    expect_events(&calls);
}

#[test]
#[ignore = "alone in its process, by subscriber_that_blocks_costs_no_answer"]
fn blocks() {
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let calls = subscribe(move || {
        let _ = released.lock().unwrap().recv();
    });
    // In a task of the host's, a query is the host's, and so is the thread that the subscriber blocks.
    everything_is_answered(Op::MOVES_MONEY.into_iter().chain(Op::CREATES));
    for op in Op::ASKS {
        let gateway = Server::responding(200, &op.success_body()).gateway();
        pollster::block_on(op.run(&gateway)).unwrap();
        let server = Server::responding(200, &op.success_body());
        op.ask_blocking(&BlockingGateway::new(server.config()).unwrap()).unwrap();
    }
    // Nothing was ever sent there: this ends all waits, those to come as well.
    drop(release);
    expect_events(&calls);
}

/// Each operation has its answer, and where no connection can be made, its error.
fn everything_is_answered(ops: impl Iterator<Item = Op>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for op in ops {
            let gateway = Server::responding(200, &op.success_body()).gateway();
            let answer = tokio::time::timeout(patience(), op.run(&gateway)).await;
            assert!(matches!(answer, Ok(Ok(_))), "{op:?}: {answer:?}");
            tokio::time::timeout(patience(), gateway.close()).await.expect("it closes");
        }
        let nobody = GatewayConfig::new("http://127.0.0.1:1", Credentials::basic("a", "b"));
        let gateway = Gateway::new(nobody.with_query_retries(1)).unwrap();
        let answer = tokio::time::timeout(patience(), Op::CardPayment.run(&gateway)).await;
        assert!(matches!(answer, Ok(Err(PaymentError::Unavailable { .. }))), "{answer:?}");
    });
}

/// It was called for every exchange in the end, or it would have proved nothing; and never by a thread of the network.
fn expect_events(calls: &Receiver<Call>) {
    let mut exchanges = 0;
    while exchanges < Op::all().count() + 2 {
        let call = calls.recv_timeout(patience()).expect("an event for each exchange");
        assert_ne!(call.thread.as_deref(), Some("kassa"), "{call:?}");
        exchanges += usize::from(call.target == "kassa");
    }
}
