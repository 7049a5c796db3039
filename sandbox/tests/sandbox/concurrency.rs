//! Many at once: nothing is charged twice, nothing is lost.

use std::{
    sync::{Arc, Barrier},
    thread,
};

use kassa_sandbox::Database;

use crate::{
    common::{CARD, MBANK_CONFIRM, MBANK_PAY, card_body, confirm_body, mbank_body, post, start, start_with, submit},
    merchant::Merchant,
};

const MANY: usize = 24;

/// Runs the same on many threads that start together.
fn at_once<T: Send + 'static>(work: impl Fn(usize) -> T + Send + Sync + 'static) -> Vec<T> {
    let work = Arc::new(work);
    let barrier = Arc::new(Barrier::new(MANY));
    let threads: Vec<_> = (0..MANY)
        .map(|index| {
            let (work, barrier) = (Arc::clone(&work), Arc::clone(&barrier));
            thread::spawn(move || {
                barrier.wait();
                work(index)
            })
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
}

#[test]
fn concurrent_passwords_charge_once() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    let body = card_body("D-1").with("callbackUrl", &merchant.json_url());
    let url = post(&sandbox, CARD, &body).data("ConfirmationUrl");
    let answers = at_once(move |_| submit(&url, &[("otp", "123456")]).status);
    assert_eq!(answers.iter().filter(|status| **status == 303).count(), 1);
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), MANY - 1);
    assert_eq!(sandbox.payment("D-1").map(|p| p.times_charged), Some(1));
    merchant.next();
    post(&sandbox, CARD, &body.with_text("orderNumber", "D-2").with("pan", "\"4000000000002016\""));
    assert_eq!(merchant.next_json()["orderNumber"], serde_json::json!("D-2"), "one callback a change");
}

#[test]
fn concurrent_confirmations_charge_once() {
    let sandbox = Arc::new(start());
    post(&sandbox, MBANK_PAY, &mbank_body("D-1"));
    let shared = Arc::clone(&sandbox);
    let answers = at_once(move |_| post(&shared, MBANK_CONFIRM, &confirm_body("D-1", "101101")).status);
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 1);
    assert_eq!(answers.iter().filter(|status| **status == 409).count(), MANY - 1);
    assert_eq!(sandbox.payment("D-1").map(|p| p.times_charged), Some(1));
}

#[test]
fn concurrent_order_number_makes_one_payment() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sandbox.db");
    let sandbox = Arc::new(start_with(|options| options.database = Database::File(path)));
    let shared = Arc::clone(&sandbox);
    let body = card_body("D-1").with("pan", "\"4000000000002016\"");
    let answers = at_once(move |_| post(&shared, CARD, &body).status);
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 1);
    assert_eq!(answers.iter().filter(|status| **status == 409).count(), MANY - 1);
    assert_eq!(sandbox.payment("D-1").map(|p| p.times_charged), Some(1));
    assert_eq!(sandbox.requests().len(), MANY);
}

#[test]
fn concurrent_wrong_guesses_get_three_attempts() {
    let sandbox = start();
    let url = post(&sandbox, CARD, &card_body("G-1")).data("ConfirmationUrl");
    let answers = at_once(move |index| {
        let page = submit(&url, &[("otp", &format!("{index:06}"))]);
        page.status == 400 && page.body.contains("Wrong one-time password")
    });
    assert_eq!(answers.iter().filter(|open| **open).count(), 2, "the third wrong one rejects");
    let payment = sandbox.payment("G-1").expect("in the ledger");
    assert!(payment.status.is_final() && payment.times_charged == 0);
}

#[test]
fn many_payments_at_once_are_all_in_the_ledger() {
    let sandbox = Arc::new(start());
    let shared = Arc::clone(&sandbox);
    at_once(move |index| {
        let body = card_body(&format!("N-{index}")).with("pan", "\"4000000000002016\"");
        assert_eq!(post(&shared, CARD, &body).status, 200);
    });
    let payments = sandbox.payments();
    assert_eq!(payments.len(), MANY);
    assert!(payments.iter().all(|payment| payment.times_charged == 1));
}
