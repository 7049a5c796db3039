//! Cancellation safety: calls are dropped at each of their awaits, on a virtual clock.

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
    Callback, Decimal, Gateway, PaymentError, PaymentRef, PollPolicy,
    operations::dialect::ENDPOINTS,
    testing::scripted::{Act, Scripted, call},
    transport::Boxed,
};

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
    /// A whole watch, which asks again and again.
    Watching,
}

impl Dropped {
    fn all() -> impl Iterator<Item = Self> {
        ENDPOINTS.iter().map(|endpoint| Self::Call(endpoint.name)).chain([Self::Verifying, Self::Watching])
    }

    fn moves_money(self) -> bool {
        matches!(self, Self::Call("card_payment" | "mbank_payment" | "mbank_confirm"))
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
async fn a_call_dropped_at_any_await_is_never_sent_again_and_leaves_the_gateway_usable() {
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
async fn a_close_dropped_at_any_await_prevents_no_payment_and_can_be_waited_for_again() {
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
