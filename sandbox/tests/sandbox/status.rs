//! `status` and `get-status`, and which numbers they know.

use kassa_sandbox::{Sandbox, StatusNumbers};

use crate::common::{
    Body, CARD, MBANK_PAY, Response, STATUS, call, card_body, get_status, mbank_body, post, start, start_with, submit,
};

fn status(sandbox: &Sandbox, number: &str) -> Response {
    let body = Body::new(&[]).with_text("orderNumber", number);
    call(sandbox, "GET", STATUS, &body.text())
}

/// A charged card payment; its gateway number is the token of its page.
fn charged(sandbox: &Sandbox, order_number: &str) -> String {
    let url = post(sandbox, CARD, &card_body(order_number)).data("ConfirmationUrl");
    submit(&url, &[("otp", "123456")]);
    url.split_once("token=").expect("a token").1.to_owned()
}

#[test]
fn charged_payment_answers_exactly_as_shown() {
    let sandbox = start();
    let token = charged(&sandbox, "S-1");
    let expected = |number: &str| {
        format!(
            "{{\"code\":\"200\",\"message\":\"PAYMENT_SUCCESS\",\"data\":{{\"orderNumber\":\"{number}\",\
             \"amount\":100.10,\"status\":\"CHARGE\",\"currency\":\"KGS\"}}}}"
        )
    };
    let by_gateway = status(&sandbox, &token);
    assert_eq!((by_gateway.status, by_gateway.body), (200, expected(&token)));
    let by_merchant = get_status(&sandbox, "S-1", "Cards");
    assert_eq!((by_merchant.status, by_merchant.body), (200, expected("S-1")));
}

#[test]
fn open_and_rejected_payments_say_so() {
    let sandbox = start();
    let url = post(&sandbox, CARD, &card_body("S-1")).data("ConfirmationUrl");
    let open = get_status(&sandbox, "S-1", "Cards");
    assert_eq!((open.code(), open.message(), open.data("status")), ("110".into(), "CREATED".into(), "CREATED".into()));
    submit(&url, &[("action", "cancel")]);
    let rejected = get_status(&sandbox, "S-1", "Cards");
    assert_eq!((rejected.status, rejected.code().as_str()), (200, "212"));
    assert_eq!(rejected.data("status"), "Reject");

    let stuck = card_body("S-2").with("pan", "\"4000000000002040\"");
    post(&sandbox, CARD, &stuck);
    let pending = get_status(&sandbox, "S-2", "Cards");
    assert_eq!(
        (pending.code(), pending.message(), pending.data("status")),
        ("120".into(), "PAYMENT_PENDING".into(), "PENDING".into())
    );
}

#[test]
fn strict_status_accepts_only_its_numbers() {
    let sandbox = start();
    let token = charged(&sandbox, "S-1");
    for answer in [
        status(&sandbox, "S-1"),
        status(&sandbox, "unknown"),
        get_status(&sandbox, &token, "Cards"),
        get_status(&sandbox, "unknown", "Cards"),
    ] {
        assert_eq!((answer.status, answer.code().as_str()), (404, "404"));
    }
}

#[test]
fn by_the_switch_both_know_both() {
    let sandbox = start_with(|options| options.status_numbers = StatusNumbers::Any);
    let token = charged(&sandbox, "S-1");
    for number in ["S-1", &token] {
        assert_eq!(status(&sandbox, number).data("status"), "CHARGE");
        assert_eq!(get_status(&sandbox, number, "Cards").data("status"), "CHARGE");
    }
}

#[test]
fn provider_has_to_match() {
    let sandbox = start();
    post(&sandbox, CARD, &card_body("C-1"));
    post(&sandbox, MBANK_PAY, &mbank_body("M-1"));
    for (number, right) in [("C-1", "Cards"), ("M-1", "MBank")] {
        for provider in ["Cards", "MegaPay", "MBank"] {
            let expected = if provider == right { 200 } else { 404 };
            assert_eq!(get_status(&sandbox, number, provider).status, expected);
        }
    }
}

#[test]
fn mbank_payment_is_found_by_payment_id() {
    let sandbox = start();
    let id = post(&sandbox, MBANK_PAY, &mbank_body("M-1")).data("paymentId");
    assert_eq!(status(&sandbox, &id).data("status"), "CREATED");
}

#[test]
fn query_string_replaces_a_dropped_body() {
    let sandbox = start();
    let token = charged(&sandbox, "S-1");
    let path = format!("{STATUS}?orderNumber={token}&language=ru");
    assert_eq!(call(&sandbox, "GET", &path, "").data("status"), "CHARGE");
}

#[test]
fn hostile_numbers_find_nothing() {
    let sandbox = start();
    charged(&sandbox, "S-1");
    for number in ["' OR '1'='1", "%", "../S-1", "S-1\u{0}", "\u{1F4B3}"] {
        assert_eq!(status(&sandbox, number).status, 404);
        assert_eq!(get_status(&sandbox, number, "Cards").status, 404);
    }
}
