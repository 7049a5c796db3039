//! The worker on a virtual clock, with a journal on a disk in memory.

use std::{
    convert::Infallible,
    future::pending,
    path::Path,
    sync::{Arc, Mutex},
};

use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout};

use super::*;
use crate::{
    BlockingGateway, Decimal, FakeGateway, Gateway, MbankPayment, PaymentRef,
    journal::{Journal, ReportedStatus, tests::memory_disk::MemoryDisk},
    testing::scripted::{Act, Scripted},
};

mod unfinished;

const SECOND: Duration = Duration::from_secs(1);

/// What a handler was called with, and at which second.
type Calls = Arc<Mutex<Vec<(String, u64)>>>;

fn card(number: &str) -> PaymentRef {
    PaymentRef::card(number, Decimal::TEN, "KGS")
}

/// A journal with these payments, all of them sent.
fn journal_of(disk: &MemoryDisk, numbers: &[&str]) -> Journal {
    let journal = Journal::on(Box::new(disk.clone()), Path::new("shop")).unwrap();
    for number in numbers {
        journal.begin(&card(number), None).unwrap();
    }
    journal
}

fn report(word: &str, amount: u32) -> Act {
    let body = format!(r#"{{"code":"200","data":{{"status":"{word}","amount":{amount},"currency":"KGS"}}}}"#);
    Act::Response(Duration::ZERO, 200, None, body)
}

/// Answers by the order number of the query.
fn gateway_of(journal: &Journal, answer: impl Fn(&str) -> Act + Send + Sync + 'static) -> Gateway {
    let (gateway, _) = Scripted::by_request(
        |_| {},
        move |_, request| {
            let known = ["one", "two", "three", "four"].into_iter().find(|number| request.contains(number));
            answer(known.unwrap_or_default())
        },
    );
    gateway.with_journal(journal.clone())
}

fn number(entry: &JournalEntry) -> String {
    entry.payment.order_number.clone().unwrap()
}

/// Records what it is called with, and fails as often as it is said for a number.
struct Shop {
    started: Instant,
    fails: Vec<(&'static str, usize)>,
    delivered: Calls,
    others: Calls,
}

impl Shop {
    fn new(fails: &[(&'static str, usize)]) -> Self {
        Self { started: Instant::now(), fails: fails.to_vec(), delivered: Calls::default(), others: Calls::default() }
    }

    fn called(&mut self, calls: &Calls, what: String, number: &str) -> Result<(), String> {
        calls.lock().unwrap().push((what, self.started.elapsed().as_secs()));
        match self.fails.iter_mut().find(|(name, left)| *name == number && *left > 0) {
            Some((_, left)) => {
                *left -= 1;
                Err("the stock is locked".to_owned())
            }
            None => Ok(()),
        }
    }
}

impl DeliveryHandler for Shop {
    type Error = String;

    async fn deliver(&mut self, entry: JournalEntry) -> Result<(), String> {
        let (calls, number) = (self.delivered.clone(), number(&entry));
        self.called(&calls, number.clone(), &number)
    }

    async fn otherwise(&mut self, recovered: Recovered) -> Result<(), String> {
        let calls = self.others.clone();
        match recovered {
            Recovered::Payment { entry } => {
                let number = number(&entry);
                self.called(&calls, format!("{number} {:?}", entry.state), &number)
            }
            Recovered::Unreadable { id, .. } => self.called(&calls, id, ""),
        }
    }
}

fn calls(calls: &Calls) -> Vec<(String, u64)> {
    calls.lock().unwrap().clone()
}

fn at(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected.iter().map(|(what, second)| ((*what).to_owned(), *second)).collect()
}

/// Delivers until so many seconds have passed.
async fn deliver_for(gateway: &Gateway, seconds: u64, handler: impl DeliveryHandler) -> DeliverySummary {
    gateway.deliver_forever(DeliveryPolicy::default(), sleep(Duration::from_secs(seconds)), handler).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn handler_gets_charged_payments_alone() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, &["one", "two", "three", "four"]);
    let begun = journal.entry(&card("one")).unwrap().unwrap().begun;
    let day = time::OffsetDateTime::from(begun).date();
    disk.put(Path::new(&format!("shop/open/{day}/torn")), b"hello");
    let gateway = gateway_of(&journal, |number| match number {
        "one" => report("CHARGE", 10),
        "two" => report("REJECT", 10),
        "three" => report("CHARGE", 11),
        _ => report("NEW", 10),
    });
    let shop = Shop::new(&[]);
    let (delivered, others) = (shop.delivered.clone(), shop.others.clone());
    let summary = deliver_for(&gateway, 300, shop).await;
    assert_eq!(calls(&delivered), at(&[("one", 0)]));
    let mut others = calls(&others);
    others.sort();
    assert_eq!(others, at(&[("three Mismatch", 22), ("torn", 0), ("two Rejected", 0)]));
    // Of the journal only the charged one is done with.
    let left: Vec<_> = summary.undecided().map(number).collect();
    assert_eq!((summary.delivered, left, summary.undelivered().count()), (1, vec!["four".to_owned()], 0));
    assert_eq!(summary.for_a_person().count(), 2);
    let expected = "1 delivered; left open: 0 charged and not delivered, 1 undecided, 2 for a person";
    assert_eq!(summary.to_string(), expected);
}

#[tokio::test(start_paused = true)]
async fn failed_handler_is_repeated_with_backoff() {
    let journal = journal_of(&MemoryDisk::default(), &["one", "two", "three"]);
    let gateway =
        gateway_of(&journal, |number| if number == "three" { report("REJECT", 10) } else { report("CHARGE", 10) });
    let shop = Shop::new(&[("one", 4), ("three", 1)]);
    let (delivered, others) = (shop.delivered.clone(), shop.others.clone());
    let summary = deliver_for(&gateway, 60, shop).await;
    let (one, two): (Vec<_>, Vec<_>) = calls(&delivered).into_iter().partition(|(number, _)| number == "one");
    assert_eq!(one, at(&[("one", 0), ("one", 1), ("one", 3), ("one", 7), ("one", 15)]));
    assert_eq!(two, at(&[("two", 0)]), "it does not wait for the other one");
    assert_eq!(calls(&others), at(&[("three Rejected", 0), ("three Rejected", 1)]));
    assert_eq!(summary.to_string(), "2 delivered; left open: nothing");
}

/// Each of the failing calls takes longer than the longest pause, so one of them is always due.
#[tokio::test(start_paused = true)]
async fn failing_payments_do_not_stop_others() {
    let journal = journal_of(&MemoryDisk::default(), &["one", "two"]);
    let gateway = gateway_of(&journal, |_| report("CHARGE", 10));
    let (delivered, later) = (Calls::default(), journal.clone());
    let (calls_of_shop, started) = (delivered.clone(), Instant::now());
    let handler = |entry: JournalEntry| {
        let number = number(&entry);
        calls_of_shop.lock().unwrap().push((number.clone(), started.elapsed().as_secs()));
        let (later, is_first) = (later.clone(), calls_of_shop.lock().unwrap().len() == 4);
        async move {
            sleep(10 * SECOND).await;
            if is_first {
                later.begin(&card("three"), None).unwrap();
            }
            if number == "three" { Ok(()) } else { Err("the supplier does not answer") }
        }
    };
    let policy = DeliveryPolicy::default().with_pauses(SECOND, 5 * SECOND);
    let summary = gateway.deliver_forever(policy, sleep(300 * SECOND), handler).await.unwrap();
    assert_eq!((summary.delivered, summary.undelivered().count()), (1, 2));
    let third = calls(&delivered).into_iter().find(|(number, _)| number == "three").unwrap();
    assert!(third.1 < 100, "it waited until second {}", third.1);
}

#[tokio::test(start_paused = true)]
async fn handler_that_panics_is_called_again() {
    let journal = journal_of(&MemoryDisk::default(), &["one", "two"]);
    let gateway = gateway_of(&journal, |_| report("CHARGE", 10));
    let mut panics = 2;
    let handler = |entry: JournalEntry| {
        let is_broken = number(&entry) == "one" && panics > 0;
        panics -= u32::from(is_broken);
        async move {
            assert!(!is_broken, "a defect of the shop");
            Ok::<(), String>(())
        }
    };
    let summary = gateway.deliver_forever(DeliveryPolicy::default(), sleep(60 * SECOND), handler).await.unwrap();
    assert_eq!(summary.to_string(), "2 delivered; left open: nothing");
}

#[tokio::test(start_paused = true)]
async fn pauses_of_delivery_have_a_limit() {
    let journal = journal_of(&MemoryDisk::default(), &["one"]);
    let gateway = gateway_of(&journal, |_| report("CHARGE", 10));
    let shop = Shop::new(&[("one", usize::MAX)]);
    let delivered = shop.delivered.clone();
    let policy = DeliveryPolicy::default().with_pauses(2 * SECOND, 5 * SECOND);
    let summary = gateway.deliver_forever(policy, sleep(20 * SECOND), shop).await.unwrap();
    let moments: Vec<u64> = calls(&delivered).into_iter().map(|(_, second)| second).collect();
    assert_eq!(moments, [0, 2, 6, 11, 16]);
    assert_eq!((summary.delivered, summary.undelivered().count()), (0, 1), "the next worker delivers it");
}

/// It never waits for the next query, which would be in ten seconds, and always for its handler.
#[tokio::test(start_paused = true)]
async fn stop_waits_for_the_running_handler_alone() {
    let journal = journal_of(&MemoryDisk::default(), &["one", "two"]);
    journal.record_report(&card("one"), ReportedStatus::Charged, None);
    let gateway = gateway_of(&journal, |_| report("NEW", 10));
    for (work, ends) in [(5, 5), (0, 1)] {
        let stop = StopSignal::new();
        let started = Instant::now();
        let slow = |_: JournalEntry| async move {
            sleep(work * SECOND).await;
            Ok::<_, Infallible>(())
        };
        let (summary, ()) =
            tokio::join!(gateway.deliver_forever(DeliveryPolicy::default(), stop.stopped(), slow), async {
                sleep(SECOND).await;
                stop.stop();
            });
        assert_eq!((started.elapsed().as_secs(), stop.is_stopped()), (ends, true));
        assert_eq!(summary.unwrap().delivered, u64::from(work > 0));
    }
}

#[tokio::test(start_paused = true)]
async fn charged_payment_is_left_to_the_next_worker() {
    let journal = journal_of(&MemoryDisk::default(), &["one", "two"]);
    for number in ["one", "two"] {
        journal.record_report(&card(number), ReportedStatus::Charged, None);
    }
    let gateway = gateway_of(&journal, |_| report("NEW", 10));
    let stop = StopSignal::new();
    let stopping = stop.clone();
    let first = move |_: JournalEntry| {
        stopping.stop();
        async { Ok::<_, Infallible>(()) }
    };
    let summary = gateway.deliver_forever(DeliveryPolicy::default(), stop.stopped(), first).await.unwrap();
    assert_eq!((summary.delivered, summary.undelivered().count()), (1, 1));
    assert_eq!(deliver_for(&gateway, 1, Shop::new(&[])).await.delivered, 1);
}

#[tokio::test(start_paused = true)]
async fn closing_the_gateway_ends_the_worker() {
    let journal = journal_of(&MemoryDisk::default(), &["one"]);
    for answers in [report, |_: &str, _| Act::error(401, None)] {
        let gateway = gateway_of(&journal, move |_| answers("NEW", 10));
        let started = Instant::now();
        let closed = gateway.clone();
        let (summary, ()) = tokio::join!(deliver_for(&gateway, 1000, Shop::new(&[])), async move {
            sleep(61 * SECOND).await;
            closed.close().await;
        });
        assert_eq!((started.elapsed().as_secs(), summary.undecided().count()), (61, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn one_worker_delivers_at_a_time() {
    let journal = journal_of(&MemoryDisk::default(), &["one"]);
    let gateway = gateway_of(&journal, |_| report("NEW", 10));
    let (first, second) = (Shop::new(&[]), Shop::new(&[]));
    let (by_first, by_second) = (first.delivered.clone(), second.delivered.clone());
    let (one, two, ()) = tokio::join!(deliver_for(&gateway, 20, first), deliver_for(&gateway, 60, second), async {
        sleep(5 * SECOND).await;
        for number in ["two", "three"] {
            journal.begin(&card(number), None).unwrap();
            journal.record_report(&card(number), ReportedStatus::Charged, None);
            sleep(20 * SECOND).await;
        }
    });
    assert_eq!((calls(&by_first).len(), calls(&by_second).len()), (1, 1));
    assert_eq!((calls(&by_first)[0].0.as_str(), calls(&by_second)[0].0.as_str()), ("two", "three"));
    assert_eq!((one.delivered, two.delivered), (1, 1));
}

/// Who delivers, and from which second to which.
type Spans = Arc<Mutex<Vec<(&'static str, u64, u64)>>>;

/// A handler that takes 100 seconds, and fails as often as it is said.
fn slow_handler(
    who: &'static str,
    spans: &Spans,
    mut fails: usize,
) -> impl FnMut(JournalEntry) -> BoxFuture<'static, Result<(), String>> {
    let (spans, started) = (spans.clone(), Instant::now());
    move |_| {
        let (spans, has_failed) = (spans.clone(), fails > 0);
        fails = fails.saturating_sub(1);
        Box::pin(async move {
            let from = started.elapsed().as_secs();
            sleep(100 * SECOND).await;
            spans.lock().unwrap().push((who, from, started.elapsed().as_secs()));
            if has_failed { Err("the supplier does not answer".to_owned()) } else { Ok(()) }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn closing_during_a_delivery_lets_nobody_else_deliver_it() {
    let journal = journal_of(&MemoryDisk::default(), &["one"]);
    journal.record_report(&card("one"), ReportedStatus::Charged, None);
    let (gateway, other) = (gateway_of(&journal, |_| report("NEW", 10)), gateway_of(&journal, |_| report("NEW", 10)));
    let spans = Spans::default();
    let (first, second) = (slow_handler("first", &spans, 0), slow_handler("second", &spans, 0));
    let closed = gateway.clone();
    let (one, two, ()) = tokio::join!(
        gateway.deliver_forever(DeliveryPolicy::default(), pending::<()>(), first),
        async {
            sleep(2 * SECOND).await;
            other.deliver_forever(DeliveryPolicy::default(), sleep(300 * SECOND), second).await
        },
        async move {
            sleep(SECOND).await;
            closed.close().await;
        }
    );
    assert_eq!((one.unwrap().delivered, two.unwrap().delivered), (1, 0));
    assert_eq!(*spans.lock().unwrap(), [("first", 0, 100)]);
}

/// The first one's recovery fails, as long as its login is wrong, and lets the second one recover.
#[tokio::test(start_paused = true)]
async fn failed_delivery_is_repeated_only_while_this_process_recovers() {
    let journal = journal_of(&MemoryDisk::default(), &["one", "two"]);
    journal.record_report(&card("one"), ReportedStatus::Charged, None);
    let gateway = gateway_of(&journal, |_| Act::error(401, None));
    let other = gateway_of(&journal, |_| report("NEW", 10));
    let spans = Spans::default();
    let (first, second) = (slow_handler("first", &spans, usize::MAX), slow_handler("second", &spans, 1));
    tokio::join!(
        async { gateway.deliver_forever(DeliveryPolicy::default(), sleep(3000 * SECOND), first).await.unwrap() },
        async { other.deliver_forever(DeliveryPolicy::default(), sleep(3000 * SECOND), second).await.unwrap() },
    );
    let spans = spans.lock().unwrap().clone();
    assert!(spans.iter().any(|span| span.0 == "first") && spans.iter().any(|span| span.0 == "second"), "{spans:?}");
    for pair in spans.windows(2) {
        assert!(pair[0].2 <= pair[1].1, "two deliver at once: {spans:?}");
    }
}

/// Wrong credentials end a recovery, and somebody corrects them at the gateway.
#[tokio::test(start_paused = true)]
async fn recovery_begins_again_after_errors() {
    let journal = journal_of(&MemoryDisk::default(), &["one"]);
    let started = Instant::now();
    let gateway = gateway_of(&journal, move |_| match started.elapsed().as_secs() {
        0..300 => Act::error(401, None),
        _ => report("CHARGE", 10),
    });
    let shop = Shop::new(&[]);
    let delivered = shop.delivered.clone();
    assert_eq!(deliver_for(&gateway, 500, shop).await.delivered, 1);
    let (_, moment) = calls(&delivered)[0].clone();
    assert!((300..=360).contains(&moment), "within a minute: {moment}");
}

#[tokio::test(start_paused = true)]
async fn payment_finished_elsewhere_is_not_repeated() {
    let journal = journal_of(&MemoryDisk::default(), &["one"]);
    let gateway = gateway_of(&journal, |_| report("CHARGE", 10));
    let shop = Shop::new(&[("one", 1)]);
    let delivered = shop.delivered.clone();
    let (summary, ()) = tokio::join!(deliver_for(&gateway, 60, shop), async {
        sleep(SECOND / 2).await;
        let id = journal.entry(&card("one")).unwrap().unwrap().id;
        journal.finish(&id).unwrap();
    });
    assert_eq!((calls(&delivered), summary.delivered), (at(&[("one", 0)]), 0));
}

/// The goods are handed out once, though the disk is full when the entry is to be finished.
#[tokio::test(start_paused = true)]
async fn delivered_payment_is_only_finished_again() {
    for stops_meanwhile in [false, true] {
        let disk = MemoryDisk::default();
        let journal = journal_of(&disk, &["one"]);
        let gateway = gateway_of(&journal, |_| report("CHARGE", 10));
        let (count, full, stop) = (Calls::default(), disk.clone(), StopSignal::new());
        let (counted, stopping) = (count.clone(), stop.clone());
        let deliver = move |entry: JournalEntry| {
            counted.lock().unwrap().push((number(&entry), 0));
            full.fail_at(0);
            if stops_meanwhile {
                stopping.stop();
            }
            async { Ok::<_, Infallible>(()) }
        };
        let stopped = async {
            tokio::select! {
                () = stop.stopped() => {}
                () = sleep(60 * SECOND) => {}
            }
        };
        let summary = gateway.deliver_forever(DeliveryPolicy::default(), stopped, deliver).await.unwrap();
        assert!(disk.has_failed(), "the disk was full");
        assert_eq!((calls(&count).len(), summary.delivered), (1, 1), "{stops_meanwhile}");
        assert_eq!(summary.left_open, Some(vec![]));
    }
}

/// The recovery fails, as long as its login is wrong, before the end of the delivered payment is written again.
#[tokio::test(start_paused = true)]
async fn delivered_payment_is_finished_before_others_may_deliver() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, &["one", "two"]);
    journal.record_report(&card("one"), ReportedStatus::Charged, None);
    let gateway = gateway_of(&journal, |_| Act::error(401, None));
    let other = gateway_of(&journal, |_| report("NEW", 10));
    let delivered = Calls::default();
    let deliver = |who: &'static str| {
        let (delivered, full) = (delivered.clone(), disk.clone());
        move |_: JournalEntry| {
            delivered.lock().unwrap().push((who.to_owned(), 0));
            full.fail_at(0);
            async { Ok::<_, Infallible>(()) }
        }
    };
    let slow = DeliveryPolicy::default().with_pauses(100 * SECOND, 300 * SECOND);
    let (first, second) = tokio::join!(gateway.deliver_forever(slow, sleep(500 * SECOND), deliver("first")), async {
        sleep(SECOND).await;
        other.deliver_forever(slow, sleep(500 * SECOND), deliver("second")).await
    });
    assert!(disk.has_failed(), "the disk was full");
    assert_eq!((first.unwrap().delivered, second.unwrap().delivered), (1, 0));
    assert_eq!(calls(&delivered), [("first".to_owned(), 0)]);
}

#[tokio::test(start_paused = true)]
async fn rejected_payment_may_be_delivered_later() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, &["one"]);
    let started = Instant::now();
    let gateway = gateway_of(&journal, move |_| match started.elapsed().as_secs() {
        0..100 => report("REJECT", 10),
        _ => report("CHARGE", 10),
    });
    let shop = Shop::new(&[]);
    let (delivered, others) = (shop.delivered.clone(), shop.others.clone());
    // The journal has a clock of its own, by which rejected payments are queried again.
    let (summary, ()) = tokio::join!(deliver_for(&gateway, 1000, shop), async {
        for _ in 0..100 {
            sleep(10 * SECOND).await;
            disk.pass(10 * SECOND);
        }
    });
    assert_eq!(summary.delivered, 1);
    assert_eq!(calls(&others), at(&[("one Rejected", 0)]));
    assert_eq!(calls(&delivered).len(), 1);
}

/// A mismatch stays in the journal, so each recovery finds it.
#[tokio::test(start_paused = true)]
async fn result_is_reported_once_a_run() {
    let journal = journal_of(&MemoryDisk::default(), &["one"]);
    let gateway = gateway_of(&journal, |_| report("CHARGE", 11));
    let shop = Shop::new(&[]);
    let others = shop.others.clone();
    deliver_for(&gateway, 3 * 24 * 60 * 60, shop).await;
    assert_eq!(calls(&others).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_work_is_said_before_delivering() {
    let (gateway, _) = Scripted::gateway(|_| report("NEW", 10));
    let run = |gateway: Gateway, policy| async move {
        gateway.deliver_forever(policy, pending(), Shop::new(&[])).await.unwrap_err()
    };
    let missing = run(gateway.clone(), DeliveryPolicy::default()).await;
    assert!(matches!(missing, PaymentError::Misconfigured { .. }), "{missing}");
    let journal = journal_of(&MemoryDisk::default(), &[]);
    let policy = DeliveryPolicy::default().with_interval(Duration::ZERO).with_at_once(0);
    let zeros = policy.with_pauses(Duration::ZERO, Duration::ZERO);
    let PaymentError::Invalid { violations } = run(gateway.with_journal(journal.clone()), zeros).await else {
        panic!("it is refused")
    };
    let fields: Vec<&str> = violations.iter().map(|violation| violation.field.as_str()).collect();
    assert_eq!(fields, ["interval", "first_pause", "at_once"]);
    let policy = DeliveryPolicy::default().with_pauses(2 * SECOND, SECOND);
    let PaymentError::Invalid { violations } = run(gateway.with_journal(journal), policy).await else {
        panic!("it is refused")
    };
    assert_eq!(violations[0].text, "longest_pause must be at least first_pause");
}

/// Also a handler that is no closure, beside a stop that threads cannot share.
#[tokio::test(start_paused = true)]
async fn worker_can_be_spawned() {
    let journal = journal_of(&MemoryDisk::default(), &["one"]);
    let gateway = gateway_of(&journal, |_| report("CHARGE", 10));
    let unshared = std::cell::Cell::new(());
    let stop = async move {
        sleep(SECOND).await;
        unshared.set(());
    };
    let worker = async move { gateway.deliver_forever(DeliveryPolicy::default(), stop, Shop::new(&[])).await };
    assert_eq!(tokio::spawn(worker).await.unwrap().unwrap().delivered, 1);
}

#[tokio::test(start_paused = true)]
async fn stop_signal_ends_every_wait() {
    let stop = StopSignal::new();
    let (early, other) = (stop.stopped(), stop.clone());
    assert!(timeout(SECOND, stop.stopped()).await.is_err());
    drop(stop);
    other.stop();
    early.await;
    other.stopped().await;
}

/// Its pauses are those of the gateway's clock, which a test moves.
#[test]
fn blocking_handler_runs_on_its_callers_thread() {
    let fake = FakeGateway::new().unwrap();
    let gateway = BlockingGateway::from(fake.gateway()).with_journal(journal_of(&MemoryDisk::default(), &[]));
    gateway.create_mbank_payment(MbankPayment::new("tea", 100, "996555000101", "tea")).unwrap();
    fake.charge("tea").unwrap();
    let (here, stop, mut tries) = (thread::current().id(), StopSignal::new(), 0);
    let deliver = |entry: JournalEntry| {
        assert_eq!((thread::current().id(), number(&entry)), (here, "tea".to_owned()));
        tries += 1;
        if tries < 3 {
            return Err("the stock is locked");
        }
        stop.stop();
        Ok(())
    };
    let summary = gateway.deliver_forever(DeliveryPolicy::default(), &stop, deliver).unwrap();
    assert_eq!((tries, summary.to_string()), (3, "1 delivered; left open: nothing".to_owned()));
}
