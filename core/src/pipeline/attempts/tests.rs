//! Retry and cancellation on a virtual clock: repeated only where that is safe, prevented only where that is certain.

use std::time::Duration;

use futures_util::future::poll_immediate;

use crate::{
    Gateway, PaymentError, PaymentRef, Provider,
    testing::scripted::{Act, Scripted},
};

async fn pay(gateway: &Gateway) -> PaymentError {
    gateway.confirm_mbank_payment(&PaymentRef::mbank("order-1", 100), "123456").await.unwrap_err()
}

async fn ask(gateway: &Gateway) -> PaymentError {
    gateway.provider_status("order-1", Provider::MBank).await.unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn a_payment_is_tried_again_only_where_no_connection_was_made() {
    let (gateway, memory) = Scripted::gateway(|_| Act::Refuse);
    assert_eq!(pay(&gateway).await.kind(), "Unavailable");
    assert_eq!(memory.attempted_at().len(), 3);
    assert!(memory.seen().is_empty());

    let (gateway, memory) = Scripted::gateway(|_| Act::Refuse);
    assert_eq!(ask(&gateway).await.kind(), "Unavailable");
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
    let started = tokio::time::Instant::now();
    assert_eq!(ask(&gateway).await.kind(), "Unavailable");
    assert!(started.elapsed() <= Duration::from_secs(30));
    // the longest backoff: 0.2, 0.4, 0.8, 1.6, 3.2 and then 5 seconds of pause
    assert_eq!(memory.attempted_at(), [0, 0, 0, 1, 3, 6, 11, 16, 21, 26]);
}

/// How many seconds each of the two kinds of call waits for a response that never comes.
async fn patience(gateway: &Gateway) -> [u64; 2] {
    let started = tokio::time::Instant::now();
    assert_eq!(pay(gateway).await.kind(), "OutcomeUnknown");
    let paid = started.elapsed();
    assert_eq!(ask(gateway).await.kind(), "Unavailable");
    [paid, started.elapsed() - paid].map(|took| took.as_secs())
}

#[tokio::test(start_paused = true)]
async fn payments_have_a_deadline_of_their_own_and_a_call_another() {
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
async fn a_gateway_with_another_deadline_is_closed_with_the_first() {
    let (gateway, memory) = Scripted::gateway(|_| Act::slow_status(20, "NEW"));
    let patient = gateway.with_deadline(Duration::from_secs(100)).unwrap();
    let started = tokio::time::Instant::now();
    let under_way = tokio::spawn({
        let patient = patient.clone();
        async move { pay(&patient).await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    gateway.close().await;
    assert_eq!(started.elapsed().as_secs(), 20, "it waits for the payments of both");
    under_way.abort();
    assert_eq!(ask(&patient).await.kind(), "Misconfigured");
    assert_eq!(memory.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_close_with_a_limit_leaves_the_payment_on_its_way() {
    let (gateway, memory) = Scripted::gateway(|_| Act::slow_status(20, "NEW"));
    let started = tokio::time::Instant::now();
    let under_way = tokio::spawn({
        let gateway = gateway.clone();
        async move { gateway.confirm_mbank_payment(&PaymentRef::mbank("order-1", 100), "123456").await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    for (limit, is_done, over_at) in [(0, false, 1), (4, false, 5), (100, true, 20), (0, true, 20)] {
        assert_eq!(gateway.close_within(Duration::from_secs(limit)).await, is_done, "within {limit} s");
        assert_eq!(started.elapsed().as_secs(), over_at, "within {limit} s");
        assert_eq!(ask(&gateway).await.kind(), "Misconfigured", "it is closed all the same");
    }
    let answer = under_way.await.unwrap();
    assert!(!matches!(answer, Err(PaymentError::Misconfigured { .. })), "it had its response: {answer:?}");
    assert_eq!(memory.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_retries_where_none_are_wanted() {
    let (gateway, memory) = Scripted::gateway_with(|config| config.query_retries = 0, |_| Act::Refuse);
    ask(&gateway).await;
    pay(&gateway).await;
    assert_eq!(memory.attempted_at().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn giving_up_while_connecting_prevents_the_payment() {
    let (gateway, memory) = Scripted::gateway(|_| Act::ConnectSlowly(Duration::from_secs(5)));
    {
        let mut call = std::pin::pin!(pay(&gateway));
        assert!(poll_immediate(&mut call).await.is_none());
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    gateway.close().await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(memory.seen().is_empty(), "the payment was sent after all");
}

#[tokio::test(start_paused = true)]
async fn out_of_time_while_connecting_means_that_nothing_happened() {
    let (gateway, _) = Scripted::gateway(|_| Act::ConnectSlowly(Duration::from_secs(100)));
    let started = tokio::time::Instant::now();
    assert_eq!(pay(&gateway).await.kind(), "Unavailable");
    assert_eq!(started.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn a_host_name_that_is_looked_up_for_ever_is_told() {
    for asks in [true, false] {
        let (gateway, memory) = Scripted::gateway(|_| Act::NeverLookedUp);
        let error = if asks { ask(&gateway).await } else { pay(&gateway).await };
        assert_eq!((error.kind(), memory.seen().len()), ("Unavailable", 0), "{error}");
        assert!(error.to_string().contains("looking up the host name did not end"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_cause_of_a_silent_query_is_not_the_connection() {
    let (gateway, _) = Scripted::gateway(|_| Act::Lose(Duration::from_secs(100)));
    let error = ask(&gateway).await;
    assert!(error.to_string().contains("before the whole response came"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn out_of_time_after_sending_means_that_it_may_have_happened() {
    let (gateway, _) = Scripted::gateway(|_| Act::Lose(Duration::from_secs(100)));
    assert_eq!(pay(&gateway).await.kind(), "OutcomeUnknown");
}
