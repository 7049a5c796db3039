//! Faults of callbacks: the requests that reach a merchant's endpoint, and the ledger.

use std::time::Duration;

use kassa_sandbox::{Fault, FaultName, PaymentStatus, Sandbox};
use serde_json::json;

use crate::{
    common::{CARD, QR_DATA, card_body, post, qr_body, start, start_with, wait_until},
    merchant::Merchant,
};

/// Makes a payment by a card without 3DS, whose callback comes at once.
fn pay(sandbox: &Sandbox, merchant: &Merchant, order_number: &str, pan: &str) {
    let body = card_body(order_number).with_text("pan", pan).with("callbackUrl", &merchant.json_url());
    assert_eq!(post(sandbox, CARD, &body).status, 200);
}

const APPROVED: &str = "4000000000002016";
const DECLINED: &str = "4000000000002024";
const STUCK: &str = "4000000000002040";

fn attempts_with(sandbox: &Sandbox, name: FaultName) -> usize {
    sandbox.callbacks().iter().filter(|attempt| attempt.fault == Some(name)).count()
}

#[test]
fn lost_callback_is_recorded_but_never_sent() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    sandbox.faults().add(Fault::callback_lost().order("C-1")).expect("a fault");
    pay(&sandbox, &merchant, "C-1", APPROVED);
    pay(&sandbox, &merchant, "C-2", APPROVED);
    assert_eq!(merchant.next_json()["orderNumber"], json!("C-2"));
    wait_until("the delivery is recorded", || sandbox.callbacks().len() == 2);
    let lost = sandbox.callbacks().remove(0);
    assert_eq!(
        (lost.order_number.as_str(), lost.http_status, lost.fault),
        ("C-1", None, Some(FaultName::CallbackLost))
    );
    assert!(lost.error.expect("a reason").starts_with("never sent"));
    assert_eq!(merchant.rest(), 0);
    assert_eq!(sandbox.payment("C-1").map(|payment| payment.times_charged), Some(1));
}

#[test]
fn late_callback_arrives_after_later_ones() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    let hour = Duration::from_secs(3600);
    sandbox.faults().add(Fault::callback_late().order("C-1").after(3 * hour)).expect("a fault");
    sandbox.faults().add(Fault::callback_late().order("C-2").after(hour)).expect("a fault");
    for order in ["C-1", "C-2", "C-3"] {
        pay(&sandbox, &merchant, order, APPROVED);
    }
    assert_eq!(merchant.next_json()["orderNumber"], json!("C-3"));
    sandbox.clock().forward(hour).expect("an hour passes");
    assert_eq!(merchant.next_json()["orderNumber"], json!("C-2"));
    wait_until("the deliveries are recorded", || sandbox.callbacks().len() == 2);
    let late = sandbox.callbacks().into_iter().find(|attempt| attempt.order_number == "C-2").expect("an attempt");
    let created = sandbox.payment("C-2").expect("a payment").created;
    assert!(late.at.duration_since(created).expect("after it") >= hour);
    assert_eq!((attempts_with(&sandbox, FaultName::CallbackLate), merchant.rest()), (1, 0));
}

#[test]
fn duplicated_callback_is_delivered_twice() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    sandbox.faults().add(Fault::callback_duplicated().times(1)).expect("a fault");
    pay(&sandbox, &merchant, "C-1", APPROVED);
    assert_eq!(merchant.next().1, merchant.next().1);
    wait_until("both are recorded", || attempts_with(&sandbox, FaultName::CallbackDuplicated) == 2);
    pay(&sandbox, &merchant, "C-2", APPROVED);
    assert_eq!(merchant.next_json()["orderNumber"], json!("C-2"));
    assert_eq!((merchant.rest(), sandbox.payment("C-1").map(|payment| payment.times_charged)), (0, Some(1)));
}

#[test]
fn callback_out_of_order_follows_next_callback() {
    let (sandbox, merchant) = (start(), Merchant::start(&[500]));
    sandbox.faults().add(Fault::callback_out_of_order()).expect("a fault");
    pay(&sandbox, &merchant, "C-1", STUCK);
    // A payment that is final at once has no next callback, and is left alone.
    pay(&sandbox, &merchant, "C-2", APPROVED);
    for expected in ["C-2", "C-2"] {
        assert_eq!(merchant.next_json()["orderNumber"], json!(expected), "refused once, then taken");
    }
    sandbox.approve("C-1").expect("approved");
    let statuses: Vec<_> = (0..2).map(|_| merchant.next_json()["status"].clone()).collect();
    assert_eq!(statuses, [json!("CHARGE"), json!("PENDING")]);
    wait_until("the deliveries are recorded", || sandbox.callbacks().len() == 4);
    assert_eq!((attempts_with(&sandbox, FaultName::CallbackOutOfOrder), sandbox.faults().list()[0].struck), (1, 1));
    assert_eq!(sandbox.payment("C-1").map(|payment| payment.status), Some(PaymentStatus::Charged));
}

#[test]
fn held_callback_arrives_after_abandoned_one() {
    let merchant = Merchant::start(&[500]);
    let sandbox = start_with(|options| options.callback_pauses = Vec::new());
    sandbox.faults().add(Fault::callback_out_of_order()).expect("a fault");
    pay(&sandbox, &merchant, "C-1", STUCK);
    sandbox.decline("C-1").expect("declined");
    let statuses: Vec<_> = (0..2).map(|_| merchant.next_json()["status"].clone()).collect();
    assert_eq!(statuses, [json!("Reject"), json!("PENDING")]);
}

#[test]
fn forged_callback_contradicts_the_ledger() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    sandbox.faults().add(Fault::callback_forged().order("C-1").times(1)).expect("a fault");
    let body = card_body("C-1").with("callbackUrl", &merchant.json_url());
    assert_eq!(post(&sandbox, CARD, &body).status, 200);
    let (_, text) = merchant.next();
    let forged: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(text.contains("\"amount\":101.10,"), "{text}");
    assert_eq!(
        (&forged["orderNumber"], &forged["status"], &forged["provider"]),
        (&json!("C-1"), &json!("CHARGE"), &json!("Cards"))
    );
    let payment = sandbox.payment("C-1").expect("a payment");
    assert_eq!((payment.status, payment.times_charged), (PaymentStatus::Created, 0));
    assert_eq!(payment.amount.map(|amount| amount.to_string()).as_deref(), Some("100.10"));
    wait_until("it is recorded", || attempts_with(&sandbox, FaultName::CallbackForged) == 1);

    sandbox.decline("C-1").expect("declined");
    assert_eq!(merchant.next_json()["status"], json!("Reject"), "the true one comes all the same");
    assert_eq!((attempts_with(&sandbox, FaultName::CallbackForged), merchant.rest()), (1, 0));
}

#[test]
fn forged_callback_accompanies_true_callback() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    let body = qr_body().with("callback_url", &merchant.json_url());
    let number = post(&sandbox, QR_DATA, &body).data("transaction_id");
    sandbox.faults().add(Fault::callback_forged().order(&number)).expect("a fault");
    sandbox.decline(&number).expect("declined");
    let mut statuses: Vec<_> = (0..2).map(|_| merchant.next_json()["status"].to_string()).collect();
    statuses.sort();
    assert_eq!(statuses, ["\"CHARGE\"", "\"Reject\""]);
    assert_eq!(sandbox.payment(&number).map(|payment| payment.times_charged), Some(0));
}

/// A payment whose callback was forged can still be declined, with a callback, like any other.
#[test]
fn faults_apply_to_one_payment() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    sandbox.faults().add(Fault::html_502().times(1)).expect("a fault");
    sandbox.faults().add(Fault::callback_duplicated().times(1)).expect("a fault");
    let body = card_body("C-1").with_text("pan", DECLINED).with("callbackUrl", &merchant.json_url());
    assert_eq!(post(&sandbox, CARD, &body).status, 502);
    assert_eq!(merchant.next().1, merchant.next().1);
    assert_eq!(sandbox.payment("C-1").map(|payment| payment.status), Some(PaymentStatus::Rejected));
}
