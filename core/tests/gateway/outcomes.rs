//! The table of outcomes (`docs/outcomes.md#the-table`), cell by cell, for each operation, with injected faults: what
//! came back, and what it means for the money.

use std::time::Duration;

use kassa::{Credentials, Dialect, Gateway, GatewayConfig, PaymentError, PaymentRef};
use kassa_test_patience::patience;

use crate::support::{self, Answer, Op, Server, response, response_bytes, response_with};

const ENVELOPE: &str = r#"{"code":"05","message":"No","data":null}"#;

/// Asserts the variant of each operation's answer, and how often the request was sent.
struct Row {
    name: &'static str,
    answer: fn(Op) -> Answer,
    moves_money: &'static str,
    creates: &'static str,
    asks: &'static str,
    /// Queries are repeated twice.
    asks_again: bool,
}

const UNKNOWN: &str = "OutcomeUnknown";
const UNAVAILABLE: &str = "Unavailable";
const UNEXPECTED: &str = "Unexpected";
const REFUSED: &str = "Refused";

fn rows() -> Vec<Row> {
    let row = |name, answer, moves_money, creates, asks, asks_again| Row {
        name,
        answer,
        moves_money,
        creates,
        asks,
        asks_again,
    };
    let same = |name, answer, variant| row(name, answer, variant, variant, variant, false);
    vec![
        row("reset", |_| Answer::BytesThenReset(vec![]), UNKNOWN, UNAVAILABLE, UNAVAILABLE, true),
        row("closed without a response", |_| Answer::BytesThenClose(vec![]), UNKNOWN, UNAVAILABLE, UNAVAILABLE, true),
        row(
            "cut in the head",
            |_| Answer::BytesThenClose(b"HTTP/1.1 200 O".to_vec()),
            UNKNOWN,
            UNAVAILABLE,
            UNAVAILABLE,
            true,
        ),
        row(
            "cut in the body",
            |op| {
                let mut bytes = response_bytes(200, "", op.success_body().as_bytes());
                bytes.pop();
                Answer::BytesThenClose(bytes)
            },
            UNKNOWN,
            UNAVAILABLE,
            UNAVAILABLE,
            true,
        ),
        row(
            "not HTTP",
            |_| Answer::BytesThenClose(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec()),
            UNKNOWN,
            UNAVAILABLE,
            UNAVAILABLE,
            true,
        ),
        row("2xx, not JSON", |_| response(200, "<html>ok</html>"), UNKNOWN, UNEXPECTED, UNEXPECTED, false),
        row("2xx, empty", |_| response(200, ""), UNKNOWN, UNEXPECTED, UNEXPECTED, false),
        row("204", |_| Answer::Bytes(b"HTTP/1.1 204 X\r\n\r\n".to_vec()), UNKNOWN, UNEXPECTED, UNEXPECTED, false),
        row(
            "2xx, JSON cut short",
            |_| response(200, r#"{"code":"110","data":{"#),
            UNKNOWN,
            UNEXPECTED,
            UNEXPECTED,
            false,
        ),
        row(
            "2xx, two codes",
            |_| response(200, r#"{"code":"110","code":"05","data":{"status":"CHARGE"}}"#),
            UNKNOWN,
            UNEXPECTED,
            UNEXPECTED,
            false,
        ),
        row(
            "2xx, not UTF-8",
            |_| Answer::Bytes(response_bytes(200, "", b"{\"a\":\"\xff\"}")),
            UNKNOWN,
            UNEXPECTED,
            UNEXPECTED,
            false,
        ),
        row(
            "2xx, over the limit",
            |_| response(200, &format!("{{\"code\":\"110\",\"a\":\"{}\"}}", "x".repeat(1024 * 1024))),
            UNKNOWN,
            UNEXPECTED,
            UNEXPECTED,
            false,
        ),
        row("301", |_| response_with(301, "Location: /elsewhere\r\n", ""), UNKNOWN, UNEXPECTED, UNEXPECTED, false),
        row(
            "302 to another host",
            |_| response_with(302, "Location: https://elsewhere.example/\r\n", ENVELOPE),
            UNKNOWN,
            UNEXPECTED,
            UNEXPECTED,
            false,
        ),
        same("400 with an envelope", |_| response(400, ENVELOPE), REFUSED),
        row("400 without one", |_| response(400, "no"), UNKNOWN, REFUSED, UNAVAILABLE, false),
        row("400, empty", |_| response(400, ""), UNKNOWN, REFUSED, UNAVAILABLE, false),
        row("499", |_| response(499, "<html>"), UNKNOWN, REFUSED, UNAVAILABLE, false),
        same("413 without an envelope", |_| response(413, "<html>"), REFUSED),
        same("414 without an envelope", |_| response(414, ""), REFUSED),
        same("415 without an envelope", |_| response(415, ""), REFUSED),
        same("421 without an envelope", |_| response(421, ""), REFUSED),
        same("426 without an envelope", |_| response(426, ""), REFUSED),
        same("431 without an envelope", |_| response(431, ""), REFUSED),
        same("401", |_| response(401, ENVELOPE), "Unauthorized"),
        same("403 with an envelope", |_| response(403, ENVELOPE), "Unauthorized"),
        row("403 without an envelope", |_| response(403, "<html>"), UNKNOWN, REFUSED, UNAVAILABLE, false),
        same("404 without an envelope", |_| response(404, "<html>not here</html>"), "Misconfigured"),
        same("404 with other JSON", |_| response(404, r#"{"error":"no such route"}"#), "Misconfigured"),
        same("405 without an envelope", |_| response(405, ""), "Misconfigured"),
        same("407 without an envelope", |_| response(407, ""), "Misconfigured"),
        same("404 with an envelope", |_| response(404, ENVELOPE), REFUSED),
        same("405 with an envelope", |_| response(405, ENVELOPE), REFUSED),
        row("408", |_| response(408, ENVELOPE), UNKNOWN, REFUSED, REFUSED, false),
        row("409", |_| response(409, ENVELOPE), UNKNOWN, REFUSED, REFUSED, false),
        same("407 with an envelope", |_| response(407, ENVELOPE), REFUSED),
        same(
            "404 with a message and no code",
            |_| response(404, r#"{"status":404,"message":"No static resource"}"#),
            "Misconfigured",
        ),
        row(
            "400, cut in the body",
            |_| Answer::BytesThenClose(b"HTTP/1.1 400 X\r\nContent-Length: 9\r\n\r\n{".to_vec()),
            UNKNOWN,
            UNAVAILABLE,
            UNAVAILABLE,
            true,
        ),
        same(
            "400 after 100 and 103",
            |_| {
                let early = b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\n\r\n".to_vec();
                Answer::Bytes([early, response_bytes(400, "", ENVELOPE.as_bytes())].concat())
            },
            REFUSED,
        ),
        row(
            "101",
            |_| Answer::BytesThenClose(b"HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n".to_vec()),
            UNKNOWN,
            UNEXPECTED,
            UNEXPECTED,
            false,
        ),
        same("422", |_| response(422, ENVELOPE), REFUSED),
        row("429", |_| response(429, ENVELOPE), UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, true),
        row("500 with an envelope", |_| response(500, ENVELOPE), UNKNOWN, UNAVAILABLE, UNAVAILABLE, true),
        row("502, HTML", |_| response(502, "<html>bad gateway</html>"), UNKNOWN, UNAVAILABLE, UNAVAILABLE, true),
        row("503, no envelope", |_| response(503, ""), UNKNOWN, UNAVAILABLE, UNAVAILABLE, true),
        row("599", |_| response(599, ""), UNKNOWN, UNAVAILABLE, UNAVAILABLE, true),
    ]
}

#[tokio::test]
async fn every_cell_of_the_table() {
    // All servers run at the same time, which takes many open files.
    rlimit::increase_nofile_limit(4096).unwrap();
    let mut cases = Vec::new();
    for row in rows() {
        for op in Op::all() {
            cases.push(cell(row.name, row.answer, op, expected(&row, op)));
        }
    }
    let dialect: serde_json::Value = serde_json::from_str(&Dialect::default().to_json()).unwrap();
    let endpoints = dialect["endpoints"].as_object().unwrap().len();
    assert_eq!(cases.len(), rows().len() * endpoints, "every endpoint has its column");
    futures_util::future::join_all(cases).await;
}

fn expected(row: &Row, op: Op) -> (&'static str, usize) {
    if Op::MOVES_MONEY.contains(&op) {
        (row.moves_money, 1)
    } else if Op::CREATES.contains(&op) {
        (row.creates, 1)
    } else {
        (row.asks, if row.asks_again { 3 } else { 1 })
    }
}

async fn cell(name: &'static str, answer: fn(Op) -> Answer, op: Op, (variant, sent): (&'static str, usize)) {
    let server = Server::start(move |_| answer(op));
    // A deadline that a busy machine does not reach.
    let gateway = server.gateway().with_deadline(patience()).unwrap();
    let error = op.run(&gateway).await.expect_err(&format!("{name}, {op:?}"));
    assert_eq!(error.kind(), variant, "{name}, {op:?}: {error}");
    assert_eq!(server.received().len(), sent, "{name}, {op:?}: how often it was sent");
    assert_eq!(error.payment_may_exist(), variant == UNKNOWN, "{name}, {op:?}");
    if let PaymentError::OutcomeUnknown { payment, .. } = &error {
        assert_eq!(**payment, op.payment_ref(), "{name}, {op:?}");
    }
}

#[tokio::test]
async fn silence_until_the_deadline() {
    let server = Server::start(|_| Answer::Silence);
    let gateway = &server.gateway().with_deadline(Duration::from_secs(20)).unwrap();
    let calls = Op::all().map(|op| async move { (op, op.run(gateway).await.unwrap_err()) });
    for (op, error) in futures_util::future::join_all(calls).await {
        let variant = if Op::MOVES_MONEY.contains(&op) { UNKNOWN } else { UNAVAILABLE };
        assert_eq!(error.kind(), variant, "{op:?}: {error}");
        assert!(error.to_string().contains("the deadline passed before the whole response came"), "{op:?}: {error}");
    }
    assert_eq!(server.received().len(), Op::all().count());
}

#[tokio::test]
async fn no_connection_means_that_nothing_happened() {
    // A fixed port that nobody listens on. One that was free a moment ago could be given to another program meanwhile.
    let config = support::config("http://127.0.0.1:1");
    let gateway = Gateway::new(config).unwrap();
    for op in Op::all() {
        let error = op.run(&gateway).await.unwrap_err();
        assert_eq!(error.kind(), UNAVAILABLE, "{op:?}: {error}");
        assert!(error.is_retryable() && !error.payment_may_exist(), "{op:?}");
        assert!(error.to_string().contains("could not connect to 127.0.0.1:1: connection refused"), "{error}");
    }
}

/// A name that nobody can ever have (RFC 6761).
#[tokio::test]
async fn host_that_is_not_found_is_named() {
    let config = GatewayConfig::new("https://pay.invalid", Credentials::basic("a", "b")).with_query_retries(0);
    let gateway = Gateway::new(config).unwrap();
    for op in [Op::CardPayment, Op::QrStatus] {
        let error = op.run(&gateway).await.unwrap_err();
        assert_eq!(error.kind(), UNAVAILABLE, "{op:?}: {error}");
        assert!(error.to_string().contains("the host name pay.invalid"), "{op:?}: {error}");
    }
}

/// Kassa does not request compression, and the payment may have been made.
#[tokio::test]
async fn compressed_response_is_never_a_refusal() {
    // What gzip makes of anything begins so, and is no UTF-8.
    let packed = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03";
    for (status, of_query) in [(200, UNEXPECTED), (400, UNAVAILABLE), (404, "Misconfigured"), (422, UNAVAILABLE)] {
        for op in Op::all() {
            let bytes = response_bytes(status, "Content-Encoding: gzip\r\n", packed);
            let server = Server::start(move |_| Answer::Bytes(bytes.clone()));
            let error = op.run(&server.gateway().with_deadline(patience()).unwrap()).await.unwrap_err();
            if Op::MOVES_MONEY.contains(&op) {
                assert_eq!(error.kind(), UNKNOWN, "{op:?}, {status}: {error}");
                assert!(error.to_string().contains("compressed"), "{op:?}: {error}");
            } else if Op::ASKS.contains(&op) {
                assert_eq!(error.kind(), of_query, "{op:?}, {status}: {error}");
            }
            if status == 200 {
                assert!(error.to_string().contains("it is compressed (gzip)"), "{op:?}: {error}");
            }
            assert_eq!(server.received()[0].header("accept-encoding"), Some("identity"), "{op:?}");
        }
    }
    // Some say that they compress, and do not.
    for op in Op::all() {
        let server = Server::start(move |_| response_with(200, "Content-Encoding: gzip\r\n", &op.success_body()));
        assert!(op.run(&server.gateway()).await.is_ok(), "{op:?}");
    }
}

/// The start page of a router or of the merchant's own site, where the gateway's address is wrong.
#[tokio::test]
async fn html_response_is_reported_by_its_first_tag() {
    for (body, words) in [
        ("<html lang=ky>hunter2", "it begins with <html> and is not JSON: check base_url (KASSA_URL)"),
        ("\n <!DOCTYPE html>", "it begins with <!doctype>"),
        ("<hunter2>", "it begins with a tag"),
        ("", "it is empty"),
    ] {
        let server = Server::responding(200, body);
        let error = Op::QrStatus.run(&server.gateway()).await.unwrap_err();
        let PaymentError::Unexpected { detail, .. } = &error else { panic!("{error}") };
        assert!(detail.contains(words) && !detail.contains("hunter2"), "{detail}");
    }
}

#[tokio::test]
async fn each_operation_has_its_success() {
    for op in Op::all() {
        let server = Server::start(move |_| response(200, &op.success_body()));
        let answer = op.run(&server.gateway()).await;
        assert!(answer.is_ok(), "{op:?}: {answer:?}");
        let server = Server::start(move |_| response(201, &op.success_body()));
        assert!(op.run(&server.gateway()).await.is_ok(), "{op:?} with 201");
    }
}

/// A success status with a readable body that is not a success.
#[tokio::test]
async fn readable_response_that_is_not_a_success() {
    let no_status = r#"{"code":"200","message":"PAYMENT_SUCCESS","data":{"amount":100.10}}"#;
    let bad_page =
        r#"{"code":"110","payFormUrl":"http://evil.example/","data":{"ConfirmationUrl":"javascript:alert(1)"}}"#;
    let odd_page = r#"{"code":"110","data":{"ConfirmationUrl":{"href":"https://gw.example.kg/3ds"}}}"#;
    for (op, body, variant) in [
        (Op::CardPayment, ENVELOPE, UNKNOWN),
        (Op::CardPayment, r#"{"data":{"status":"Success"}}"#, UNKNOWN),
        (Op::CardPayment, r#"[{"code":"110"}]"#, UNKNOWN),
        (Op::CardPayment, bad_page, UNKNOWN),
        (Op::CardPayment, odd_page, UNKNOWN),
        (Op::MbankPayment, r#""ok""#, UNKNOWN),
        (Op::MbankConfirm, "[]", UNKNOWN),
        (Op::MegapayCheck, r#""ok""#, UNKNOWN),
        (Op::MegapayPay, "[]", UNKNOWN),
        (Op::PayForm, ENVELOPE, UNEXPECTED),
        (Op::PayForm, bad_page, UNEXPECTED),
        (Op::QrImage, ENVELOPE, UNEXPECTED),
        (Op::PaymentStatus, no_status, UNEXPECTED),
        (Op::ProviderStatus, no_status, UNEXPECTED),
        (Op::QrStatus, no_status, UNEXPECTED),
    ] {
        let server = Server::responding(200, body);
        let error = op.run(&server.gateway()).await.expect_err(body);
        assert_eq!(error.kind(), variant, "{op:?}, {body}: {error}");
        assert_eq!(server.received().len(), 1, "{op:?}, {body}");
        let (PaymentError::OutcomeUnknown { body: Some(stored), .. } | PaymentError::Unexpected { body: stored, .. }) =
            error
        else {
            panic!("{op:?}: the response is lost");
        };
        assert_eq!(stored, body, "{op:?}");
    }
}

#[tokio::test]
async fn code_that_the_dialect_lists_is_a_refusal() {
    let names = [
        "card_payment",
        "mbank_payment",
        "mbank_confirm",
        "megapay_check",
        "megapay_pay",
        "pay_form",
        "qr_image",
        "qr_data",
    ];
    let refusals = names.map(|name| format!(r#""{name}": {{"refusal_codes": ["05"]}}"#)).join(",");
    let dialect = support::dialect(&format!(r#"{{"endpoints": {{{refusals}}}}}"#));
    for op in Op::MOVES_MONEY.into_iter().chain(Op::CREATES) {
        for (body, code) in [(ENVELOPE, "05"), (r#"{"code":"05","message":"No"}"#, "05")] {
            let server = Server::responding(200, body);
            let gateway = Gateway::new(server.config().with_dialect(dialect.clone())).unwrap();
            let refused = PaymentError::refused(200).with_code(code).with_reason("No").with_response(200, body);
            assert_eq!(op.run(&gateway).await, Err(refused), "{op:?}");
        }
    }
}

/// The interface shows no codes of the mobile bank and the QR data (`docs/interface.md#what-is-not-shown`), so any code
/// will do that is not a refusal.
#[tokio::test]
async fn codes_that_nobody_listed() {
    let unlisted = [Op::MbankPayment, Op::MbankConfirm, Op::MegapayCheck, Op::MegapayPay, Op::QrData];
    for op in unlisted.into_iter().chain(Op::ASKS) {
        let server = Server::responding(200, r#"{"code":"777","message":"M","data":{"status":"NEW"}}"#);
        let answer = op.run(&server.gateway()).await;
        assert!(answer.is_ok(), "{op:?}: {answer:?}");
    }
}

#[tokio::test]
async fn refusal_code_with_500_or_status_is_no_refusal() {
    let names = [
        "card_payment",
        "payment_status",
        "mbank_payment",
        "mbank_confirm",
        "megapay_check",
        "megapay_pay",
        "provider_status",
        "qr_status",
    ];
    let refusals = names.map(|name| format!(r#""{name}": {{"refusal_codes": ["05"]}}"#)).join(",");
    let dialect = support::dialect(&format!(r#"{{"endpoints": {{{refusals}}}}}"#));
    let with_status = r#"{"code":"05","message":"No","data":{"status":"CHARGE"}}"#;
    let of_money = Op::MOVES_MONEY.map(|op| (op, 500, ENVELOPE, UNKNOWN));
    let of_queries = Op::ASKS.map(|op| (op, 200, with_status, UNEXPECTED));
    for (op, status, body, variant) in of_money.into_iter().chain(of_queries) {
        let server = Server::responding(status, body);
        let gateway = Gateway::new(server.config().with_dialect(dialect.clone())).unwrap();
        assert_eq!(op.run(&gateway).await.unwrap_err().kind(), variant, "{op:?}");
    }
}

/// A status is worth more than an amount: what cannot be read exactly is absent, and the raw response is there.
#[tokio::test]
async fn odd_amount_does_not_hide_a_status() {
    for amount in [r#""""#, r#""100,10""#, r#""100.10 KGS""#, "null", "{}", "1e300", "1e999999999"] {
        let body = format!(r#"{{"code":"200","data":{{"status":"CHARGE","amount":{amount}}}}}"#);
        let server = Server::responding(200, &body);
        let report = server.gateway().qr_status("tx").await.expect(amount);
        assert_eq!((report.status, report.amount), (kassa::PaymentStatus::Charged, None), "{amount}");
        assert_eq!(report.raw, body);
    }
}

#[tokio::test]
async fn code_may_be_a_number_and_data_of_any_shape() {
    for body in [
        r#"{"code":110,"data":null}"#,
        r#"{"code":"110","data":"none"}"#,
        r#"{"code":"110","data":[],"extra":{"a":[1]}}"#,
        r#"{"code":"110","data":{"ConfirmationUrl":null,"status":"Success"}}"#,
        r#"{"code":"110","data":{"ConfirmationUrl":""}}"#,
        "\u{feff}{\"code\":\"110\"}",
    ] {
        let server = Server::responding(200, body);
        let answer = Op::CardPayment.run(&server.gateway()).await.expect(body);
        assert!(answer.contains("CheckStatus"), "{body}: {answer}");
    }
}

#[tokio::test]
async fn retry_after_is_returned_in_the_error() {
    let server = Server::start(|_| response_with(429, "Retry-After: 17\r\n", ENVELOPE));
    let config = server.config().with_query_retries(0);
    for op in Op::all() {
        let error = op.run(&Gateway::new(config.clone()).unwrap()).await.unwrap_err();
        let PaymentError::Unavailable { retry_after, detail, .. } = error else { panic!("{op:?}: {error}") };
        assert_eq!(retry_after, Some(Duration::from_secs(17)), "{op:?}");
        assert_eq!(detail, r#"HTTP 429, "No""#);
    }
}

#[tokio::test]
async fn unknown_outcome_keeps_gateway_number() {
    let body = r#"{"code":"999","data":{"ConfirmationUrl":"https://gw.example.kg/3ds?token=gw%2D9"}}"#;
    let server = Server::responding(200, body);
    let error = Op::CardPayment.run(&server.gateway()).await.unwrap_err();
    let PaymentError::OutcomeUnknown { payment, code, .. } = error else { panic!("{error}") };
    assert_eq!(*payment, card_ref().with_gateway_number("gw-9"));
    assert_eq!(code.as_deref(), Some("999"));
}

/// A cache or a mixed-up connection can deliver a response to another request. Its numbers would lead to another payment.
#[tokio::test]
async fn response_about_another_payment_is_no_answer() {
    let page = "https://gw.example.kg/3ds?token=gw-other";
    let card = |number: &str, amount: &str, currency: &str| {
        format!(
            r#"{{"code":"110","data":{{"orderNumber":"{number}","amount":{amount},"currency":"{currency}","ConfirmationUrl":"{page}"}}}}"#
        )
    };
    for (op, body, fields) in [
        (Op::CardPayment, card("order-9", "100.10", "KGS"), "orderNumber"),
        (Op::CardPayment, card("order-1", "100.11", "KGS"), "amount"),
        (Op::CardPayment, card("order-1", "100.10", "USD"), "currency"),
        (Op::CardPayment, card("order-9", "1", "USD"), "orderNumber and amount and currency"),
        (Op::MbankPayment, r#"{"data":{"orderNumber":"order-9"}}"#.into(), "orderNumber"),
        (Op::MbankPayment, r#"{"data":{"amount":"1"}}"#.into(), "amount"),
        (Op::MbankConfirm, r#"{"data":{"orderNumber":"order-9"}}"#.into(), "orderNumber"),
        (Op::MegapayCheck, r#"{"data":{"orderNumber":"order-9"}}"#.into(), "orderNumber"),
        (Op::MegapayPay, r#"{"data":{"currency":"USD"}}"#.into(), "currency"),
        (Op::PayForm, r#"{"payFormUrl":"https://gw.example.kg/f","data":{"amount":1}}"#.into(), "amount"),
        (Op::QrData, r#"{"data":{"qr_data":"x","amount":1}}"#.into(), "amount"),
    ] {
        let server = Server::responding(200, &body);
        let error = op.run(&server.gateway()).await.expect_err(&body);
        let moves_money = Op::MOVES_MONEY.contains(&op);
        assert_eq!(error.kind(), if moves_money { UNKNOWN } else { UNEXPECTED }, "{body}: {error}");
        let expected = format!("the response is about another payment, by its {fields}");
        assert!(error.to_string().contains(&expected), "{body}: {error}");
        if let PaymentError::OutcomeUnknown { payment, .. } = &error {
            assert_eq!(payment.gateway_number, None, "{body}: a number of another payment was kept");
        }
        assert_eq!(error.body(), Some(&*body));
    }
}

#[tokio::test]
async fn response_repeating_request_is_accepted() {
    for (op, body) in [
        (Op::CardPayment, r#"{"code":"110","data":{"orderNumber":"order-1","amount":"100.1","currency":"kgs"}}"#),
        (Op::CardPayment, r#"{"code":"110","data":{"orderNumber":"","amount":"100,10","currency":null}}"#),
        (Op::MbankPayment, r#"{"data":{"orderNumber":"order-2","amount":250.00,"currency":"417"}}"#),
        (Op::QrData, r#"{"data":{"qr_data":"x","amount":10010}}"#),
        (Op::QrData, r#"{"data":{"qr_data":"x","amount":"100.10"}}"#),
    ] {
        let server = Server::responding(200, body);
        let answer = op.run(&server.gateway()).await;
        assert!(answer.is_ok(), "{body}: {answer:?}");
    }
}

/// A refusal in the response to another request says nothing about this payment.
#[tokio::test]
async fn refusal_of_another_payment_is_not_believed() {
    let body = r#"{"code":"05","message":"No","data":{"orderNumber":"order-9"}}"#;
    let refusals = r#"{"endpoints": {"card_payment": {"refusal_codes": ["05"]}}}"#;
    let dialect = Dialect::from_json(refusals).unwrap();
    for status in [200, 400, 401, 403, 404, 413, 429] {
        let server = Server::responding(status, body);
        let gateway = Gateway::new(server.config().with_dialect(dialect.clone())).unwrap();
        let error = Op::CardPayment.run(&gateway).await.unwrap_err();
        assert_eq!(error.kind(), UNKNOWN, "{status}: {error}");
    }
}

/// The same words with HTTP 400 as with 200: a code by which the gateway itself leaves the outcome open.
#[tokio::test]
async fn indeterminate_code_is_unknown_with_any_status() {
    let body = r#"{"code":"E7","message":"ISSUER TIMEOUT, PAYMENT IN PROCESS"}"#;
    for list in ["unknown_codes", "duplicate_codes"] {
        let dialect =
            format!(r#"{{"endpoints": {{"card_payment": {{"{list}": ["E7"]}}, "qr_data": {{"{list}": ["E7"]}}}}}}"#);
        let dialect = Dialect::from_json(&dialect).unwrap();
        for status in [200, 400, 401, 403, 409, 422, 429] {
            let server = Server::responding(status, body);
            let gateway = Gateway::new(server.config().with_dialect(dialect.clone())).unwrap();
            let error = Op::CardPayment.run(&gateway).await.unwrap_err();
            assert_eq!(error.kind(), UNKNOWN, "{list}, {status}: {error}");
            assert_eq!((error.code(), error.http_status()), (Some("E7"), Some(status)));
        }
        let server = Server::responding(200, body);
        let gateway = Gateway::new(server.config().with_dialect(dialect.clone())).unwrap();
        assert_eq!(Op::QrData.run(&gateway).await.unwrap_err().kind(), REFUSED, "{list}");
    }
}

/// Every error that had a response keeps it.
#[tokio::test]
async fn no_error_loses_its_response() {
    for status in [200, 302, 400, 401, 403, 404, 409, 422, 429, 500] {
        for op in Op::all() {
            let body = r#"{"code":"05","message":"No"}"#;
            let server = Server::responding(status, body);
            let config = server.config().with_query_retries(0);
            let error = match op.run(&Gateway::new(config).unwrap()).await {
                Err(error) => error,
                // Without a list of codes, some take it for an answer.
                Ok(_) if status == 200 => continue,
                Ok(answer) => panic!("HTTP {status}, {op:?}: {answer}"),
            };
            let stored = (error.http_status(), error.code(), error.body());
            assert_eq!(stored, (Some(status), Some("05"), Some(body)), "{op:?}: {error}");
        }
    }
    let nowhere = GatewayConfig::new("http://127.0.0.1:1", Credentials::basic("a", "b"));
    let error = Op::CardPayment.run(&Gateway::new(nowhere).unwrap()).await.unwrap_err();
    assert_eq!((error.http_status(), error.code(), error.body()), (None, None, None));
}

#[test]
fn errors_name_what_happened_and_what_to_do() {
    let unknown = PaymentError::outcome_unknown(card_ref(), "HTTP 500 does not show whether the payment was made")
        .with_code("96");
    assert_eq!(
        unknown.to_string(),
        "The outcome of kassa1:kind=card&order=order-1&provider=Cards&amount=100.10&currency=KGS is unknown, it may have happened: HTTP 500 does \
         not show whether the payment was made, code 96. Watch it; never send it again."
    );
    let refused = PaymentError::refused(400).with_code("05").with_reason("No");
    assert_eq!(refused.describe(), r#"The gateway refused, nothing happened (HTTP 400, code 05, "No")."#);
}

fn card_ref() -> PaymentRef {
    support::card_payment().payment_ref()
}
