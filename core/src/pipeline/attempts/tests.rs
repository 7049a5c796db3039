//! Retry and cancellation on a virtual clock: repeated only where that is safe, prevented only where that is certain. Calls are
//! also dropped at each of their awaits (cancellation safety).

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::poll_immediate;
use tokio::time::Instant;

use crate::{
    Callback, Decimal, Gateway, PaymentError, PaymentRef, PollPolicy, Provider,
    operations::dialect::ENDPOINTS,
    testing::scripted::{Act, Scripted, call},
    transport::Boxed,
};

async fn pay(gateway: &Gateway) -> PaymentError {
    gateway.confirm_mbank_payment(&PaymentRef::mbank("order-1", 100), "123456").await.unwrap_err()
}

async fn query(gateway: &Gateway) -> PaymentError {
    gateway.provider_status("order-1", Provider::MBank).await.unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn payment_is_retried_only_without_connection() {
    let (gateway, memory) = Scripted::gateway(|_| Act::Refuse);
    assert_eq!(pay(&gateway).await.kind(), "Unavailable");
    assert_eq!(memory.attempted_at().len(), 3);
    assert!(memory.seen().is_empty());

    let (gateway, memory) = Scripted::gateway(|_| Act::Refuse);
    assert_eq!(query(&gateway).await.kind(), "Unavailable");
    assert_eq!(memory.attempted_at().len(), 3, "a query is tried again, too");

    let (gateway, memory) = Scripted::gateway(|n| if n == 0 { Act::Refuse } else { Act::Lose(Duration::ZERO) });
    assert_eq!(pay(&gateway).await.kind(), "OutcomeUnknown");
    assert_eq!((memory.attempted_at().len(), memory.seen().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn pauses_grow_and_the_deadline_includes_them() {
    let (gateway, memory) = Scripted::gateway_with(
        |config| {
            config.query_retries = 1000;
            config.query_deadline = Duration::from_secs(30);
        },
        |_| Act::error(503, None),
    );
    let started = Instant::now();
    assert_eq!(query(&gateway).await.kind(), "Unavailable");
    assert!(started.elapsed() <= Duration::from_secs(30));
    // the longest backoff: 0.2, 0.4, 0.8, 1.6, 3.2 and then 5 seconds of pause
    assert_eq!(memory.attempted_at(), [0, 0, 0, 1, 3, 6, 11, 16, 21, 26]);
}

/// How many seconds each of the two kinds of call waits for a response that never comes.
async fn patience(gateway: &Gateway) -> [u64; 2] {
    let started = Instant::now();
    assert_eq!(pay(gateway).await.kind(), "OutcomeUnknown");
    let paid = started.elapsed();
    assert_eq!(query(gateway).await.kind(), "Unavailable");
    [paid, started.elapsed() - paid].map(|took| took.as_secs())
}

#[tokio::test(start_paused = true)]
async fn payment_deadline_differs_from_query_deadline() {
    let silence = |_| Act::slow_status(1000, "NEW");
    let (gateway, _memory) = Scripted::gateway(silence);
    assert_eq!(patience(&gateway).await, [60, 30]);
    let settings = |config: &mut crate::GatewayConfig| {
        (config.payment_deadline, config.query_deadline) = (Duration::from_secs(7), Duration::from_secs(3));
    };
    let (gateway, _memory) = Scripted::gateway_with(settings, silence);
    assert_eq!(patience(&gateway).await, [7, 3]);
    let patient = gateway.with_deadline(Duration::from_secs(100)).unwrap();
    assert_eq!(patience(&patient).await, [100, 100]);
    assert_eq!(patience(&patient.with_deadline(Duration::from_secs(1)).unwrap()).await, [1, 1]);
    assert_eq!(patience(&gateway).await, [7, 3]);
    assert_eq!(gateway.with_deadline(Duration::ZERO).unwrap_err().kind(), "Misconfigured");
}

#[tokio::test(start_paused = true)]
async fn clone_with_deadline_closes_with_gateway() {
    let (gateway, memory) = Scripted::gateway(|_| Act::slow_status(20, "NEW"));
    let patient = gateway.with_deadline(Duration::from_secs(100)).unwrap();
    let started = Instant::now();
    let under_way = tokio::spawn({
        let patient = patient.clone();
        async move { pay(&patient).await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    gateway.close().await;
    assert_eq!(started.elapsed().as_secs(), 20, "it waits for the payments of both");
    under_way.abort();
    assert_eq!(query(&patient).await.kind(), "Misconfigured");
    assert_eq!(memory.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn close_within_limit_leaves_payment_in_flight() {
    let (gateway, memory) = Scripted::gateway(|_| Act::slow_status(20, "NEW"));
    let started = Instant::now();
    let under_way = tokio::spawn({
        let gateway = gateway.clone();
        async move { gateway.confirm_mbank_payment(&PaymentRef::mbank("order-1", 100), "123456").await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    for (limit, is_done, over_at) in [(0, false, 1), (4, false, 5), (100, true, 20), (0, true, 20)] {
        assert_eq!(gateway.close_within(Duration::from_secs(limit)).await, is_done, "within {limit} s");
        assert_eq!(started.elapsed().as_secs(), over_at, "within {limit} s");
        assert_eq!(query(&gateway).await.kind(), "Misconfigured", "it is closed all the same");
    }
    let answer = under_way.await.unwrap();
    assert!(!matches!(answer, Err(PaymentError::Misconfigured { .. })), "it had its response: {answer:?}");
    assert_eq!(memory.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_retries_where_none_are_wanted() {
    let (gateway, memory) = Scripted::gateway_with(|config| config.query_retries = 0, |_| Act::Refuse);
    query(&gateway).await;
    pay(&gateway).await;
    assert_eq!(memory.attempted_at().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn drop_while_connecting_prevents_payment() {
    let (gateway, memory) = Scripted::gateway(|_| Act::ConnectSlowly(Duration::from_secs(5)));
    {
        let mut call = pin!(pay(&gateway));
        assert!(poll_immediate(&mut call).await.is_none());
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    gateway.close().await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(memory.seen().is_empty(), "the payment was sent after all");
}

#[tokio::test(start_paused = true)]
async fn deadline_while_connecting_sends_nothing() {
    let (gateway, _) = Scripted::gateway(|_| Act::ConnectSlowly(Duration::from_secs(100)));
    let started = Instant::now();
    assert_eq!(pay(&gateway).await.kind(), "Unavailable");
    assert_eq!(started.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn endless_host_lookup_is_named_in_error() {
    for asks in [true, false] {
        let (gateway, memory) = Scripted::gateway(|_| Act::NeverLookedUp);
        let error = if asks { query(&gateway).await } else { pay(&gateway).await };
        assert_eq!((error.kind(), memory.seen().len()), ("Unavailable", 0), "{error}");
        assert!(error.to_string().contains("looking up the host name did not end"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn silent_query_error_names_missing_response() {
    let (gateway, _) = Scripted::gateway(|_| Act::Lose(Duration::from_secs(100)));
    let error = query(&gateway).await;
    assert!(error.to_string().contains("before the whole response came"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn deadline_after_sending_is_unknown_outcome() {
    let (gateway, _) = Scripted::gateway(|_| Act::Lose(Duration::from_secs(100)));
    assert_eq!(pay(&gateway).await.kind(), "OutcomeUnknown");
}

// Cancellation safety: calls are dropped at each of their awaits.

/// How far the clock goes in one step.
const STEP: Duration = Duration::from_millis(100);
/// More steps than any call takes.
const ENDLESS: usize = 10_000;

/// What is dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Dropped {
    Call(&'static str),
    /// Verifying a callback, which sends two queries.
    Verifying,
    /// A whole watch, which queries again and again.
    Watching,
}

impl Dropped {
    fn all() -> impl Iterator<Item = Self> {
        ENDPOINTS.iter().map(|endpoint| Self::Call(endpoint.name)).chain([Self::Verifying, Self::Watching])
    }

    fn moves_money(self) -> bool {
        matches!(self, Self::Call("card_payment" | "mbank_payment" | "mbank_confirm" | "megapay_check" | "megapay_pay"))
    }

    fn is_asked_in_place(self) -> bool {
        matches!(self, Self::Verifying | Self::Call("payment_status" | "provider_status" | "qr_status"))
    }

    fn start(self, gateway: &Gateway) -> Boxed<Result<(), PaymentError>> {
        let gateway = gateway.clone();
        match self {
            Self::Call(endpoint) => call(&gateway, endpoint),
            Self::Verifying => Box::pin(async move { verify(&gateway).await }),
            Self::Watching => Box::pin(async move { watch(&gateway).await }),
        }
    }
}

async fn verify(gateway: &Gateway) -> Result<(), PaymentError> {
    let text =
        r#"{"orderNumber":"1","amount":1,"status":"CHARGE","dateCreated":"2026-11-20T09:05","provider":"MBank"}"#;
    gateway.verify_callback(&Callback::parse(text)?, &PaymentRef::pay_form(Decimal::ONE)).await.map(drop)
}

async fn watch(gateway: &Gateway) -> Result<(), PaymentError> {
    let policy = PollPolicy { interval: Duration::from_secs(1), deadline: Duration::from_secs(3) };
    gateway.watch(PaymentRef::card("order-1", Decimal::ONE, "KGS"), policy)?.outcome().await.map(drop)
}

/// A gateway's behaviour: what it does with the n-th request.
type Script = fn(usize) -> Act;

fn responses(after: Duration) -> Act {
    let body = r#"{"code":"110","data":{"status":"CHARGE","amount":1,"payFormUrl":"https://gateway.example/form"}}"#;
    Act::Response(after, 200, None, body.to_owned())
}

/// Each behaviour is slow enough for many steps, at each place where a call can wait.
const SCRIPTS: [(&str, Script); 6] = [
    ("responds at once", |_| responses(Duration::ZERO)),
    ("responds late", |_| responses(Duration::from_secs(2))),
    ("connects late", |_| Act::ConnectSlowly(Duration::from_secs(2))),
    ("loses the response", |_| Act::Lose(Duration::from_secs(1))),
    ("refuses connections at first", |n| if n < 2 { Act::Refuse } else { responses(Duration::from_secs(1)) }),
    ("is busy at first", |n| if n == 0 { Act::error(503, Some(1)) } else { responses(Duration::from_secs(1)) }),
];

/// Every kind of call, at every await, with every behaviour of the gateway.
#[tokio::test(start_paused = true)]
async fn call_dropped_at_any_await_is_never_resent() {
    for dropped in Dropped::all() {
        for (behaviour, script) in SCRIPTS {
            let mut cuts = 0;
            while !ends_before(dropped, behaviour, script, cuts).await {
                cuts += 1;
            }
            // A query in its caller's task need not wait for what is there.
            let never_waits = behaviour == "responds at once" && dropped.is_asked_in_place();
            assert_eq!(cuts > 1, !never_waits, "how {dropped:?} waited for a gateway that {behaviour}");
        }
    }
}

/// Giving up on a close leaves the gateway closed all the same, and stops no payment.
#[tokio::test(start_paused = true)]
async fn close_dropped_at_any_await_can_be_repeated() {
    for (behaviour, script) in SCRIPTS {
        let mut cuts = 1;
        while !closes_before(behaviour, script, cuts).await {
            cuts += 1;
        }
        assert!(cuts > 1, "a close never waited for a gateway that {behaviour}");
    }
}

/// Drops a close after this many steps, while a payment is on its way. True where it had ended by itself.
async fn closes_before(behaviour: &str, script: Script, steps: usize) -> bool {
    let (gateway, memory) = Scripted::gateway(script);
    let mut paying = call(&gateway, "card_payment");
    assert!(poll_immediate(&mut paying).await.is_none(), "{behaviour}");
    let ended = take_steps(gateway.close(), steps).await.is_some();

    let refused = call(&gateway, "qr_status").await;
    assert!(matches!(refused, Err(PaymentError::Misconfigured { .. })), "it is closed: {refused:?}");
    gateway.close().await;
    let closed_at = Instant::now();
    let paid = paying.await;
    assert_eq!(Instant::now(), closed_at, "the payment was over, where the gateway {behaviour}");
    match paid {
        Ok(()) => assert_eq!(memory.seen().len(), 1, "the gateway {behaviour}"),
        Err(error) => assert!(error.payment_may_exist(), "the gateway {behaviour}: {error}"),
    }
    ended
}

/// The result where the call ends within so many steps; otherwise the call is dropped.
async fn take_steps<T>(call: impl Future<Output = T>, steps: usize) -> Option<T> {
    let mut call = pin!(call);
    for step in 0..steps {
        assert!(step < ENDLESS, "it has no end");
        if let Some(result) = poll_immediate(&mut call).await {
            return Some(result);
        }
        // In turn: let other tasks run at the same moment, then move the clock on.
        if step % 2 == 0 { tokio::task::yield_now().await } else { tokio::time::sleep(STEP).await }
    }
    None
}

/// Takes this many steps, then drops the call. True where it had ended by itself.
async fn ends_before(dropped: Dropped, behaviour: &str, script: Script, steps: usize) -> bool {
    let healed = Arc::new(AtomicBool::new(false));
    let (is_healed, healing) = (healed.clone(), healed);
    let (gateway, memory) =
        Scripted::gateway(move |n| if is_healed.load(Ordering::Relaxed) { Act::status("PENDING") } else { script(n) });
    let ended = take_steps(dropped.start(&gateway), steps).await.is_some();
    let (attempts, sent) = (memory.attempted_at().len(), memory.seen().len());

    healing.store(true, Ordering::Relaxed);
    let context = format!("{dropped:?} after {steps} steps; the gateway {behaviour}");
    let asked = call(&gateway, "payment_status").await;
    assert!(asked.is_ok(), "the next call fails: {asked:?}: {context}");
    gateway.close().await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!(memory.attempted_at().len(), attempts + 1, "it was tried again: {context}");
    assert_eq!(memory.seen().len(), sent + 1, "it was sent after it was dropped: {context}");
    if dropped.moves_money() {
        assert!(sent <= 1, "it was sent twice: {context}");
    }
    ended
}
