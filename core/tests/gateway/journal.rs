//! The journal behind a whole gateway, on the real file system: what is sent was written down, and what is written down is
//! not sent again.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use kassa::{
    BlockingGateway, Callback, FakeFault, FakeGateway, Gateway, Journal, JournalEntry, JournalState, MbankPayment,
    PayForm, PaymentError, PaymentRef, PollPolicy, QrPayment, Recovered, RecoveryPolicy, Unfinished, Verdict,
};
use kassa_test_patience::wait_until;

use crate::support::{CVC, OTP, PAN, Server, card_payment, pay_form, response};

/// A folder that goes with the test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        Self::within(&std::env::temp_dir(), name)
    }

    /// A folder of its own even for tests that chose the same name: they run side by side.
    fn within(parent: &Path, name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("kassa-journal-{}-{count}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        Self(folder)
    }

    /// On a file system in memory.
    #[cfg(target_os = "linux")]
    pub fn in_memory(name: &str) -> Self {
        Self::within(Path::new("/dev/shm"), name)
    }

    pub fn journal(&self) -> Journal {
        Journal::open(&self.0).unwrap()
    }

    fn files(&self) -> Vec<PathBuf> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { walk(&path, found) } else { found.push(path) }
            }
        }
        let mut found = Vec::new();
        walk(&self.0, &mut found);
        found
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn tea(order_number: &str) -> MbankPayment {
    MbankPayment::new(order_number, 250, "996700000001", "Tea")
}

pub fn entries(journal: &Journal) -> Vec<JournalEntry> {
    let listed = journal.unfinished().map(|item| match item.unwrap() {
        Unfinished::Payment { entry } => *entry,
        other => panic!("{other:?}"),
    });
    listed.collect()
}

fn run<T>(test: impl Future<Output = T>) -> T {
    pollster::block_on(test)
}

fn fake_with(journal: &Journal) -> (FakeGateway, Gateway) {
    let fake = FakeGateway::new().unwrap();
    let gateway = fake.gateway().with_journal(journal.clone());
    (fake, gateway)
}

/// The whole use of a journal: the program dies; another one lists the unfinished payments, queries, delivers and finishes them.
#[test]
fn program_that_died_finds_its_payments_again() {
    let folder = Folder::new("died");
    let (fake, gateway) = fake_with(&folder.journal());
    let with_note = gateway.with_note("cart 17").unwrap();
    let created = run(with_note.create_card_payment(card_payment())).unwrap();
    drop((gateway, with_note));

    let journal = folder.journal();
    let gateway = fake.gateway().with_journal(journal.clone());
    let entry = entries(&journal).pop().unwrap();
    assert_eq!((entry.state, entry.note.as_deref()), (JournalState::Pending, Some("cart 17")));
    assert_eq!((&entry.payment, &entry.page_url), (&created.payment, &created.entry().page_url));
    fake.charge("order-1").unwrap();
    let payment = PaymentRef::card("order-1", "100.10".parse().unwrap(), "KGS");
    assert!(run(gateway.watch(payment, PollPolicy::default()).unwrap().outcome()).unwrap().unwrap().is_charged());
    let entry = entries(&journal).pop().unwrap();
    assert_eq!(entry.state, JournalState::Charged, "until the goods are delivered");
    journal.finish(&entry.id).unwrap();
    assert!(entries(&journal).is_empty());
}

/// What becomes of an order number after each kind of failure, and whether it may be sent again.
#[test]
fn number_is_free_only_after_definitive_failure() {
    let refused = FakeFault::Refused { code: "51".into(), reason: "NO_MONEY".into() };
    let too_many = FakeFault::TooManyRequests { retry_after: Duration::from_secs(1) };
    for (fault, is_free) in [
        (FakeFault::NoConnection, true),
        (refused, true),
        (FakeFault::Unauthorized, true),
        (too_many, true),
        (FakeFault::RequestLost, false),
        (FakeFault::ResponseLost, false),
        (FakeFault::NoResponse, false),
        (FakeFault::ServerError, false),
    ] {
        let folder = Folder::new("free");
        let journal = folder.journal();
        let (fake, gateway) = fake_with(&journal);
        fake.fail_next(fault.clone());
        let first = run(gateway.create_mbank_payment(tea("order-1"))).unwrap_err();
        assert_eq!(first.payment_may_exist(), !is_free, "{fault:?}: {first}");
        let made = fake.payments().len();
        let second = run(gateway.create_mbank_payment(tea("order-1")));
        if is_free {
            assert!(second.is_ok() && entries(&journal)[0].state == JournalState::Pending, "{fault:?}: {second:?}");
        } else {
            let Err(PaymentError::OutcomeUnknown { payment, detail, .. }) = second else { panic!("{fault:?}") };
            assert_eq!(payment.order_number.as_deref(), Some("order-1"));
            assert!(
                detail.contains("not sent: ") && detail.contains("was already sent and its outcome is unknown"),
                "{detail}"
            );
            assert_eq!(entries(&journal)[0].state, JournalState::Unknown, "{fault:?}");
            assert_eq!(fake.payments().len(), made, "{fault:?}: nothing is sent a second time");
        }
    }
}

#[test]
fn unknown_confirmation_is_not_resent() {
    let folder = Folder::new("confirmation");
    let (fake, gateway) = fake_with(&folder.journal());
    let payment = run(gateway.create_mbank_payment(tea("order-1"))).unwrap().payment;
    let wrong = run(gateway.confirm_mbank_payment(&payment, "000000"));
    assert!(matches!(wrong, Err(PaymentError::Refused { .. })), "{wrong:?}");
    fake.fail_next(FakeFault::RequestLost);
    let lost = run(gateway.confirm_mbank_payment(&payment, &fake.otp()));
    assert!(matches!(lost, Err(PaymentError::OutcomeUnknown { .. })), "{lost:?}");
    let again = run(gateway.confirm_mbank_payment(&payment, &fake.otp()));
    assert!(matches!(again, Err(PaymentError::OutcomeUnknown { .. })), "{again:?}");
    assert!(!run(gateway.check(&payment)).unwrap().is_charged(), "neither was sent");
}

#[test]
fn where_nothing_can_be_written_nothing_is_sent() {
    let folder = Folder::new("full");
    let journal = folder.journal();
    let (fake, gateway) = fake_with(&journal);
    fs::remove_dir_all(&folder.0).unwrap();
    fs::write(&folder.0, "no folder").unwrap();
    for error in [
        run(gateway.create_card_payment(card_payment())).unwrap_err(),
        run(gateway.create_qr_data(QrPayment::new(10_000))).unwrap_err(),
    ] {
        assert!(matches!(&error, PaymentError::Unavailable { detail, .. } if detail.contains("journal")), "{error}");
    }
    assert!(fake.payments().iter().all(|payment| payment.qr_text.is_some()), "no money was requested");
    fs::remove_file(&folder.0).unwrap();
    fs::create_dir(&folder.0).unwrap();
}

#[test]
fn qr_payment_is_recorded_with_its_code() {
    let folder = Folder::new("qr");
    let journal = folder.journal();
    let (fake, gateway) = fake_with(&journal);
    let data = run(gateway.create_qr_data(QrPayment::new(10_000))).unwrap();
    let entry = entries(&journal).pop().unwrap();
    assert_eq!((entry.state, entry.qr_text, &entry.payment), (JournalState::Pending, data.payload, &data.payment));
    fake.reject(data.transaction_id.as_deref().unwrap()).unwrap();
    assert!(matches!(run(gateway.check(&data.payment)), Ok(Verdict::Rejected { .. })));
    assert!(entries(&journal).is_empty(), "there is nothing to deliver");
}

/// A number that was used for another amount: the reference has the amount of this call, so that the charge of the first payment is a
/// mismatch.
#[test]
fn reused_number_with_other_amount_is_mismatch() {
    let folder = Folder::new("reused");
    let journal = folder.journal();
    let (fake, gateway) = fake_with(&journal);
    run(gateway.create_mbank_payment(tea("order-1"))).unwrap();
    let dearer = MbankPayment::new("order-1", 9_000, "996700000001", "Samovar");
    let Err(PaymentError::OutcomeUnknown { payment, detail, .. }) = run(gateway.create_mbank_payment(dearer)) else {
        panic!()
    };
    assert!(detail.contains("amount=250"), "{detail}");
    fake.charge("order-1").unwrap();
    assert!(matches!(run(gateway.check(&payment)), Ok(Verdict::Mismatch { .. })));
    assert_eq!(entries(&journal)[0].state, JournalState::Pending, "that is not its amount");
    assert!(run(gateway.check(&entries(&journal)[0].payment)).unwrap().is_charged());
    assert_eq!(entries(&journal)[0].state, JournalState::Charged);
}

/// A call that is dropped while its entry is written sends nothing, and its number does not stay taken.
#[test]
fn call_dropped_at_once_leaves_number_free() {
    let folder = Folder::new("dropped");
    let journal = folder.journal();
    for round in 0..50 {
        let (fake, gateway) = fake_with(&journal);
        let number = format!("order-{round}");
        let mut call = Box::pin(gateway.create_mbank_payment(tea(&number)));
        run(std::future::poll_fn(|cx| {
            let _ = call.as_mut().poll(cx);
            std::task::Poll::Ready(())
        }));
        drop(call);
        run(gateway.close());
        let is_listed = entries(&journal).iter().any(|entry| entry.payment.order_number.as_deref() == Some(&number));
        assert_eq!(fake.payments().len(), usize::from(is_listed), "{number}");
    }
}

#[test]
fn entries_hold_no_secret_and_are_private() {
    let folder = Folder::new("secret");
    let (_, gateway) = fake_with(&folder.journal());
    run(gateway.create_card_payment(card_payment())).unwrap();
    let payment = run(gateway.create_mbank_payment(tea("order-2"))).unwrap().payment;
    let _ = run(gateway.confirm_mbank_payment(&payment, OTP));
    run(gateway.create_pay_form(pay_form())).unwrap();
    let files = folder.files();
    assert_eq!(files.len(), 6, "one each, and notes of the gateway's own number and of two pages: {files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for secret in [PAN, &format!("={CVC}&"), OTP, "fake:fake"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0, "{}", file.display());
        }
    }
}

#[test]
fn note_too_long_or_without_journal_is_rejected() {
    let folder = Folder::new("notes");
    let (fake, gateway) = fake_with(&folder.journal());
    assert!(gateway.with_note(&"я".repeat(256)).is_ok());
    assert!(matches!(gateway.with_note(&"я".repeat(257)), Err(PaymentError::Invalid { .. })));
    let error = fake.gateway().with_note("cart 17").unwrap_err();
    assert!(matches!(&error, PaymentError::Misconfigured { detail, .. } if detail.contains("no journal")), "{error}");
}

/// A web request is cancelled after its payment was sent: the result is recorded all the same, so that a payer who mistyped the
/// password can try again.
#[test]
fn result_is_recorded_after_cancellation() {
    let folder = Folder::new("nobody");
    let journal = folder.journal();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let server = Server::start(move |request| {
        if request.body.contains("777777") {
            released.lock().unwrap().recv().unwrap();
            return response(400, r#"{"code":"400","message":"WRONG_OTP"}"#);
        }
        response(200, r#"{"code":"110","message":"CREATED"}"#)
    });
    let gateway = server.gateway().with_journal(journal.clone());
    let payment = run(gateway.create_mbank_payment(tea("order-1"))).unwrap().payment;
    let mut call = Box::pin(gateway.confirm_mbank_payment(&payment, "777777"));
    wait_until("the confirmation arrives", || {
        run(std::future::poll_fn(|cx| {
            let _ = call.as_mut().poll(cx);
            std::task::Poll::Ready(())
        }));
        server.received().len() == 2
    });
    drop(call);
    assert_eq!(entries(&journal)[0].state, JournalState::Unknown);
    release.send(()).unwrap();
    run(gateway.close());
    assert_eq!(entries(&journal)[0].state, JournalState::Pending);
    let again = server.gateway().with_journal(journal.clone());
    run(again.confirm_mbank_payment(&payment, "123456")).unwrap();
}

/// On real files, where the lock is the system's.
#[test]
fn second_recovery_waits_for_the_first() {
    let folder = Folder::new("recover");
    let fake = FakeGateway::new().unwrap();
    let gateway = BlockingGateway::from(fake.gateway()).with_journal(folder.journal());
    for number in ["order-1", "order-2"] {
        gateway.create_mbank_payment(tea(number)).unwrap();
        fake.charge(number).unwrap();
    }
    let mut first = gateway.recover(RecoveryPolicy::default()).unwrap();
    let Recovered::Payment { entry } = first.next().unwrap().unwrap() else { panic!() };
    assert_eq!(entry.state, JournalState::Charged);
    let policy =
        RecoveryPolicy::default().with_interval(Duration::from_millis(1)).with_deadline(Duration::from_millis(5));
    let other = BlockingGateway::from(fake.gateway()).with_journal(folder.journal());
    assert!(other.recover(policy).unwrap().next().is_none(), "nothing is delivered twice");
    gateway.finish(&entry.id).unwrap();
    drop(first);
    let left: Vec<_> = other.recover(RecoveryPolicy::default()).unwrap().map(Result::unwrap).collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// A pay-form has no number, so its entry is found by the id in the reference.
#[test]
fn pay_form_is_listed_until_paid_and_finished() {
    let folder = Folder::new("form");
    let (fake, gateway) = fake_with(&folder.journal());
    let created = run(gateway.with_note("cart 17").unwrap().create_pay_form(pay_form())).unwrap();
    assert!(created.payment.entry_id.is_some());
    let stored = created.payment.to_string();

    let journal = folder.journal();
    let gateway = fake.gateway().with_journal(journal.clone());
    let entry = entries(&journal).pop().unwrap();
    assert_eq!((entry.state, &entry.payment), (JournalState::Pending, &created.payment));
    assert_eq!((entry.page_url.as_ref(), entry.note.as_deref()), (Some(&created.pay_form_url), Some("cart 17")));
    let payment: PaymentRef = stored.parse().unwrap();
    let notice = fake.charge(&created.pay_form_url).unwrap();
    let callback = Callback::parse(&notice.callback).unwrap();
    assert!(run(gateway.verify_callback(&callback, &payment)).unwrap().is_charged());
    let entry = entries(&journal).pop().unwrap();
    assert_eq!((entry.state, entry.payment.is_claimed), (JournalState::Charged, true));
    assert_eq!(entry.payment.order_number.as_deref(), Some(callback.order_number.as_str()), "the number is learned");
    run(gateway.finish(&entry.id)).unwrap();
    assert!(entries(&journal).is_empty());
    assert!(run(gateway.verify_callback(&callback, &payment)).unwrap().is_charged(), "a callback that comes again");
    assert!(entries(&journal).is_empty(), "delivered once");
}

#[test]
fn declined_try_ends_no_pay_form() {
    let folder = Folder::new("declined");
    let (fake, gateway) = fake_with(&folder.journal());
    let created = run(gateway.create_pay_form(pay_form())).unwrap();
    let notice = fake.reject(&created.pay_form_url).unwrap();
    let callback = Callback::parse(&notice.callback).unwrap();
    let verdict = run(gateway.verify_callback(&callback, &created.payment)).unwrap();
    assert!(matches!(verdict, Verdict::Rejected { .. }));
    assert_eq!(entries(&folder.journal()).len(), 1, "the payer may try again");
}

/// Replay: a payer claims an earlier payment for another cart of the same amount.
#[test]
fn claimed_number_pays_for_one_order_alone() {
    let folder = Folder::new("replay");
    let (fake, gateway) = fake_with(&folder.journal());
    let forms: Vec<_> = (0..2).map(|_| run(gateway.create_pay_form(pay_form())).unwrap()).collect();
    let notice = fake.charge(&forms[0].pay_form_url).unwrap();
    let callback = Callback::parse(&notice.callback).unwrap();
    let verify = |payment: &PaymentRef| run(gateway.verify_callback(&callback, payment)).unwrap();
    assert!(verify(&forms[0].payment).is_charged());
    // Also by a reference that was made from the amount alone.
    let unnamed = PaymentRef::pay_form(pay_form().amount);
    for payment in [&forms[1].payment, &unnamed] {
        let Verdict::Mismatch { fields, .. } = verify(payment) else { panic!("it has paid already") };
        assert_eq!(fields, ["orderNumber"]);
    }
    assert!(verify(&forms[0].payment).is_charged(), "it is still the first one's");
    let states: Vec<_> = entries(&folder.journal()).iter().map(|entry| entry.state).collect();
    assert_eq!(states.iter().filter(|state| **state == JournalState::Charged).count(), 1, "{states:?}");
}

#[test]
fn own_payment_cannot_pay_for_pay_form() {
    let folder = Folder::new("own");
    let (fake, gateway) = fake_with(&folder.journal());
    run(gateway.create_mbank_payment(MbankPayment::new("order-1", 5, "996700000001", "Tea"))).unwrap();
    let notice = fake.charge("order-1").unwrap();
    let callback = Callback::parse(&notice.callback).unwrap();
    let form = PayForm::new(5.into(), "Shop", "https://shop.example.kg/cb").with_return_url("https://shop.example.kg/");
    let created = run(gateway.create_pay_form(form)).unwrap();
    let verdict = run(gateway.verify_callback(&callback, &created.payment)).unwrap();
    assert!(matches!(verdict, Verdict::Mismatch { .. }), "{verdict:?}");
}

/// For an address that says which payment it is about, the name is chosen before the request is made.
#[test]
fn entry_can_be_named_by_its_user_once() {
    let folder = Folder::new("named");
    let (_, gateway) = fake_with(&folder.journal());
    let form = || pay_form().with_entry_id("order-17");
    assert_eq!(form().payment_ref(), PaymentRef::pay_form(pay_form().amount).with_entry_id("order-17"));
    let created = run(gateway.create_pay_form(form())).unwrap();
    assert_eq!(created.payment.entry_id.as_deref(), Some("order-17"));
    let Err(PaymentError::Invalid { violations, .. }) = run(gateway.create_pay_form(form())) else { panic!() };
    assert_eq!(violations[0].field, "entry_id");
    assert_eq!(entries(&folder.journal()).len(), 1);
    // One page is shown, the first: it is in the entry.
    let known = folder.journal().entry(&form().payment_ref()).unwrap().unwrap();
    assert_eq!(known.page_url.as_ref(), Some(&created.pay_form_url));
    for wrong in [" ".to_owned(), "x".repeat(257)] {
        let named = run(gateway.create_pay_form(pay_form().with_entry_id(wrong)));
        assert!(matches!(named, Err(PaymentError::Invalid { .. })), "{named:?}");
    }
}

/// The gateway's own picture tells no transaction; the callback does.
#[test]
fn qr_picture_has_an_entry_of_its_own() {
    let folder = Folder::new("picture");
    let (fake, gateway) = fake_with(&folder.journal());
    let (first, second) = (
        run(gateway.create_qr_image(QrPayment::new(500))).unwrap().payment,
        run(gateway.create_qr_image(QrPayment::new(500))).unwrap().payment,
    );
    assert_ne!(first.entry_id, second.entry_id);
    let transaction = fake.payments()[0].transaction_id.clone().unwrap();
    fake.charge(&transaction).unwrap();
    let claimed = |payment: &PaymentRef| {
        let mut claimed = payment.clone().with_transaction_id(&transaction);
        claimed.is_claimed = true;
        claimed
    };
    assert!(run(gateway.check(&claimed(&first))).unwrap().is_charged());
    assert!(matches!(run(gateway.check(&claimed(&second))), Ok(Verdict::Mismatch { .. })), "it paid for the first");
    let states: Vec<_> = entries(&folder.journal()).iter().map(|entry| entry.state).collect();
    assert_eq!(states.iter().filter(|state| **state == JournalState::Charged).count(), 1, "{states:?}");
}
