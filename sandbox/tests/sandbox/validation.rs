//! Every rule of the interface's tables, at its limit and past it.

use serde_json::Value;

use crate::common::{
    Body, CARD, GET_STATUS, MBANK_CONFIRM, MBANK_PAY, PAY_FORM, QR_DATA, QR_IMAGE, QR_STATUS, Response, STATUS, call,
    card_body, confirm_body, mbank_body, pay_form_body, post, qr_body, start,
};

/// The fields an answer complains about, sorted.
pub fn complained_about(answer: &Response) -> Vec<String> {
    assert_eq!((answer.status, answer.code().as_str()), (400, "400"), "{}", answer.body);
    let json = answer.json();
    let errors = json["data"]["errors"].as_array().expect("a list of errors");
    let mut fields: Vec<_> = errors.iter().map(|error| error["field"].as_str().expect("a field").to_owned()).collect();
    for field in &fields {
        assert!(answer.message().contains(&format!("{field}: ")));
    }
    fields.sort();
    fields
}

/// Values that a field takes and values that it does not, as JSON texts.
pub fn check(path: &str, body: impl Fn(usize) -> Body, field: &str, good: &[&str], bad: &[&str]) {
    let sandbox = start();
    for (index, json) in good.iter().enumerate() {
        let answer = post(&sandbox, path, &body(index).with(field, json));
        assert_eq!(answer.status, 200, "{field} {json}: {}", answer.body);
    }
    let before = sandbox.payments().len();
    for json in bad {
        let answer = post(&sandbox, path, &body(1000).with(field, json));
        assert_eq!(complained_about(&answer), [field], "{field} {json}");
    }
    assert_eq!(sandbox.payments().len(), before, "a refused request made a payment");
}

fn card(index: usize) -> Body {
    card_body(&format!("N-{index}"))
}

fn mbank(index: usize) -> Body {
    mbank_body(&format!("N-{index}"))
}

pub const NO_STRINGS: [&str; 5] = ["1", "null", "true", "[]", "{\"a\":\"b\"}"];
pub const NO_WEB_URLS: [&str; 8] =
    ["\"\"", "\"shop.example/cb\"", "\"/cb\"", "\"ftp://shop.example/\"", "\"myapp://cb\"", "\"http://\"", "null", "7"];
pub const NO_RETURN_URLS: [&str; 15] = [
    "\"\"",
    "\"/done\"",
    "\"javascript:alert(1)\"",
    "\"JavaScript:alert(1)\"",
    "\" \\tjavascript:alert(1)\"",
    "\"data:text/html,x\"",
    "\"file:///etc/passwd\"",
    "\"VBScript:msgbox(1)\"",
    "\"View-Source:https://shop.example\"",
    "\"filesystem:https://shop.example/temporary/1\"",
    "\"content://media/1\"",
    "\"ms-appx:///paid.html\"",
    "\"search-ms:query=paid\"",
    "null",
    "7",
];

#[test]
fn required_fields_are_required() {
    let sandbox = start();
    let all_at_once = |path, required: &[&str]| {
        let answer = post(&sandbox, path, &Body::new(&[]));
        let mut required = required.to_vec();
        required.sort_unstable();
        assert_eq!(complained_about(&answer), required, "{path}");
    };
    all_at_once(
        CARD,
        &[
            "orderNumber",
            "description",
            "amount",
            "currency",
            "pan",
            "expiryMonth",
            "expiryYear",
            "cvc",
            "language",
            "name",
            "callbackUrl",
            "ip",
        ],
    );
    all_at_once(MBANK_PAY, &["orderNumber", "phone", "amount", "comment"]);
    all_at_once(MBANK_CONFIRM, &["orderNumber", "otp"]);
    all_at_once(PAY_FORM, &["amount", "serviceName", "callbackURL", "returnURL"]);
    all_at_once(GET_STATUS, &["orderNumber", "provider"]);
    all_at_once(QR_IMAGE, &["sum"]);
    assert_eq!(complained_about(&call(&sandbox, "GET", STATUS, "{}")), ["orderNumber"]);
    assert_eq!(complained_about(&call(&sandbox, "GET", QR_STATUS, "")), ["transaction_id"]);
    assert_eq!(post(&sandbox, QR_DATA, &Body::new(&[])).status, 200);
}

#[test]
fn all_violations_come_in_one_answer() {
    let sandbox = start();
    let body = card(0).with("amount", "0").with("cvc", "\"1\"").with("ip", "\"x\"").without("name");
    assert_eq!(complained_about(&post(&sandbox, CARD, &body)), ["amount", "cvc", "ip", "name"]);
}

#[test]
fn unknown_and_repeated_fields_are_rejected() {
    let sandbox = start();
    let unknown = qr_body().with("callbackUrl", "\"http://127.0.0.1:1/\"");
    assert_eq!(complained_about(&post(&sandbox, QR_DATA, &unknown)), ["callbackUrl"]);
    let twice = card(0).text().replace("\"amount\":100.10", "\"amount\":100.10,\"amount\":1");
    assert_eq!(complained_about(&call(&sandbox, "POST", CARD, &twice)), ["amount"]);
    assert!(sandbox.payments().is_empty());
}

#[test]
fn fields_of_an_mbank_payment() {
    for field in ["orderNumber", "comment"] {
        check(MBANK_PAY, mbank, field, &["\"x\""], &NO_STRINGS);
        check(MBANK_PAY, mbank, field, &[], &["\"\"", "\" \""]);
    }
    check(
        MBANK_PAY,
        mbank,
        "phone",
        &["\"996555000101\"", "\"+996 555 000-101\"", "\"0555000101\""],
        // The last two are well formed: a stranger's, and one of MegaPay.
        &["\"\"", "\"phone\"", "\"99655500010x\"", "996555000101", "null", "\"996555999999\"", "\"996755000201\""],
    );
    check(
        MBANK_PAY,
        mbank,
        "amount",
        &["1", "9223372036854775807"],
        &["0", "-1", "1.0", "1e2", "\"1\"", "null", "9223372036854775808"],
    );
    check(MBANK_PAY, mbank, "callbackUrl", &["\"http://127.0.0.1:1/\""], &NO_WEB_URLS);
}

#[test]
fn fields_of_an_mbank_confirmation() {
    let sandbox = start();
    for field in ["orderNumber", "otp"] {
        for json in NO_STRINGS.iter().chain(&["\"\"", "\" \""]) {
            let body = confirm_body("N-1", "1").with(field, json);
            assert_eq!(complained_about(&post(&sandbox, MBANK_CONFIRM, &body)), [field]);
        }
    }
}

#[test]
fn fields_of_a_pay_form() {
    let form = |_| pay_form_body();
    check(PAY_FORM, form, "amount", &["1", "1.00", "5"], &["0.99", "0", "-1", "\"5\"", "null"]);
    check(PAY_FORM, form, "serviceName", &["\"x\""], &NO_STRINGS);
    check(PAY_FORM, form, "callbackURL", &["\"https://a.example/\""], &NO_WEB_URLS);
    check(
        PAY_FORM,
        form,
        "returnURL",
        &["\"https://a.example/\"", "\"myapp://x\"", "\"ms-shop://x\""],
        &NO_RETURN_URLS,
    );
}

#[test]
fn fields_of_a_qr_code() {
    for path in [QR_IMAGE, QR_DATA] {
        let qr = |_| qr_body();
        check(
            path,
            qr,
            "sum",
            &["1", "9999999999999"],
            &["0", "-1", "1.5", "1.0", "\"1\"", "null", "10000000000000", "9223372036854775808"],
        );
        check(path, qr, "requisite", &["\"996700123456\""], &NO_STRINGS);
        check(path, qr, "callback_url", &["\"http://127.0.0.1:1/\""], &NO_WEB_URLS);
        let sandbox = start();
        let bare = qr_body().without("requisite").without("callback_url");
        assert_eq!(post(&sandbox, path, &bare).status, 200);
    }
}

#[test]
fn fields_of_status_requests() {
    let sandbox = start();
    for (field, bad) in [("orderNumber", "1"), ("orderNumber", "\"\""), ("language", "\"eng\""), ("language", "null")] {
        let body = Body::new(&[("orderNumber", "\"x\"")]).with(field, bad);
        assert_eq!(complained_about(&call(&sandbox, "GET", STATUS, &body.text())), [field]);
    }
    for bad in ["\"cards\"", "\"Visa\"", "\"\"", "1", "null"] {
        let body = Body::new(&[("orderNumber", "\"x\"")]).with("provider", bad);
        assert_eq!(complained_about(&post(&sandbox, GET_STATUS, &body)), ["provider"]);
    }
    for query in ["transaction_id=", "transaction_id=a&transaction_id=b", "transaction_id=%20"] {
        let answer = call(&sandbox, "GET", &format!("{QR_STATUS}?{query}"), "");
        assert_eq!(complained_about(&answer), ["transaction_id"]);
    }
}

#[test]
fn refusals_repeat_no_values() {
    let sandbox = start();
    let body = card(0).with("pan", "\"5105105105105100x\"").with("cvc", "\"secret\"");
    let answer = post(&sandbox, CARD, &body);
    assert!(!answer.body.contains("5105") && !answer.body.contains("secret"));
    assert!(matches!(answer.json()["data"]["errors"], Value::Array(_)));
}
