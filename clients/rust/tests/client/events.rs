//! `verify_event`, by the vectors that every language reads, and beside the library of Standard Webhooks.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use kassa_client::{
    Event, EventError, EventErrorReason, EventVerifier,
    testing::{EventToSign, sign_event},
    verify_event,
};
use serde_json::{Map, Value, json};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER: &str = "whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";

fn vectors() -> Vec<Value> {
    serde_json::from_str(include_str!("../../../../tests/events/signed.json")).unwrap()
}

fn verified(vector: &Value) -> Result<Event, EventError> {
    let secrets: Vec<String> = serde_json::from_value(vector["secrets"].clone()).unwrap();
    let headers: BTreeMap<String, String> = serde_json::from_value(vector["headers"].clone()).unwrap();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(vector["now"].as_u64().unwrap());
    EventVerifier::new(&secrets)?.verify_at(vector["body"].as_str().unwrap().as_bytes(), &headers, now)
}

fn milliseconds(at: SystemTime) -> u64 {
    u64::try_from(at.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// An event as the vectors write it.
fn plain(event: &Event) -> Value {
    let payment = event.payment.as_ref().map(|payment| {
        without_null(json!({
            "id": payment.id, "method": payment.method, "state": payment.state,
            "commission": payment.commission.map(|amount| amount.to_string()),
            "total": payment.total.map(|amount| amount.to_string()),
            "code_expires_at_ms": payment.code_expires_at.map(milliseconds),
        }))
    });
    let via = event.via.as_ref().map(|via| json!({"role": via.role, "key": via.key}));
    without_null(json!({
        "id": event.id, "kind": event.kind, "timestamp_ms": milliseconds(event.timestamp), "checkout": event.checkout,
        "reference": event.reference, "amount": event.amount.to_string(), "currency": event.currency,
        "checkout_state": event.checkout_state, "version": event.version, "number": event.number, "payment": payment,
        "after": event.after, "reason": event.reason, "by": event.by, "via": via,
    }))
}

fn without_null(value: Value) -> Value {
    let members = value.as_object().unwrap().clone().into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(members.collect::<Map<_, _>>())
}

fn name_of(reason: EventErrorReason) -> &'static str {
    match reason {
        EventErrorReason::MalformedSecret => "MALFORMED_SECRET",
        EventErrorReason::MissingHeader => "MISSING_HEADER",
        EventErrorReason::MalformedTimestamp => "MALFORMED_TIMESTAMP",
        EventErrorReason::TooOld => "TOO_OLD",
        EventErrorReason::TooNew => "TOO_NEW",
        EventErrorReason::MalformedSignature => "MALFORMED_SIGNATURE",
        EventErrorReason::WrongSignature => "WRONG_SIGNATURE",
        EventErrorReason::MalformedEvent => "MALFORMED_EVENT",
        other => panic!("{other:?}"),
    }
}

#[test]
fn vectors_have_their_outcomes() {
    let all = vectors();
    assert_eq!(all.len(), 40);
    for vector in &all {
        let (name, wanted) = (&vector["name"], &vector["outcome"]);
        match verified(vector) {
            Ok(event) => assert_eq!(plain(&event), wanted["event"], "{name}"),
            Err(error) => {
                assert_eq!(name_of(error.reason), wanted["error"], "{name}: {error}");
                // No text has a secret.
                let secrets = vector["secrets"].as_array().unwrap().iter().filter_map(Value::as_str);
                let hidden = secrets.filter(|secret| secret.len() > 6);
                assert!(hidden.into_iter().all(|secret| !error.to_string().contains(&secret[6..])), "{name}: {error}");
            }
        }
    }
}

#[test]
fn errors_say_what_to_do() {
    let signed = sign_event(SECRET, "checkout.paid").unwrap();
    let said = |error: Result<Event, EventError>| error.unwrap_err().to_string();
    let wrong = said(verify_event(&signed.body, &signed.headers, [OTHER]));
    assert!(wrong.contains("the secret is not this server's, or the body was changed"), "{wrong}");
    let wrong = said(verify_event(&signed.body, &signed.headers, [OTHER, OTHER]));
    assert!(wrong.contains("none of the 2 secrets is this server's"), "{wrong}");
    let changed = [&signed.body[..], b" "].concat();
    assert!(said(verify_event(&changed, &signed.headers, [SECRET])).contains("pass the bytes as they came"));
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    let old = EventToSign::new("checkout.paid").sent_at(long_ago).sign(SECRET).unwrap();
    let old = said(verify_event(&old.body, &old.headers, [SECRET]));
    assert!(old.contains(" s ago, and 300 s are allowed: check the clocks"), "{old}");
    let none: [(&str, &str); 0] = [];
    assert!(said(verify_event(&signed.body, &none, [SECRET])).contains("the header webhook-id is missing"));
    let secret = said(verify_event(&signed.body, &signed.headers, [SECRET, "whsec_too-short"]));
    assert!(secret.starts_with("secret 2 of 2 must be whsec_") && !secret.contains("too-short"), "{secret}");
    assert!(!format!("{:?}", EventVerifier::new([SECRET]).unwrap()).contains("MfKQ9r8"));
}

#[test]
fn tolerance_can_be_set() {
    let now = SystemTime::now();
    let signed = EventToSign::new("checkout.paid").sent_at(now).sign(SECRET).unwrap();
    let verifier = EventVerifier::new([SECRET]).unwrap().tolerance(Duration::from_secs(10));
    for (later, is_right) in [(9, true), (12, false)] {
        let now = now + Duration::from_secs(later);
        assert_eq!(verifier.verify_at(&signed.body, &signed.headers, now).is_ok(), is_right, "{later}");
    }
}

/// The scheme's own library takes what this crate signs, and reads the headers of a web framework.
#[test]
fn signed_events_are_standard_webhooks() {
    let to_sign = EventToSign::new("checkout.paid").id("evt_1").reference("order-18").amount(5.into());
    let signed = to_sign.member("after", "expired").sign(SECRET).unwrap();
    let mut headers = reqwest::header::HeaderMap::new();
    for (name, value) in &signed.headers {
        let name = reqwest::header::HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.insert(name, value.parse().unwrap());
    }
    standardwebhooks::Webhook::new(SECRET).unwrap().verify(&signed.body, &headers).unwrap();
    let event = verify_event(&signed.body, &headers, [OTHER, SECRET]).unwrap();
    assert_eq!(
        (event.id.as_str(), event.reference.as_str(), event.after.as_deref()),
        ("evt_1", "order-18", Some("expired"))
    );
    assert_eq!((event.amount, event.checkout_state.as_str()), (5.into(), "paid"));
}
