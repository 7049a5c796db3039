//! What is recorded of a call, and who gets it.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        atomic::AtomicU64,
        mpsc::{Receiver, Sender, channel},
    },
    time::{Duration, SystemTime},
};

use tokio::time::timeout;

use super::*;
use crate::{
    Gateway, Provider,
    pipeline::log,
    testing::scripted::{Act, Scripted, call, card_payment},
};

struct Sending(Sender<CompletedCall>);

impl CallObserver for Sending {
    fn completed(&self, call: CompletedCall) {
        self.0.send(call).unwrap();
    }
}

struct Panicking;

impl CallObserver for Panicking {
    fn completed(&self, _: CompletedCall) {
        panic!("an observer that panics");
    }
}

fn number() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(9_000);
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

/// Polls as another language does, by the number of its call.
async fn numbered<T>(number: u64, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|cx| log::as_call(number, || future.as_mut().poll(cx))).await
}

/// Makes a call, gives it up after some time, and returns what its observer gets.
async fn observed<T>(longest: Duration, work: impl Future<Output = T>) -> Receiver<CompletedCall> {
    let (number, (sender, completed)) = (number(), channel());
    observe_call(number, Arc::new(Sending(sender)));
    let _ = timeout(longest, numbered(number, work)).await;
    stop_observing_call(number);
    completed
}

/// The one call that there was.
fn only(completed: &Receiver<CompletedCall>) -> CompletedCall {
    let call = completed.recv().unwrap();
    // The observer is gone with its last call.
    assert!(completed.recv().is_err(), "each call is recorded once, and nobody holds its observer longer");
    call
}

const LONG: Duration = Duration::from_secs(10_000);

async fn of(gateway: &Gateway, endpoint: &'static str) -> CompletedCall {
    only(&observed(LONG, call(gateway, endpoint)).await)
}

async fn of_query(acts: impl Fn(usize) -> Act + Send + Sync + 'static) -> CompletedCall {
    let (gateway, _) = Scripted::gateway_with(|config| config.query_retries = 3, acts);
    only(&observed(LONG, gateway.provider_status("o-1", Provider::Cards)).await)
}

#[tokio::test(start_paused = true)]
async fn record_has_every_attempt_with_its_time() {
    let before = SystemTime::now();
    let query = of_query(|n| match n {
        0 => Act::Refuse,
        1 => Act::Lose(Duration::from_secs(2)),
        2 => Act::Response(Duration::from_secs(1), 500, None, "oh".into()),
        _ => Act::slow_status(3, "CHARGE"),
    });
    let query = query.await;
    assert_eq!((&*query.operation, query.order_number.as_deref()), ("provider_status", Some("o-1")));
    assert_eq!((&*query.method, &*query.path), ("POST", "/api/v1.1.0/get-status"));
    assert_eq!((&*query.outcome, query.error_type), ("charged", None));
    assert!(before <= query.started_at && query.started_at <= SystemTime::now());

    let attempts =
        query.attempts.iter().map(|each| (each.http_status, each.error_type.as_deref(), each.duration.as_secs()));
    let expected =
        [(None, Some("not_connected"), 0), (None, Some("lost"), 2), (Some(500), Some("500"), 1), (Some(200), None, 3)];
    assert_eq!(attempts.collect::<Vec<_>>(), expected);
    let last = query.attempts.last().unwrap();
    assert_eq!(last.started_at + last.duration, query.started_at + query.duration, "pauses are between attempts");
}

#[tokio::test(start_paused = true)]
async fn outcome_is_one_word_for_each_end() {
    let respond = |http_status, body: &'static str| {
        Scripted::gateway(move |_| Act::Response(Duration::ZERO, http_status, None, body.into())).0
    };
    let refused = r#"{"code": "51", "message": "no money"}"#;
    let ends = [
        (Scripted::gateway(|_| Act::status("CHARGE")).0, "provider_status", "charged", None),
        (Scripted::gateway(|_| Act::status("Reject")).0, "provider_status", "rejected", None),
        (Scripted::gateway(|_| Act::status("4111111111111111")).0, "provider_status", "pending", None),
        (Scripted::gateway(|_| Act::status("NEW")).0, "mbank_payment", "accepted", None),
        (respond(400, refused), "card_payment", "refused", None),
        (respond(500, "oh"), "card_payment", "unknown", Some("OutcomeUnknown")),
        (respond(401, "no"), "card_payment", "unauthorized", Some("Unauthorized")),
        (respond(404, "no"), "card_payment", "misconfigured", Some("Misconfigured")),
        (respond(429, "later"), "card_payment", "unavailable", Some("Unavailable")),
        (respond(200, "what"), "provider_status", "unexpected", Some("Unexpected")),
    ];
    for (gateway, endpoint, outcome, error_type) in ends {
        let call = of(&gateway, endpoint).await;
        assert_eq!((&*call.outcome, call.error_type.as_deref()), (outcome, error_type), "{endpoint}: {call:?}");
        assert!(!call.attempts.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_call_is_recorded_without_its_input() {
    let (gateway, _) = Scripted::gateway(|_| Act::status("NEW"));
    let pan = "4000000000000002";
    let call = only(&observed(LONG, gateway.create_card_payment(card_payment(&pan.repeat(9), "1"))).await);
    assert_eq!((&*call.outcome, call.error_type.as_deref()), ("invalid", Some("Invalid")));
    assert_eq!(
        (call.attempts.len(), call.order_number),
        (0, None),
        "an order number that was not checked may be anything"
    );

    gateway.close().await;
    let call = of(&gateway, "card_payment").await;
    assert_eq!((&*call.outcome, call.attempts.len()), ("misconfigured", 0));
}

#[tokio::test(start_paused = true)]
async fn record_has_no_secret() {
    let (gateway, _) = Scripted::gateway(|_| Act::status("4000000000000002"));
    for endpoint in ["card_payment", "mbank_payment", "mbank_confirm", "provider_status"] {
        let call = format!("{:?}", of(&gateway, endpoint).await);
        for secret in ["4000000000000002", "996555000101", "Aibek", "123456", "secret"] {
            assert!(!call.contains(secret), "{endpoint}: {call}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn observer_gets_payment_that_lost_its_caller() {
    let (gateway, _) = Scripted::gateway(|_| Act::slow_status(20, "NEW"));
    let completed = observed(Duration::from_secs(1), call(&gateway, "mbank_payment")).await;
    assert!(completed.try_recv().is_err(), "it is not over");
    gateway.close().await;
    let payment = only(&completed);
    assert_eq!((&*payment.outcome, payment.duration.as_secs()), ("accepted", 20));
}

#[tokio::test(start_paused = true)]
async fn cancelled_query_is_recorded_with_its_attempt() {
    let (gateway, _) = Scripted::gateway(|_| Act::slow_status(20, "CHARGE"));
    let query = only(&observed(Duration::from_secs(5), call(&gateway, "provider_status")).await);
    assert_eq!((&*query.outcome, query.error_type), ("cancelled", None));
    let attempt = &query.attempts[0];
    assert_eq!((attempt.error_type.as_deref(), attempt.duration.as_secs()), (Some("cancelled"), 5));
}

#[tokio::test(start_paused = true)]
async fn each_query_of_a_watch_is_recorded() {
    let (gateway, _) = Scripted::gateway(|n| Act::status(if n < 2 { "NEW" } else { "CHARGE" }));
    let payment = crate::PaymentRef::mbank("o-1", 100);
    let watch = gateway.watch(payment, Default::default()).unwrap();
    let completed = observed(LONG, watch.outcome()).await;
    let outcomes = completed.iter().map(|call| call.outcome);
    assert_eq!(outcomes.collect::<Vec<_>>(), ["pending", "pending", "charged"]);
}

#[tokio::test(start_paused = true)]
async fn panicking_observer_costs_no_answer() {
    let (gateway, _) = Scripted::gateway(|_| Act::status("CHARGE"));
    let panicking = number();
    observe_call(panicking, Arc::new(Panicking));
    numbered(panicking, gateway.provider_status("o-1", Provider::Cards)).await.unwrap();
    stop_observing_call(panicking);
    assert_eq!(of(&gateway, "provider_status").await.outcome, "charged");
}

#[tokio::test(start_paused = true)]
async fn unobserved_call_has_no_record() {
    assert!(find_observer(number()).is_none());
    let (gateway, _) = Scripted::gateway(|_| Act::status("CHARGE"));
    let completed = observed(LONG, async {}).await;
    numbered(number(), gateway.provider_status("o-1", Provider::Cards)).await.unwrap();
    assert!(completed.recv().is_err());
}

/// One test, because all tests share what is kept.
#[tokio::test(start_paused = true)]
async fn kept_records_are_taken_by_call_number() {
    let (gateway, _) = Scripted::gateway(|_| Act::slow_status(20, "CHARGE"));
    keep_completed_calls(true);
    let (first, second) = (number(), number());
    numbered(first, gateway.provider_status("o-1", Provider::Cards)).await.unwrap();
    let paying = numbered(second, call(&gateway, "card_payment"));
    assert!(timeout(Duration::from_secs(1), paying).await.is_err());

    let taken = logging::take_log_events(vec![], vec![first, second]);
    let [kept] = &*taken.completed else { panic!("{taken:?}") };
    assert_eq!((kept.call, kept.completed.order_number.as_deref()), (first, Some("o-1")));
    assert_eq!(taken.under_way, [second], "its caller is gone, and it goes on");
    gateway.close().await;
    let taken = logging::take_log_events(vec![], vec![second]);
    assert_eq!((taken.completed[0].call, &*taken.completed[0].completed.operation), (second, "card_payment"));
    assert!(taken.under_way.is_empty());

    numbered(first, gateway.provider_status("o-1", Provider::Cards)).await.unwrap_err();
    keep_completed_calls(false);
    assert!(logging::take_log_events(vec![], vec![first]).completed.is_empty(), "nobody would ever take it");

    let (gateway, _) = Scripted::gateway(|_| Act::slow_status(20, "CHARGE"));
    keep_completed_calls(true);
    let third = number();
    let paying = numbered(third, call(&gateway, "card_payment"));
    assert!(timeout(Duration::from_secs(1), paying).await.is_err());
    keep_completed_calls(false);
    keep_completed_calls(true);
    gateway.close().await;
    let taken = logging::take_log_events(vec![], vec![third]);
    assert!(taken.completed.is_empty(), "those who would have taken it are gone");
    keep_completed_calls(false);
}
