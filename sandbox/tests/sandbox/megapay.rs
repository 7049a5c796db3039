//! `mega/check` and `mega/pay`.

use std::time::Duration;

use kassa_sandbox::{PaymentKind, PaymentStatus, Provider, RejectReason, Sandbox};

use crate::common::{MEGA_CHECK, MEGA_PAY, Response, call, get_status, megapay_body, post, start};

fn check(sandbox: &Sandbox, order_number: &str, user: &str) -> Response {
    post(sandbox, MEGA_CHECK, &megapay_body(order_number).with_text("user", user))
}

fn pay(sandbox: &Sandbox, order_number: &str, user: &str, pin: &str) -> Response {
    post(sandbox, MEGA_PAY, &megapay_body(order_number).with_text("user", user).with_text("pinCode", pin))
}

#[test]
fn payment_is_checked_and_paid() {
    let sandbox = start();
    let checked = check(&sandbox, "G-1", "996755000201");
    assert_eq!(checked.status, 200);
    let expected = concat!(
        r#"{"code":"110","message":"CREATED","data":{"commission":5.01,"amount":250.50,"dealer_commission":0,"#,
        r#""payment_confirmation":true,"bank_card_commission":0,"sms_lifetime":180,"is_virtual":false}}"#
    );
    assert_eq!(checked.body, expected);
    let payment = sandbox.payment("G-1").expect("in the ledger");
    assert_eq!((payment.kind, payment.provider), (PaymentKind::Megapay, Some(Provider::MegaPay)));
    assert_eq!(payment.masked_phone.as_deref(), Some("9967****0201"));

    let paid = pay(&sandbox, "G-1", "996755000201", "201201");
    assert_eq!((paid.status, paid.code().as_str()), (200, "120"));
    assert!(paid.data("transaction_id").starts_with("MP-"));
    assert_eq!(get_status(&sandbox, "G-1", "MegaPay").data("status"), "CHARGE");
    let again = pay(&sandbox, "G-1", "996755000201", "201201");
    assert_eq!((again.status, sandbox.payment("G-1").map(|payment| payment.times_charged)), (409, Some(1)));
}

/// The pages call it both ways.
#[test]
fn check_is_also_sent_by_get() {
    let sandbox = start();
    let query = "orderNumber=G-1&user=996755000201&account=7&amount=250.50";
    let checked = call(&sandbox, "GET", &format!("{MEGA_CHECK}?{query}"), "");
    assert_eq!((checked.status, checked.code().as_str()), (200, "110"));
    assert_eq!(checked.json()["data"]["commission"], 5.01);
}

#[test]
fn phones_and_accounts_decide_the_outcome() {
    let sandbox = start();
    for (order, user, pin, account, code, status) in [
        ("declined", "996755000202", "202202", "7", "210", PaymentStatus::Rejected),
        ("too-little", "996755000203", "203203", "7", "211", PaymentStatus::Rejected),
        ("pending", "996755000204", "204204", "7", "120", PaymentStatus::Pending),
        ("account-1", "996755000202", "202202", "1", "120", PaymentStatus::Charged),
        ("account-3", "996555002108", "1548", "3", "210", PaymentStatus::Rejected),
    ] {
        let body = megapay_body(order).with_text("user", user).with_text("account", account);
        post(&sandbox, MEGA_CHECK, &body);
        let paid = post(&sandbox, MEGA_PAY, &body.with_text("pinCode", pin));
        assert_eq!((paid.status, paid.code().as_str()), (200, code), "{order}");
        assert_eq!(sandbox.payment(order).map(|payment| payment.status), Some(status), "{order}");
    }
}

#[test]
fn wrong_pins_count_down_to_a_rejection() {
    let sandbox = start();
    check(&sandbox, "W-1", "996755000201");
    for left in [2, 1, 0] {
        let wrong = pay(&sandbox, "W-1", "996755000201", "0000");
        assert_eq!((wrong.status, wrong.code().as_str()), (400, "422"));
        assert_eq!(wrong.json()["data"]["attemptsLeft"], left);
    }
    let payment = sandbox.payment("W-1").expect("in the ledger");
    assert_eq!(payment.reject_reason, Some(RejectReason::OtpAttemptsExhausted));
}

#[test]
fn old_pin_pays_nothing() {
    let sandbox = start();
    check(&sandbox, "L-1", "996755000201");
    sandbox.clock().forward(Duration::from_secs(180)).expect("a clock of its own");
    let late = pay(&sandbox, "L-1", "996755000201", "201201");
    assert_eq!((late.status, late.json()["message"].as_str()), (400, Some("The PIN has expired")));
    assert_eq!(sandbox.payment("L-1").map(|payment| payment.status), Some(PaymentStatus::Created));
}

#[test]
fn pin_pays_only_for_what_was_checked() {
    let sandbox = start();
    check(&sandbox, "D-1", "996755000201");
    let other = megapay_body("D-1").with_text("account", "8").with_text("pinCode", "201201");
    let refused = post(&sandbox, MEGA_PAY, &other);
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json()["data"]["errors"][0]["field"], "account");
    assert_eq!(sandbox.payment("D-1").map(|payment| payment.times_charged), Some(0));
}
