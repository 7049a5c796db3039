//! Recovery on a virtual clock, with a journal on a disk in memory.

use std::{path::Path, time::Duration};

use tokio::time::timeout;

use super::*;
use crate::{
    Decimal, Gateway, PaymentRef, Unfinished,
    journal::{Journal, ReportedStatus, tests::memory_disk::MemoryDisk},
    testing::scripted::{Act, Scripted},
};

const MINUTE: Duration = Duration::from_secs(60);

fn journal(disk: &MemoryDisk) -> Journal {
    Journal::on(Box::new(disk.clone()), Path::new("shop")).unwrap()
}

fn card(number: &str) -> PaymentRef {
    PaymentRef::card(number, Decimal::TEN, "KGS")
}

/// A journal with these payments, all of them sent.
fn journal_of(disk: &MemoryDisk, numbers: impl IntoIterator<Item = String>) -> Journal {
    let journal = journal(disk);
    for number in numbers {
        journal.begin(&card(&number), None).unwrap();
    }
    journal
}

fn numbers(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("order-{number:03}"))
}

/// A report on any payment of these tests.
fn report(word: &str, amount: u32) -> Act {
    let body = format!(r#"{{"code":"200","data":{{"status":"{word}","amount":{amount},"currency":"KGS"}}}}"#);
    Act::Response(Duration::ZERO, 200, None, body)
}

fn slow(seconds: u64, word: &str) -> Act {
    match report(word, 10) {
        Act::Response(_, status, wait, body) => Act::Response(Duration::from_secs(seconds), status, wait, body),
        other => other,
    }
}

async fn all(gateway: &Gateway, policy: RecoveryPolicy) -> Vec<(String, JournalState)> {
    let recovery = gateway.recover(policy).unwrap();
    let mut ends = Vec::new();
    while let Some(recovered) = recovery.next().await.unwrap() {
        let Recovered::Payment { entry } = recovered else { panic!("{recovered:?}") };
        ends.push((entry.payment.order_number.unwrap(), entry.state));
    }
    assert_eq!(recovery.next().await, Ok(None));
    ends
}

#[tokio::test(start_paused = true)]
async fn everything_is_followed_to_its_end() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(3));
    journal.record_report(&card("order-000"), ReportedStatus::Charged, None);
    journal.add(&crate::PaymentEntry::new(PaymentRef::pay_form(Decimal::TEN)), None).unwrap();
    // The second one takes three queries, the third one two.
    let words = ["NEW", "NEW", "NEW", "REJECT", "CHARGE"];
    let (gateway, memory) = Scripted::gateway(move |number| report(words[number], 10));
    let gateway = gateway.with_journal(journal.clone());
    let ends = all(&gateway, RecoveryPolicy::default()).await;
    assert_eq!(ends[0], ("order-000".to_owned(), JournalState::Charged), "without a question");
    assert_eq!(ends[1].1, JournalState::Rejected);
    assert_eq!(ends[2].1, JournalState::Charged);
    assert_eq!(memory.attempted_at().len(), 5);
    // The rejected one is listed no more, the charged ones wait for their goods.
    let left = journal.unfinished().collect::<Result<Vec<_>, _>>().unwrap();
    let states = left.iter().map(|item| match item {
        Unfinished::Payment { entry } => entry.state,
        other => panic!("{other:?}"),
    });
    assert_eq!(states.collect::<Vec<_>>(), [JournalState::Charged, JournalState::Charged]);
}

#[tokio::test(start_paused = true)]
async fn pending_payment_at_deadline_stays_unfinished() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(1));
    let (gateway, memory) = Scripted::gateway(|_| report("NEW", 10));
    let gateway = gateway.with_journal(journal);
    assert_eq!(all(&gateway, RecoveryPolicy::default().with_deadline(MINUTE)).await, []);
    assert_eq!(memory.attempted_at().len(), 6);
    assert_eq!(gateway.unfinished().unwrap().count(), 1);
}

#[tokio::test(start_paused = true)]
async fn concurrent_queries_stay_within_at_once() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(200));
    let (gateway, memory) = Scripted::gateway(|_| slow(5, "CHARGE"));
    let ends = all(&gateway.with_journal(journal), RecoveryPolicy::default().with_at_once(4)).await;
    assert_eq!(ends.len(), 200);
    let expected: Vec<u64> = (0..200).map(|number| number / 4 * 5).collect();
    assert_eq!(memory.attempted_at(), expected);
}

#[tokio::test(start_paused = true)]
async fn older_payments_are_polled_less_often() {
    for (age, expected) in [(MINUTE, 7), (60 * MINUTE, 2), (5 * 60 * MINUTE, 1)] {
        let disk = MemoryDisk::default();
        let journal = journal_of(&disk, numbers(1));
        disk.pass(age);
        let (gateway, memory) = Scripted::gateway(|_| report("NEW", 10));
        // Every 10 seconds, every minute, every 10 minutes, each with jitter.
        let policy = RecoveryPolicy::default().with_deadline(Duration::from_secs(70));
        assert_eq!(all(&gateway.with_journal(journal), policy).await, []);
        assert_eq!(memory.attempted_at().len(), expected, "{age:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_process_recovers_at_a_time() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(2));
    let (gateway, memory) = Scripted::gateway(|_| report("CHARGE", 10));
    let gateway = gateway.with_journal(journal);
    let (first, second) =
        (gateway.recover(RecoveryPolicy::default()).unwrap(), gateway.recover(RecoveryPolicy::default()).unwrap());
    assert!(first.next().await.unwrap().is_some());
    assert!(timeout(5 * MINUTE, second.next()).await.is_err(), "nothing is delivered twice");
    assert_eq!(memory.attempted_at().len(), 2);
    drop(first);
    // Nothing was finished, so it all comes again.
    assert!(second.next().await.unwrap().is_some());
    assert!(second.next().await.unwrap().is_some());
    assert_eq!(second.next().await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn dropped_future_loses_no_end() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(3));
    let (gateway, memory) = Scripted::gateway(|_| slow(5, "CHARGE"));
    let recovery = gateway.with_journal(journal).recover(RecoveryPolicy::default().with_at_once(1)).unwrap();
    let mut ends = 0;
    for _ in 0..100 {
        if let Ok(recovered) = timeout(Duration::from_secs(1), recovery.next()).await {
            match recovered.unwrap() {
                Some(_) => ends += 1,
                None => break,
            }
        }
    }
    assert_eq!((ends, memory.attempted_at().len()), (3, 3));
}

#[cfg(feature = "uniffi")]
#[tokio::test(start_paused = true)]
async fn returned_payment_goes_to_next_caller() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(2));
    let (gateway, _) = Scripted::gateway(|_| report("CHARGE", 10));
    let recovery = gateway.with_journal(journal).recover(RecoveryPolicy::default()).unwrap();
    let first = recovery.next().await.unwrap().unwrap();
    recovery.give_back(Ok(first.clone()));
    assert_eq!(recovery.next().await, Ok(Some(first.clone())));
    let second = recovery.next().await.unwrap();
    assert!(second.is_some_and(|second| second != first));
    assert_eq!(recovery.next().await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn recovery_can_be_cancelled() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(1));
    let (gateway, _) = Scripted::gateway(|_| report("NEW", 10));
    let recovery = gateway.with_journal(journal).recover(RecoveryPolicy::default()).unwrap();
    let (ended, ()) = tokio::join!(recovery.next(), async {
        tokio::time::sleep(MINUTE).await;
        recovery.cancel();
    });
    assert_eq!(ended, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn wrong_login_or_closed_gateway_ends_recovery() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(1));
    let (gateway, memory) = Scripted::gateway(|_| Act::error(401, None));
    let gateway = gateway.with_journal(journal);
    let recovery = gateway.recover(RecoveryPolicy::default()).unwrap();
    assert!(matches!(recovery.next().await, Err(PaymentError::Unauthorized { .. })));
    assert_eq!((recovery.next().await, memory.attempted_at().len()), (Ok(None), 3));
    gateway.close().await;
    let recovery = gateway.recover(RecoveryPolicy::default()).unwrap();
    assert!(matches!(recovery.next().await, Err(PaymentError::Misconfigured { .. })));
}

/// Whatever it waits for, and although it is not dropped: each wait would take half an hour at least.
#[tokio::test(start_paused = true)]
async fn gateway_close_ends_recovery_and_releases_lock() {
    const LONG: Duration = Duration::from_secs(30 * 60);
    type Responses = fn(&str, u32) -> Act;
    let waits: [(&str, usize, Responses); 3] = [
        ("the next question", 1, report),
        ("an answer", 1, |word, _| slow(LONG.as_secs(), word)),
        ("what is begun later", 0, report),
    ];
    for (waits_for, count, response) in waits {
        let disk = MemoryDisk::default();
        let journal = journal_of(&disk, numbers(count));
        let (gateway, _) = Scripted::gateway(move |_| response("NEW", 10));
        let gateway = gateway.with_deadline(2 * LONG).unwrap().with_journal(journal.clone());
        let policy = RecoveryPolicy::default().with_interval(LONG).with_deadline(2 * LONG).with_follow_new(true);
        let recovery = gateway.recover(policy).unwrap();
        let started = Instant::now();
        let (end, ()) = tokio::join!(recovery.next(), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            gateway.close().await;
        });
        assert!(matches!(end, Err(PaymentError::Misconfigured { .. })), "waiting for {waits_for}: {end:?}");
        assert_eq!(started.elapsed().as_secs(), 1, "waiting for {waits_for}");
        let (other, _) = Scripted::gateway(|_| report("CHARGE", 10));
        let ends = all(&other.with_journal(journal), RecoveryPolicy::default()).await;
        assert_eq!(ends.len(), count, "after it waited for {waits_for}");
        assert_eq!(recovery.next().await, Ok(None), "it is reported once that the gateway was closed");
    }
}

#[tokio::test(start_paused = true)]
async fn gateway_close_ends_wait_for_recovery_lock() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(2));
    let (other, _) = Scripted::gateway(|_| report("CHARGE", 10));
    let others = other.with_journal(journal.clone()).recover(RecoveryPolicy::default()).unwrap();
    assert!(others.next().await.unwrap().is_some());
    let (gateway, _) = Scripted::gateway(|_| report("CHARGE", 10));
    let recovery = gateway.with_journal(journal).recover(RecoveryPolicy::default()).unwrap();
    let started = Instant::now();
    let (end, ()) = tokio::join!(recovery.next(), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        gateway.close().await;
    });
    assert!(matches!(end, Err(PaymentError::Misconfigured { .. })), "{end:?}");
    assert_eq!(started.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn gateway_close_between_payments_loses_none() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(3));
    for number in numbers(3) {
        journal.record_report(&card(&number), ReportedStatus::Charged, None);
    }
    let (gateway, _) = Scripted::gateway(|_| report("NEW", 10));
    let recovery = gateway.with_journal(journal.clone()).recover(RecoveryPolicy::default()).unwrap();
    assert!(recovery.next().await.unwrap().is_some());
    gateway.close().await;
    let (other, _) = Scripted::gateway(|_| report("NEW", 10));
    let other = other.with_journal(journal);
    let others = other.recover(RecoveryPolicy::default()).unwrap();
    assert!(timeout(5 * MINUTE, others.next()).await.is_err(), "the first one may be delivered now");
    for _ in 0..2 {
        assert!(matches!(recovery.next().await, Ok(Some(Recovered::Payment { .. }))));
    }
    assert!(matches!(recovery.next().await, Err(PaymentError::Misconfigured { .. })));
    assert_eq!(recovery.next().await, Ok(None));
    drop(others);
    assert_eq!(all(&other, RecoveryPolicy::default()).await.len(), 3);
}

/// A rate limit is that of the gateway and not that of one payment.
#[tokio::test(start_paused = true)]
async fn retry_after_delays_all_queries() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(3));
    let (gateway, memory) =
        Scripted::gateway(|number| if number == 0 { Act::error(429, Some(100)) } else { report("CHARGE", 10) });
    let ends = all(&gateway.with_journal(journal), RecoveryPolicy::default().with_at_once(1)).await;
    assert_eq!((ends.len(), memory.attempted_at()), (3, vec![0, 100, 100, 100]));
}

#[tokio::test(start_paused = true)]
async fn mismatch_is_one_the_third_time() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(1));
    let amounts = [11, 10, 11, 11, 11];
    let words = ["CHARGE", "NEW", "CHARGE", "CHARGE", "CHARGE"];
    let (gateway, memory) = Scripted::gateway(move |number| report(words[number], amounts[number]));
    let ends = all(&gateway.with_journal(journal), RecoveryPolicy::default()).await;
    assert_eq!(ends, [("order-000".to_owned(), JournalState::Mismatch)]);
    assert_eq!(memory.attempted_at().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn entry_finished_elsewhere_is_not_queried() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(2));
    let finished = journal.entry(&card("order-001")).unwrap().unwrap().id;
    let others = journal.clone();
    let (gateway, memory) = Scripted::gateway(move |_| {
        others.finish(&finished).unwrap();
        slow(1, "CHARGE")
    });
    let ends = all(&gateway.with_journal(journal), RecoveryPolicy::default().with_at_once(1)).await;
    assert_eq!((ends.len(), memory.attempted_at().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_work_is_said_at_once() {
    let (gateway, _) = Scripted::gateway(|_| report("NEW", 10));
    assert!(matches!(gateway.recover(RecoveryPolicy::default()), Err(PaymentError::Misconfigured { .. })));
    let gateway = gateway.with_journal(journal(&MemoryDisk::default()));
    let policy = RecoveryPolicy { interval: Duration::ZERO, deadline: Duration::ZERO, at_once: 0, follow_new: false };
    let Err(PaymentError::Invalid { violations }) = gateway.recover(policy) else { panic!() };
    let fields: Vec<&str> = violations.iter().map(|violation| violation.field.as_str()).collect();
    assert_eq!(fields, ["interval", "deadline", "at_once"]);
    assert_eq!(all(&gateway, RecoveryPolicy::default()).await, []);
}

/// A firewall's 404 about payments that never arrived says nothing of those that did.
#[tokio::test(start_paused = true)]
async fn unauthorized_queries_do_not_stop_recovery() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(20));
    let (gateway, memory) = Scripted::gateway(|number| match number {
        0..5 => Act::error(401, None),
        _ => report("CHARGE", 10),
    });
    let ends = all(&gateway.with_journal(journal), RecoveryPolicy::default().with_at_once(1)).await;
    assert_eq!((ends.len(), memory.attempted_at().len()), (20, 25));
}

/// As a web server answers that the gateway is not behind, or about what it never saw.
fn not_found() -> Act {
    Act::Response(Duration::ZERO, 404, None, "<html>not here</html>".to_owned())
}

/// Its request was lost before the gateway saw it.
#[tokio::test(start_paused = true)]
async fn lost_payment_is_reported_and_others_recover() {
    for at_once in [1, 8] {
        let disk = MemoryDisk::default();
        let journal = journal_of(&disk, ["lost".to_owned()].into_iter().chain(numbers(3)));
        // The others are answered later than this one is given up.
        let answered = |number| if number < 40 { report("NEW", 10) } else { report("CHARGE", 10) };
        let (gateway, _) = Scripted::by_request(
            |_| {},
            move |number, body| if body.contains("lost") { not_found() } else { answered(number) },
        );
        let gateway = gateway.with_journal(journal.clone());
        let recovery = gateway.recover(RecoveryPolicy::default().with_at_once(at_once)).unwrap();
        let mut ends = Vec::new();
        while let Some(recovered) = recovery.next().await.unwrap() {
            let Recovered::Payment { entry } = recovered else { panic!("{recovered:?}") };
            ends.push((entry.payment.order_number.unwrap(), entry.state, entry.reason));
        }
        let (number, state, reason) = &ends[0];
        assert_eq!((number.as_str(), *state, ends.len()), ("lost", JournalState::Unknown, 4), "{ends:?}");
        assert!(reason.as_deref().is_some_and(|reason| reason.contains("HTTP 404")), "{reason:?}");
        assert!(ends[1..].iter().all(|(_, state, _)| *state == JournalState::Charged), "{ends:?}");
        let stored = journal.entry(&card("lost")).unwrap().unwrap();
        assert_eq!((stored.state, stored.is_finished), (JournalState::Unknown, false), "it is listed all the same");
    }
}

/// A worker of a back end continues to poll, and delivers a payment that the gateway reports late.
#[tokio::test(start_paused = true)]
async fn payment_known_late_is_reported_as_charged() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, ["late".to_owned()].into_iter().chain(numbers(1)));
    let (gateway, _) = Scripted::by_request(
        |_| {},
        |number, body| if body.contains("late") && number < 12 { not_found() } else { report("CHARGE", 10) },
    );
    let policy = RecoveryPolicy::default().with_follow_new(true).with_deadline(10 * MINUTE);
    let ends = all(&gateway.with_journal(journal), policy).await;
    let of_late: Vec<_> = ends.iter().filter(|(number, _)| number == "late").map(|(_, state)| *state).collect();
    assert_eq!(of_late, [JournalState::Unknown, JournalState::Charged], "{ends:?}");
}

/// A load balancer answers in the gateway's place for a while, and then the gateway is back.
#[tokio::test(start_paused = true)]
async fn gateway_outage_loses_no_payment() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(3));
    let (gateway, _) = Scripted::gateway(|number| match number {
        0..3 => report("NEW", 10),
        3..18 => not_found(),
        _ => report("CHARGE", 10),
    });
    let ends = all(&gateway.with_journal(journal), RecoveryPolicy::default()).await;
    assert_eq!(ends.len(), 3, "{ends:?}");
    assert!(ends.iter().all(|(_, state)| *state == JournalState::Charged), "{ends:?}");
}

/// The wait is not polled any more when the gateway is closed, and then it is dropped.
#[tokio::test(start_paused = true)]
async fn wait_dropped_after_close_releases_lock() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(2));
    let (gateway, _) = Scripted::gateway(|_| report("NEW", 10));
    let recovery = gateway.with_journal(journal.clone()).recover(RecoveryPolicy::default()).unwrap();
    let mut next = Box::pin(recovery.next());
    assert!(timeout(Duration::from_secs(1), &mut next).await.is_err(), "it waits");
    gateway.close().await;
    drop(next);
    let (other, _) = Scripted::gateway(|_| report("CHARGE", 10));
    let started = Instant::now();
    assert_eq!(all(&other.with_journal(journal), RecoveryPolicy::default()).await.len(), 2);
    assert_eq!(started.elapsed().as_secs(), 0, "it waits for nobody");
    drop(recovery);
}

/// A wrong address answers every query like that.
#[tokio::test(start_paused = true)]
async fn only_not_found_responses_end_recovery() {
    for at_once in [1, 8] {
        let disk = MemoryDisk::default();
        let journal = journal_of(&disk, numbers(20));
        let (gateway, memory) = Scripted::gateway(|_| not_found());
        let recovery = gateway.with_journal(journal).recover(RecoveryPolicy::default().with_at_once(at_once)).unwrap();
        let ended = recovery.next().await;
        assert!(matches!(ended, Err(PaymentError::Misconfigured { .. })), "{ended:?}");
        assert_eq!(recovery.next().await, Ok(None));
        assert!((41..=60).contains(&memory.attempted_at().len()), "each was queried before it ended");
    }
}

/// The gateway may be reachable again in a minute.
#[tokio::test(start_paused = true)]
async fn connection_failures_do_not_end_recovery() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, ["lost".to_owned()].into_iter().chain(numbers(1)));
    let (gateway, memory) =
        Scripted::by_request(|_| {}, |_, body| if body.contains("lost") { not_found() } else { Act::Refuse });
    assert_eq!(all(&gateway.with_journal(journal), RecoveryPolicy::default()).await, []);
    assert!(memory.attempted_at().len() > 100, "it went on until the deadline");
}

/// However long the gateway takes over others.
#[tokio::test(start_paused = true)]
async fn charged_entry_is_returned_without_query() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(200));
    journal.record_report(&card("order-199"), ReportedStatus::Charged, None);
    let (gateway, _) = Scripted::gateway(|_| slow(30, "NEW"));
    let recovery = gateway.with_journal(journal).recover(RecoveryPolicy::default().with_at_once(1)).unwrap();
    let first = timeout(Duration::from_secs(10), recovery.next()).await;
    let Ok(Ok(Some(Recovered::Payment { entry }))) = first else { panic!("{first:?}") };
    assert_eq!(entry.state, JournalState::Charged);
}

#[tokio::test(start_paused = true)]
async fn cancelled_recovery_releases_lock() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(2));
    let (gateway, _) = Scripted::gateway(|_| report("CHARGE", 10));
    let gateway = gateway.with_journal(journal);
    let (first, second) = (gateway.recover(RecoveryPolicy::default()), gateway.recover(RecoveryPolicy::default()));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(first.next().await.unwrap().is_some());
    first.cancel();
    assert!(second.next().await.unwrap().is_some());
    assert_eq!(first.next().await, Ok(None));
}

/// A replica that lags behind must not take a charge back.
#[tokio::test(start_paused = true)]
async fn charge_recorded_elsewhere_is_final() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(1));
    let others = journal.clone();
    let (gateway, _) = Scripted::gateway(move |_| {
        others.record_report(&card("order-000"), ReportedStatus::Charged, None);
        slow(1, "REJECT")
    });
    let ends = all(&gateway.with_journal(journal), RecoveryPolicy::default()).await;
    assert_eq!(ends, [("order-000".to_owned(), JournalState::Charged)]);
}

/// A pay-form has any number of tries, and any of them may have paid.
#[tokio::test(start_paused = true)]
async fn every_claimed_number_is_queried() {
    let disk = MemoryDisk::default();
    let journal = journal(&disk);
    let plain = PaymentRef::pay_form(Decimal::TEN).with_entry_id("cart-1");
    journal.add(&crate::PaymentEntry::new(plain.clone()), None).unwrap();
    for number in ["paid", "declined"] {
        journal.record_claim(&plain.clone().with_claimed_number(number, Some(crate::Provider::MBank))).unwrap();
    }
    let settings = |config: &mut crate::GatewayConfig| {
        config.dialect = Arc::new(crate::Dialect::from_json(r#"{"qr_numbers": "none"}"#).unwrap());
    };
    // Three providers say that one was declined.
    let words = ["REJECT", "REJECT", "REJECT", "CHARGE"];
    let (gateway, _) = Scripted::gateway_with(settings, move |number| report(words[number], 10));
    let ends = all(&gateway.with_journal(journal), RecoveryPolicy::default()).await;
    assert_eq!(ends, [("paid".to_owned(), JournalState::Charged)]);
}

/// However many there are: none is dropped, and all come up in time.
#[tokio::test(start_paused = true)]
async fn oldest_of_many_claims_is_charged() {
    let disk = MemoryDisk::default();
    let journal = journal(&disk);
    let plain = PaymentRef::pay_form(Decimal::TEN).with_entry_id("cart-1");
    journal.add(&crate::PaymentEntry::new(plain.clone()), None).unwrap();
    for number in ["paid".to_owned()].into_iter().chain(numbers(100)) {
        journal.record_claim(&plain.clone().with_claimed_number(number, Some(crate::Provider::MBank))).unwrap();
    }
    let settings = |config: &mut crate::GatewayConfig| {
        config.dialect = Arc::new(crate::Dialect::from_json(r#"{"qr_numbers": "none"}"#).unwrap());
    };
    let (gateway, memory) =
        Scripted::by_request(settings, |_, body| report(if body.contains("paid") { "CHARGE" } else { "NEW" }, 10));
    let ends = all(&gateway.with_journal(journal), RecoveryPolicy::default()).await;
    assert_eq!(ends, [("paid".to_owned(), JournalState::Charged)]);
    let rounds: std::collections::BTreeSet<_> = memory.attempted_at().into_iter().collect();
    assert!(rounds.len() <= 26, "{rounds:?}");
}

/// A recovery that does not follow new payments queries a rejected payment once, and does not wait for it.
#[tokio::test(start_paused = true)]
async fn charge_after_rejection_is_found_later() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(1));
    let words = ["REJECT", "REJECT", "NEW", "CHARGE"];
    let (gateway, memory) = Scripted::gateway(move |number| report(words[number], 10));
    let gateway = gateway.with_journal(journal.clone());
    let recover = async || all(&gateway, RecoveryPolicy::default()).await;
    assert_eq!(recover().await, [("order-000".to_owned(), JournalState::Rejected)]);
    assert_eq!((recover().await, memory.seen().len()), (vec![], 1), "it is too early to ask again");
    disk.pass(Duration::from_secs(10));
    assert_eq!((recover().await, memory.seen().len()), (vec![], 2), "it was told before");
    disk.pass(MINUTE);
    assert_eq!((recover().await, memory.seen().len()), (vec![], 3));
    assert_eq!(gateway.unfinished().unwrap().count(), 0);
    assert_eq!(recover().await, [("order-000".to_owned(), JournalState::Charged)]);
    assert_eq!(memory.attempted_at(), [0, 0, 0, 0], "nobody waited");
}

/// A worker of a back end continues to poll, and reports the charge once, whichever process found it.
#[tokio::test(start_paused = true)]
async fn follow_new_polls_rejected_payments() {
    for found_by_another in [false, true] {
        let disk = MemoryDisk::default();
        let journal = journal_of(&disk, numbers(1));
        let others = journal.clone();
        let (gateway, memory) = Scripted::gateway(move |number| match number {
            4 if found_by_another => {
                others.record_report(&card("order-000"), ReportedStatus::Charged, None);
                report("REJECT", 10)
            }
            4 => report("CHARGE", 10),
            _ => report("REJECT", 10),
        });
        let policy = RecoveryPolicy::default().with_follow_new(true).with_deadline(60 * MINUTE);
        let gateway = gateway.with_journal(journal);
        let recovery = gateway.recover(policy).unwrap();
        let mut states = Vec::new();
        loop {
            // The disk has a clock of its own.
            match timeout(Duration::from_secs(5), recovery.next()).await {
                Ok(Ok(Some(Recovered::Payment { entry }))) => states.push(entry.state),
                Ok(Ok(None)) => break,
                Ok(other) => panic!("{other:?}"),
                Err(_) => disk.pass(Duration::from_secs(5)),
            }
        }
        assert_eq!(states, [JournalState::Rejected, JournalState::Charged]);
        let queries = memory.attempted_at();
        let distances: Vec<u64> = queries.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(queries.len(), 5, "{queries:?}");
        assert!(distances.is_sorted() && distances[0] >= 10 && distances[3] >= 60, "{queries:?}");
    }
}

/// A wrong number that is claimed for a pay-form does not decide the pay-form.
#[tokio::test(start_paused = true)]
async fn claimed_foreign_number_is_no_mismatch() {
    let disk = MemoryDisk::default();
    let journal = journal(&disk);
    let plain = PaymentRef::pay_form(Decimal::TEN).with_entry_id("cart-1");
    journal.add(&crate::PaymentEntry::new(plain.clone()), None).unwrap();
    journal.record_claim(&plain.with_claimed_number("elses", None)).unwrap();
    let (gateway, memory) = Scripted::gateway(|_| report("CHARGE", 11));
    let policy = RecoveryPolicy::default().with_deadline(5 * MINUTE);
    assert_eq!(all(&gateway.with_journal(journal), policy).await, []);
    assert!(memory.attempted_at().len() > 10);
}

/// A checkout page queries, delivers and finishes the payment while the recovery queries it.
#[tokio::test(start_paused = true)]
async fn entry_delivered_elsewhere_is_not_returned() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(1));
    let (others, id) = (journal.clone(), journal.entry(&card("order-000")).unwrap().unwrap().id);
    let (gateway, memory) = Scripted::gateway(move |_| {
        others.record_report(&card("order-000"), ReportedStatus::Charged, None);
        others.finish(&id).unwrap();
        slow(1, "CHARGE")
    });
    assert_eq!(all(&gateway.with_journal(journal), RecoveryPolicy::default()).await, []);
    assert_eq!(memory.attempted_at().len(), 1);
}

/// A worker of a back end: later payments are recovered, too, and nothing is reported twice.
#[tokio::test(start_paused = true)]
async fn follow_new_recovers_later_payments() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(1));
    let (gateway, _) = Scripted::gateway(|number| report(if number == 2 { "REJECT" } else { "CHARGE" }, 10));
    let policy = RecoveryPolicy::default().with_follow_new(true).with_deadline(10 * MINUTE);
    let recovery = gateway.with_journal(journal.clone()).recover(policy).unwrap();
    let next = async || match recovery.next().await.unwrap() {
        Some(Recovered::Payment { entry }) => (entry.payment.order_number.unwrap(), entry.state),
        other => panic!("{other:?}"),
    };
    let charged = |number: &str| (number.to_owned(), JournalState::Charged);
    assert_eq!(next().await, charged("order-000"));
    assert!(timeout(MINUTE, recovery.next()).await.is_err(), "it is not finished, and is told once");
    journal.begin(&card("later"), None).unwrap();
    let started = Instant::now();
    assert_eq!(next().await, charged("later"));
    assert!(started.elapsed() <= RecoveryPolicy::default().interval, "{:?}", started.elapsed());
    // Charged after it was rejected: that is not delivered yet.
    journal.begin(&card("rejected"), None).unwrap();
    assert_eq!(next().await, ("rejected".to_owned(), JournalState::Rejected));
    journal.record_report(&card("rejected"), ReportedStatus::Charged, None);
    assert_eq!(next().await, charged("rejected"));
    assert_eq!(recovery.next().await, Ok(None), "at the deadline");
    assert!(started.elapsed() > 8 * MINUTE, "it went on though nothing was left");
}

/// A payment of some hours is polled every ten minutes. A callback is verified meanwhile, by another process.
#[tokio::test(start_paused = true)]
async fn charge_of_a_polled_payment_is_reported_at_once() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, ["older".to_owned()]);
    disk.pass(5 * 60 * MINUTE);
    let (gateway, memory) = Scripted::gateway(|_| report("NEW", 10));
    let gateway = gateway.with_journal(journal.clone());
    let recovery = gateway.recover(RecoveryPolicy::default().with_follow_new(true)).unwrap();
    assert!(timeout(MINUTE, recovery.next()).await.is_err());
    journal.record_report(&card("older"), ReportedStatus::Charged, None);
    let reported = timeout(MINUTE, recovery.next()).await.expect("before the next poll");
    let Ok(Some(Recovered::Payment { entry })) = reported else { panic!("{reported:?}") };
    assert_eq!((entry.state, memory.attempted_at().len()), (JournalState::Charged, 1));
}

#[tokio::test(start_paused = true)]
async fn final_status_has_its_reason() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(2));
    let said = |word: &str, amount: u32| {
        let data = format!(r#"{{"status":"{word}","amount":{amount},"currency":"KGS"}}"#);
        Act::Response(Duration::ZERO, 200, None, format!(r#"{{"code":"200","message":"NO FUNDS","data":{data}}}"#))
    };
    let (gateway, _) =
        Scripted::gateway(move |number| if number == 0 { said("REJECT", 10) } else { said("CHARGE", 11) });
    let gateway = gateway.with_journal(journal.clone());
    let recovery = gateway.recover(RecoveryPolicy::default()).unwrap();
    let mut reasons = Vec::new();
    while let Some(recovered) = recovery.next().await.unwrap() {
        let Recovered::Payment { entry } = recovered else { panic!("{recovered:?}") };
        let stored = journal.entry(&entry.payment).unwrap().unwrap();
        assert_eq!(stored.reason, entry.reason);
        reasons.push((entry.state, entry.reason.unwrap()));
    }
    let (rejected, mismatch) = (JournalState::Rejected, JournalState::Mismatch);
    assert_eq!(reasons, [(rejected, "NO FUNDS".to_owned()), (mismatch, "amount".to_owned())]);
}

/// A journal with one accepted MBank payment of this age. The code was sent, if at all, with this result.
fn journal_awaiting_code(
    disk: &MemoryDisk,
    age: Duration,
    confirmed: Option<crate::journal::SendOutcome<'_>>,
) -> Journal {
    let (journal, payment) = (journal(disk), PaymentRef::mbank("tea", 10));
    let entry = crate::PaymentEntry::new(payment.clone());
    let held = journal.begin(&payment, None).unwrap();
    journal.record(&held, crate::journal::SendOutcome::Accepted { entry: &entry, code: None });
    if let Some(result) = confirmed {
        let held = journal.begin_confirmation(&payment).unwrap().unwrap();
        journal.record(&held, result);
    }
    disk.pass(age);
    journal
}

/// Nobody has typed the code, or only a wrong one.
#[tokio::test(start_paused = true)]
async fn abandoned_code_does_not_hold_recovery() {
    use crate::journal::SendOutcome;
    for wrong_code in [false, true] {
        let disk = MemoryDisk::default();
        let result = wrong_code.then_some(SendOutcome::NothingHappened);
        let journal = journal_awaiting_code(&disk, 6 * MINUTE, result);
        let (gateway, memory) = Scripted::gateway(|query| report(if query == 0 { "NEW" } else { "CHARGE" }, 10));
        let gateway = gateway.with_journal(journal);
        let recovery = gateway.recover(RecoveryPolicy::default()).unwrap();
        let Some(Recovered::Payment { entry }) = recovery.next().await.unwrap() else { panic!("it is reported") };
        assert_eq!(entry.state, JournalState::Pending);
        assert!(entry.reason.unwrap().starts_with("not paid yet"));
        assert_eq!((recovery.next().await, memory.attempted_at()), (Ok(None), vec![0]));
        // It was not given up: the next recovery finds its charge.
        assert_eq!(gateway.unfinished().unwrap().count(), 1);
        assert_eq!(all(&gateway, RecoveryPolicy::default()).await, [("tea".to_owned(), JournalState::Charged)]);
    }
}

/// The money may have moved, or may still move while the recovery runs.
#[tokio::test(start_paused = true)]
async fn payment_that_may_be_confirmed_is_polled() {
    use crate::journal::SendOutcome;
    let payment = PaymentRef::mbank("tea", 10);
    let lost = || SendOutcome::Unanswered { payment: &payment, code: None };
    let policy = RecoveryPolicy::default().with_deadline(MINUTE);
    for (age, confirmed, follow_new, queries) in
        [(6 * MINUTE, Some(lost()), false, 6), (4 * MINUTE, None, false, 6), (6 * MINUTE, None, true, 6)]
    {
        let disk = MemoryDisk::default();
        let journal = journal_awaiting_code(&disk, age, confirmed);
        let (gateway, memory) = Scripted::gateway(|_| report("NEW", 10));
        assert_eq!(all(&gateway.with_journal(journal), policy.with_follow_new(follow_new)).await, []);
        assert_eq!(memory.attempted_at().len(), queries, "{age:?} {follow_new}");
    }
}

/// A card's payer needs no code of ours: the bank's page may charge it at any time.
#[tokio::test(start_paused = true)]
async fn pending_card_is_never_set_aside() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, numbers(1));
    disk.pass(6 * MINUTE);
    let (gateway, memory) = Scripted::gateway(|_| report("NEW", 10));
    assert_eq!(all(&gateway.with_journal(journal), RecoveryPolicy::default().with_deadline(MINUTE)).await, []);
    assert_eq!(memory.attempted_at().len(), 6);
}
