//! Callbacks: their body, when they are sent, and how often.

use std::{io::Read, net::TcpListener, sync::Arc, thread, time::Duration};

use rustls::{ServerConfig, ServerConnection, StreamOwned, crypto::ring, pki_types::PrivateKeyDer};
use serde_json::json;

use crate::{
    common::{
        Body, CARD, MBANK_CONFIRM, MBANK_PAY, PAY_FORM, QR_DATA, card_body, confirm_body, get_status, mbank_body,
        pay_form_body, post, qr_body, start, start_with, submit, wait_until,
    },
    merchant::Merchant,
};

/// A callback's text with its date taken out, after a look at the date's form: 2026-01-31T23:59:59.
fn without_date(body: &str) -> String {
    let (before, rest) = body.split_once("\"dateCreated\":\"").expect("a date");
    let (date, after) = rest.split_once('"').expect("a date's end");
    let shape: String =
        date.chars().map(|character| if character.is_ascii_digit() { '9' } else { character }).collect();
    assert_eq!(shape, "9999-99-99T99:99:99");
    format!("{before}\"dateCreated\":\"?\"{after}")
}

fn instant_card(order_number: &str, merchant: &Merchant) -> Body {
    card_body(order_number).with("pan", "\"4000000000002016\"").with("callbackUrl", &merchant.json_url())
}

#[test]
fn card_callback_has_the_documented_fields() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    post(&sandbox, CARD, &instant_card("C-1", &merchant));
    let (head, body) = merchant.next();
    assert!(head.starts_with("POST /callback HTTP/1.1\r\n"));
    assert!(head.to_ascii_lowercase().contains("content-type: application/json\r\n"));
    assert!(!head.to_ascii_lowercase().contains("authorization"));
    assert_eq!(
        without_date(&body),
        "{\"orderNumber\":\"C-1\",\"amount\":100.10,\"currency\":\"KGS\",\"status\":\"CHARGE\",\
         \"dateCreated\":\"?\",\"provider\":\"Cards\"}"
    );
}

#[test]
fn mbank_callback_comes_after_the_confirmation() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    let body = mbank_body("M-1").with("callbackUrl", &merchant.json_url());
    post(&sandbox, MBANK_PAY, &body);
    assert!(sandbox.callbacks().is_empty(), "nothing changed yet");
    post(&sandbox, MBANK_CONFIRM, &confirm_body("M-1", "101101"));
    assert_eq!(
        without_date(&merchant.next().1),
        "{\"orderNumber\":\"M-1\",\"amount\":250,\"currency\":\"KGS\",\"status\":\"CHARGE\",\
         \"dateCreated\":\"?\",\"provider\":\"MBank\"}"
    );
}

#[test]
fn pay_form_callback_has_the_gateway_number() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    let body = pay_form_body().with("callbackURL", &merchant.json_url());
    let url = post(&sandbox, PAY_FORM, &body).data("payFormUrl");
    let page = submit(&url, &[("provider", "MegaPay"), ("phone", "996755000202")]);
    submit(page.header("location").expect("a page"), &[("otp", "202202")]);
    let number = &sandbox.payments()[0].order_number;
    assert_eq!(
        without_date(&merchant.next().1),
        format!(
            "{{\"orderNumber\":\"{number}\",\"amount\":99.50,\"currency\":\"KGS\",\"status\":\"Reject\",\
             \"dateCreated\":\"?\",\"provider\":\"MegaPay\"}}"
        )
    );
}

#[test]
fn callback_of_unused_pay_form_names_a_provider() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    post(&sandbox, PAY_FORM, &pay_form_body().with("callbackURL", &merchant.json_url()));
    let number = sandbox.payments()[0].order_number.clone();
    sandbox.decline(&number).expect("declined");
    let callback = merchant.next_json();
    assert_eq!((&callback["status"], &callback["provider"]), (&json!("Reject"), &json!("Cards")));
    assert_eq!(
        get_status(&sandbox, &number, "Cards").data("status"),
        "Reject",
        "a query returns the status of the callback"
    );
}

#[test]
fn qr_callback_carries_the_requisite_and_tyiyn() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    let body = qr_body().with("callback_url", &merchant.json_url());
    let made = post(&sandbox, QR_DATA, &body);
    submit(&made.data("qr_data"), &[("action", "approve")]);
    assert_eq!(
        without_date(&merchant.next().1),
        format!(
            "{{\"orderNumber\":\"{}\",\"amount\":12550,\"currency\":\"KGS\",\"status\":\"CHARGE\",\
             \"dateCreated\":\"?\",\"requisite\":\"996700123456\",\"provider\":\"MBank\"}}",
            made.data("transaction_id")
        )
    );
}

#[test]
fn every_status_change_sends_a_callback() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    for (pan, status) in
        [("4000000000002024", "Reject"), ("4000000000002040", "PENDING"), ("4000000000002057", "Reject")]
    {
        let body = instant_card(pan, &merchant).with_text("pan", pan);
        post(&sandbox, CARD, &body);
        let callback = merchant.next_json();
        assert_eq!(callback["orderNumber"], json!(pan));
        assert_eq!(callback["status"], json!(status));
    }
}

#[test]
fn callback_is_retried_until_accepted() {
    let (sandbox, merchant) = (start(), Merchant::start(&[500, 404, 302]));
    post(&sandbox, CARD, &instant_card("R-1", &merchant));
    let first = merchant.next();
    for _ in 0..3 {
        assert_eq!(merchant.next().1, first.1, "the same body each time");
    }
    wait_until("the fourth attempt is recorded", || sandbox.callbacks().len() == 4);
    let attempts: Vec<_> =
        sandbox.callbacks().into_iter().map(|attempt| (attempt.attempt, attempt.http_status, attempt.error)).collect();
    let expected = [(1, 500), (2, 404), (3, 302), (4, 200)].map(|(n, status)| (n, Some(status), None));
    assert_eq!(attempts, expected);
    let attempt = &sandbox.callbacks()[0];
    assert_eq!((&attempt.target, &attempt.body), (&merchant.url, &first.1));
    assert_eq!(attempt.order_number, "R-1");

    // A later callback of another payment shows that the queue went on without the first.
    post(&sandbox, CARD, &instant_card("R-2", &merchant));
    assert_eq!(merchant.next_json()["orderNumber"], json!("R-2"));
    assert_eq!(merchant.rest(), 0);
}

#[test]
fn unreachable_receiver_is_recorded_as_error() {
    let sandbox = start_with(|options| options.callback_pauses = Vec::new());
    let body = card_body("E-1").with("pan", "\"4000000000002016\"");
    post(&sandbox, CARD, &body);
    wait_until("the attempt is recorded", || sandbox.callbacks().len() == 1);
    let attempt = sandbox.callbacks().remove(0);
    assert_eq!((attempt.attempt, attempt.http_status), (1, None));
    assert!(attempt.error.expect("an error").contains("refused"));
}

#[test]
fn unresponsive_receiver_times_out() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("\"http://{}/\"", silent.local_addr().expect("bound"));
    let sandbox = start_with(|options| {
        options.callback_timeout = Duration::from_millis(50);
        options.callback_pauses = Vec::new();
    });
    let body = card_body("T-1").with("pan", "\"4000000000002016\"").with("callbackUrl", &url);
    post(&sandbox, CARD, &body);
    wait_until("the attempt is recorded", || sandbox.callbacks().len() == 1);
    let error = sandbox.callbacks().remove(0).error.expect("an error");
    assert!(error.contains("timed out"), "{error}");
}

#[test]
fn payment_without_a_callback_url_sends_none() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    post(&sandbox, MBANK_PAY, &mbank_body("N-1").without("callbackUrl"));
    post(&sandbox, MBANK_CONFIRM, &confirm_body("N-1", "101101"));
    post(&sandbox, CARD, &instant_card("N-2", &merchant));
    assert_eq!(merchant.next_json()["orderNumber"], json!("N-2"));
    assert_eq!(sandbox.payment("N-1").map(|p| p.times_charged), Some(1));
}

#[test]
fn slow_receiver_delays_no_other_callback() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("\"http://{}/\"", silent.local_addr().expect("bound"));
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    post(&sandbox, CARD, &instant_card("SLOW", &merchant).with("callbackUrl", &url));
    post(&sandbox, CARD, &instant_card("FAST", &merchant));
    assert_eq!(merchant.next_json()["orderNumber"], json!("FAST"));
}

#[test]
fn untrusted_https_receiver_gets_nothing() {
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .expect("a TLS server");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("\"https://{}/\"", listener.local_addr().expect("bound"));
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a connection");
        let connection = ServerConnection::new(Arc::new(config)).expect("a TLS connection");
        let mut received = Vec::new();
        let failed = StreamOwned::new(connection, stream).read_to_end(&mut received).is_err();
        (failed, received)
    });
    let sandbox = start_with(|options| options.callback_pauses = Vec::new());
    let body = card_body("TLS-1").with("pan", "\"4000000000002016\"").with("callbackUrl", &url);
    post(&sandbox, CARD, &body);
    wait_until("the attempt is recorded", || sandbox.callbacks().len() == 1);
    let error = sandbox.callbacks().remove(0).error.expect("an error");
    assert!(error.contains("certificate"), "{error}");
    assert_eq!(server.join().expect("no panic"), (true, Vec::new()));
}
