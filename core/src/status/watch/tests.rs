//! Polling on a virtual clock.

use std::time::Duration;

use futures_util::StreamExt;

use super::*;
use crate::{
    Decimal, PaymentStatus, Provider,
    testing::scripted::{Act, Scripted},
};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn card() -> PaymentRef {
    PaymentRef::card("order-1", Decimal::ONE_HUNDRED, "KGS")
}

fn watch(gateway: &crate::Gateway) -> StatusWatch {
    gateway.watch(card(), PollPolicy::default()).unwrap()
}

fn word(report: Result<Option<WatchReport>, PaymentError>) -> String {
    match report {
        Ok(Some(WatchReport::Status { verdict: Verdict::Mismatch { fields, .. } })) => fields.join(" "),
        Ok(Some(WatchReport::Status { verdict: Verdict::Unverifiable { .. } })) => "unverifiable".to_owned(),
        Ok(Some(WatchReport::Status { verdict })) => {
            verdict.report().unwrap().status.to_string().trim_matches('"').to_owned()
        }
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
async fn watch_queries_at_once_then_every_interval() {
    let (gateway, memory) = Scripted::gateway(|n| Act::slow_status(3, ["CREATED", "PENDING", "charge"][n]));
    let watch = watch(&gateway);
    assert_eq!(words(&watch, 4).await, ["CREATED", "PENDING", "charged", "end"]);
    assert_eq!(memory.attempted_at(), [0, 10, 20]);
    assert!(matches!(watch.outcome().await, Ok(Some(Verdict::Charged { .. }))));
    assert_eq!(memory.attempted_at().len(), 3, "no query is sent after the end");
}

#[tokio::test(start_paused = true)]
async fn missed_tick_is_skipped() {
    let (gateway, memory) = Scripted::gateway(|n| Act::slow_status(if n == 0 { 25 } else { 0 }, ["NEW", "REJECT"][n]));
    assert!(matches!(watch(&gateway).outcome().await, Ok(Some(Verdict::Rejected { .. }))));
    assert_eq!(memory.attempted_at(), [0, 30]);
}

#[tokio::test(start_paused = true)]
async fn failed_query_is_reported_and_watch_continues() {
    let (gateway, memory) = Scripted::gateway(|n| match n {
        0 => Act::Refuse,
        1 => Act::Lose(seconds(0)),
        2 => Act::error(404, None),
        3 => Act::error(500, None),
        4 => Act::Response(seconds(0), 200, None, "<html>".into()),
        _ => Act::status("CHARGE"),
    });
    let reports = words(&watch(&gateway), 7).await;
    assert_eq!(reports, ["Unavailable", "Unavailable", "Refused", "Unavailable", "Unexpected", "charged", "end"]);
    assert_eq!(memory.attempted_at(), [0, 10, 20, 30, 40, 50], "no retries inside a tick");
}

#[tokio::test(start_paused = true)]
async fn third_wrong_credentials_in_a_row_end_watch() {
    for (status, body, variant) in [
        (401, "{}", "Unauthorized"),
        (403, r#"{"code":"7"}"#, "Unauthorized"),
        (404, "<html>", "Misconfigured"),
        (407, "", "Misconfigured"),
    ] {
        let (gateway, memory) = Scripted::gateway(move |_| Act::Response(seconds(0), status, None, body.into()));
        let watch = watch(&gateway);
        assert_eq!(words(&watch, 4).await, [variant, variant, variant, "end"]);
        assert_eq!(watch.outcome().await.unwrap_err().kind(), variant);
        assert_eq!(memory.attempted_at(), [0, 10, 20]);
    }
}

/// A firewall's page with 403, a 404 in another shape, a captive portal's certificate: the next query may get through.
#[tokio::test(start_paused = true)]
async fn single_odd_response_does_not_end_watch() {
    let odd = |status, body: &str| Act::Response(seconds(0), status, None, body.into());
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
    assert!(matches!(watch(&gateway).outcome().await, Ok(Some(Verdict::Charged { .. }))));
}

/// A report that names this order, amount or currency, or others.
fn report_of(number: &str, amount: u32, currency: &str, status: &str) -> Act {
    let data = format!(r#"{{"orderNumber":"{number}","amount":{amount},"currency":"{currency}","status":"{status}"}}"#);
    Act::Response(seconds(0), 200, None, format!(r#"{{"code":"200","data":{data}}}"#))
}

#[tokio::test(start_paused = true)]
async fn single_mismatch_does_not_end_watch() {
    for names in ["order-1", "gw-1"] {
        let (gateway, memory) = Scripted::gateway(move |n| match n {
            0 => report_of("order-9", 100, "KGS", "CHARGE"),
            1 => report_of("order-9", 100, "KGS", "PENDING"),
            _ => report_of(names, 100, "417", "CHARGE"),
        });
        let watch = gateway.watch(card().with_gateway_number("gw-1"), PollPolicy::default()).unwrap();
        assert_eq!(words(&watch, 4).await, ["orderNumber", "orderNumber", "charged", "end"]);
        // Where the report names the gateway's number, a second query goes by the merchant's own.
        let questions: &[u64] = if names == "order-1" { &[0, 10, 20] } else { &[0, 10, 20, 20] };
        assert_eq!(memory.attempted_at(), questions);
        let Ok(Some(Verdict::Charged { compared, .. })) = watch.outcome().await else { panic!() };
        assert_eq!(compared, ["orderNumber", "amount", "currency"]);
    }
}

/// The money went somewhere, but not for this request: three such reports in a row are for a person, and no charge.
#[tokio::test(start_paused = true)]
async fn charge_of_other_amount_ends_watch_as_mismatch() {
    for (number, amount, currency, fields) in [
        ("order-1", 1, "KGS", "amount"),
        ("order-1", 100, "USD", "currency"),
        ("order-2", 100, "KGS", "orderNumber"),
        ("order-2", 1, "840", "orderNumber amount currency"),
    ] {
        let (gateway, memory) = Scripted::gateway(move |_| report_of(number, amount, currency, "CHARGE"));
        let watch = watch(&gateway);
        assert_eq!(words(&watch, 4).await, [fields, fields, fields, "end"]);
        assert!(matches!(watch.outcome().await, Ok(Some(Verdict::Mismatch { .. }))));
        assert_eq!(memory.attempted_at(), [0, 10, 20]);
    }
}

/// While a payment is open, its amount may not be final yet.
#[tokio::test(start_paused = true)]
async fn pending_report_amount_is_not_compared() {
    let (gateway, _) = Scripted::gateway(|n| match n {
        0..5 => report_of("order-1", 0, "KGS", "PENDING"),
        _ => report_of("order-1", 100, "KGS", "CHARGE"),
    });
    assert!(matches!(watch(&gateway).outcome().await, Ok(Some(Verdict::Charged { .. }))));
}

/// A proxy that lets one of two questions through must not keep a watch from its end.
#[tokio::test(start_paused = true)]
async fn refused_query_falls_back_in_same_tick() {
    let responding = |status, body: &'static str| Act::Response(seconds(1), status, None, body.into());
    for (status, body) in
        [(403, "<html>blocked"), (404, "<html>"), (404, r#"{"code":"4"}"#), (200, "<html>"), (302, "")]
    {
        let (gateway, memory) = Scripted::gateway(move |n| match n {
            0 | 2 => responding(status, body),
            1 => report_of("order-1", 100, "KGS", "PENDING"),
            _ => report_of("order-1", 100, "KGS", "CHARGE"),
        });
        let watch = gateway.watch(card().with_gateway_number("gw-1"), PollPolicy::default()).unwrap();
        assert!(matches!(watch.outcome().await, Ok(Some(Verdict::Charged { .. }))), "{status} {body}");
        let (by_own, by_order) = ("api/v1.1.0/status", "api/v1.1.0/get-status");
        assert_eq!(memory.seen(), [by_own, by_order, by_own, by_order]);
        assert_eq!(memory.attempted_at(), [0, 1, 10, 11]);
    }
    // A failure that the next query would share is not retried before the next tick.
    for act in [Act::error(401, None), Act::error(429, None), Act::error(503, None), Act::Refuse] {
        let act = std::sync::Mutex::new(Some(act));
        let (gateway, memory) = Scripted::gateway(move |_| {
            act.lock().unwrap().take().unwrap_or_else(|| report_of("order-1", 100, "KGS", "CHARGE"))
        });
        let watch = gateway.watch(card().with_gateway_number("gw-1"), PollPolicy::default()).unwrap();
        watch.outcome().await.unwrap();
        assert_eq!(memory.attempted_at(), [0, 10]);
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_delays_next_query() {
    let (gateway, memory) = Scripted::gateway(|n| match n {
        0 => Act::error(429, Some(4)),
        1 => Act::error(429, Some(35)),
        _ => Act::status("CHARGE"),
    });
    watch(&gateway).outcome().await.unwrap();
    assert_eq!(memory.attempted_at(), [0, 10, 45]);
}

#[tokio::test(start_paused = true)]
async fn deadline_ends_watch_with_last_report() {
    let (gateway, memory) = Scripted::gateway(|_| Act::status("PENDING"));
    let policy = PollPolicy { deadline: seconds(25), ..PollPolicy::default() };
    let watch = gateway.watch(card(), policy).unwrap();
    let started = Instant::now();
    let Err(PaymentError::DeadlineExpired { last: Some(last) }) = watch.outcome().await else { panic!() };
    assert_eq!(last.status, PaymentStatus::Other("PENDING".into()));
    assert_eq!(started.elapsed(), seconds(25));
    assert_eq!(memory.attempted_at(), [0, 10, 20]);
    assert_eq!(word(watch.next().await), "end");
}

#[tokio::test(start_paused = true)]
async fn hanging_query_ends_at_deadline() {
    let (gateway, _) = Scripted::gateway(|_| Act::slow_status(3600, "CHARGE"));
    let policy = PollPolicy { deadline: seconds(12), ..PollPolicy::default() };
    let watch = gateway.watch(card(), policy).unwrap();
    let started = Instant::now();
    assert!(matches!(watch.outcome().await, Err(PaymentError::DeadlineExpired { last: None })));
    assert_eq!(started.elapsed(), seconds(12));
}

#[tokio::test(start_paused = true)]
async fn check_now_queries_at_once_and_shifts_ticks() {
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
async fn cancelled_watch_ends_at_once() {
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
        assert_eq!(waiting.await.unwrap(), Ok(None));
        assert_eq!(before.elapsed(), seconds(0), "at once");
        assert_eq!(word(watch.next().await), "end");
        assert_eq!(watch.outcome().await, Ok(None));
    }
    assert_eq!(memory.attempted_at().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn dropped_next_loses_no_report() {
    let (gateway, memory) = Scripted::gateway(|_| Act::slow_status(6, "CHARGE"));
    let watch = watch(&gateway);
    for _ in 0..2 {
        assert!(tokio::time::timeout(seconds(2), watch.next()).await.is_err());
    }
    assert_eq!(word(watch.next().await), "charged");
    assert_eq!(memory.attempted_at(), [0], "the first query was the only one");
}

/// The gateway's timers start a query only for somebody who waits.
#[tokio::test(start_paused = true)]
async fn watch_without_waiter_sends_no_query() {
    let (gateway, memory) = Scripted::gateway(|n| Act::status(if n < 2 { "PENDING" } else { "CHARGE" }));
    let watch = watch(&gateway);
    assert_eq!(words(&watch, 1).await, ["PENDING"]);
    for _ in 0..3 {
        assert!(tokio::time::timeout(seconds(1), watch.next()).await.is_err());
    }
    tokio::time::sleep(seconds(20)).await;
    assert_eq!(memory.attempted_at(), [0]);
    assert_eq!(words(&watch, 2).await, ["PENDING", "charged"]);
    assert_eq!(memory.attempted_at(), [0, 23, 33]);
}

/// The timers run in a task, and a task can end: with a runtime that a program shuts down, by a panic.
#[test]
fn watch_continues_after_timer_task_ended() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (first, second) = (runtime(), runtime());
    let (gateway, memory) = Scripted::gateway(|n| Act::status(if n < 2 { "PENDING" } else { "CHARGE" }));
    let watch = watch(&gateway);
    first.block_on(async {
        assert_eq!(words(&watch, 1).await, ["PENDING"]);
        assert!(tokio::time::timeout(seconds(1), watch.next()).await.is_err());
    });
    second.block_on(async {
        let waiting = async { words(&watch, 2).await };
        let ends = async {
            tokio::time::sleep(seconds(1)).await;
            std::thread::spawn(move || drop(first)).join().unwrap();
        };
        assert_eq!(tokio::join!(waiting, ends).0, ["PENDING", "charged"]);
    });
    assert_eq!(memory.attempted_at().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn abandoned_watch_is_freed_at_once() {
    for is_asking in [false, true] {
        let (gateway, _) = Scripted::gateway(move |_| Act::slow_status(if is_asking { 60 } else { 0 }, "PENDING"));
        let watch = watch(&gateway);
        let shared = Arc::downgrade(&watch.shared);
        if !is_asking {
            assert_eq!(words(&watch, 1).await, ["PENDING"]);
        }
        for _ in 0..2 {
            // Into the wait of 10 seconds, and into the query that the timers start.
            assert!(tokio::time::timeout(seconds(4), watch.next()).await.is_err());
        }
        drop(watch);
        assert_eq!(shared.strong_count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn timer_started_query_survives_dropped_next() {
    let (gateway, memory) = Scripted::gateway(|n| Act::slow_status([0, 5, 5, 5][n], "PENDING"));
    let watch = watch(&gateway);
    assert_eq!(words(&watch, 1).await, ["PENDING"]);
    // It begins at 10 s and is dropped at 12 s: it goes on, and its report is the next one.
    assert!(tokio::time::timeout(seconds(12), watch.next()).await.is_err());
    assert_eq!(words(&watch, 1).await, ["PENDING"]);
    assert_eq!(memory.attempted_at(), [0, 10]);
    let waiting = tokio::spawn({
        let watch = watch.clone();
        async move { watch.outcome().await }
    });
    tokio::time::sleep(seconds(7)).await;
    assert_eq!(memory.attempted_at(), [0, 10, 20]);
    watch.cancel();
    assert_eq!(waiting.await.unwrap(), Ok(None));
}

#[tokio::test(start_paused = true)]
async fn watch_is_a_stream() {
    let (gateway, _) = Scripted::gateway(|n| Act::status(["A", "B", "CHARGE"][n]));
    let reports: Vec<_> = watch(&gateway).stream().map(|report| word(report.map(Some))).collect().await;
    assert_eq!(reports, ["A", "B", "charged"]);
    let (gateway, _) = Scripted::gateway(|_| Act::error(401, None));
    let reports: Vec<_> = watch(&gateway).stream().map(|report| word(report.map(Some))).collect().await;
    assert_eq!(reports, ["Unauthorized", "Unauthorized", "Unauthorized"]);
}

/// Between two queries and within one, and by whichever of the gateway's clones. The next report would come after an hour.
#[tokio::test(start_paused = true)]
async fn closing_gateway_ends_watch_at_once() {
    // Within its first query; within one that the timers started; between two.
    for query in [Some(0), Some(1), None] {
        let script = move |n| Act::slow_status(if query == Some(n) { 3600 } else { 0 }, "NEW");
        let (gateway, memory) = Scripted::gateway(script);
        let policy = PollPolicy::default().with_interval(seconds(3600)).with_deadline(seconds(7200));
        let watch = gateway.with_deadline(seconds(7200)).unwrap().watch(card(), policy).unwrap();
        if query != Some(0) {
            assert_eq!(words(&watch, 1).await, ["NEW"]);
        }
        let (closes_after, queried_at) = if query == Some(1) { (3601, &[0, 3600][..]) } else { (1, &[0][..]) };
        let started = Instant::now();
        let (first, second, ()) = tokio::join!(watch.outcome(), watch.outcome(), async {
            tokio::time::sleep(seconds(closes_after)).await;
            gateway.close().await;
        });
        for end in [first, second, watch.outcome().await] {
            assert_eq!(end.unwrap_err().kind(), "Misconfigured");
        }
        assert_eq!(started.elapsed().as_secs(), closes_after);
        assert_eq!(words(&watch, 1).await, ["end"]);
        assert_eq!(memory.attempted_at(), queried_at);
    }
}

#[tokio::test(start_paused = true)]
async fn response_before_close_is_reported() {
    let (gateway, _) = Scripted::gateway(|_| Act::slow_status(5, "CHARGE"));
    let watch = watch(&gateway);
    assert!(tokio::time::timeout(seconds(1), watch.next()).await.is_err());
    tokio::time::sleep(seconds(10)).await;
    gateway.close().await;
    assert!(matches!(watch.outcome().await, Ok(Some(Verdict::Charged { .. }))));
}

#[tokio::test(start_paused = true)]
async fn watch_queries_by_numbers_of_reference() {
    let chosen = PaymentRef::pay_form(Decimal::ONE_HUNDRED).with_claimed_number("1", Some(Provider::MegaPay));
    let (by_number, by_gateway_number) = ("api/v1.1.0/get-status", "api/v1.1.0/status");
    for (payment, paths) in [
        (card(), &[by_number][..]),
        // Its report names no number of the merchant's.
        (card().with_gateway_number("2"), &[by_gateway_number, by_number]),
        (PaymentRef::mbank("1", 100), &[by_number]),
        // A pay-form's payment may be at any provider.
        (chosen, &[by_number; 3]),
        (PaymentRef::qr(None).with_transaction_id("1"), &["gen/qr/transaction/status"]),
    ] {
        let (gateway, memory) = Scripted::gateway(|_| Act::status("REJECT"));
        gateway.watch(payment, PollPolicy::default()).unwrap().outcome().await.unwrap();
        assert_eq!(memory.seen(), paths);
    }
    let (gateway, _) = Scripted::gateway(|_| Act::Refuse);
    let nothing_to_ask_with = PaymentRef::pay_form(Decimal::ONE_HUNDRED);
    assert!(matches!(gateway.watch(nothing_to_ask_with, PollPolicy::default()), Err(PaymentError::Invalid { .. })));
    let impatient = PollPolicy { interval: seconds(0), ..PollPolicy::default() };
    assert!(matches!(gateway.watch(card(), impatient), Err(PaymentError::Invalid { .. })));
}

#[tokio::test(start_paused = true)]
async fn longest_durations_do_not_overflow() {
    let settings = |config: &mut crate::GatewayConfig| config.query_deadline = Duration::MAX;
    let (gateway, memory) = Scripted::gateway_with(settings, |n| Act::status(["A", "CHARGE"][n]));
    let policy = PollPolicy { interval: seconds(u64::MAX / 4), deadline: Duration::MAX };
    let watch = gateway.watch(card(), policy).unwrap();
    assert_eq!(words(&watch, 1).await, ["A"]);
    watch.check_now();
    assert_eq!(words(&watch, 2).await, ["charged", "end"]);
    assert_eq!(memory.attempted_at(), [0, 0]);
}
