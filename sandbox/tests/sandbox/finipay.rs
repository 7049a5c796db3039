//! Acting as FINIPAY: the responses that the gateway's public pages show.

use std::collections::HashSet;

use kassa_sandbox::{Dialect, Fault, MbankQuid, PaymentKind, PaymentStatus, Sandbox};
use serde_json::{Value, json};

use crate::common::{
    Body, CARD, MBANK_CONFIRM, MBANK_PAY, PAY_FORM, QR_DATA, QR_IMAGE, QR_STATUS, Response, STATUS, call, card_body,
    confirm_body, get_status, mbank_body, open, pay_form_body, post, qr_body, start_with, submit,
};

fn finipay(place: MbankQuid) -> Sandbox {
    start_with(|options| {
        options.acts_as = Dialect::Finipay;
        options.mbank_quid = place;
    })
}

/// Code, message and data, where that is the whole envelope.
fn envelope(answer: &Response) -> (String, String, Value) {
    let json = answer.json();
    assert_eq!((answer.status, json.as_object().map(serde_json::Map::len)), (200, Some(3)), "{json}");
    (answer.code(), answer.message(), json["data"].clone())
}

/// The names of an object's members.
fn names(data: &Value) -> HashSet<&str> {
    data.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn is_date_time(value: &Value) -> bool {
    let digits = value.as_str().unwrap_or_default().replace(|character: char| character.is_ascii_digit(), "0");
    digits == "0000-00-00T00:00:00"
}

fn qr_status(sandbox: &Sandbox, id: &str) -> Response {
    call(sandbox, "GET", &format!("{QR_STATUS}?transaction_id={id}"), "")
}

#[test]
fn card_status_has_a_number_of_its_own() {
    let sandbox = finipay(MbankQuid::Field);
    let url = post(&sandbox, CARD, &card_body("F-1").with_text("pan", "2200112611773794")).data("ConfirmationUrl");
    submit(&url, &[("otp", "123456")]);
    let (_, token) = url.split_once("token=").expect("a token");
    let (code, message, data) =
        envelope(&call(&sandbox, "GET", STATUS, &Body::new(&[]).with_text("orderNumber", token).text()));
    assert_eq!((code.as_str(), message.as_str()), ("200", "PAYMENT_SUCCESS"));
    let number = data["orderNumber"].as_str().expect("a number");
    let digits = number.strip_prefix("Fp").expect("the gateway's own number");
    assert!(digits.len() == 14 && digits.bytes().all(|byte| byte.is_ascii_digit()), "{number}");
    assert_eq!(
        (&data["amount"], &data["currency"], &data["status"]),
        (&json!(100.10), &json!("KGS"), &json!("CHARGE"))
    );
    assert_eq!(call(&sandbox, "GET", &format!("{STATUS}?orderNumber={number}"), "").status, 404);
}

#[test]
fn each_test_value_of_the_pages_is_taken() {
    let sandbox = finipay(MbankQuid::Field);
    for (pan, is_paid_at_once) in [
        ("2200112611773794", false),
        ("4439970000000007", false),
        ("5136914521003242", true),
        ("4047300000007550", true),
    ] {
        let made = post(&sandbox, CARD, &card_body(pan).with_text("pan", pan));
        assert_eq!(made.status, 200, "{}", made.body);
        let payment = sandbox.payment(pan).expect("in the ledger");
        assert_eq!(payment.is_charged(), is_paid_at_once, "{pan}");
    }
    let made = post(&sandbox, MBANK_PAY, &mbank_body("M-1").with_text("phone", "996772140014"));
    let (_, _, data) = envelope(&made);
    let body = confirm_body("M-1", "0000").with("quid", &data["quid"].to_string());
    assert_eq!(post(&sandbox, MBANK_CONFIRM, &body).code(), "120");
    assert!(sandbox.payment("M-1").expect("in the ledger").is_charged());
}

/// The page does not say for certain where the quid travels: each reading of it is one setting.
#[test]
fn quid_confirms_only_in_the_configured_field() {
    const MERCHANTS: &str = "M-1";
    for (place, taken, refused) in [
        (MbankQuid::Field, (false, true), [((false, false), 400), ((true, false), 400), ((true, true), 404)]),
        (MbankQuid::OrderNumber, (true, false), [((false, false), 404), ((true, true), 400), ((false, true), 400)]),
        (MbankQuid::NotSent, (false, false), [((true, false), 404), ((false, true), 400), ((true, true), 400)]),
    ] {
        let sandbox = finipay(place);
        let (code, message, data) = envelope(&post(&sandbox, MBANK_PAY, &mbank_body(MERCHANTS)));
        assert_eq!((code.as_str(), message.as_str()), ("110", "CREATED"));
        assert_eq!(names(&data), HashSet::from(["amount", "quid", "dateTime"]));
        assert!(data["amount"] == json!(250) && is_date_time(&data["dateTime"]), "{data}");
        let quid = data["quid"].as_str().expect("a quid");
        let day = data["dateTime"].as_str().expect("a time")[..10].replace('-', "");
        let digits = quid.strip_prefix("FP").expect("the gateway's own number");
        assert!(digits.starts_with(&day) && digits.bytes().all(|byte| byte.is_ascii_digit()), "{quid}");

        let confirm = |(is_number, is_field): (bool, bool), otp: &str| {
            let body = confirm_body(if is_number { quid } else { MERCHANTS }, otp);
            post(&sandbox, MBANK_CONFIRM, &if is_field { body.with_text("quid", quid) } else { body })
        };
        for (way, status) in refused {
            assert_eq!(confirm(way, "101101").status, status, "{place:?} {way:?}");
        }
        let foreign = confirm_body(MERCHANTS, "101101").with_text("quid", "FP20240319165056648");
        assert_ne!(post(&sandbox, MBANK_CONFIRM, &foreign).status, 200, "{place:?}");
        let ours = confirm_body(MERCHANTS, "101101").with_text("paymentId", quid);
        assert_ne!(post(&sandbox, MBANK_CONFIRM, &ours).status, 200, "{place:?}: a field of another gateway");
        let payment = sandbox.payment(MERCHANTS).expect("in the ledger");
        assert_eq!((payment.status, payment.otp_attempts_left), (PaymentStatus::Created, 3), "{place:?}");

        assert_eq!(confirm(taken, "000000").code(), "422", "errors are the sandbox's own");
        let (code, message, data) = envelope(&confirm(taken, "101101"));
        assert_eq!((code.as_str(), message.as_str()), ("120", "CONFIRMED"));
        assert_eq!(names(&data), HashSet::from(["quid", "dateTime"]));
        assert!(data["quid"] == json!(quid) && is_date_time(&data["dateTime"]), "{data}");
        assert_eq!(get_status(&sandbox, MERCHANTS, "MBank").data("status"), "CHARGE");
    }
}

#[test]
fn rejected_confirmation_is_not_confirmed() {
    let sandbox = finipay(MbankQuid::NotSent);
    for (phone, otp, code, status) in
        [("996555000102", "102102", "210", "Reject"), ("996555000104", "104104", "120", "PENDING")]
    {
        post(&sandbox, MBANK_PAY, &mbank_body(phone).with_text("phone", phone));
        assert_eq!(post(&sandbox, MBANK_CONFIRM, &confirm_body(phone, otp)).code(), code);
        assert_eq!(get_status(&sandbox, phone, "MBank").data("status"), status);
    }
}

#[test]
fn qr_responses_are_bare_text_then_status() {
    let sandbox = finipay(MbankQuid::Field);
    let (code, message, image) = envelope(&post(&sandbox, QR_IMAGE, &qr_body()));
    assert_eq!((code.as_str(), message.as_str()), ("100", "SUCCESS"));
    assert!(image.as_str().is_some_and(|base64| base64.starts_with("iVBORw0KGgo")), "a PNG in base64");

    for (decision, word) in [("approve", "SUCCESSFUL"), ("decline", "FAILED")] {
        let (code, message, text) = envelope(&post(&sandbox, QR_DATA, &qr_body()));
        assert_eq!((code.as_str(), message.as_str()), ("100", "SUCCESS"));
        let text = text.as_str().expect("the text of the code");
        let payment = sandbox.payments().pop().expect("in the ledger");
        let id = payment.transaction_id.expect("a transaction id");
        let hex = id.strip_prefix("FNP").expect("the gateway's own number");
        assert!(hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        assert!(text.contains(&format!("1135{id}")), "{text}");

        assert_eq!(envelope(&qr_status(&sandbox, &id)), ("100".into(), "Success".into(), json!("\u{421}REATED")));
        assert!(open(text).body.contains(&id));
        submit(text, &[("action", decision)]);
        assert_eq!(envelope(&qr_status(&sandbox, &id)).2, json!(word));
    }
}

#[test]
fn everything_else_is_as_in_the_interface() {
    let sandbox = finipay(MbankQuid::Field);
    assert!(post(&sandbox, PAY_FORM, &pay_form_body()).data("payFormUrl").contains("/pay-form?token="));
    assert_eq!(get_status(&sandbox, "none", "Cards").code(), "404");
    assert_eq!(qr_status(&sandbox, "none").code(), "404");
    assert_eq!(post(&sandbox, MBANK_PAY, &mbank_body("E-1").without("phone")).code(), "400");
    assert_eq!(sandbox.payments().into_iter().map(|payment| payment.kind).collect::<Vec<_>>(), [PaymentKind::PayForm]);
}

/// Data that is a bare text has no members for a fault to change.
#[test]
fn faults_apply_to_bare_status_words() {
    let sandbox = finipay(MbankQuid::Field);
    post(&sandbox, QR_DATA, &qr_body());
    let id = sandbox.payments().remove(0).transaction_id.expect("a transaction id");
    for (fault, expected) in [
        (Fault::unknown_status(), json!({ "code": "100", "message": "Success", "data": "ON_HOLD" })),
        (Fault::unknown_code(), json!({ "code": "999", "message": "Success", "data": "\u{421}REATED" })),
        (
            Fault::other_dialect(),
            json!({ "result": { "value": "100", "text": "Success" }, "payload": { "value": "\u{421}REATED" } }),
        ),
    ] {
        sandbox.faults().add(fault.times(1)).expect("a fault");
        assert_eq!(qr_status(&sandbox, &id).json(), expected);
    }
}
