//! Dropping a call at any of its awaits, on a virtual clock.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::poll_immediate;

use crate::{
    endpoint::Endpoint,
    testing::{Act, Memory, requests::call},
};

/// How far the clock goes in one step.
const STEP: Duration = Duration::from_millis(100);
/// More steps than any call takes.
const ENDLESS: usize = 10_000;

const OPERATIONS_THAT_MOVE_MONEY: [Endpoint; 3] =
    [Endpoint::CardPayment, Endpoint::MbankPayment, Endpoint::MbankConfirm];

/// A gateway's behaviour: what it does with the n-th request.
type Script = fn(usize) -> Act;

fn replies(after: Duration) -> Act {
    let body = r#"{"code":"110","data":{"status":"PENDING","payFormUrl":"https://gateway.example/form"}}"#;
    Act::Reply(after, 200, None, body.to_owned())
}

/// Long enough for many steps, at each place where a call can wait.
const SCRIPTS: [(&str, Script); 6] = [
    ("replies at once", |_| replies(Duration::ZERO)),
    ("replies late", |_| replies(Duration::from_secs(2))),
    ("connects late", |_| Act::ConnectSlowly(Duration::from_secs(2))),
    ("loses the reply", |_| Act::Lose(Duration::from_secs(1))),
    ("refuses connections at first", |n| if n < 2 { Act::Refuse } else { replies(Duration::from_secs(1)) }),
    ("is busy at first", |n| if n == 0 { Act::error(503, Some(1)) } else { replies(Duration::from_secs(1)) }),
];

/// At every await of every operation, in whatever way the gateway answers.
#[tokio::test(start_paused = true)]
async fn a_call_dropped_at_any_await_is_never_sent_again_and_leaves_the_gateway_usable() {
    for endpoint in Endpoint::ALL {
        for (behaviour, script) in SCRIPTS {
            let mut cuts = 0;
            while !ends_before(endpoint, behaviour, script, cuts).await {
                cuts += 1;
            }
            assert!(cuts > 1, "{endpoint:?} never waited for a gateway that {behaviour}");
        }
    }
}

/// Takes this many steps, then drops the call. True where it had ended by itself.
async fn ends_before(endpoint: Endpoint, behaviour: &str, script: Script, steps: usize) -> bool {
    let healed = Arc::new(AtomicBool::new(false));
    let (is_healed, healing) = (healed.clone(), healed);
    let (gateway, memory) =
        Memory::gateway(move |n| if is_healed.load(Ordering::Relaxed) { Act::status("PENDING") } else { script(n) });
    let mut dropped_call = call(&gateway, endpoint);
    let mut ended = false;
    for step in 0..steps {
        assert!(step < ENDLESS, "{endpoint:?} has no end where the gateway {behaviour}");
        if poll_immediate(&mut dropped_call).await.is_some() {
            ended = true;
            break;
        }
        // Between two awaits at the same moment, and between two moments.
        if step % 2 == 0 { tokio::task::yield_now().await } else { tokio::time::sleep(STEP).await }
    }
    drop(dropped_call);
    let (attempts, sent) = (memory.attempted_at().len(), sent(&memory, endpoint));

    healing.store(true, Ordering::Relaxed);
    let context = format!("{endpoint:?}, dropped after {steps} steps; the gateway {behaviour}");
    let other = if endpoint == Endpoint::QrStatus { Endpoint::ProviderStatus } else { Endpoint::QrStatus };
    let asked = call(&gateway, other).await;
    assert!(asked.is_ok(), "the next call fails: {asked:?}: {context}");
    gateway.close().await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!(memory.attempted_at().len(), attempts + 1, "it was tried again: {context}");
    assert_eq!(self::sent(&memory, endpoint), sent, "it was sent after it was dropped: {context}");
    if OPERATIONS_THAT_MOVE_MONEY.contains(&endpoint) {
        assert!(sent <= 1, "it was sent twice: {context}");
    }
    ended
}

fn sent(memory: &Memory, endpoint: Endpoint) -> usize {
    memory.seen().iter().filter(|path| **path == endpoint.path()).count()
}
