//! The admin interface: who gets in, what it shows, what it changes.

use std::{io::Write, net::TcpStream, time::Duration};

use kassa_sandbox::{Sandbox, Switches};
use serde_json::{Value, json};

use crate::{
    common::{
        Body, CARD, MBANK_CONFIRM, MBANK_PAY, PAY_FORM, QR_DATA, QR_STATUS, Response, STATUS, basic, call, card_body,
        confirm_body, get_status, mbank_body, open, pay_form_body, post, qr_body, send, start, start_with, wait_until,
    },
    merchant::Merchant,
    raw::listen,
};

/// Calls the admin interface with the right token.
pub fn admin(sandbox: &Sandbox, method: &str, path: &str, body: &str) -> Response {
    let authorization = format!("Bearer {}", sandbox.admin_token());
    let url = format!("{}/admin/{path}", sandbox.url());
    send(method, &url, &[("authorization", &authorization)], body.as_bytes())
}

/// What it shows.
fn shown(sandbox: &Sandbox, path: &str) -> Value {
    let answer = admin(sandbox, "GET", path, "");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")), "{}", answer.body);
    answer.json()
}

/// The fields that an answer finds fault with.
pub fn fields_at_fault(answer: &Response) -> Vec<String> {
    let json = answer.json();
    let errors = json["errors"].as_array().unwrap_or_else(|| panic!("no errors in {json}"));
    errors
        .iter()
        .map(|error| {
            assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{json}");
            error["field"].as_str().expect("a field").to_owned()
        })
        .collect()
}

const ROUTES: [(&str, &str); 16] = [
    ("GET", "ledger"),
    ("GET", "requests"),
    ("GET", "callbacks"),
    ("GET", "faults"),
    ("POST", "faults"),
    ("DELETE", "faults"),
    ("DELETE", "faults/1"),
    ("GET", "switches"),
    ("PATCH", "switches"),
    ("POST", "payments/A-1/approve"),
    ("POST", "payments/A-1/decline"),
    ("GET", "clock"),
    ("PATCH", "clock"),
    ("POST", "clock/forward"),
    ("GET", "test-data"),
    ("POST", "reset"),
];

#[test]
fn wrong_credentials_are_rejected_on_every_route() {
    let sandbox = start();
    let token = sandbox.admin_token().to_owned();
    let wrong = [
        None,
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some(format!("Bearer {token}x")),
        Some(format!("Bearer {}", &token[1..])),
        Some(format!("Basic {token}")),
        Some(token),
        Some(basic(sandbox.login(), sandbox.password())),
    ];
    for (method, path) in ROUTES.into_iter().chain([("GET", "nothing")]) {
        for authorization in &wrong {
            let headers: Vec<_> = authorization.iter().map(|value| ("authorization", value.as_str())).collect();
            let answer = send(method, &format!("{}/admin/{path}", sandbox.url()), &headers, b"{}");
            assert_eq!(answer.status, 401, "{method} {path}");
            assert_eq!(fields_at_fault(&answer), ["authorization"]);
            assert!(answer.header("www-authenticate").expect("a challenge").starts_with("Bearer"));
        }
    }
}

#[test]
fn configured_admin_token_is_used() {
    let sandbox = start_with(|options| options.admin_token = Some("planted-token".to_owned()));
    assert_eq!(sandbox.admin_token(), "planted-token");
    let url = format!("{}/admin/faults", sandbox.url());
    assert_eq!(send("GET", &url, &[("authorization", "bearer planted-token")], b"").status, 200);
    assert!(start().admin_token() != start().admin_token());
}

#[test]
fn wrong_methods_paths_and_parameters_are_errors() {
    let sandbox = start();
    for (method, path, allowed) in [
        ("POST", "ledger", "GET"),
        ("PUT", "faults", "GET, POST, DELETE"),
        ("GET", "faults/1", "DELETE"),
        ("POST", "switches", "GET, PATCH"),
        ("GET", "payments/A-1/approve", "POST"),
        ("GET", "reset", "POST"),
    ] {
        let answer = admin(&sandbox, method, path, "");
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)), "{method} {path}");
        assert_eq!(fields_at_fault(&answer), ["method"]);
    }
    for path in ["nothing", "ledger/", "payments/A-1", "payments/A-1/refund", "faults/1/2"] {
        let answer = admin(&sandbox, "GET", path, "");
        assert_eq!((answer.status, fields_at_fault(&answer)), (404, vec!["path".to_owned()]), "{path}");
    }
    for (path, field) in
        [("ledger?order=A-1", "order"), ("requests?order_number=", "order_number"), ("faults?a=1", "a")]
    {
        let answer = admin(&sandbox, "GET", path, "");
        assert_eq!((answer.status, fields_at_fault(&answer)), (400, vec![field.to_owned()]), "{path}");
    }
}

#[test]
fn head_is_rejected_and_paths_decoded_lossily() {
    let sandbox = start();
    let mut stream = TcpStream::connect(sandbox.address()).expect("the sandbox listens");
    let token = sandbox.admin_token();
    let head =
        format!("HEAD /admin/ledger HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("the request is sent");
    let response = listen(stream);
    assert_eq!((response.status(), response.header("allow").as_deref()), (405, Some("GET")));
    for (method, path, field) in [("POST", "payments/%FF/approve", "number"), ("DELETE", "faults/%FF", "id")] {
        let answer = admin(&sandbox, method, path, "");
        assert_eq!((answer.status, fields_at_fault(&answer)), (404, vec![field.to_owned()]), "{path}");
    }
    let too_large = " ".repeat(1024 * 1024 + 1);
    for path in ["ledger", "nothing"] {
        let answer = admin(&sandbox, "POST", path, &too_large);
        assert_eq!((answer.status, fields_at_fault(&answer)), (400, vec!["body".to_owned()]), "{path}");
    }
}

#[test]
fn ledger_shows_payments_digit_for_digit() {
    let sandbox = start();
    assert_eq!(shown(&sandbox, "ledger"), json!({ "payments": [] }));
    post(&sandbox, CARD, &card_body("L-1").with("pan", "\"4000000000002016\""));
    post(&sandbox, MBANK_PAY, &mbank_body("L-2"));
    post(&sandbox, PAY_FORM, &pay_form_body());
    let transaction = post(&sandbox, QR_DATA, &qr_body().without("sum")).data("transaction_id");

    let answer = admin(&sandbox, "GET", "ledger", "");
    assert!(answer.body.contains("\"amount\":100.10,"), "{}", answer.body);
    let ledger = answer.json();
    let payments = ledger["payments"].as_array().expect("payments");
    let seen: Vec<_> = payments
        .iter()
        .map(|payment| ["kind", "provider", "status", "code", "times_charged"].map(|field| payment[field].clone()))
        .collect();
    let expected = [
        [json!("card"), json!("Cards"), json!("CHARGE"), json!("200"), json!(1)],
        [json!("mbank"), json!("MBank"), json!("CREATED"), json!("110"), json!(0)],
        [json!("pay_form"), Value::Null, json!("CREATED"), json!("110"), json!(0)],
        [json!("qr"), json!("MBank"), json!("CREATED"), json!("110"), json!(0)],
    ];
    assert_eq!(seen, expected);
    assert_eq!((&payments[3]["order_number"], &payments[3]["amount"]), (&json!(transaction), &Value::Null));
    let created = payments[0]["created_at"].as_str().expect("a time");
    assert!(created.ends_with('Z') && created.contains('T'), "{created}");

    let of = |number: &str| shown(&sandbox, &format!("ledger?order_number={number}"))["payments"].clone();
    let gateway_number = payments[1]["gateway_number"].as_str().expect("a number");
    assert_eq!((of("L-2"), of(gateway_number)), (json!([payments[1]]), json!([payments[1]])));
    assert_eq!(of("L-9"), json!([]));
}

#[test]
fn requests_filter_matches_each_order_number() {
    let sandbox = start();
    post(&sandbox, CARD, &card_body("R-1"));
    post(&sandbox, CARD, &card_body("R-2"));
    let number = sandbox.payment("R-1").expect("a payment").gateway_number;
    call(&sandbox, "GET", STATUS, &Body::new(&[]).with_text("orderNumber", &number).text());
    get_status(&sandbox, "R-1", "Cards");
    call(&sandbox, "GET", &format!("{QR_STATUS}?transaction_id=Q-1"), "");
    open(&format!("{}/3ds?token={number}", sandbox.url()));

    let seen = |path: &str| -> Vec<[Value; 3]> {
        let requests = shown(&sandbox, path);
        let requests = requests["requests"].as_array().expect("requests");
        requests.iter().map(|one| ["endpoint", "order_number", "http_status"].map(|field| one[field].clone())).collect()
    };
    let of_the_order = [
        [json!("payment"), json!("R-1"), json!(200)],
        [json!("status"), json!(number), json!(200)],
        [json!("get-status"), json!("R-1"), json!(200)],
    ];
    assert_eq!(seen("requests?order_number=R-1"), of_the_order);
    assert_eq!(seen("requests").len(), 5, "pages are no endpoints");
    assert_eq!(seen("requests")[4], [json!("qr/transaction/status"), json!("Q-1"), json!(404)]);
}

#[test]
fn callbacks_show_each_attempt() {
    let (sandbox, merchant) = (start(), Merchant::start(&[500]));
    let body =
        |number: &str| card_body(number).with("pan", "\"4000000000002024\"").with("callbackUrl", &merchant.json_url());
    post(&sandbox, CARD, &body("C-1"));
    let sent = merchant.next().1;
    wait_until("the second attempt is recorded", || sandbox.callbacks().len() == 2);
    post(&sandbox, CARD, &body("C-2"));
    wait_until("the other's is recorded", || sandbox.callbacks().len() == 3);
    let callbacks = shown(&sandbox, "callbacks?order_number=C-1")["callbacks"].clone();
    let seen: Vec<_> = callbacks
        .as_array()
        .expect("callbacks")
        .iter()
        .map(|one| ["order_number", "url", "status", "attempt", "http_status", "body"].map(|field| one[field].clone()))
        .collect();
    let attempt = |number, status| {
        [json!("C-1"), json!(merchant.url), json!("Reject"), json!(number), json!(status), json!(sent)]
    };
    assert_eq!(seen, [attempt(1, 500), attempt(2, 200)]);
    assert_eq!(shown(&sandbox, "callbacks")["callbacks"].as_array().map(Vec::len), Some(3));
}

#[test]
fn changing_switches_affects_only_the_named_ones() {
    let sandbox = start();
    let at_first = json!({
        "reused_order_number": "refuse", "status_numbers": "strict", "three_ds_1_page": false,
        "redirect_declines": false, "language": "en", "acts_as": "interface", "mbank_quid": "field"
    });
    assert_eq!(shown(&sandbox, "switches"), at_first);
    post(&sandbox, CARD, &card_body("S-1"));
    assert_eq!(post(&sandbox, CARD, &card_body("S-1")).status, 409);

    let change = r#"{"reused_order_number": "charge-twice", "language": "ru", "three_ds_1_page": true}"#;
    let changed = admin(&sandbox, "PATCH", "switches", change);
    let mut expected = at_first.clone();
    expected["reused_order_number"] = json!("charge-twice");
    expected["language"] = json!("ru");
    expected["three_ds_1_page"] = json!(true);
    assert_eq!((changed.status, changed.json()), (200, expected.clone()));
    assert_eq!(shown(&sandbox, "switches"), expected);
    assert_eq!(post(&sandbox, CARD, &card_body("S-1")).status, 200);
    let v1 = card_body("S-2").with("pan", "\"5200000000001013\"");
    assert!(post(&sandbox, CARD, &v1).data("ConfirmationUrl").contains("/3ds?token="));
    assert_eq!(get_status(&sandbox, "S-9", "Cards").message(), "Платёж не найден");

    let number = sandbox.payment("S-2").expect("a payment").gateway_number;
    assert_eq!(get_status(&sandbox, &number, "Cards").status, 404);
    admin(&sandbox, "PATCH", "switches", r#"{"status_numbers": "any"}"#);
    assert_eq!(get_status(&sandbox, &number, "Cards").status, 200);

    sandbox.set_switches(Switches { redirect_declines: true, ..sandbox.switches() });
    let page = format!("{}/3ds?token={number}", sandbox.url());
    let declined = crate::common::submit(&page, &[("action", "cancel")]);
    assert_eq!((declined.status, shown(&sandbox, "switches")["redirect_declines"].clone()), (303, json!(true)));
}

#[test]
fn wrong_switch_changes_none() {
    let sandbox = start();
    let before = sandbox.switches();
    for (body, fields) in [
        (r#"{"language": "ru", "acts_as": "third", "mbank_quid": "nowhere"}"#, vec!["acts_as", "mbank_quid"]),
        (r#"{"language": "RU"}"#, vec!["language"]),
        (r#"{"three_ds_1_page": 1, "redirect_declines": "yes"}"#, vec!["three_ds_1_page", "redirect_declines"]),
        (r#"{"language": "ru", "lang": "ru"}"#, vec!["lang"]),
        (r#"{"language": "ru", "language": "ky"}"#, vec!["language"]),
        (r#"{"language": null}"#, vec!["language"]),
        ("[]", vec!["body"]),
        ("{", vec!["body"]),
    ] {
        let answer = admin(&sandbox, "PATCH", "switches", body);
        assert_eq!((answer.status, fields_at_fault(&answer)), (400, fields.into_iter().map(str::to_owned).collect()));
        assert_eq!(sandbox.switches(), before, "{body}");
    }
}

/// The status and the charges of the payment it decides, or the field at fault.
fn decided(sandbox: &Sandbox, number: &str, decision: &str, body: &str) -> (u16, Value, Value) {
    let answer = admin(sandbox, "POST", &format!("payments/{number}/{decision}"), body);
    let json = answer.json();
    match answer.status {
        200 => (200, json["status"].clone(), json["times_charged"].clone()),
        status => (status, json["errors"][0]["field"].clone(), Value::Null),
    }
}

#[test]
fn payment_of_each_kind_is_approved_and_declined() {
    for (decision, status, charged) in [("approve", "CHARGE", 1), ("decline", "Reject", 0)] {
        let sandbox = start();
        post(&sandbox, CARD, &card_body("D 1/ü"));
        post(&sandbox, MBANK_PAY, &mbank_body("D-2"));
        post(&sandbox, PAY_FORM, &pay_form_body());
        post(&sandbox, QR_DATA, &qr_body());
        let numbers: Vec<_> = sandbox.payments().into_iter().map(|payment| payment.order_number).collect();
        assert_eq!(numbers.len(), 4);
        for number in &numbers {
            let encoded: String = number.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let expected = (200, json!(status), json!(charged));
            assert_eq!(decided(&sandbox, &encoded, decision, ""), expected, "{number}");
            assert_eq!(sandbox.payment(number).map(|payment| payment.times_charged), Some(charged));
            for again in ["approve", "decline"] {
                assert_eq!(decided(&sandbox, &encoded, again, "").0, 409);
            }
            assert_eq!(sandbox.payment(number).map(|payment| payment.times_charged), Some(charged));
        }
    }
}

#[test]
fn decision_acts_as_payer_then_as_provider() {
    let sandbox = start();
    let declined = card_body("D-1").with("pan", "\"4111111111000124\"");
    post(&sandbox, CARD, &declined);
    assert_eq!(decided(&sandbox, "D-1", "approve", ""), (200, json!("Reject"), json!(0)), "the issuer declines");
    let stuck = |number| card_body(number).with("pan", "\"4111111111000348\"");
    post(&sandbox, CARD, &stuck("D-2"));
    post(&sandbox, CARD, &stuck("D-3"));
    for number in ["D-2", "D-3"] {
        assert_eq!(decided(&sandbox, number, "approve", ""), (200, json!("PENDING"), json!(0)));
    }
    let gateway_number = sandbox.payment("D-2").expect("a payment").gateway_number;
    assert_eq!(decided(&sandbox, &gateway_number, "approve", ""), (200, json!("CHARGE"), json!(1)));
    assert_eq!(decided(&sandbox, "D-3", "decline", ""), (200, json!("Reject"), json!(0)));
    assert_eq!(sandbox.payment("D-3").and_then(|payment| payment.reject_reason).map(|r| r.code()), Some("210"));
    assert_eq!(decided(&sandbox, "D-9", "approve", ""), (404, json!("number"), Value::Null));
    assert_eq!(decided(&sandbox, "", "approve", "").0, 404);

    post(&sandbox, MBANK_PAY, &mbank_body("D-4"));
    assert_eq!(sandbox.approve("D-4").expect("approved").times_charged, 1);
    assert_eq!(post(&sandbox, MBANK_CONFIRM, &confirm_body("D-4", "101101")).status, 409);
    assert_eq!(sandbox.decline("D-4").expect_err("final").to_string(), "the payment is final already: CHARGE");
}

#[test]
fn open_qr_is_approved_with_an_amount() {
    let sandbox = start();
    let number = post(&sandbox, QR_DATA, &qr_body().without("sum")).data("transaction_id");
    for body in ["", "{}", r#"{"amount": 0}"#, r#"{"amount": 1.5}"#, r#"{"amount": "12"}"#, r#"{"sum": 12}"#] {
        let (status, field, _) = decided(&sandbox, &number, "approve", body);
        let expected = if body.contains("sum") { "sum" } else { "amount" };
        assert_eq!((status, field), (400, json!(expected)), "{body}");
    }
    assert_eq!(decided(&sandbox, &number, "approve", r#"{"amount": 1250}"#), (200, json!("CHARGE"), json!(1)));
    assert_eq!(sandbox.payment(&number).and_then(|payment| payment.amount).map(|a| a.to_string()), Some("1250".into()));
}

#[test]
fn decision_sends_a_callback() {
    let (sandbox, merchant) = (start(), Merchant::start(&[]));
    post(&sandbox, MBANK_PAY, &mbank_body("T-1").with("callbackUrl", &merchant.json_url()));
    admin(&sandbox, "POST", "payments/T-1/approve", "");
    assert_eq!(merchant.next_json()["status"], json!("CHARGE"));
}

#[test]
fn reset_deletes_everything() {
    let merchant = Merchant::refusing();
    let sandbox = start_with(|options| {
        options.redirect_declines = true;
        // Long enough that the first callback is still waiting for its second attempt.
        options.callback_pauses = vec![Duration::from_secs(3600)];
    });
    let body = card_body("Z-1").with("pan", "\"4000000000002016\"").with("callbackUrl", &merchant.json_url());
    post(&sandbox, CARD, &body);
    wait_until("an attempt failed", || sandbox.callbacks().len() == 1);
    admin(&sandbox, "POST", "faults", r#"{"name": "unavailable", "endpoint": "status"}"#);
    admin(&sandbox, "PATCH", "switches", r#"{"language": "ky", "redirect_declines": false}"#);

    let reset = admin(&sandbox, "POST", "reset", "");
    assert_eq!((reset.status, reset.body.as_str()), (204, ""));
    for (path, list) in
        [("ledger", "payments"), ("requests", "requests"), ("callbacks", "callbacks"), ("faults", "faults")]
    {
        assert_eq!(shown(&sandbox, path), json!({ list: [] }));
    }
    let switches = shown(&sandbox, "switches");
    assert_eq!((&switches["language"], &switches["redirect_declines"]), (&json!("en"), &json!(true)));

    // The number is free again, and the next callbacks are about the new payment only.
    merchant.accept();
    post(&sandbox, CARD, &body.with("amount", "7"));
    assert_eq!(merchant.next_json()["amount"], json!(7));
    wait_until("the delivery is recorded", || {
        sandbox.callbacks().first().is_some_and(|attempt| attempt.http_status == Some(200))
    });
    assert_eq!(sandbox.payment("Z-1").map(|payment| payment.times_charged), Some(1));
    sandbox.reset();
    assert!(sandbox.payments().is_empty() && sandbox.requests().is_empty());
}

/// The receiver keeps the first attempt waiting over the reset; its end must not be put down to the new payment.
#[test]
fn reset_forgets_callbacks_in_flight() {
    let slow = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("\"http://{}/\"", slow.local_addr().expect("bound"));
    let merchant = Merchant::start(&[]);
    let sandbox = start();
    post(&sandbox, CARD, &card_body("W-1").with("pan", "\"4000000000002016\"").with("callbackUrl", &url));
    let (under_way, _) = slow.accept().expect("the first attempt");
    sandbox.reset();
    let body = card_body("W-2").with("pan", "\"4000000000002016\"").with("callbackUrl", &merchant.json_url());
    post(&sandbox, CARD, &body);
    assert_eq!(merchant.next_json()["orderNumber"], json!("W-2"), "it waits for nothing of the past");
    drop(under_way);
    wait_until("the delivery is recorded", || !sandbox.callbacks().is_empty());
    post(&sandbox, CARD, &body.with_text("orderNumber", "W-3"));
    assert_eq!(merchant.next_json()["orderNumber"], json!("W-3"));
    wait_until("the third is recorded", || sandbox.callbacks().len() == 2);
    assert!(sandbox.callbacks().iter().all(|attempt| attempt.http_status == Some(200)));
}
