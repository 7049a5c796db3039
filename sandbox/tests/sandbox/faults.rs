//! Faults of requests and responses, one by one: what a client receives on a bare socket, and what the ledger records.

use kassa_sandbox::{EndpointName, Fault, FaultName, PaymentStatus, Sandbox};
use serde_json::json;

use crate::{
    common::{
        Body, CARD, GET_STATUS, MBANK_CONFIRM, MBANK_PAY, PAY_FORM, QR_DATA, QR_IMAGE, STATUS, card_body, confirm_body,
        get_status, mbank_body, pay_form_body, qr_body, start, start_with, submit, wait_until,
    },
    raw::{End, RawResponse, ask, post},
};

pub const ORDER: &str = "F-1";

/// A card payment that takes effect at once: charged.
pub fn instant_card(order_number: &str) -> Body {
    card_body(order_number).with("pan", "\"4000000000002016\"")
}

pub fn status_body(order_number: &str) -> Body {
    Body::new(&[]).with_text("orderNumber", order_number).with_text("provider", "Cards")
}

pub fn charged(sandbox: &Sandbox, order_number: &str) -> Option<u32> {
    sandbox.payment(order_number).map(|payment| payment.times_charged)
}

/// The status seen and the fault of every request on record.
pub fn on_record(sandbox: &Sandbox) -> Vec<(Option<u16>, Option<FaultName>)> {
    sandbox.requests().into_iter().map(|request| (request.http_status, request.fault)).collect()
}

/// A sandbox with one fault, which is injected into one charging request; the response that its client received.
pub fn with_fault(fault: Fault) -> (Sandbox, RawResponse) {
    let sandbox = start();
    sandbox.faults().add(fault.order(ORDER).times(1)).expect("a fault");
    let response = post(&sandbox, CARD, &instant_card(ORDER));
    (sandbox, response)
}

/// The fault was injected once, is recorded with the status that the client received, and did not affect the next request.
pub fn assert_injected_once(sandbox: &Sandbox, name: FaultName, seen: Option<u16>) {
    assert_eq!(on_record(sandbox), [(seen, Some(name))]);
    assert_eq!(sandbox.faults().list()[0].struck, 1);
    let next = post(sandbox, GET_STATUS, &status_body(ORDER));
    assert_eq!(next.end, End::Closed);
    assert!(next.status() == 200 || next.status() == 404, "{}", next.text());
    assert_eq!(sandbox.requests().last().and_then(|request| request.fault), None);
}

#[test]
fn lost_request_has_no_effect() {
    let (sandbox, response) = with_fault(Fault::request_lost());
    assert_eq!((response.text().as_str(), response.end), ("", End::Closed));
    assert!(sandbox.payments().is_empty());
    assert_injected_once(&sandbox, FaultName::RequestLost, None);
}

#[test]
fn lost_response_leaves_a_charge() {
    let (sandbox, response) = with_fault(Fault::response_lost());
    assert_eq!((response.text().as_str(), response.end), ("", End::Closed));
    assert_eq!(charged(&sandbox, ORDER), Some(1));
    assert_injected_once(&sandbox, FaultName::ResponseLost, None);
}

#[test]
fn html_502_hides_a_charge() {
    let (sandbox, response) = with_fault(Fault::html_502());
    assert_eq!((response.status(), response.header("content-type").as_deref()), (502, Some("text/html")));
    assert!(response.body().starts_with("<html>"));
    assert_eq!(charged(&sandbox, ORDER), Some(1));
    assert_injected_once(&sandbox, FaultName::Html502, Some(502));
}

#[test]
fn not_json_keeps_the_http_status() {
    let (sandbox, response) = with_fault(Fault::not_json());
    assert_eq!((response.status(), response.body().as_str()), (200, "OK"));
    assert_eq!(charged(&sandbox, ORDER), Some(1));
    assert_injected_once(&sandbox, FaultName::NotJson, Some(200));
}

#[test]
fn cut_json_is_complete_as_http() {
    let (sandbox, response) = with_fault(Fault::cut_json());
    assert_eq!((response.status(), response.end), (200, End::Closed));
    assert_eq!(response.header("content-length"), Some(response.body().len().to_string()));
    assert!(
        response.body().starts_with("{\"code\":\"110\",") && !response.body().ends_with('}'),
        "{}",
        response.body()
    );
    assert_eq!(charged(&sandbox, ORDER), Some(1));
    assert_injected_once(&sandbox, FaultName::CutJson, Some(200));
}

#[test]
fn unknown_status_changes_only_the_response() {
    let (sandbox, response) = with_fault(Fault::unknown_status());
    assert_eq!(
        (response.json()["data"]["status"].clone(), response.json()["code"].clone()),
        (json!("ON_HOLD"), json!("110"))
    );
    assert!(response.body().contains("\"amount\":100.10"), "{}", response.body());
    assert_eq!(sandbox.payment(ORDER).map(|payment| payment.status), Some(PaymentStatus::Charged));
    assert_injected_once(&sandbox, FaultName::UnknownStatus, Some(200));
    wait_until("the callback was tried", || !sandbox.callbacks().is_empty());
    assert!(sandbox.callbacks()[0].body.contains("\"status\":\"CHARGE\""));

    let sandbox = start();
    let word = Fault::unknown_status().status("Ожидание").times(1);
    sandbox.faults().add(word).expect("a fault");
    // A card with a confirmation page is answered without a status word; the fault is not spent on it.
    assert_eq!(post(&sandbox, CARD, &card_body(ORDER)).json()["data"]["status"], json!(null));
    let answer = get_status(&sandbox, ORDER, "Cards");
    assert_eq!(answer.data("status"), "Ожидание");
}

#[test]
fn unknown_code_is_in_the_response() {
    for (fault, code) in [(Fault::unknown_code(), "999"), (Fault::unknown_code().code("E-17"), "E-17")] {
        let (sandbox, response) = with_fault(fault);
        assert_eq!(
            (response.json()["code"].clone(), response.json()["message"].clone()),
            (json!(code), json!("CREATED"))
        );
        assert_eq!(charged(&sandbox, ORDER), Some(1));
        assert_injected_once(&sandbox, FaultName::UnknownCode, Some(200));
    }
}

#[test]
fn other_dialect_renames_the_same_data() {
    let (sandbox, response) = with_fault(Fault::other_dialect());
    assert_eq!(
        response.body(),
        "{\"result\":{\"value\":\"110\",\"text\":\"CREATED\"},\"payload\":{\"ccy\":\"KGS\",\"holder\":\"Aibek Asanov\",\
         \"order_id\":\"F-1\",\"purpose\":\"Two coffees\",\"state\":\"Success\",\"total\":100.10}}"
    );
    assert_injected_once(&sandbox, FaultName::OtherDialect, Some(200));
}

#[test]
fn redirect_leads_to_the_same_endpoint() {
    let (sandbox, response) = with_fault(Fault::redirect());
    let location = format!("{}{CARD}", sandbox.url());
    assert_eq!((response.status(), response.header("location")), (307, Some(location)));
    assert_eq!(charged(&sandbox, ORDER), Some(1));
    assert_injected_once(&sandbox, FaultName::Redirect, Some(307));
}

#[test]
fn responses_with_retry_after_have_no_effect() {
    for (fault, status, after) in [
        (Fault::retry_after(), 429, Some("1")),
        (Fault::retry_after().retry_after_seconds(7), 429, Some("7")),
        (Fault::unavailable(), 503, None),
        (Fault::unavailable().retry_after_seconds(0), 503, Some("0")),
        (Fault::unauthorized(), 401, None),
    ] {
        let name = fault.name();
        let (sandbox, response) = with_fault(fault);
        assert_eq!((response.status(), response.header("retry-after").as_deref()), (status, after), "{name}");
        assert_eq!(response.json()["code"], json!(status.to_string()));
        assert!(sandbox.payments().is_empty());
        assert_injected_once(&sandbox, name, Some(status));
    }
}

#[test]
fn stuck_payment_is_decided_by_admin_alone() {
    let sandbox = start();
    sandbox.faults().add(Fault::stuck_pending()).expect("a fault");
    let instant = post(&sandbox, CARD, &instant_card("S-1"));
    assert_eq!(instant.json()["data"]["status"], json!("PENDING"));
    let page = crate::common::post(&sandbox, CARD, &card_body("S-2")).data("ConfirmationUrl");
    assert_eq!(submit(&page, &[("otp", "123456")]).status, 200, "no redirect: it is not paid");
    post(&sandbox, MBANK_PAY, &mbank_body("S-3"));
    let confirmed = post(&sandbox, MBANK_CONFIRM, &confirm_body("S-3", "101101"));
    assert_eq!(confirmed.json()["data"]["status"], json!("PENDING"));
    assert_eq!(post(&sandbox, MBANK_CONFIRM, &confirm_body("S-3", "101101")).status(), 409);
    let made = crate::common::post(&sandbox, QR_DATA, &qr_body());
    submit(&made.data("qr_data"), &[("action", "decline")]);

    let faults: Vec<_> = sandbox.requests().into_iter().map(|request| request.fault).collect();
    let stuck = Some(FaultName::StuckPending);
    assert_eq!(faults, [stuck, None, None, stuck, None, None]);
    assert_eq!(sandbox.faults().list()[0].struck, 4);
    for payment in sandbox.payments() {
        assert_eq!((payment.status, payment.times_charged), (PaymentStatus::Pending, 0), "{}", payment.order_number);
    }
    assert_eq!(sandbox.approve("S-1").map(|payment| payment.times_charged), Ok(1));
    assert_eq!(sandbox.decline("S-2").map(|payment| payment.status), Ok(PaymentStatus::Rejected));
}

#[test]
fn stuck_fault_is_limited_to_order_or_endpoint() {
    let sandbox = start();
    sandbox.faults().add(Fault::stuck_pending().order("S-1")).expect("a fault");
    sandbox.faults().add(Fault::stuck_pending().endpoint(EndpointName::MbankConfirm)).expect("a fault");
    for order in ["S-1", "S-2"] {
        post(&sandbox, CARD, &instant_card(order));
    }
    post(&sandbox, MBANK_PAY, &mbank_body("S-3"));
    post(&sandbox, MBANK_CONFIRM, &confirm_body("S-3", "101101"));
    let statuses: Vec<_> = sandbox.payments().into_iter().map(|payment| payment.status).collect();
    assert_eq!(statuses, [PaymentStatus::Pending, PaymentStatus::Charged, PaymentStatus::Pending]);
}

#[test]
fn confirmation_executed_twice_charges_once() {
    let sandbox = start();
    post(&sandbox, MBANK_PAY, &mbank_body(ORDER));
    sandbox.faults().add(Fault::otp_twice().times(1)).expect("a fault");
    let response = post(&sandbox, MBANK_CONFIRM, &confirm_body(ORDER, "101101"));
    assert_eq!((response.status(), response.json()["data"]["status"].clone()), (409, json!("CHARGE")));
    assert_eq!(charged(&sandbox, ORDER), Some(1));
    assert_eq!(on_record(&sandbox)[1], (Some(409), Some(FaultName::OtpTwice)));

    post(&sandbox, MBANK_PAY, &mbank_body("F-2"));
    sandbox.faults().add(Fault::otp_twice()).expect("a fault");
    assert_eq!(post(&sandbox, MBANK_CONFIRM, &confirm_body("F-2", "0")).status(), 400);
    assert_eq!(sandbox.payment("F-2").map(|payment| payment.otp_attempts_left), Some(1), "both were counted");
}

#[test]
fn only_confirmation_is_executed_twice() {
    let sandbox = start();
    sandbox.faults().add(Fault::otp_twice().times(1)).expect("a fault");
    assert_eq!(post(&sandbox, CARD, &instant_card("T-1")).status(), 200);
    assert_eq!(post(&sandbox, MBANK_PAY, &mbank_body("T-2")).status(), 200);
    assert_eq!(post(&sandbox, PAY_FORM, &pay_form_body()).status(), 200);
    assert_eq!(sandbox.payments().len(), 3);
    assert_eq!(post(&sandbox, MBANK_CONFIRM, &confirm_body("T-2", "101101")).status(), 409, "the fault is not spent");
}

#[test]
fn every_endpoint_can_be_struck() {
    for (endpoint, method, body) in [
        (EndpointName::Payment, "POST", instant_card("E-1").text()),
        (EndpointName::Status, "GET", Body::new(&[("orderNumber", "\"x\"")]).text()),
        (EndpointName::MbankPay, "POST", mbank_body("E-2").text()),
        (EndpointName::MbankConfirm, "POST", confirm_body("E-2", "101101").text()),
        (EndpointName::PayForm, "POST", pay_form_body().text()),
        (EndpointName::GetStatus, "POST", status_body("E-1").text()),
        (EndpointName::QrDynamic, "POST", qr_body().text()),
        (EndpointName::QrDynamicData, "POST", qr_body().text()),
        (EndpointName::QrTransactionStatus, "GET", String::new()),
    ] {
        let sandbox = start();
        sandbox.faults().add(Fault::response_lost().endpoint(endpoint)).expect("a fault");
        for other in EndpointName::ALL {
            let response = ask(&sandbox, method, other.path(), &body);
            assert_eq!(response.bytes.is_empty(), other == endpoint, "{other}, with a fault at {endpoint}");
        }
    }
}

#[test]
fn order_fault_matches_each_of_its_numbers() {
    let sandbox = start();
    post(&sandbox, CARD, &card_body("N-1"));
    post(&sandbox, CARD, &card_body("N-2"));
    let by_gateway = |order: &str| {
        let number = sandbox.payment(order).expect("a payment").gateway_number;
        ask(&sandbox, "GET", STATUS, &Body::new(&[]).with_text("orderNumber", &number).text()).status()
    };
    sandbox.faults().add(Fault::html_502().order("N-1")).expect("a fault");
    assert_eq!((by_gateway("N-1"), by_gateway("N-2")), (502, 200));
    assert_eq!(get_status(&sandbox, "N-1", "Cards").status, 502);
    sandbox.faults().clear();
    let number = sandbox.payment("N-2").expect("a payment").gateway_number;
    sandbox.faults().add(Fault::html_502().order(number)).expect("a fault");
    assert_eq!(get_status(&sandbox, "N-2", "Cards").status, 502);
    assert_eq!(get_status(&sandbox, "N-1", "Cards").status, 200);
}

#[test]
fn earliest_fault_applies_until_spent_or_removed() {
    let sandbox = start();
    let faults = sandbox.faults();
    let first = faults.add(Fault::html_502().times(2)).expect("a fault");
    let second = faults.add(Fault::not_json()).expect("a fault");
    let status = || get_status(&sandbox, "x", "Cards").status;
    assert_eq!([status(), status(), status(), status()], [502, 502, 404, 404]);
    assert_eq!(
        faults.list().iter().map(|fault| (fault.id, fault.struck)).collect::<Vec<_>>(),
        [(first, 2), (second, 2)]
    );
    assert!(faults.remove(second) && !faults.remove(second));
    assert_eq!(get_status(&sandbox, "x", "Cards").code(), "404");
}

/// Which of many requests a fault struck.
fn pattern(faults: &[Fault]) -> Vec<Option<FaultName>> {
    let sandbox = start_with(|options| options.faults = faults.to_vec());
    for _ in 0..200 {
        get_status(&sandbox, "x", "Cards");
    }
    sandbox.requests().into_iter().map(|request| request.fault).collect()
}

#[test]
fn same_seed_injects_into_the_same_requests() {
    let seeded = |seed| pattern(&[Fault::html_502().probability(0.3).seed(seed)]);
    let seven = seeded(7);
    assert_eq!(seven, seeded(7));
    assert_ne!(seven, seeded(8));
    let struck = seven.iter().flatten().count();
    assert!((30..=90).contains(&struck), "{struck} of 200 at 0.3");
    assert_eq!(pattern(&[Fault::html_502().probability(0.3)]), seeded(0), "the default is a seed, too");
    assert!(pattern(&[Fault::html_502().probability(0.0)]).iter().all(Option::is_none));
    assert!(pattern(&[Fault::html_502().probability(1.0)]).iter().all(Option::is_some));
}

#[test]
fn faults_without_seed_are_independent() {
    let both = pattern(&[Fault::html_502().probability(0.1), Fault::cut_json().probability(0.1)]);
    let follows = both.windows(2).filter(|pair| pair[0] == Some(FaultName::Html502)).map(|pair| pair[1]);
    let follows: Vec<_> = follows.collect();
    assert!(follows.len() > 5 && follows.iter().any(|next| *next != Some(FaultName::CutJson)), "{follows:?}");
    assert!(both.contains(&Some(FaultName::CutJson)));
}

#[test]
fn picture_is_cut_and_wrapped_too() {
    let sandbox = start();
    let whole = post(&sandbox, QR_IMAGE, &qr_body()).body();
    sandbox.faults().add(Fault::cut_json().times(1)).expect("a fault");
    assert!(post(&sandbox, QR_IMAGE, &qr_body()).body().len() < whole.len() * 3 / 4);
    sandbox.faults().add(Fault::other_dialect()).expect("a fault");
    let wrapped = post(&sandbox, QR_IMAGE, &qr_body()).json();
    assert!(wrapped["payload"]["picture"].as_str().expect("a picture").starts_with("iVBORw0KGgo"));
    let link = post(&sandbox, PAY_FORM, &pay_form_body()).json();
    assert!(link["payload"]["form_link"].as_str().expect("a link").contains("/pay-form?token="));
}
