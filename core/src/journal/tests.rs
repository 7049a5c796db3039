//! Crashes, enumerated and not sampled: every operation is stopped before and after each of its steps on the file system,
//! with all that was done kept (a process died) and with all that was not flushed lost (the power went).

pub(crate) mod memory_disk;

use std::path::Path;

use memory_disk::{Crash, MemoryDisk};

use super::*;
use crate::{Decimal, JournalEntry, JournalState, Unfinished};

fn folder() -> &'static Path {
    Path::new("shop")
}

fn journal(disk: &MemoryDisk) -> Journal {
    Journal::on(Box::new(disk.clone()), folder()).unwrap()
}

fn card(number: &str) -> PaymentRef {
    PaymentRef::card(number, Decimal::ONE_HUNDRED, "KGS")
}

fn entries(journal: &Journal) -> Vec<JournalEntry> {
    let listed = journal.unfinished().map(|item| match item.unwrap() {
        Unfinished::Payment { entry } => Some(*entry),
        Unfinished::Unreadable { .. } => None,
    });
    listed.flatten().collect()
}

fn states(journal: &Journal) -> Vec<JournalState> {
    entries(journal).into_iter().map(|entry| entry.state).collect()
}

#[test]
fn number_is_sent_once_and_only_once() {
    let disk = MemoryDisk::default();
    let journal = journal(&disk);
    let held = journal.begin(&card("order-1"), Some("cart 17")).unwrap();
    let Err(BeginError::SentBefore { payment, detail }) = journal.begin(&card("order-1"), None) else { panic!() };
    assert_eq!((payment, detail.contains("its outcome is unknown")), (Some(card("order-1").into()), true), "{detail}");
    let with_page = PaymentEntry::new(card("order-1").with_gateway_number("gw-1")).with_page_url("https://pay.kg/3ds");
    journal.record(&held, SendOutcome::Accepted { entry: &with_page, code: Some("110") });
    let entry = entries(&journal).pop().unwrap();
    assert_eq!(
        (entry.state, entry.payment, entry.page_url),
        (JournalState::Pending, with_page.payment, with_page.page_url)
    );
    assert_eq!((entry.code.as_deref(), entry.note.as_deref()), (Some("110"), Some("cart 17")));
    journal.record_report(&card("order-1"), ReportedStatus::Charged, None);
    assert_eq!(states(&journal), [JournalState::Charged]);
    journal.finish(&entry.id).unwrap();
    journal.finish(&entry.id).unwrap();
    assert!(entries(&journal).is_empty());
    assert!(matches!(journal.begin(&card("order-1"), None), Err(BeginError::SentBefore { .. })), "done is not free");
    disk.pass(Duration::from_secs(70 * 24 * 3600));
    journal.begin(&card("order-2"), None).unwrap();
    journal.prune(RETENTION).unwrap();
    assert!(journal.begin(&card("order-1"), None).is_err(), "kept for 90 days");
    disk.pass(Duration::from_secs(60 * 24 * 3600));
    journal.prune(RETENTION).unwrap();
    assert!(journal.begin(&card("order-1"), None).is_err(), "a clock that ran ahead forgets nothing");
    journal.begin(&card("order-3"), None).unwrap();
    journal.prune(RETENTION).unwrap();
    assert!(journal.begin(&card("order-1"), None).is_ok(), "forgotten");
}

#[test]
fn order_number_after_no_send_is_free_again() {
    let journal = journal(&MemoryDisk::default());
    let held = journal.begin(&card("order-1"), None).unwrap();
    journal.record(&held, SendOutcome::NothingHappened);
    assert!(entries(&journal).is_empty());
    assert!(journal.begin(&card("order-1"), None).is_ok());
}

#[test]
fn confirmation_is_resent_only_after_wrong_otp() {
    let journal = journal(&MemoryDisk::default());
    let payment = PaymentRef::mbank("order-1", 100);
    assert!(journal.begin_confirmation(&payment).unwrap().is_none(), "made without this journal");
    journal.begin(&payment, None).unwrap();
    let first = journal.begin_confirmation(&payment).unwrap().unwrap();
    assert!(journal.begin_confirmation(&payment).is_err(), "one is on its way");
    journal.record(&first, SendOutcome::NothingHappened);
    let second = journal.begin_confirmation(&payment).unwrap().unwrap();
    journal.record(&second, SendOutcome::Unanswered { payment: &payment, code: None });
    assert!(matches!(journal.begin_confirmation(&payment), Err(BeginError::SentBefore { .. })), "it is unknown");
    assert_eq!(states(&journal), [JournalState::Unknown]);
}

/// A payment that was rejected or dealt with can still be charged: then it is listed again, and loudly so.
#[test]
fn charge_after_the_end_is_listed_again() {
    let journal = journal(&MemoryDisk::default());
    for end in [ReportedStatus::Rejected, ReportedStatus::Mismatch] {
        let payment = card(&format!("{end:?}"));
        journal.begin(&payment, None).unwrap();
        journal.record_report(&payment, end, None);
        if end == ReportedStatus::Mismatch {
            journal.finish(&entries(&journal)[0].id).unwrap();
        }
        assert!(entries(&journal).is_empty());
        journal.record_report(&payment, ReportedStatus::Pending, None);
        assert!(entries(&journal).is_empty(), "{end:?}: nothing to deliver");
        journal.record_report(&payment, ReportedStatus::Charged, None);
        let entry = entries(&journal).pop().expect("it is listed");
        assert_eq!((entry.state, &entry.payment), (JournalState::Charged, &payment));
        journal.finish(&entry.id).unwrap();
        journal.record_report(&payment, ReportedStatus::Charged, None);
        assert!(entries(&journal).is_empty(), "delivered once");
    }
}

#[test]
fn confirmation_after_rejection_is_sent_once() {
    let journal = journal(&MemoryDisk::default());
    let payment = PaymentRef::mbank("order-1", 100);
    let created = journal.begin(&payment, None).unwrap();
    journal.record_report(&payment, ReportedStatus::Rejected, None);
    journal.record(&created, SendOutcome::Accepted { entry: &PaymentEntry::new(payment.clone()), code: None });
    let held = journal.begin_confirmation(&payment).unwrap().unwrap();
    assert_eq!(states(&journal), [JournalState::Unknown], "it may be charged by that");
    journal.record(&held, SendOutcome::Accepted { entry: &PaymentEntry::new(payment.clone()), code: None });
    assert!(journal.begin_confirmation(&payment).is_err(), "it was accepted");
}

/// What one queries with does not change what was sent.
#[test]
fn report_of_different_request_is_not_recorded() {
    let journal = journal(&MemoryDisk::default());
    journal.begin(&card("order-1"), None).unwrap();
    let dearer = PaymentRef::card("order-1", Decimal::from(500), "KGS");
    for other in [dearer, PaymentRef::mbank("order-1", 100)] {
        journal.record_report(&other, ReportedStatus::Charged, None);
        journal.record_report(&other, ReportedStatus::Mismatch, None);
        assert_eq!(states(&journal), [JournalState::Unknown]);
    }
    journal.record_report(&card("order-1"), ReportedStatus::Mismatch, None);
    journal.record_report(&card("order-1"), ReportedStatus::Pending, None);
    assert_eq!(states(&journal), [JournalState::Pending], "one odd report is not the end");
}

/// Another process may be opening the journal, or have died while it did.
#[test]
fn write_trial_file_is_not_listed() {
    let disk = MemoryDisk::default();
    let journal = journal(&disk);
    disk.put(&folder().join("open").join(format!("{}1", entry::TRIAL)), b"");
    assert_eq!(journal.unfinished().count(), 0);
}

/// A folder that went away (an unmounted card) must not read as a journal in which nothing was ever sent.
#[test]
fn folder_that_is_gone_is_no_empty_journal() {
    let disk = MemoryDisk::default();
    let journal = journal(&disk);
    journal.begin(&card("order-1"), None).unwrap();
    disk.lose_everything();
    assert!(journal.unfinished().any(|item| item.is_err()));
    assert!(matches!(journal.begin(&card("order-1"), None), Err(BeginError::Unwritten { .. })));
}

#[test]
fn unfinished_are_oldest_first_without_rejected() {
    let disk = MemoryDisk::default();
    let journal = journal(&disk);
    for number in ["b", "a", "d", "c"] {
        journal.begin(&card(number), None).unwrap();
        disk.pass(Duration::from_secs(16 * 3600));
    }
    journal.record_report(&card("a"), ReportedStatus::Rejected, None);
    let listed = entries(&journal);
    let numbers: Vec<_> = listed.iter().map(|entry| entry.payment.order_number.as_deref().unwrap()).collect();
    assert_eq!(numbers, ["b", "d", "c"]);
    assert!(journal.entry(&card("a")).unwrap().unwrap().state == JournalState::Rejected, "it is kept");
}

/// Each begins in a folder of its own, by its clock, and all at once.
#[test]
fn clock_skew_never_sends_order_number_twice() {
    let mut sent = 0;
    for round in 0..100 {
        let disk = MemoryDisk::default();
        let begin = |days: u64| {
            let journal = journal(&disk.with_a_clock_ahead_by(Duration::from_secs(days * 24 * 3600)));
            std::thread::spawn(move || journal.begin(&card("order-1"), None).is_ok())
        };
        let threads: Vec<_> = (0..4).map(|thread| begin(thread % 3)).collect();
        let winners = threads.into_iter().filter_map(|thread| thread.join().unwrap().then_some(())).count();
        assert!(winners <= 1, "round {round}: {winners} would send");
        sent += winners;
    }
    assert!(sent > 0, "nobody ever sends");
}

/// The same, between every two steps of the other.
#[test]
fn begin_between_any_steps_sends_at_most_once() {
    for days in [0, 1, 300] {
        for step in 0.. {
            let disk = MemoryDisk::default();
            let mine = journal(&disk);
            let other = journal(&disk.with_a_clock_ahead_by(Duration::from_secs(days * 24 * 3600)));
            let (sender, receiver) = std::sync::mpsc::channel();
            disk.before_step(step, move || sender.send(other.begin(&card("order-1"), None).is_ok()).unwrap());
            let i_send = mine.begin(&card("order-1"), None).is_ok();
            if disk.is_still_waiting() {
                assert!(i_send && step > 3);
                break;
            }
            let winners = u32::from(i_send) + u32::from(receiver.recv().unwrap());
            assert!(winners <= 1, "{days} days, step {step}: both would send");
        }
    }
}

/// Whoever delivers it finishes it, and would deliver it again when another report of the same charge is recorded.
#[test]
fn charge_that_could_not_be_recorded_is_finished_as_one() {
    let disk = MemoryDisk::default();
    let journal = journal(&disk);
    let id = journal.begin(&card("order-1"), None).unwrap().name().to_owned();
    disk.fail_at(0);
    journal.record_report(&card("order-1"), ReportedStatus::Charged, None);
    disk.fail_at(usize::MAX);
    journal.finish(&id).unwrap();
    journal.record_report(&card("order-1"), ReportedStatus::Charged, None);
    assert_eq!(journal.unfinished().count(), 0);
    let entry = journal.entry(&card("order-1")).unwrap().unwrap();
    assert!(entry.is_finished && entry.state == JournalState::Charged);
}

/// Listing moves finished entries, here between every two steps of the process that finishes one.
#[test]
fn finish_during_concurrent_listing_succeeds() {
    for step in 0.. {
        let disk = MemoryDisk::default();
        let (mine, other) = (journal(&disk), journal(&disk));
        drop(mine.begin(&card("order-1"), None).unwrap());
        mine.record_report(&card("order-1"), ReportedStatus::Charged, None);
        let id = entries(&mine)[0].id.clone();
        disk.before_step(step, move || drop(entries(&other)));
        mine.finish(&id).unwrap_or_else(|problem| panic!("step {step}: {problem}"));
        if disk.is_still_waiting() {
            assert!(step > 3);
            break;
        }
        assert!(entries(&mine).is_empty() && mine.entry(&card("order-1")).unwrap().unwrap().is_finished, "step {step}");
    }
}

#[test]
fn unreadable_entry_is_listed_and_blocks_number() {
    let disk = MemoryDisk::default();
    let journal = journal(&disk);
    let held = journal.begin(&card("order-1"), None).unwrap();
    for content in [&b"hello"[..], b"kassa-journal2:at=1&step=sending&check=00000000\n"] {
        disk.put(held.path(), content);
        let items: Vec<_> = journal.unfinished().map(Result::unwrap).collect();
        assert!(matches!(&items[..], [Unfinished::Unreadable { id, .. }] if id == held.name()), "{items:?}");
        assert!(matches!(journal.begin(&card("order-1"), None), Err(BeginError::SentBefore { payment: None, .. })));
    }
    disk.put(&folder().join("open/.DS_Store"), b"");
    assert_eq!(journal.unfinished().count(), 2);
    assert!(journal.begin(&card("order-2"), None).is_ok(), "a foreign file stops nothing else");
    journal.finish(held.name()).unwrap();
    assert!(journal.begin(&card("order-1"), None).is_err(), "dealt with by a person, and still taken");
    for id in ["", ".", "..", "../open", "no-such-entry"] {
        assert!(matches!(journal.finish(id), Err(PaymentError::Invalid { .. })), "{id}");
    }
}

#[test]
fn begin_with_failing_disk_returns_unwritten() {
    let disk = MemoryDisk::default();
    let journal = journal(&disk);
    for step in 0.. {
        disk.fail_at(step);
        let begun = journal.begin(&card("order-1"), None);
        let failed = disk.has_failed();
        disk.fail_at(usize::MAX);
        if !failed {
            break;
        }
        assert!(matches!(begun, Err(BeginError::Unwritten { .. })), "{step}: {begun:?}");
        assert!(step < 100);
    }
}

/// The journal calls of one payment from beginning to end; counts what was sent.
fn live(journal: &Journal, books: &mut Books) {
    let payment = PaymentRef::mbank("order-1", 100);
    let Ok(held) = journal.begin(&payment, Some("cart 17")) else { return };
    books.sent += 1;
    let entry = PaymentEntry::new(payment.clone());
    journal.record(&held, SendOutcome::Accepted { entry: &entry, code: None });
    for is_right in [false, true] {
        let Ok(Some(held)) = journal.begin_confirmation(&payment) else { return };
        books.confirmed += u32::from(is_right);
        let outcome =
            if is_right { SendOutcome::Accepted { entry: &entry, code: None } } else { SendOutcome::NothingHappened };
        journal.record(&held, outcome);
    }
    journal.record_report(&payment, ReportedStatus::Charged, None);
    let Ok(Some(entry)) = journal.entry(&payment) else { return };
    if entry.state == JournalState::Charged && journal.finish(&entry.id).is_ok() {
        books.finished = true;
    }
}

/// The gateway's books.
#[derive(Debug, Default)]
struct Books {
    sent: u32,
    confirmed: u32,
    finished: bool,
}

#[test]
fn crash_at_any_step_loses_and_resends_nothing() {
    for crash in [Crash::Process, Crash::Power] {
        for is_done in [false, true] {
            let mut step = 0;
            loop {
                let disk = MemoryDisk::default();
                let mut books = Books::default();
                let before = journal(&disk);
                disk.crash_at(step, is_done);
                live(&before, &mut books);
                let has_crashed = disk.has_failed();
                disk.restart(crash);
                after_a_crash(&disk, &mut books, step);
                if !has_crashed {
                    break;
                }
                step += 1;
            }
            assert!(step > 15, "{crash:?}: only {step} steps");
        }
    }
}

fn after_a_crash(disk: &MemoryDisk, books: &mut Books, step: usize) {
    let journal = journal(disk);
    let listed = entries(&journal);
    let payment = PaymentRef::mbank("order-1", 100);
    if books.sent > 0 && !books.finished {
        let is_known = listed.len() == 1
            || journal.entry(&payment).unwrap().is_some_and(|entry| entry.state == JournalState::Charged);
        assert!(is_known, "step {step}: forgotten, {books:?}");
    }
    assert!(listed.iter().all(|entry| entry.payment == payment && entry.note.as_deref() == Some("cart 17")), "{step}");
    let sent_before = books.sent;
    if journal.begin(&payment, None).is_ok() {
        books.sent += 1;
    }
    assert!(books.sent <= 1 && (sent_before == 0 || books.sent == sent_before), "step {step}: sent twice, {books:?}");
    let entry = journal.entry(&payment).ok().flatten(); // an empty one cannot be read, and was never sent
    let is_known = entry.is_some_and(|entry| entry.state != JournalState::Unknown);
    if books.confirmed > 0 && journal.begin_confirmation(&payment).is_ok() {
        assert!(is_known, "step {step}: the confirmation would be sent again");
    }
}

fn form(id: &str) -> PaymentRef {
    PaymentRef::pay_form(Decimal::TEN).with_entry_id(id).with_claimed_number("gw-7", None)
}

/// At most one entry gets a number, whenever the process died.
#[test]
fn claimed_number_pays_once_whatever_crashes() {
    for crash in [Crash::Process, Crash::Power] {
        for is_done in [false, true] {
            for step in 0.. {
                let disk = MemoryDisk::default();
                let before = journal(&disk);
                disk.crash_at(step, is_done);
                let first_was_assigned = before.assign_number(&form("first")) == Ok(Assigned::Own);
                let has_crashed = disk.has_failed();
                disk.restart(crash);
                let after = journal(&disk);
                let second_is_assigned = after.assign_number(&form("second")) == Ok(Assigned::Own);
                assert!(!(first_was_assigned && second_is_assigned), "{crash:?} {is_done} {step}: both");
                let first_is_assigned = after.assign_number(&form("first")) == Ok(Assigned::Own);
                assert!(first_is_assigned != second_is_assigned, "{crash:?} {is_done} {step}: exactly one");
                if !has_crashed {
                    assert!(first_was_assigned && step > 4);
                    break;
                }
            }
        }
    }
}

#[test]
fn of_two_who_claim_a_number_at_once_one_has_it() {
    for days in [0, 40] {
        for step in 0.. {
            let disk = MemoryDisk::default();
            let mine = journal(&disk);
            let other = journal(&disk.with_a_clock_ahead_by(Duration::from_secs(days * 24 * 3600)));
            let (sender, receiver) = std::sync::mpsc::channel();
            disk.before_step(step, move || {
                sender.send(other.assign_number(&form("other")) == Ok(Assigned::Own)).unwrap()
            });
            let is_mine = mine.assign_number(&form("mine")) == Ok(Assigned::Own);
            if disk.is_still_waiting() {
                assert!(is_mine && step > 3);
                break;
            }
            assert!(!(is_mine && receiver.recv().unwrap()), "{days} days, step {step}: both");
        }
    }
}

/// A payer may be declined and try again, so the number that was claimed last is queried, until one has paid.
#[test]
fn latest_claim_is_queried_until_one_is_charged() {
    let journal = journal(&MemoryDisk::default());
    let plain = PaymentRef::pay_form(Decimal::TEN).with_entry_id("cart-1");
    journal.add(&PaymentEntry::new(plain.clone()), None).unwrap();
    let numbers = |journal: &Journal| entries(journal).pop().unwrap().payment.order_number;
    let claimed = |number: &str| plain.clone().with_claimed_number(number, None);
    for number in ["gw-1", "gw-2"] {
        journal.record_report(&claimed(number), ReportedStatus::Pending, None);
        assert_eq!(numbers(&journal).as_deref(), Some(number));
    }
    journal.record_report(&claimed("gw-3"), ReportedStatus::Charged, None);
    journal.record_report(&claimed("gw-4"), ReportedStatus::Pending, None);
    journal.record_report(&claimed("gw-4"), ReportedStatus::Charged, None);
    assert_eq!(numbers(&journal).as_deref(), Some("gw-3"), "what has paid stays what has paid");
    assert_eq!(journal.entry(&plain).unwrap().unwrap().state, JournalState::Charged);
}

/// A gateway may know a payment by two numbers, and payments of all kinds by one.
#[test]
fn own_payment_cannot_be_claimed_by_its_numbers() {
    let journal = journal(&MemoryDisk::default());
    let held = journal.begin(&card("order-1"), None).unwrap();
    journal.adopt_numbers(&held, &mut card("order-1").with_gateway_number("gw-1"));
    let code = PaymentRef::qr(Some(1000)).with_transaction_id("tx-1");
    journal.add(&PaymentEntry::new(code), None).unwrap();
    for number in ["order-1", "gw-1", "GW-1"] {
        let claimed = PaymentRef::pay_form(Decimal::TEN).with_entry_id("cart").with_claimed_number(number, None);
        assert_eq!(journal.assign_number(&claimed), Ok(Assigned::Foreign), "{number}");
    }
    let of_another_kind = PaymentRef::pay_form(Decimal::TEN).with_entry_id("cart").with_claimed_number("tx-1", None);
    assert_eq!(
        journal.assign_number(&of_another_kind),
        Ok(Assigned::Own),
        "an order may have the number of a transaction"
    );
}

/// A gateway that repeats itself: one charge must not pay for two orders.
#[test]
fn reported_number_belongs_to_one_entry() {
    let disk = MemoryDisk::default();
    let (mine, later) = (journal(&disk), journal(&disk.with_a_clock_ahead_by(Duration::from_secs(40 * 24 * 3600))));
    let begun = |journal: &Journal, number: &str| journal.begin(&card(number), None).unwrap();
    let adopted = |journal: &Journal, held: &EntryGuard, gateway_number: &str| {
        let mut payment = card("any").with_gateway_number(gateway_number);
        journal.adopt_numbers(held, &mut payment);
        payment.gateway_number
    };
    let (first, second) = (begun(&mine, "order-1"), begun(&later, "order-2"));
    assert_eq!(adopted(&mine, &first, "gw-1").as_deref(), Some("gw-1"));
    assert_eq!(adopted(&mine, &first, "gw-1").as_deref(), Some("gw-1"), "its own, told again");
    for number in ["gw-1", "GW-1", "order-1"] {
        assert_eq!(adopted(&later, &second, number), None, "{number}");
    }
    assert_eq!(adopted(&later, &second, "order-2").as_deref(), Some("order-2"));
    disk.fail_at(0);
    assert_eq!(adopted(&later, &second, "gw-2"), None, "whose it is cannot be written down");
}

#[test]
fn page_is_shown_to_one_payer() {
    let journal = journal(&MemoryDisk::default());
    let (first, second) =
        (journal.begin(&card("order-1"), None).unwrap(), journal.begin(&card("order-2"), None).unwrap());
    let page = "https://pay.kg/3ds?token=gw-1";
    assert!(!journal.is_anothers_page(&first, page));
    assert!(!journal.is_anothers_page(&first, page));
    assert!(journal.is_anothers_page(&second, page));
    assert!(!journal.is_anothers_page(&second, &page.to_uppercase()), "an address is no number");
    let form = |id: &str, page: &str| {
        let payment = PaymentRef::pay_form(Decimal::TEN).with_entry_id(id);
        PaymentEntry::new(payment).with_page_url(page)
    };
    let detail = |added: Result<(), BeginError>| match added {
        Err(BeginError::Unwritten { detail }) => detail,
        other => panic!("{other:?}"),
    };
    assert!(detail(journal.add(&form("cart-1", page), None)).contains("page is another entry's"));
    journal.add(&form("cart-1", "https://pay.kg/form?token=1"), None).unwrap();
    assert!(
        detail(journal.add(&form("cart-2", "https://pay.kg/form?token=1"), None)).contains("page is another entry's")
    );
    assert!(journal.entry(&form("cart-2", page).payment).unwrap().is_none(), "what is not handed on is not followed");
}

/// A gateway may take back what it said.
#[test]
fn rejected_payment_is_polled_for_three_days() {
    let disk = MemoryDisk::default();
    let journal = journal(&disk);
    let payment = card("order-1");
    journal.begin(&payment, None).unwrap();
    journal.record_report(&payment, ReportedStatus::Rejected, Some("NO FUNDS"));
    let id = name_of(&payment).unwrap();
    let interval = Duration::from_secs(10);
    let wait = |journal: &Journal| {
        let known = journal.queries(&id).unwrap()?;
        assert_eq!(known.entry.state, JournalState::Rejected);
        Some(known.after_end.unwrap().next(interval).duration_since(journal.now()).unwrap_or_default())
    };
    let listed = |journal: &Journal| journal.unfinished_and_rejected().count();
    let (mut queries, begun) = (0, journal.now());
    while let Some(wait) = wait(&journal) {
        assert!(wait <= Duration::from_secs(24 * 3600) && (wait >= interval || queries > 0), "{wait:?}");
        assert_eq!((entries(&journal).len(), listed(&journal)), (0, 1));
        disk.pass(wait);
        // Queries before they are due write no more lines.
        for _ in 0..10 {
            journal.record_report(&payment, ReportedStatus::Rejected, Some("NO FUNDS"));
        }
        queries += 1;
        if queries == 3 {
            journal.finish(&id).unwrap();
        }
    }
    assert!((8..=14).contains(&queries), "{queries}");
    let age = journal.now().duration_since(begun).unwrap();
    assert!(age >= Duration::from_secs(3 * 24 * 3600) && age < Duration::from_secs(5 * 24 * 3600), "{age:?}");
    assert_eq!((listed(&journal), listed(&journal)), (0, 0));
    let path = journal.shared.find(&id).unwrap().unwrap();
    assert!(path.starts_with(&journal.shared.done), "{path:?}");
    let lines = journal.shared.disk.read(&path).unwrap().iter().filter(|byte| **byte == b'\n').count() / 2;
    assert!(lines < 20, "{lines}");
    journal.record_report(&payment, ReportedStatus::Charged, None);
    assert_eq!(states(&journal), [JournalState::Charged], "whoever asks all the same");
}

/// Else it could pay for one order after the other.
#[test]
fn claim_for_no_entry_pays_for_nothing() {
    let journal = journal(&MemoryDisk::default());
    let unnamed = PaymentRef::pay_form(Decimal::TEN).with_claimed_number("gw-7", None);
    assert_eq!(journal.assign_number(&unnamed), Ok(Assigned::NoEntry));
    assert_eq!(journal.assign_number(&form("first")), Ok(Assigned::Own));
    assert_eq!(journal.assign_number(&unnamed), Ok(Assigned::Foreign));
}

/// A number may be claimed again much later: its owner file is retained longer than its entry.
#[test]
fn used_number_outlives_its_pruned_entry() {
    let disk = MemoryDisk::default();
    let journal = journal(&disk);
    let own = card("order-1");
    journal.begin(&own, None).unwrap();
    journal.record_report(&own, ReportedStatus::Charged, None);
    assert_eq!(journal.assign_number(&form("first")), Ok(Assigned::Own));
    let id = name_of(&own).unwrap();
    journal.finish(&id).unwrap();
    disk.pass(Duration::from_secs(300 * 24 * 3600));
    journal.begin(&card("order-2"), None).unwrap();
    journal.prune(RETENTION).unwrap();
    assert_eq!(journal.entry(&own), Ok(None), "forgotten");
    let claims =
        |number: &str| PaymentRef::pay_form(Decimal::TEN).with_entry_id("cart-2").with_claimed_number(number, None);
    for number in [form("first").order_number.as_deref().unwrap(), "order-1"] {
        assert_eq!(journal.assign_number(&claims(number)), Ok(Assigned::Foreign), "{number}");
    }
    disk.pass(Duration::from_secs(900 * 24 * 3600));
    journal.begin(&card("order-3"), None).unwrap();
    journal.prune(RETENTION).unwrap();
    assert_eq!(journal.assign_number(&claims("order-1")), Ok(Assigned::Own), "not for ever");
}

/// An owner file of a process that died, and one of the same entry in the folder of another month.
#[test]
fn claim_in_another_month_keeps_its_owner() {
    let disk = MemoryDisk::default();
    let (mine, later) = (journal(&disk), journal(&disk.with_a_clock_ahead_by(Duration::from_secs(40 * 24 * 3600))));
    assert_eq!(mine.assign_number(&form("first")), Ok(Assigned::Own));
    let file = Exclusive::claimed_of(&form("first")).unwrap().owner_file();
    let written = mine.shared.find_in(&mine.shared.paid, &file, None).unwrap().unwrap();
    let line = mine.shared.disk.read(&written).unwrap();
    let beside = later.shared.folder_of_now(&later.shared.paid).unwrap().join(&file);
    for content in [Vec::new(), line] {
        disk.put(&beside, &content);
        assert_eq!(mine.assign_number(&form("first")), Ok(Assigned::Own));
        assert_eq!(mine.assign_number(&form("second")), Ok(Assigned::Foreign));
    }
}

/// A claim is recorded before the gateway is queried, and none is dropped silently; and claims cannot fill the disk.
#[test]
fn claims_are_recorded_up_to_their_limit() {
    let journal = journal(&MemoryDisk::default());
    let plain = PaymentRef::pay_form(Decimal::TEN).with_entry_id("cart-1");
    journal.add(&PaymentEntry::new(plain.clone()), None).unwrap();
    let claim = |number: usize| journal.record_claim(&plain.clone().with_claimed_number(format!("gw-{number}"), None));
    for number in 0..store::MOST_CLAIMS {
        claim(number).unwrap();
    }
    assert!(matches!(claim(store::MOST_CLAIMS), Err(PaymentError::Unavailable { .. })));
    claim(17).unwrap();
    let entry = entries(&journal).pop().unwrap();
    assert_eq!(entry.state, JournalState::Pending);
    let queries = journal.queries(&entry.id).unwrap().unwrap().payments;
    let numbers: Vec<_> = queries.iter().map(|payment| payment.order_number.clone().unwrap()).collect();
    let expected: Vec<_> = (0..store::MOST_CLAIMS).rev().map(|number| format!("gw-{number}")).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn same_transaction_twice_is_one_payers_code() {
    let journal = journal(&MemoryDisk::default());
    let code = PaymentEntry::new(PaymentRef::qr(Some(1000)).with_transaction_id("tx-1"));
    journal.add(&code, None).unwrap();
    assert!(journal.add(&code, None).is_err(), "whoever pays it pays for the first one's order");
    let named = |id: &str| PaymentEntry::new(PaymentRef::qr(Some(1000)).with_transaction_id("tx-2").with_entry_id(id));
    journal.add(&named("a"), None).unwrap();
    assert!(journal.add(&named("b"), None).is_err());
    assert!(journal.entry(&named("b").payment).unwrap().is_none(), "what is not handed on is not followed");
}

/// A program may have stored the transaction alone.
#[test]
fn named_code_is_found_by_its_transaction_too() {
    let journal = journal(&MemoryDisk::default());
    let code = PaymentRef::qr(Some(1000)).with_transaction_id("tx-1");
    journal.add(&PaymentEntry::new(code.clone().with_entry_id("table-4")), None).unwrap();
    journal.record_report(&code, ReportedStatus::Charged, None);
    assert_eq!(states(&journal), [JournalState::Charged]);
    assert_eq!(journal.entry(&code).unwrap().unwrap().payment.entry_id.as_deref(), Some("table-4"));
    let dearer = PaymentRef::qr(Some(2000)).with_transaction_id("tx-1");
    journal.record_report(&dearer, ReportedStatus::Mismatch, None);
    assert_eq!(states(&journal), [JournalState::Charged]);
}
