//! `POST /api/v1.1.0/payment`.

use kassa_sandbox::{PaymentKind, PaymentStatus, Provider, RejectReason};
use rust_decimal::Decimal;
use serde_json::json;

use crate::common::{CARD, card_body, get_status, post, start, start_tunnelled, start_with};

fn with_card(order_number: &str, pan: &str) -> crate::common::Body {
    card_body(order_number).with_text("pan", pan)
}

#[test]
fn three_ds_2_card_gets_a_confirmation_page() {
    let sandbox = start();
    let answer = post(&sandbox, CARD, &card_body("A-1"));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let payment = sandbox.payment("A-1").expect("it is in the ledger");
    let page = format!("{}/3ds?token={}", sandbox.url(), payment.gateway_number);
    let expected = format!(
        "{{\"code\":\"110\",\"message\":\"CREATED\",\"data\":{{\"amount\":100.10,\"currency\":\"KGS\",\
         \"name\":\"Aibek Asanov\",\"orderNumber\":\"A-1\",\"description\":\"Two coffees\",\
         \"ConfirmationUrl\":\"{page}\"}}}}"
    );
    assert_eq!(answer.body, expected);
    assert_eq!(payment.kind, PaymentKind::Card);
    assert_eq!(payment.provider, Some(Provider::Cards));
    assert_eq!(payment.amount, Some(Decimal::new(10010, 2)));
    assert_eq!(payment.status, PaymentStatus::Created);
    assert_eq!(payment.masked_card.as_deref(), Some("411111******1111"));
    assert_eq!(payment.times_charged, 0);
}

#[test]
fn card_without_3ds_is_charged_at_once() {
    let sandbox = start();
    for (order, pan) in [("B-16", "4000000000002016"), ("B-13", "4222222222222"), ("B-20", "62000000000000002019")] {
        let answer = post(&sandbox, CARD, &with_card(order, pan));
        assert_eq!(answer.status, 200);
        let expected = format!(
            "{{\"code\":\"110\",\"message\":\"CREATED\",\"data\":{{\"amount\":100.10,\"currency\":\"KGS\",\
             \"name\":\"Aibek Asanov\",\"orderNumber\":\"{order}\",\"description\":\"Two coffees\",\
             \"status\":\"Success\"}}}}"
        );
        assert_eq!(answer.body, expected);
        let payment = sandbox.payment(order).expect("in the ledger");
        assert!(payment.is_charged());
        assert_eq!(payment.times_charged, 1);
    }
}

#[test]
fn card_without_3ds_has_its_named_outcome() {
    let sandbox = start();
    for (pan, word, status, reason) in [
        ("4000000000002024", "Reject", PaymentStatus::Rejected, Some(RejectReason::Declined)),
        ("4000000000002032", "Reject", PaymentStatus::Rejected, Some(RejectReason::InsufficientFunds)),
        ("4000000000002040", "PENDING", PaymentStatus::Pending, None),
    ] {
        let answer = post(&sandbox, CARD, &with_card(pan, pan));
        assert_eq!((answer.status, answer.code().as_str()), (200, "110"));
        assert_eq!(answer.data("status"), word);
        assert!(answer.json()["data"].get("ConfirmationUrl").is_none());
        let payment = sandbox.payment(pan).expect("in the ledger");
        assert_eq!((payment.status, payment.reject_reason), (status, reason));
        assert_eq!(payment.times_charged, 0);
    }
}

#[test]
fn error_card_responds_500_and_rejects_payment() {
    let sandbox = start();
    let answer = post(&sandbox, CARD, &with_card("E-1", "4000000000002057"));
    assert_eq!((answer.status, answer.code().as_str()), (500, "500"));
    let later = get_status(&sandbox, "E-1", "Cards");
    assert_eq!((later.code().as_str(), later.data("status").as_str()), ("214", "Reject"));
}

#[test]
fn three_ds_1_card_gets_a_page_by_switch_only() {
    for (three_ds_1_page, has_page) in [(false, false), (true, true)] {
        let sandbox = start_with(|options| options.three_ds_1_page = three_ds_1_page);
        let answer = post(&sandbox, CARD, &with_card("V-1", "5200000000001013"));
        let data = answer.json()["data"].clone();
        assert_eq!(data.get("ConfirmationUrl").is_some(), has_page);
        assert_eq!(data.get("status") == Some(&json!("Success")), !has_page);
        let payment = sandbox.payment("V-1").expect("in the ledger");
        assert_eq!(payment.is_charged(), !has_page);
    }
}

#[test]
fn optional_fields_may_be_absent() {
    let sandbox = start();
    let body = card_body("O-1").without("returnUrl").without("email");
    assert_eq!(post(&sandbox, CARD, &body).status, 200);
}

#[test]
fn amounts_come_back_digit_for_digit() {
    let sandbox = start();
    for (order, digits) in [("D-1", "1"), ("D-2", "1.000"), ("D-3", "123456789012345678.12"), ("D-4", "100.10")] {
        let answer = post(&sandbox, CARD, &card_body(order).with("amount", digits));
        assert!(answer.body.contains(&format!("\"amount\":{digits},")), "{}", answer.body);
        let status = get_status(&sandbox, order, "Cards");
        assert!(status.body.contains(&format!("\"amount\":{digits},")), "{}", status.body);
    }
}

#[test]
fn links_start_with_the_public_url() {
    let sandbox = start_tunnelled("https://tunnel.example/sandbox/");
    let answer = post(&sandbox, CARD, &card_body("P-1"));
    assert!(answer.data("ConfirmationUrl").starts_with("https://tunnel.example/sandbox/3ds?token="));
}
