//! Callbacks (webhooks): read leniently, never believed, verified by asking. How they are compared is shown by the
//! conformance vectors; here are the ways around it that were found.

use kassa::{Callback, CallbackKey, PaymentError, PaymentRef, PaymentStatus, Provider, Rule, Verdict};
use proptest::prelude::*;

use crate::support::{Server, changed, response};

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
    assert_eq!(callback.amount.unwrap().to_string(), "100.10");
    assert_eq!((callback.currency, callback.status), (None, Some(PaymentStatus::Rejected)));
    assert_eq!(callback.date_created.unwrap().to_string(), "2026-11-20T09:05:00");
    assert_eq!(callback.date_created_text.as_deref(), Some("[2026,11,20,9,5]"));
    assert_eq!(callback.requisite.as_deref(), Some("Shop 7"));
    assert_eq!(callback.provider, Some(Provider::Other("ELSOM".into())));
    assert!(callback.missing.is_empty());
    assert_eq!(callback.raw, text);
}

#[test]
fn callback_with_new_status_or_date_is_parsed() {
    let text = body("order-1", "1", "HELD", "Cards").replace("2026-11-20T09:05:07", "20.11.2026 09:05");
    let callback = Callback::parse(&text).unwrap();
    assert_eq!(callback.status, Some(PaymentStatus::Other("HELD".into())));
    assert_eq!((callback.date_created, callback.date_created_text.as_deref()), (None, Some("20.11.2026 09:05")));
    assert!(callback.missing.is_empty());
}

#[test]
fn order_number_is_needed_and_no_more() {
    let all = ["amount", "status", "dateCreated", "provider"];
    for text in [
        r#"{"orderNumber":"1"}"#,
        r#"{"orderNumber":1,"more":[]}"#,
        r#"{"orderNumber":"1","amount":null,"currency":null,"status":null,"dateCreated":null,"provider":null}"#,
        r#"{"orderNumber":"1","amount":[1],"status":" ","dateCreated":"","provider":{}}"#,
        "orderNumber=1",
        "orderNumber=1&amount=&status=+&dateCreated=&provider=",
    ] {
        let callback = Callback::parse(text).unwrap();
        assert_eq!(callback.order_number, "1", "{text}");
        assert_eq!(callback.missing, all, "{text}");
        assert_eq!((callback.amount, &callback.status, &callback.provider), (None, &None, &None), "{text}");
        assert_eq!((callback.date_created, &callback.date_created_text), (None, &None), "{text}");
        assert_eq!(callback.dedup_key(), None, "the next one may look the same and tell of something new: {text}");
        let payment = callback.payment_ref().unwrap();
        assert_eq!((payment.order_number.as_deref(), payment.provider), (Some("1"), None), "{text}");
    }
    let undated = body("1", "1", "CHARGE", "Cards").replace("dateCreated", "date");
    assert_eq!(Callback::parse(&undated).unwrap().missing, ["dateCreated"]);
}

#[test]
fn without_an_order_number_nothing_is_read() {
    for text in [
        "",
        " ",
        "[]",
        "null",
        "paid",
        "{}",
        r#""orderNumber=1""#,
        r#"[{"orderNumber":"1"}]"#,
        r#"{"orderNumber":" "}"#,
        r#"{"orderNumber":null,"amount":1,"status":"CHARGE","dateCreated":"x","provider":"Cards"}"#,
        r#"{"orderNumber":"1","orderNumber":"2"}"#,
        r#"{"orderNumber":"1""#,
        r#"<a href="?orderNumber=1">"#,
        "amount=1&status=CHARGE",
        "orderNumber=&amount=1",
    ] {
        let violations = match Callback::parse(text) {
            Err(PaymentError::Invalid { violations, .. }) => violations,
            other => panic!("{text}: {other:?}"),
        };
        let found: Vec<_> = violations.iter().map(|violation| (violation.field.as_str(), violation.rule)).collect();
        assert_eq!(found, [("orderNumber", Rule::Required)], "{text}");
    }
}

/// Another program's JSON writer, a form, an envelope: the same notification, with the same key.
#[test]
fn it_is_the_same_in_every_form() {
    let plain = callback("order-1", "100.10", "CHARGE");
    let within = |name: &str| format!(r#"{{"code":"200","{name}":{}}}"#, plain.raw);
    let capitals = plain.raw.replace("orderNumber", "OrderNumber").replace("dateCreated", "DATE_CREATED");
    for text in [
        capitals,
        plain.raw.replace("orderNumber", "order_number").replace("amount", "Amount"),
        plain.raw.replace("orderNumber", "orderId"),
        within("data"),
        within("Data"),
        plain.raw.replace("100.10", r#""100,10""#),
        "orderNumber=order-1&amount=100.10&currency=KGS&status=CHARGE&dateCreated=2026-11-20T09:05:07&provider=MBank"
            .to_owned(),
        "OrderNumber=order-1&Amount=100%2C10+KGS&STATUS=charge&date-created=2026-11-20T09%3A05%3A07&provider=mbank\n"
            .to_owned(),
    ] {
        let same = Callback::parse(&text).unwrap();
        assert_eq!(changed(same.clone(), |it| it.raw.clone_from(&plain.raw)), plain, "{text}");
        assert_eq!((same.raw.as_str(), same.dedup_key()), (text.as_str(), plain.dedup_key()), "{text}");
    }
    // What stands outside the envelope counts first.
    let outside = within("data").replacen('{', r#"{"order_number":"order-2","status":null,"#, 1);
    let outside = Callback::parse(&outside).unwrap();
    assert_eq!((outside.order_number.as_str(), outside.status), ("order-2", Some(PaymentStatus::Charged)));
}

#[test]
fn amount_is_read_where_it_means_one_number() {
    let read = |amount: &str, currency: &str| {
        let callback = Callback::parse(&body("1", amount, "CHARGE", "Cards").replace(r#""KGS""#, currency)).unwrap();
        (callback.amount.map(|amount| amount.to_string()), callback.currency, callback.missing)
    };
    for (amount, currency, digits, known) in [
        ("100.10", r#""KGS""#, "100.10", Some("KGS")),
        (r#""100,00""#, "null", "100.00", None),
        (r#""1 234,50""#, "null", "1234.50", None),
        (r#""390.00 KGS""#, "null", "390.00", Some("KGS")),
        (r#""390 сом""#, "null", "390", Some("KGS")),
        (r#""390.00 USD""#, r#""417""#, "390.00", Some("417")),
        ("1e2", "null", "100", None),
    ] {
        let expected = (Some(digits.to_owned()), known.map(str::to_owned), Vec::new());
        assert_eq!(read(amount, currency), expected, "{amount}");
    }
    let too_exact = format!("0.{}1", "0".repeat(28));
    for amount in [r#""1,234""#, r#""1,234.50""#, r#""ten""#, "true", too_exact.as_str()] {
        assert_eq!(read(amount, "null"), (None, None, vec!["amount".to_owned()]), "{amount}");
    }
}

#[test]
fn callback_copies_share_dedup_key() {
    let first = callback("order-1", "100.10", "CHARGE");
    assert!(first.dedup_key().is_some());
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
        Verdict::Mismatch { fields, .. } => fields.iter().map(String::as_str).collect(),
        other => panic!("{other:?}"),
    }
}

/// A gateway that knows one paid QR transaction, `tx-9`, of 1 (som or tyiyn): the attacker's own.
fn with_one_qr_payment() -> Server {
    Server::start(|request| {
        if request.line.contains("?transaction_id=tx-9 ") {
            response(200, r#"{"code":"200","data":{"orderNumber":"q-9","status":"CHARGE","amount":1}}"#)
        } else {
            response(404, r#"{"code":"404","message":"not known"}"#)
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
    assert_eq!(error.kind(), "Refused", "the order is queried, not the code");

    let mine = PaymentRef::qr(Some(100_000)).with_transaction_id("tx-1");
    let verdict = gateway.verify_callback(&forged("q-9", "1000"), &mine).await.unwrap();
    assert_eq!(fields_of(&verdict), ["transaction_id"]);

    // The gateway's own picture has no transaction to hold against it, and the unit is unknown.
    for (sum_tyiyn, claims) in [(100, "1"), (1, "1"), (100_000, "1000")] {
        let verdict = gateway.verify_callback(&forged("q-9", claims), &PaymentRef::qr(Some(sum_tyiyn))).await.unwrap();
        assert!(!verdict.is_charged(), "{sum_tyiyn}: {verdict:?}");
    }
    let itself = changed(PaymentRef::qr(None), |it| {
        it.transaction_id = Some("tx-9".into());
        it.is_claimed = true;
    });
    let verdict = gateway.verify_callback(&forged("q-9", "1"), &itself).await.unwrap();
    assert!(matches!(verdict, Verdict::Unverifiable { .. }), "{verdict:?}");
}

/// A callback that was built field by field, from a queue or a database, has no body to read the status from again.
#[tokio::test]
async fn callback_without_body_compares_its_status() {
    let report = r#"{"code":"200","data":{"orderNumber":"order-1","amount":100.10,"status":"CHARGE"}}"#;
    let server = Server::responding(200, report);
    let payment = PaymentRef::card("order-1", "100.10".parse().unwrap(), "KGS");
    for (status, differing) in [("REJECT", vec!["status"]), ("PENDING", vec![])] {
        let text = body("order-1", "100.10", status, "Cards");
        let callback = changed(Callback::parse(&text).unwrap(), |it| it.raw = String::new());
        let verdict = server.gateway().verify_callback(&callback, &payment).await.unwrap();
        if differing.is_empty() {
            assert!(verdict.is_charged(), "a callback of an earlier status merely came late: {verdict:?}");
        } else {
            assert_eq!(fields_of(&verdict), differing);
        }
    }
}

/// A signed address that was called again, with another order's body: the signature says which payment it is about, and the
/// body is a mismatch.
#[tokio::test]
async fn replayed_url_with_other_body_is_mismatch() {
    let server = Server::start(|_| {
        response(
            200,
            r#"{"code":"200","data":{"orderNumber":"order-1","amount":100,"status":"CHARGE","currency":"KGS"}}"#,
        )
    });
    let gateway = server.gateway();
    let key = CallbackKey::new("0123456789abcdef0123456789abcdef").unwrap();
    let payment = PaymentRef::mbank("order-1", 100);
    let url = key.callback_url("https://shop.example.kg/cb", &payment).unwrap();
    let signed = key.read_callback_url(url.strip_prefix("https://shop.example.kg").unwrap()).unwrap();
    assert_eq!(signed, payment);
    let verdict = gateway.verify_callback(&callback("order-2", "100", "CHARGE"), &signed).await.unwrap();
    assert!(matches!(&verdict, Verdict::Mismatch { fields, .. } if fields == &["orderNumber"]), "{verdict:?}");
    let verdict = gateway.verify_callback(&callback("order-1", "100", "CHARGE"), &signed).await.unwrap();
    assert!(verdict.is_charged(), "{verdict:?}");
}
