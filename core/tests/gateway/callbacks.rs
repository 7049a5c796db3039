//! Callbacks (webhooks): read leniently, never believed, verified by asking. How they are compared is shown by the
//! conformance vectors; here are the ways around it that were found.

use kassa::{Callback, CallbackKey, PaymentError, PaymentRef, PaymentStatus, Provider, Rule, Verdict};
use proptest::prelude::*;

use crate::support::{Server, changed, reply};

fn body(order: &str, amount: &str, status: &str, provider: &str) -> String {
    format!(r#"{{"orderNumber":"{order}","amount":{amount},"currency":"KGS","status":"{status}","#)
        + &format!(r#""dateCreated":"2026-11-20T09:05:07","provider":"{provider}"}}"#)
}

fn callback(order: &str, amount: &str, status: &str) -> Callback {
    Callback::parse(&body(order, amount, status, "MBank")).unwrap()
}

#[test]
fn every_field_of_the_table_is_read() {
    let text = r#"{"orderNumber":"order-1","amount":"100.10","status":"Reject","dateCreated":[2026,11,20,9,5],
        "requisite":"Shop 7","provider":"ELSOM","more":{"a":1}}"#;
    let callback = Callback::parse(text).unwrap();
    assert_eq!(callback.order_number, "order-1");
    assert_eq!(callback.amount.to_string(), "100.10");
    assert_eq!((callback.currency, callback.status), (None, PaymentStatus::Rejected));
    assert_eq!(callback.date_created.unwrap().to_string(), "2026-11-20T09:05:00");
    assert_eq!(callback.date_created_text, "[2026,11,20,9,5]");
    assert_eq!(callback.requisite.as_deref(), Some("Shop 7"));
    assert_eq!(callback.provider, Provider::Other("ELSOM".into()));
    assert_eq!(callback.raw, text);
}

#[test]
fn a_new_status_or_a_new_form_of_date_does_not_lose_it() {
    let text = body("order-1", "1", "HELD", "Cards").replace("2026-11-20T09:05:07", "20.11.2026 09:05");
    let callback = Callback::parse(&text).unwrap();
    assert_eq!(callback.status, PaymentStatus::Other("HELD".into()));
    assert_eq!((callback.date_created, callback.date_created_text.as_str()), (None, "20.11.2026 09:05"));
}

#[test]
fn what_is_missing_is_named_all_at_once() {
    let violations = |text: &str| match Callback::parse(text) {
        Err(PaymentError::Invalid { violations, .. }) => {
            violations.into_iter().map(|violation| (violation.field, violation.rule)).collect::<Vec<_>>()
        }
        other => panic!("{text}: {other:?}"),
    };
    let missing =
        |fields: &[&str]| fields.iter().map(|field| ((*field).to_owned(), Rule::Required)).collect::<Vec<_>>();
    assert_eq!(violations("{}"), missing(&["orderNumber", "amount", "status", "dateCreated", "provider"]));
    assert_eq!(
        violations(r#"{"orderNumber":null,"amount":1,"status":" ","dateCreated":"x","provider":{}}"#),
        missing(&["orderNumber", "status", "provider"])
    );
    assert_eq!(violations(&body("1", r#""ten""#, "CHARGE", "Cards")), [("amount".to_owned(), Rule::Exact)]);
    for text in ["", "[]", "null", "orderNumber=1", r#"{"orderNumber":"1","orderNumber":"2"}"#] {
        assert_eq!(violations(text), [("callback".to_owned(), Rule::Format)], "{text}");
    }
}

#[test]
fn copies_have_one_key_and_other_notifications_another() {
    let first = callback("order-1", "100.10", "CHARGE");
    let reformatted = body("order-1", r#""100.1""#, "charge", "MBank").replace(',', " ,\n");
    assert_eq!(Callback::parse(&reformatted).unwrap().dedup_key(), first.dedup_key());
    for other in [
        callback("order-2", "100.10", "CHARGE"),
        callback("order-1", "100.11", "CHARGE"),
        callback("order-1", "100.10", "CREATED"),
        callback("order-1", "100.10", "CHARGED"),
    ] {
        assert_ne!(other.dedup_key(), first.dedup_key());
    }
}

proptest! {
    #[test]
    fn no_body_makes_it_panic(text in any::<String>()) {
        let _ = Callback::parse(&text);
        if let Ok(callback) = Callback::parse(&body("1", "1", &text.replace(['"', '\\'], ""), "Cards")) {
            let _ = callback.dedup_key();
        }
    }
}

fn fields_of(verdict: &Verdict) -> Vec<&str> {
    match verdict {
        Verdict::Contradicted { fields, .. } => fields.iter().map(String::as_str).collect(),
        other => panic!("{other:?}"),
    }
}

/// A gateway that knows one paid QR transaction, `tx-9`, of 1 (som or tyiyn): the attacker's own.
fn with_one_qr_payment() -> Server {
    Server::start(|request| {
        if request.line.contains("?transaction_id=tx-9 ") {
            reply(200, r#"{"code":"200","data":{"orderNumber":"q-9","status":"CHARGE","amount":1}}"#)
        } else {
            reply(404, r#"{"code":"404","message":"not known"}"#)
        }
    })
}

/// Self-verification: a forged callback that names the attacker's own paid code was once confirmed for any order and
/// amount, and a reference made from it counted as the merchant's own.
#[tokio::test]
async fn somebody_elses_paid_code_pays_for_nothing() {
    let server = with_one_qr_payment();
    let gateway = server.gateway();
    let forged = |order: &str, amount: &str| {
        let text = body(order, amount, "CHARGE", "Cards");
        let text = text.replace('}', r#","requisite":"Shop","transaction_id":"tx-9"}"#);
        Callback::parse(&text).unwrap()
    };
    let card = PaymentRef::card("order-1", 1000.into(), "KGS");
    let error = gateway.verify_callback(&forged("order-1", "1000"), &card).await.unwrap_err();
    assert_eq!(error.kind(), "Refused", "the order is asked about, not the code");

    let mine = PaymentRef::qr(Some(100_000)).with_transaction_id("tx-1");
    let told = gateway.verify_callback(&forged("q-9", "1000"), &mine).await.unwrap();
    assert_eq!(fields_of(&told), ["transaction_id"]);

    // The gateway's own picture has no transaction to hold against it, and nobody knows the unit.
    for (sum_tyiyn, claims) in [(100, "1"), (1, "1"), (100_000, "1000")] {
        let told = gateway.verify_callback(&forged("q-9", claims), &PaymentRef::qr(Some(sum_tyiyn))).await.unwrap();
        assert!(!told.is_charged(), "{sum_tyiyn}: {told:?}");
    }
    let itself = changed(PaymentRef::qr(None), |it| {
        it.transaction_id = Some("tx-9".into());
        it.is_claimed = true;
    });
    let told = gateway.verify_callback(&forged("q-9", "1"), &itself).await.unwrap();
    assert!(matches!(told, Verdict::Unverifiable { .. }), "{told:?}");
}

/// A callback that was built field by field, from a queue or a database, has no body to read the status from again.
#[tokio::test]
async fn without_its_body_a_callbacks_status_counts_all_the_same() {
    let report = r#"{"code":"200","data":{"orderNumber":"order-1","amount":100.10,"status":"CHARGE"}}"#;
    let server = Server::replying(200, report);
    let payment = PaymentRef::card("order-1", "100.10".parse().unwrap(), "KGS");
    for (status, differing) in [("REJECT", vec!["status"]), ("PENDING", vec![])] {
        let text = body("order-1", "100.10", status, "Cards");
        let callback = changed(Callback::parse(&text).unwrap(), |it| it.raw = String::new());
        let told = server.gateway().verify_callback(&callback, &payment).await.unwrap();
        if differing.is_empty() {
            assert!(told.is_charged(), "a callback of an earlier status merely came late: {told:?}");
        } else {
            assert_eq!(fields_of(&told), differing);
        }
    }
}

/// A signed address that was called again, with another order's body: the signature says which payment it is about, and the
/// body is contradicted.
#[tokio::test]
async fn a_replayed_address_with_another_body_pays_for_nothing() {
    let server = Server::start(|_| {
        reply(200, r#"{"code":"200","data":{"orderNumber":"order-1","amount":100,"status":"CHARGE","currency":"KGS"}}"#)
    });
    let gateway = server.gateway();
    let key = CallbackKey::new("0123456789abcdef0123456789abcdef").unwrap();
    let payment = PaymentRef::mbank("order-1", 100);
    let url = key.callback_url("https://shop.example.kg/cb", &payment).unwrap();
    let signed = key.read_callback_url(url.strip_prefix("https://shop.example.kg").unwrap()).unwrap();
    assert_eq!(signed, payment);
    let verdict = gateway.verify_callback(&callback("order-2", "100", "CHARGE"), &signed).await.unwrap();
    assert!(matches!(&verdict, Verdict::Contradicted { fields, .. } if fields == &["orderNumber"]), "{verdict:?}");
    let verdict = gateway.verify_callback(&callback("order-1", "100", "CHARGE"), &signed).await.unwrap();
    assert!(verdict.is_charged(), "{verdict:?}");
}
