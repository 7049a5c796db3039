//! Callbacks (webhooks): read leniently, never believed, verified by asking.

use kassa::{
    Callback, CallbackVerdict, Dialect, ExpectedPayment, Gateway, GatewayConfig, PaymentError, PaymentKind, PaymentRef,
    PaymentStatus, Provider, Rule,
};
use proptest::prelude::*;

use crate::support::{Server, reply};

fn body(order: &str, amount: &str, status: &str, provider: &str) -> String {
    format!(r#"{{"orderNumber":"{order}","amount":{amount},"currency":"KGS","status":"{status}","#)
        + &format!(r#""dateCreated":"2026-11-20T09:05:07","provider":"{provider}"}}"#)
}

fn callback(order: &str, amount: &str, status: &str) -> Callback {
    Callback::parse(&body(order, amount, status, "MBank")).unwrap()
}

/// A gateway that reports this of every payment.
fn reporting(status: &str, amount: &str) -> Server {
    let data = format!(r#"{{"orderNumber":"order-1","amount":{amount},"status":"{status}","currency":"KGS"}}"#);
    Server::replying(200, &format!(r#"{{"code":"200","message":"M","data":{data}}}"#))
}

fn expect(payment: PaymentRef, amount: &str, currency: &str) -> ExpectedPayment {
    ExpectedPayment { payment, amount: amount.parse().unwrap(), currency: currency.into() }
}

fn contradicted(verdict: &CallbackVerdict) -> Vec<&str> {
    match verdict {
        CallbackVerdict::Contradicted { fields, .. } => fields.iter().map(String::as_str).collect(),
        other => panic!("{other:?}"),
    }
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
        Err(PaymentError::Invalid { violations }) => {
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

#[tokio::test]
async fn the_gateway_decides() {
    let charged = callback("order-1", "100.10", "CHARGE");
    for (gateway_says, callback, verdict) in [
        (("CHARGE", "100.10"), &charged, "charged"),
        (("CHARGE", "100.1"), &charged, "charged"),
        (("CHARGE", "100.10"), &callback("order-1", "100.10", "CREATED"), "charged"),
        (("Reject", "100.10"), &callback("order-1", "100.10", "REJECT"), "rejected"),
        (("PENDING", "100.10"), &charged, "pending"),
    ] {
        let server = reporting(gateway_says.0, gateway_says.1);
        let found = server.gateway().verify_callback(callback, None).await.unwrap();
        let shown = match &found {
            CallbackVerdict::Confirmed { report } => report.status.to_string(),
            CallbackVerdict::Pending { .. } => "pending".to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(shown, verdict, "{gateway_says:?}");
        assert_eq!(found.is_charged(), verdict == "charged");
        let question = &server.received()[0];
        assert_eq!(
            (question.line.as_str(), question.body.as_str()),
            ("POST /api/v1.1.0/get-status HTTP/1.1", r#"{"orderNumber":"order-1","provider":"MBank"}"#)
        );
    }
}

#[tokio::test]
async fn what_differs_is_contradicted() {
    let verify =
        async |server: &Server, callback: &Callback| server.gateway().verify_callback(callback, None).await.unwrap();
    let found = verify(&reporting("CHARGE", "1"), &callback("order-1", "100.10", "CHARGE")).await;
    assert_eq!(contradicted(&found), ["amount"]);
    let found = verify(&reporting("Reject", "100.10"), &callback("order-1", "100.10", "CHARGE")).await;
    assert_eq!(contradicted(&found), ["status"]);
    let found = verify(&reporting("CHARGE", "5"), &callback("order-9", "100.10", "REJECT")).await;
    assert_eq!(contradicted(&found), ["orderNumber", "amount", "status"]);
    assert!(!found.is_charged());
    let other_currency = Server::replying(200, r#"{"data":{"status":"CHARGE","currency":"USD"}}"#);
    assert_eq!(contradicted(&verify(&other_currency, &callback("order-1", "1", "CHARGE")).await), ["currency"]);
    let silent = Server::replying(200, r#"{"data":{"status":"CHARGE"}}"#);
    assert!(
        verify(&silent, &callback("order-1", "1", "CHARGE")).await.is_charged(),
        "an absent field contradicts nothing"
    );
}

#[tokio::test]
async fn what_the_merchant_expects_is_compared_first() {
    let server = reporting("CHARGE", "100.10");
    let gateway = server.gateway();
    let expected = |order: Option<&str>, amount: &str, currency: &str| {
        let any = || PaymentRef::unnumbered(PaymentKind::PayForm);
        expect(order.map_or_else(any, PaymentRef::mbank), amount, currency)
    };
    let callback = callback("order-1", "100.10", "CHARGE");
    for (expected, fields) in [
        (expected(Some("order-2"), "100.10", "KGS"), vec!["orderNumber"]),
        (expected(Some("order-2"), "100", "USD"), vec!["orderNumber", "amount", "currency"]),
        (expect(PaymentRef::card("order-1"), "100.10", "KGS"), vec!["provider"]),
    ] {
        let found = gateway.verify_callback(&callback, Some(expected.clone())).await.unwrap();
        assert_eq!(contradicted(&found), fields);
    }
    assert!(server.received().is_empty(), "there is nothing left to ask");
    let right = expected(Some("order-1"), "100.1", "kgs");
    assert!(gateway.verify_callback(&callback, Some(right.clone())).await.unwrap().is_charged());
}

/// A gateway that reports every order as charged by 390, and answers for QR transactions as it is told to.
fn with_qr_answers(http_status: u16, qr_body: &'static str) -> Server {
    Server::start(move |request| {
        if request.line.contains("/gen/qr/transaction/status?transaction_id=order-1 ") {
            return reply(http_status, qr_body);
        }
        reply(200, r#"{"data":{"orderNumber":"order-1","amount":390,"status":"CHARGE","currency":"KGS"}}"#)
    })
}

#[tokio::test]
async fn a_qr_payment_of_as_many_tyiyn_pays_for_no_pay_form() {
    let callback = callback("order-1", "390", "CHARGE");
    let expected = Some(expect(PaymentRef::unnumbered(PaymentKind::PayForm), "390", "KGS"));
    let stored_since = Some(expect(PaymentRef::pay_form("order-1", Provider::MBank), "390", "KGS"));
    let charged = r#"{"code":"200","data":{"status":"CHARGE","amount":390}}"#;
    for expected in [expected.clone(), stored_since] {
        let verdict = with_qr_answers(200, charged).gateway().verify_callback(&callback, expected).await.unwrap();
        assert_eq!(contradicted(&verdict), ["orderNumber"]);
    }

    for (http_status, body) in [
        (404, r#"{"code":"404","message":"no such transaction"}"#),
        (400, r#"{"code":"7","message":"no such transaction"}"#),
        (404, "<html>no QR codes here</html>"),
        (405, ""),
        (200, r#"{"code":"200","data":{"status":"Reject"}}"#),
    ] {
        let server = with_qr_answers(http_status, body);
        assert!(server.gateway().verify_callback(&callback, expected.clone()).await.unwrap().is_charged(), "{body}");
    }
}

/// With each of these replies, the number could still be that of a paid QR code.
#[tokio::test]
async fn what_does_not_say_whether_it_is_a_qr_payment_confirms_no_pay_form() {
    let callback = callback("order-1", "390", "CHARGE");
    let expected = Some(expect(PaymentRef::unnumbered(PaymentKind::PayForm), "390", "KGS"));
    for (http_status, body, kind) in [
        (200, "<html>come back later</html>", "Unexpected"),
        (200, r#"{"status":"CHARGE","amount":390}"#, "Unexpected"),
        (200, r#"{"code":"200","data":{"status":"PAID","amount":390}}"#, "Unexpected"),
        (302, "", "Unexpected"),
        (401, "", "Unauthorized"),
        (407, "", "Misconfigured"),
        (408, "", "Refused"),
        (503, "", "Unavailable"),
    ] {
        let server = with_qr_answers(http_status, body);
        let unsure = server.gateway().verify_callback(&callback, expected.clone()).await.unwrap_err();
        assert_eq!(unsure.kind(), kind, "{http_status} {body}: {unsure}");
        let says_what = unsure.to_string().contains("whether the number is that of a QR payment");
        assert!(says_what || kind == "Refused", "{unsure}");
    }
}

#[tokio::test]
async fn a_dialect_can_name_the_code_of_a_number_that_is_no_qr_payment() {
    let server = with_qr_answers(200, r#"{"code":"7","message":"no such transaction"}"#);
    let verify = async |dialect: &str| {
        let dialect = Dialect::from_json(dialect).unwrap().into();
        let gateway = Gateway::new(GatewayConfig { dialect, ..server.config() }).unwrap();
        let expected = expect(PaymentRef::unnumbered(PaymentKind::PayForm), "390", "KGS");
        gateway.verify_callback(&callback("order-1", "390", "CHARGE"), Some(expected)).await
    };
    assert_eq!(verify("{}").await.unwrap_err().kind(), "Unexpected");
    assert!(verify(r#"{"endpoints":{"qr_status":{"refusal_codes":["7"]}}}"#).await.unwrap().is_charged());
    assert!(verify(r#"{"endpoints":{"qr_status":{"refusal_codes":["8"]}}}"#).await.is_err());
}

#[tokio::test]
async fn a_gateway_that_does_not_know_the_order_proves_nothing() {
    let server = Server::replying(404, r#"{"code":"404","message":"no such order"}"#);
    let error = server.gateway().verify_callback(&callback("order-1", "1", "CHARGE"), None).await.unwrap_err();
    assert_eq!(error.kind(), "Refused");
}

#[tokio::test]
async fn what_the_gateway_reports_is_compared_with_what_is_expected_too() {
    let without_currency = body("order-1", "1000", "CHARGE", "MBank").replace(r#""currency":"KGS","#, "");
    let callback = Callback::parse(&without_currency).unwrap();
    let server = reporting("CHARGE", "1000");
    let dollars = expect(PaymentRef::mbank("order-1"), "1000", "USD");
    let found = server.gateway().verify_callback(&callback, Some(dollars.clone())).await.unwrap();
    assert_eq!(contradicted(&found), ["currency"]);

    let odd = Server::replying(200, r#"{"data":{"status":"CHARGE","amount":"1 000,00"}}"#);
    let found = odd.gateway().verify_callback(&callback, None).await.unwrap();
    assert_eq!(contradicted(&found), ["amount"], "an amount that cannot be read is not an absent one");
}

/// A QR callback, which names a transaction of the sender's choice.
fn qr_callback(order: &str, amount: &str, more: &str) -> Callback {
    let text = body(order, amount, "CHARGE", "Cards").replace('}', &format!(r#","requisite":"Shop"{more}}}"#));
    Callback::parse(&text).unwrap()
}

/// A gateway that knows one paid QR transaction, `tx-9`, of 1 (som or tyiyn).
fn with_one_qr_payment() -> Server {
    Server::start(|request| {
        if request.line.contains("?transaction_id=tx-9 ") {
            reply(200, r#"{"code":"200","data":{"orderNumber":"q-9","status":"CHARGE","amount":1}}"#)
        } else {
            reply(404, r#"{"code":"404","message":"not known"}"#)
        }
    })
}

#[tokio::test]
async fn somebody_elses_paid_code_pays_for_nothing() {
    let server = with_one_qr_payment();
    let gateway = server.gateway();
    let forged = |order: &str, amount: &str| qr_callback(order, amount, r#","transaction_id":"tx-9""#);

    // Forged for an order that is not a QR payment: the requisite is ignored, and the order is asked about.
    let order = expect(PaymentRef::card("order-1"), "1000", "KGS");
    let error = gateway.verify_callback(&forged("order-1", "1000"), Some(order.clone())).await.unwrap_err();
    assert_eq!(error.kind(), "Refused");
    assert!(server.received().iter().all(|request| request.line.starts_with("POST /api/v1.1.0/get-status ")));

    // Forged for another QR payment, known by its transaction, or only by an amount of unknown unit.
    let mine = expect(PaymentRef::qr("tx-1"), "1000", "KGS");
    assert_eq!(
        contradicted(&gateway.verify_callback(&forged("q-9", "1000"), Some(mine.clone())).await.unwrap()),
        ["transaction_id"]
    );
    let unnumbered = expect(PaymentRef::unnumbered(PaymentKind::Qr), "1000", "KGS");
    let found = gateway.verify_callback(&forged("q-9", "1"), Some(unnumbered.clone())).await.unwrap();
    assert_eq!(found, CallbackVerdict::Unverifiable);

    // Where the unit is known, the amounts are compared and differ.
    let dialect = Dialect::from_json(r#"{"qr_amount_unit":"som"}"#).unwrap();
    let gateway = Gateway::new(GatewayConfig { dialect: dialect.into(), ..server.config() }).unwrap();
    let found = gateway.verify_callback(&forged("q-9", "1000"), Some(unnumbered.clone())).await.unwrap();
    assert_eq!(contradicted(&found), ["amount"]);
    let found = gateway.verify_callback(&forged("q-1", "1"), None).await.unwrap();
    assert_eq!(contradicted(&found), ["orderNumber"]);
}

#[tokio::test]
async fn without_a_number_the_amount_has_to_be_the_gateways_own() {
    for status in ["CHARGE", "PENDING"] {
        let server = Server::replying(200, &format!(r#"{{"code":"200","data":{{"status":"{status}"}}}}"#));
        let dialect = Dialect::from_json(r#"{"qr_amount_unit":"som"}"#).unwrap();
        let gateway = Gateway::new(GatewayConfig { dialect: dialect.into(), ..server.config() }).unwrap();

        // A forger's own payment of one som, in a callback that claims the price of another order.
        let expected = expect(PaymentRef::unnumbered(PaymentKind::PayForm), "1000", "KGS");
        let found =
            gateway.verify_callback(&callback("cheap-1", "1000", "CHARGE"), Some(expected.clone())).await.unwrap();
        assert_eq!(found, CallbackVerdict::Unverifiable);
        let expected = expect(PaymentRef::unnumbered(PaymentKind::Qr), "1000", "KGS");
        let forged = qr_callback("cheap-1", "1000", r#","transaction_id":"tx-9""#);
        let found = gateway.verify_callback(&forged, Some(expected.clone())).await.unwrap();
        assert_eq!(found, CallbackVerdict::Unverifiable);

        // The number of a pay-form is never the merchant's own, even if it was stored since.
        let claimed_before = expect(PaymentRef::pay_form("cheap-1", Provider::MBank), "1000", "KGS");
        let found =
            gateway.verify_callback(&callback("cheap-1", "1000", "CHARGE"), Some(claimed_before)).await.unwrap();
        assert_eq!(found, CallbackVerdict::Unverifiable);
        let known = expect(PaymentRef::mbank("order-1"), "1000", "KGS");
        let found = gateway.verify_callback(&callback("order-1", "1000", "CHARGE"), Some(known)).await.unwrap();
        assert_ne!(found, CallbackVerdict::Unverifiable);
    }
}

#[tokio::test]
async fn a_qr_payment_is_asked_about_by_its_transaction() {
    let server = with_one_qr_payment();
    let gateway = server.gateway();
    let without_id = qr_callback("q-9", "1", "");
    assert_eq!(without_id.payment_ref(), None);
    assert_eq!(gateway.verify_callback(&without_id, None).await.unwrap(), CallbackVerdict::Unverifiable);
    assert!(server.received().is_empty(), "there is nothing to ask with");

    let mine = expect(PaymentRef::qr("tx-9"), "0.01", "KGS");
    assert!(
        gateway.verify_callback(&without_id, Some(mine.clone())).await.unwrap().is_charged(),
        "no unit, no comparison"
    );
    let no_requisite = Callback::parse(&body("q-9", "1", "CHARGE", "MBank")).unwrap();
    assert!(gateway.verify_callback(&no_requisite, Some(mine.clone())).await.unwrap().is_charged());
    let with_id = qr_callback("q-9", "1", r#","transaction_id":"tx-9""#);
    assert!(gateway.verify_callback(&with_id, None).await.unwrap().is_charged());

    let dialect = Dialect::from_json(r#"{"qr_amount_unit":"tyiyn"}"#).unwrap();
    let gateway = Gateway::new(GatewayConfig { dialect: dialect.into(), ..server.config() }).unwrap();
    assert!(gateway.verify_callback(&with_id, Some(mine.clone())).await.unwrap().is_charged());
    let dearer = expect(PaymentRef::qr("tx-9"), "1", "KGS");
    assert_eq!(contradicted(&gateway.verify_callback(&with_id, Some(dearer.clone())).await.unwrap()), ["amount"]);
}

#[tokio::test]
async fn a_provider_that_is_not_known_cannot_be_asked() {
    let unknown = Callback::parse(&body("1", "1", "CHARGE", "ELSOM")).unwrap();
    let server = reporting("CHARGE", "1");
    assert_eq!(server.gateway().verify_callback(&unknown, None).await.unwrap(), CallbackVerdict::Unverifiable);
}

#[tokio::test]
async fn words_of_the_dialect_count() {
    let server = reporting("PAID", "1");
    let dialect = Dialect::from_json(r#"{"charged_words":["PAID"]}"#).unwrap();
    let gateway = Gateway::new(GatewayConfig { dialect: dialect.into(), ..server.config() }).unwrap();
    assert!(gateway.verify_callback(&callback("order-1", "1", "PAID"), None).await.unwrap().is_charged());
    let found = gateway.verify_callback(&callback("order-1", "1", "Reject"), None).await.unwrap();
    assert_eq!(contradicted(&found), ["status"]);
}
