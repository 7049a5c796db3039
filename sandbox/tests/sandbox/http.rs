//! What every endpoint shares: authentication, methods, bodies, paths.

use crate::common::{
    CARD, GET_STATUS, MBANK_CONFIRM, MBANK_PAY, PAY_FORM, QR_DATA, QR_IMAGE, QR_STATUS, STATUS, basic, call, card_body,
    post, send, start, start_with,
};

const ENDPOINTS: [(&str, &str); 9] = [
    ("POST", CARD),
    ("GET", STATUS),
    ("POST", MBANK_PAY),
    ("POST", MBANK_CONFIRM),
    ("POST", PAY_FORM),
    ("POST", GET_STATUS),
    ("POST", QR_IMAGE),
    ("POST", QR_DATA),
    ("GET", QR_STATUS),
];

#[test]
fn every_endpoint_rejects_wrong_credentials() {
    let sandbox = start();
    let wrong = [
        None,
        Some(basic("kassa", "wrong")),
        Some(basic("wrong", "sandbox-password")),
        Some(basic("kassa", "sandbox ")),
        Some(basic("kassa", "")),
        Some("Basic ?".to_owned()),
        Some("Basic".to_owned()),
        Some(basic("kassa", "sandbox-password").replace("Basic", "Bearer")),
    ];
    for (method, path) in ENDPOINTS {
        for authorization in &wrong {
            let headers: Vec<_> = authorization.iter().map(|value| ("authorization", value.as_str())).collect();
            let url = format!("{}{path}", sandbox.url());
            let answer = send(method, &url, &headers, b"{}");
            assert_eq!((answer.status, answer.code().as_str()), (401, "401"), "{path}");
            let challenge = answer.header("www-authenticate").expect("a challenge");
            assert!(challenge.starts_with("Basic realm="));
        }
    }
    assert_eq!(sandbox.requests().len(), ENDPOINTS.len() * wrong.len());
}

#[test]
fn credentials_may_hold_colons_and_any_letters() {
    let sandbox = start_with(|options| {
        options.login = "дүкөн".to_owned();
        options.password = "сыр:сөз".to_owned();
    });
    assert_eq!(post(&sandbox, CARD, &card_body("U-1")).status, 200);
}

#[test]
fn every_endpoint_names_its_method() {
    let sandbox = start();
    for (right, path) in ENDPOINTS {
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            if method == right {
                continue;
            }
            let answer = call(&sandbox, method, path, "{}");
            assert_eq!((answer.status, answer.code().as_str()), (405, "405"), "{method} {path}");
            assert_eq!(answer.header("allow"), Some(right));
        }
    }
}

#[test]
fn body_that_is_not_a_json_object_is_rejected() {
    let sandbox = start();
    for (method, path) in ENDPOINTS {
        if method == "GET" {
            continue;
        }
        for body in ["", " ", "{", "{\"a\":}", "{} {}", "orderNumber=1", "{\"a\":1,}", "\u{feff}{}"] {
            let answer = call(&sandbox, method, path, body);
            assert_eq!((answer.status, answer.code().as_str()), (400, "400"), "{path} {body}");
            assert_eq!(answer.message(), "The request body is not JSON");
        }
        for body in ["[]", "null", "1", "\"{}\"", "[{}]"] {
            let answer = call(&sandbox, method, path, body);
            assert_eq!(answer.status, 400);
            assert_eq!(answer.message(), "The request body is not a JSON object");
        }
    }
}

#[test]
fn body_that_is_not_utf_8_is_rejected() {
    let sandbox = start();
    let authorization = basic("kassa", "sandbox-password");
    let url = format!("{}{CARD}", sandbox.url());
    let headers = [("authorization", authorization.as_str())];
    let answer = send("POST", &url, &headers, b"{\"orderNumber\":\"\xff\"}");
    assert_eq!(answer.status, 400);
}

#[test]
fn mebibyte_is_the_limit() {
    let sandbox = start();
    let padded = |length: usize| {
        let body = card_body("M-1").text();
        let padding = " ".repeat(length - body.len());
        format!("{body}{padding}")
    };
    let over = call(&sandbox, "POST", CARD, &padded(1024 * 1024 + 1));
    assert_eq!((over.status, over.code().as_str()), (413, "413"));
    let far_over = call(&sandbox, "POST", CARD, &padded(8 * 1024 * 1024));
    assert_eq!(far_over.status, 413);
    assert!(sandbox.payments().is_empty());
    assert_eq!(call(&sandbox, "POST", CARD, &padded(1024 * 1024)).status, 200);
}

#[test]
fn deep_nesting_harms_nothing() {
    let sandbox = start();
    let body = format!("{{\"orderNumber\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(call(&sandbox, "POST", CARD, &body).status, 400);
}

#[test]
fn unknown_path_has_no_envelope() {
    let sandbox = start();
    for path in ["/", "/api/v1.1.0/nothing", "/api/v1.1.0/payment/", "/api/v1/payment"] {
        let answer = call(&sandbox, "POST", path, "{}");
        assert_eq!(answer.status, 404, "{path}");
        assert!(!answer.body.contains('{'));
    }
}

#[test]
fn requests_are_counted_by_number_and_status() {
    let sandbox = start();
    post(&sandbox, CARD, &card_body("C-1"));
    post(&sandbox, CARD, &card_body("C-1"));
    call(&sandbox, "GET", &format!("{QR_STATUS}?transaction_id=Q%261"), "");
    let seen: Vec<_> = sandbox
        .requests()
        .into_iter()
        .map(|request| (request.endpoint, request.order_number, request.http_status))
        .collect();
    let expected = [(CARD, "C-1", 200), (CARD, "C-1", 409), (QR_STATUS, "Q&1", 404)]
        .map(|(path, order, status)| (path.to_owned(), Some(order.to_owned()), Some(status)));
    assert_eq!(seen, expected);
}
