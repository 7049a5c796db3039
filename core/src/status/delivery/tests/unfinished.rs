//! A delivery that runs once.

use super::*;

const HALF_A_MINUTE: Duration = Duration::from_secs(30);

async fn deliver_once(gateway: &Gateway, handler: impl DeliveryHandler) -> Result<DeliverySummary, PaymentError> {
    gateway.deliver_unfinished(RecoveryPolicy::default().with_deadline(HALF_A_MINUTE), handler).await
}

#[tokio::test(start_paused = true)]
async fn charged_payments_are_delivered_once() {
    let journal = journal_of(&MemoryDisk::default(), &["one", "two", "three", "four"]);
    let gateway = gateway_of(&journal, |number| match number {
        "one" => report("CHARGE", 10),
        "two" => report("REJECT", 10),
        "three" => report("CHARGE", 11),
        _ => report("NEW", 10),
    });
    let (shop, started) = (Shop::new(&[]), Instant::now());
    let (delivered, others) = (shop.delivered.clone(), shop.others.clone());
    let summary = deliver_once(&gateway, shop).await.unwrap();
    assert_eq!(calls(&delivered), at(&[("one", 0)]));
    let mut others = calls(&others);
    others.sort();
    assert_eq!(others, at(&[("three Mismatch", 22), ("two Rejected", 0)]));
    let expected = "1 delivered; left open: 0 charged and not delivered, 1 undecided, 1 for a person";
    assert_eq!((summary.to_string().as_str(), started.elapsed()), (expected, HALF_A_MINUTE));

    let shop = Shop::new(&[]);
    let delivered = shop.delivered.clone();
    deliver_once(&gateway, shop).await.unwrap();
    assert_eq!(calls(&delivered), []);
}

#[tokio::test(start_paused = true)]
async fn it_ends_when_nothing_is_open() {
    let journal = journal_of(&MemoryDisk::default(), &["one"]);
    let started = Instant::now();
    let summary = deliver_once(&gateway_of(&journal, |_| report("CHARGE", 10)), Shop::new(&[])).await.unwrap();
    assert_eq!((summary.to_string().as_str(), started.elapsed()), ("1 delivered; left open: nothing", Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn failed_delivery_is_the_next_runs() {
    let journal = journal_of(&MemoryDisk::default(), &["one", "two", "three", "four"]);
    let gateway =
        gateway_of(&journal, |number| if number == "three" { report("REJECT", 10) } else { report("CHARGE", 10) });
    let shop = Shop::new(&[("one", 1), ("three", 1)]);
    let (delivered, others) = (shop.delivered.clone(), shop.others.clone());
    let summary = deliver_once(&gateway, shop).await.unwrap();
    assert_eq!((calls(&delivered).len(), calls(&others).len()), (3, 1), "each once");
    assert_eq!((summary.delivered, summary.undelivered().map(number).collect::<Vec<_>>()), (2, vec!["one".to_owned()]));
    let again = deliver_once(&gateway, Shop::new(&[])).await.unwrap();
    assert_eq!(again.to_string(), "1 delivered; left open: nothing");
}

#[tokio::test(start_paused = true)]
async fn panic_is_a_failed_delivery() {
    let journal = journal_of(&MemoryDisk::default(), &["one", "two"]);
    let gateway = gateway_of(&journal, |_| report("CHARGE", 10));
    let handler = |entry: JournalEntry| async move {
        assert!(number(&entry) != "one", "a defect of the shop");
        Ok::<(), String>(())
    };
    let summary = deliver_once(&gateway, handler).await.unwrap();
    assert_eq!((summary.delivered, summary.undelivered().count()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn payment_finished_meanwhile_is_not_delivered() {
    let journal = journal_of(&MemoryDisk::default(), &["one", "two"]);
    for number in ["one", "two"] {
        journal.record_report(&card(number), ReportedStatus::Charged, None);
    }
    let gateway = gateway_of(&journal, |_| report("NEW", 10));
    let finishes_the_other = |entry: JournalEntry| {
        let other = if number(&entry) == "one" { "two" } else { "one" };
        journal.finish(&journal.entry(&card(other)).unwrap().unwrap().id).unwrap();
        async { Ok::<_, Infallible>(()) }
    };
    let summary = deliver_once(&gateway, finishes_the_other).await.unwrap();
    assert_eq!(summary.to_string(), "1 delivered; left open: nothing");
}

/// The goods are handed out once, though the disk is full when the entry is to be finished.
#[tokio::test(start_paused = true)]
async fn its_delivered_payment_is_finished_at_the_end() {
    let disk = MemoryDisk::default();
    let gateway = gateway_of(&journal_of(&disk, &["one"]), |_| report("CHARGE", 10));
    let mut delivered = 0;
    let deliver = |_: JournalEntry| {
        delivered += 1;
        disk.fail_at(0);
        async { Ok::<_, Infallible>(()) }
    };
    let summary = deliver_once(&gateway, deliver).await.unwrap();
    assert!(disk.has_failed(), "the disk was full");
    assert_eq!((delivered, summary.to_string().as_str()), (1, "1 delivered; left open: nothing"));
}

/// The handler of the first payment takes longer than the deadline, and the second one is paid at the gateway.
#[tokio::test(start_paused = true)]
async fn slow_handler_does_not_use_up_the_deadline() {
    let journal = journal_of(&MemoryDisk::default(), &["one", "two"]);
    journal.record_report(&card("one"), ReportedStatus::Charged, None);
    let gateway = gateway_of(&journal, |_| report("CHARGE", 10));
    let summary = deliver_once(&gateway, slow_handler("shop", &Spans::default(), 1)).await.unwrap();
    assert_eq!((summary.delivered, summary.undelivered().map(number).collect::<Vec<_>>()), (1, vec!["one".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn payment_reported_again_is_handled_once() {
    let disk = MemoryDisk::default();
    let journal = journal_of(&disk, &["one"]);
    journal.record_report(&card("one"), ReportedStatus::Charged, None);
    let gateway = gateway_of(&journal, |_| report("NEW", 10));
    let shop = Shop::new(&[("one", usize::MAX)]);
    let delivered = shop.delivered.clone();
    let policy = RecoveryPolicy::default().with_follow_new(true).with_deadline(100 * SECOND);
    let id = journal.entry(&card("one")).unwrap().unwrap().id;
    let (summary, ()) = tokio::join!(gateway.deliver_unfinished(policy, shop), async {
        sleep(5 * SECOND).await;
        let (path, content) = disk.take_away(&id);
        sleep(20 * SECOND).await;
        disk.put(&path, &content);
    });
    assert_eq!((calls(&delivered).len(), summary.unwrap().undelivered().count()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn errors_of_its_recovery_reach_the_caller() {
    let journal = journal_of(&MemoryDisk::default(), &["one", "two"]);
    journal.record_report(&card("one"), ReportedStatus::Charged, None);
    let gateway = gateway_of(&journal, |_| Act::error(401, None));
    let error = deliver_once(&gateway, Shop::new(&[])).await.unwrap_err();
    assert!(error.to_string().contains("credentials"), "{error}");
    assert!(journal.entry(&card("one")).unwrap().unwrap().is_finished, "it was delivered before");

    let (without_journal, _) = Scripted::gateway(|_| report("NEW", 10));
    let error = deliver_once(&without_journal, Shop::new(&[])).await.unwrap_err();
    assert!(error.to_string().contains("journal"), "{error}");
}

/// A worker of another process begins while its handler runs.
#[tokio::test(start_paused = true)]
async fn nobody_else_delivers_meanwhile() {
    let journal = journal_of(&MemoryDisk::default(), &["one"]);
    journal.record_report(&card("one"), ReportedStatus::Charged, None);
    let (gateway, other) = (gateway_of(&journal, |_| report("NEW", 10)), gateway_of(&journal, |_| report("NEW", 10)));
    let spans = Spans::default();
    let (first, second) = (slow_handler("first", &spans, 0), slow_handler("second", &spans, 0));
    let (one, two) = tokio::join!(deliver_once(&gateway, first), async {
        sleep(SECOND).await;
        other.deliver_forever(DeliveryPolicy::default(), sleep(300 * SECOND), second).await
    });
    assert_eq!((one.unwrap().delivered, two.unwrap().delivered), (1, 0));
    assert_eq!(*spans.lock().unwrap(), [("first", 0, 100)]);
}

#[test]
fn it_delivers_on_its_callers_thread() {
    let fake = FakeGateway::new().unwrap();
    let gateway = BlockingGateway::from(fake.gateway()).with_journal(journal_of(&MemoryDisk::default(), &[]));
    gateway.create_mbank_payment(MbankPayment::new("tea", 100, "996555000101", "tea")).unwrap();
    fake.charge("tea").unwrap();
    let (here, mut fails) = (thread::current().id(), true);
    let mut deliver = |entry: JournalEntry| {
        assert_eq!((thread::current().id(), number(&entry)), (here, "tea".to_owned()));
        if std::mem::take(&mut fails) { Err("the stock is locked") } else { Ok(()) }
    };
    let policy = RecoveryPolicy::default().with_deadline(HALF_A_MINUTE);
    let summary = gateway.deliver_unfinished(policy, &mut deliver).unwrap();
    assert_eq!((summary.delivered, summary.undelivered().count()), (0, 1));
    let summary = gateway.deliver_unfinished(policy, &mut deliver).unwrap();
    assert_eq!(summary.to_string(), "1 delivered; left open: nothing");
}
