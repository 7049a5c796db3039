//! Polling on a virtual clock.

use std::time::Duration;

use futures_util::StreamExt;

use super::*;
use crate::{
    testing::scripted::{Act, Scripted},
    values::provider::Provider,
};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn watch(gateway: &crate::Gateway) -> StatusWatch {
    gateway.watch(PaymentRef::card("order-1"), PollPolicy::default()).unwrap()
}

fn word(report: Result<Option<WatchReport>, PaymentError>) -> String {
    match report {
        Ok(Some(WatchReport::Status { report })) => report.status.to_string().trim_matches('"').to_owned(),
        Ok(Some(WatchReport::QueryFailed { error })) | Err(error) => error.kind().to_owned(),
        Ok(None) => "end".to_owned(),
    }
}

async fn words(watch: &StatusWatch, count: usize) -> Vec<String> {
    let mut words = Vec::new();
    for _ in 0..count {
        words.push(word(watch.next().await));
    }
    words
}

#[tokio::test(start_paused = true)]
async fn asks_at_once_then_every_ten_seconds_until_the_end() {
    let (gateway, memory) = Scripted::gateway(|n| Act::slow_status(3, ["CREATED", "PENDING", "charge"][n]));
    let watch = watch(&gateway);
    assert_eq!(words(&watch, 4).await, ["CREATED", "PENDING", "charged", "end"]);
    assert_eq!(memory.attempted_at(), [0, 10, 20]);
    assert!(matches!(watch.outcome().await, Ok(WatchOutcome::Charged { .. })));
    assert_eq!(memory.attempted_at().len(), 3, "nothing is asked after the end");
}

#[tokio::test(start_paused = true)]
async fn a_missed_tick_is_skipped_and_one_query_is_in_flight() {
    let (gateway, memory) = Scripted::gateway(|n| Act::slow_status(if n == 0 { 25 } else { 0 }, ["NEW", "REJECT"][n]));
    assert!(matches!(watch(&gateway).outcome().await, Ok(WatchOutcome::Rejected { .. })));
    assert_eq!(memory.attempted_at(), [0, 30]);
}

#[tokio::test(start_paused = true)]
async fn failures_and_not_found_are_reported_and_end_nothing() {
    let (gateway, memory) = Scripted::gateway(|n| match n {
        0 => Act::Refuse,
        1 => Act::Lose(seconds(0)),
        2 => Act::error(404, None),
        3 => Act::error(500, None),
        4 => Act::Reply(seconds(0), 200, None, "<html>".into()),
        _ => Act::status("CHARGE"),
    });
    let reports = words(&watch(&gateway), 7).await;
    assert_eq!(reports, ["Unavailable", "Unavailable", "Refused", "Unavailable", "Unexpected", "charged", "end"]);
    assert_eq!(memory.attempted_at(), [0, 10, 20, 30, 40, 50], "no retries inside a tick");
}

#[tokio::test(start_paused = true)]
async fn wrong_credentials_and_a_wrong_configuration_end_it_the_third_time_in_a_row() {
    for (status, body, variant) in [
        (401, "{}", "Unauthorized"),
        (403, r#"{"code":"7"}"#, "Unauthorized"),
        (404, "<html>", "Misconfigured"),
        (407, "", "Misconfigured"),
    ] {
        let (gateway, memory) = Scripted::gateway(move |_| Act::Reply(seconds(0), status, None, body.into()));
        let watch = watch(&gateway);
        assert_eq!(words(&watch, 4).await, [variant, variant, variant, "end"]);
        assert_eq!(watch.outcome().await.unwrap_err().kind(), variant);
        assert_eq!(memory.attempted_at(), [0, 10, 20]);
    }
}

/// A firewall's page with 403, a 404 in another shape, a captive portal's certificate: the next query may get through.
#[tokio::test(start_paused = true)]
async fn odd_replies_between_others_do_not_end_it() {
    let odd = |status, body: &str| Act::Reply(seconds(0), status, None, body.into());
    let (gateway, _) = Scripted::gateway(move |n| match n {
        0 => odd(403, r#"{"code":"7"}"#),
        1 => odd(404, "<html>"),
        2 => Act::status("PENDING"),
        3 => odd(401, ""),
        4 => odd(404, "{}"),
        5 => odd(403, "<html>are you a robot?"),
        6 => odd(401, ""),
        _ => Act::status("CHARGE"),
    });
    assert!(matches!(watch(&gateway).outcome().await, Ok(WatchOutcome::Charged { .. })));
}

/// A report may name the gateway's number or the merchant's, so it is about another payment only where it names
/// neither.
#[tokio::test(start_paused = true)]
async fn a_report_about_another_payment_ends_nothing() {
    let named = |number: &str, status: &str| {
        let body = format!(r#"{{"code":"200","data":{{"orderNumber":"{number}","status":"{status}"}}}}"#);
        Act::Reply(seconds(0), 200, None, body)
    };
    let both_known = PaymentRef::card("order-1").with_gateway_number("gw-1");
    for names in ["order-1", "gw-1"] {
        let (gateway, memory) = Scripted::gateway(move |n| match n {
            0 => named("order-9", "CHARGE"),
            1 => named("order-9", "PENDING"),
            _ => named(names, "Reject"),
        });
        let watch = gateway.watch(both_known.clone(), PollPolicy::default()).unwrap();
        assert_eq!(words(&watch, 4).await, ["Unexpected", "Unexpected", "rejected", "end"]);
        assert_eq!(memory.attempted_at(), [0, 10, 20]);
    }
    // Only one of the two numbers is known here, so the report may mean the other one.
    let pay_form = PaymentRef::pay_form("order-1", Provider::MBank);
    for payment in [PaymentRef::card("order-1"), PaymentRef::mbank("order-1"), pay_form, PaymentRef::qr("tx-1")] {
        let (gateway, _) = Scripted::gateway(move |_| named("gw-1", "CHARGE"));
        let watch = gateway.watch(payment, PollPolicy::default()).unwrap();
        assert_eq!(words(&watch, 2).await, ["charged", "end"]);
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_delays_the_next_query() {
    let (gateway, memory) = Scripted::gateway(|n| match n {
        0 => Act::error(429, Some(4)),
        1 => Act::error(429, Some(35)),
        _ => Act::status("CHARGE"),
    });
    watch(&gateway).outcome().await.unwrap();
    assert_eq!(memory.attempted_at(), [0, 10, 45]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_it_with_what_was_seen_last() {
    let (gateway, memory) = Scripted::gateway(|_| Act::status("PENDING"));
    let policy = PollPolicy { deadline: seconds(25), ..PollPolicy::default() };
    let watch = gateway.watch(PaymentRef::card("order-1"), policy).unwrap();
    let started = Instant::now();
    let Err(PaymentError::DeadlineExpired { last: Some(last) }) = watch.outcome().await else { panic!() };
    assert_eq!(last.status, PaymentStatus::Other("PENDING".into()));
    assert_eq!(started.elapsed(), seconds(25));
    assert_eq!(memory.attempted_at(), [0, 10, 20]);
    assert_eq!(word(watch.next().await), "end");
}

#[tokio::test(start_paused = true)]
async fn a_query_that_hangs_does_not_outlive_the_deadline() {
    let (gateway, _) = Scripted::gateway(|_| Act::slow_status(3600, "CHARGE"));
    let policy = PollPolicy { deadline: seconds(12), ..PollPolicy::default() };
    let watch = gateway.watch(PaymentRef::card("order-1"), policy).unwrap();
    let started = Instant::now();
    assert!(matches!(watch.outcome().await, Err(PaymentError::DeadlineExpired { last: None })));
    assert_eq!(started.elapsed(), seconds(12));
}

#[tokio::test(start_paused = true)]
async fn check_now_asks_at_once_and_counts_from_there() {
    let (gateway, memory) = Scripted::gateway(|n| Act::status(["A", "B", "CHARGE"][n]));
    let watch = watch(&gateway);
    assert_eq!(words(&watch, 1).await, ["A"]);
    let waiting = tokio::spawn({
        let watch = watch.clone();
        async move { word(watch.next().await) }
    });
    tokio::time::sleep(seconds(4)).await;
    watch.check_now();
    assert_eq!(waiting.await.unwrap(), "B");
    watch.outcome().await.unwrap();
    assert_eq!(memory.attempted_at(), [0, 4, 14]);
}

#[tokio::test(start_paused = true)]
async fn after_cancel_there_is_nothing_more() {
    let (gateway, memory) = Scripted::gateway(|_| Act::slow_status(5, "PENDING"));
    for wait in [2, 8] {
        let watch = watch(&gateway);
        let waiting = tokio::spawn({
            let watch = watch.clone();
            async move { watch.outcome().await }
        });
        tokio::time::sleep(seconds(wait)).await;
        watch.cancel();
        let before = Instant::now();
        assert_eq!(waiting.await.unwrap(), Ok(WatchOutcome::Cancelled));
        assert_eq!(before.elapsed(), seconds(0), "at once");
        assert_eq!(word(watch.next().await), "end");
        assert_eq!(watch.outcome().await, Ok(WatchOutcome::Cancelled));
    }
    assert_eq!(memory.attempted_at().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_next_loses_no_report() {
    let (gateway, memory) = Scripted::gateway(|_| Act::slow_status(6, "CHARGE"));
    let watch = watch(&gateway);
    for _ in 0..2 {
        assert!(tokio::time::timeout(seconds(2), watch.next()).await.is_err());
    }
    assert_eq!(word(watch.next().await), "charged");
    assert_eq!(memory.attempted_at(), [0], "the first query was the only one");
}

#[tokio::test(start_paused = true)]
async fn it_is_a_stream() {
    let (gateway, _) = Scripted::gateway(|n| Act::status(["A", "B", "CHARGE"][n]));
    let reports: Vec<_> = watch(&gateway).stream().map(|report| word(report.map(Some))).collect().await;
    assert_eq!(reports, ["A", "B", "charged"]);
    let (gateway, _) = Scripted::gateway(|_| Act::error(401, None));
    let reports: Vec<_> = watch(&gateway).stream().map(|report| word(report.map(Some))).collect().await;
    assert_eq!(reports, ["Unauthorized", "Unauthorized", "Unauthorized"]);
}

#[tokio::test(start_paused = true)]
async fn the_reference_decides_what_is_asked() {
    for (payment, path) in [
        (PaymentRef::card("1"), "api/v1.1.0/get-status"),
        (PaymentRef::card("1").with_gateway_number("2"), "api/v1.1.0/status"),
        (PaymentRef::mbank("1"), "api/v1.1.0/get-status"),
        (PaymentRef::pay_form("1", Provider::MegaPay), "api/v1.1.0/get-status"),
        (PaymentRef::qr("1"), "gen/qr/transaction/status"),
    ] {
        let (gateway, memory) = Scripted::gateway(|_| Act::status("CHARGE"));
        gateway.watch(payment, PollPolicy::default()).unwrap().outcome().await.unwrap();
        assert_eq!(memory.seen(), [path]);
    }
    let (gateway, _) = Scripted::gateway(|_| Act::Refuse);
    let nothing_to_ask_with = PaymentRef::pay_form("1", Provider::Other("ELSOM".into()));
    assert!(matches!(gateway.watch(nothing_to_ask_with, PollPolicy::default()), Err(PaymentError::Invalid { .. })));
    let impatient = PollPolicy { interval: seconds(0), ..PollPolicy::default() };
    assert!(matches!(gateway.watch(PaymentRef::card("1"), impatient), Err(PaymentError::Invalid { .. })));
}

#[tokio::test(start_paused = true)]
async fn no_time_is_too_long() {
    let settings = |config: &mut crate::GatewayConfig| config.query_deadline = Duration::MAX;
    let (gateway, memory) = Scripted::gateway_with(settings, |n| Act::status(["A", "CHARGE"][n]));
    let policy = PollPolicy { interval: seconds(u64::MAX / 4), deadline: Duration::MAX };
    let watch = gateway.watch(PaymentRef::card("order-1"), policy).unwrap();
    assert_eq!(words(&watch, 1).await, ["A"]);
    watch.check_now();
    assert_eq!(words(&watch, 2).await, ["charged", "end"]);
    assert_eq!(memory.attempted_at(), [0, 0]);
}
