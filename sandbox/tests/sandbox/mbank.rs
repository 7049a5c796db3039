//! `mbank/pay` and `mbank/confirm`.

use kassa_sandbox::{PaymentStatus, Provider, RejectReason, Sandbox};

use crate::common::{
    CARD, MBANK_CONFIRM, MBANK_PAY, Response, card_body, confirm_body, get_status, mbank_body, post, start,
};

fn pay(sandbox: &Sandbox, order_number: &str, phone: &str) -> Response {
    let body = mbank_body(order_number).with_text("phone", phone);
    post(sandbox, MBANK_PAY, &body)
}

fn confirm(sandbox: &Sandbox, order_number: &str, otp: &str) -> Response {
    post(sandbox, MBANK_CONFIRM, &confirm_body(order_number, otp))
}

#[test]
fn payment_is_made_and_confirmed() {
    let sandbox = start();
    let made = pay(&sandbox, "M-1", "996555000101");
    let payment = sandbox.payment("M-1").expect("in the ledger");
    assert_eq!(made.status, 200);
    let expected = format!(
        "{{\"code\":\"110\",\"message\":\"CREATED\",\"data\":{{\"orderNumber\":\"M-1\",\"paymentId\":\"{}\",\
         \"amount\":250,\"currency\":\"KGS\",\"status\":\"CREATED\"}}}}",
        payment.gateway_number
    );
    assert_eq!(made.body, expected);
    assert_eq!(payment.provider, Some(Provider::MBank));
    assert_eq!(payment.masked_phone.as_deref(), Some("9965****0101"));

    let confirmed = confirm(&sandbox, "M-1", "101101");
    assert_eq!(confirmed.status, 200);
    assert_eq!(
        confirmed.body,
        "{\"code\":\"200\",\"message\":\"PAYMENT_SUCCESS\",\"data\":{\"orderNumber\":\"M-1\",\"status\":\"CHARGE\"}}"
    );
    assert_eq!(get_status(&sandbox, "M-1", "MBank").data("status"), "CHARGE");
}

#[test]
fn other_phones_have_their_named_outcome() {
    let sandbox = start();
    for (phone, otp, code, status) in [
        ("996555000102", "102102", "210", "Reject"),
        ("996555000103", "103103", "211", "Reject"),
        ("996555000104", "104104", "120", "PENDING"),
    ] {
        pay(&sandbox, phone, phone);
        let confirmed = confirm(&sandbox, phone, otp);
        assert_eq!((confirmed.status, confirmed.code().as_str()), (200, code));
        assert_eq!(confirmed.data("status"), status);
        assert_eq!(sandbox.payment(phone).map(|p| p.times_charged), Some(0));
    }
}

#[test]
fn wrong_passwords_count_down_to_a_rejection() {
    let sandbox = start();
    pay(&sandbox, "W-1", "996555000101");
    for (left, status) in [(2, "CREATED"), (1, "CREATED"), (0, "Reject")] {
        let wrong = confirm(&sandbox, "W-1", "000000");
        assert_eq!((wrong.status, wrong.code().as_str()), (400, "422"));
        assert_eq!(wrong.json()["data"]["attemptsLeft"], left);
        assert_eq!(wrong.data("status"), status);
    }
    let late = confirm(&sandbox, "W-1", "101101");
    assert_eq!((late.status, late.data("status").as_str()), (409, "Reject"));
    let payment = sandbox.payment("W-1").expect("in the ledger");
    assert_eq!(payment.reject_reason, Some(RejectReason::OtpAttemptsExhausted));
}

#[test]
fn payment_is_confirmed_once() {
    let sandbox = start();
    pay(&sandbox, "O-1", "996555000101");
    confirm(&sandbox, "O-1", "101101");
    let again = confirm(&sandbox, "O-1", "101101");
    assert_eq!((again.status, again.code().as_str()), (409, "409"));
    assert_eq!(again.data("status"), "CHARGE");
    assert_eq!(sandbox.payment("O-1").map(|p| p.times_charged), Some(1));
}

#[test]
fn confirmation_accepts_the_payment_id() {
    let sandbox = start();
    let id = pay(&sandbox, "I-1", "996555000101").data("paymentId");
    let body = confirm_body("I-1", "101101");
    let foreign = post(&sandbox, MBANK_CONFIRM, &body.clone().with_text("paymentId", "other"));
    assert!(foreign.status == 400 && foreign.message().contains("paymentId"));
    let payment = sandbox.payment("I-1").expect("in the ledger");
    assert_eq!((payment.status, payment.otp_attempts_left), (PaymentStatus::Created, 3));
    let right = post(&sandbox, MBANK_CONFIRM, &body.with_text("paymentId", &id));
    assert_eq!(right.data("status"), "CHARGE");
}

#[test]
fn only_mbank_payments_can_be_confirmed() {
    let sandbox = start();
    post(&sandbox, CARD, &card_body("CARD-1"));
    for order_number in ["CARD-1", "NONE"] {
        let answer = confirm(&sandbox, order_number, "123456");
        assert_eq!((answer.status, answer.code().as_str()), (404, "404"));
    }
}
