//! What the client repeats, what it refuses to read, and what it never shows.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use kassa_client::{Client, ClientBuilder, Decimal, Error, NewCheckout, Outcome};
use kassa_test_patience::patience;
use serde_json::{Value, json};

use crate::peer::{Answer, Peer, answer, converse, problem, response};

const KEY: &str = "ak_0123_the-key-of-the-tests";

fn settings(url: &str) -> ClientBuilder {
    let (first, longest) = (Duration::from_millis(1), Duration::from_millis(5));
    Client::builder(url, KEY).timeout(patience()).backoff(first, longest)
}

fn client(peer: &Peer) -> Client {
    settings(&peer.url).build().unwrap()
}

/// The examples of the server's description.
fn examples() -> Vec<Value> {
    let text = include_str!("../../../../docs/interfaces/server.json");
    let description: Value = serde_json::from_str(text).unwrap();
    let responses = &description["paths"]["/v1/checkouts/{checkout}"]["get"]["responses"]["200"];
    let examples = responses["content"]["application/json"]["examples"].as_object().unwrap();
    examples.values().map(|example| example["value"].clone()).collect()
}

fn open() -> Value {
    let open = examples().into_iter().find(|example| example["state"] == "open");
    open.unwrap()
}

fn wanted() -> NewCheckout {
    NewCheckout::new("order-17", 390.into(), "Honey", "https://shop.example.kg/paid")
}

#[tokio::test]
async fn examples_of_the_interface_are_read() {
    let peer = Peer::answering([]).await;
    let all = examples();
    assert!(all.len() > 2);
    for mut example in all {
        example["mood"] = "of a newer server".into();
        example["state"] = "of a newer server".into();
        peer.answers([answer(&example)]);
        let checkout = client(&peer).checkout("co_1").await.unwrap();
        assert_eq!(checkout.id, example["id"].as_str().unwrap());
        assert_eq!((checkout.amount, checkout.state.as_str()), (Decimal::from(390), "of a newer server"));
        let opened = checkout.opened_at.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        assert_eq!(opened, u128::from(example["opened_at_ms"].as_u64().unwrap()));
        assert_eq!(checkout.payments.len(), example["payments"].as_array().unwrap().len());
        // Whoever knows the page can pay there.
        let page = example["page_url"].as_str().unwrap();
        assert_eq!(checkout.page_url.as_deref(), Some(page));
        assert!(!format!("{checkout:?}").contains(page));
    }
}

#[tokio::test]
async fn temporary_failures_are_repeated() {
    let peer = Peer::answering([
        response(502, "<html>", ""),
        Answer::HangUp,
        response(429, "{}", "retry-after: 0\r\n"),
        Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{".to_vec()),
        response(201, &open().to_string(), ""),
    ])
    .await;
    let wanted = NewCheckout::new("order-17", Decimal::new(39_050, 2), "Honey", "https://s.kg")
        .methods(["qr"])
        .lifetime(Duration::from_secs(90))
        .metadata([("a", "b")])
        .currency("KGS");
    let checkout = client(&peer).open_checkout(&wanted).await.unwrap();
    assert_eq!(checkout.page_url.as_deref(), open()["page_url"].as_str());
    let requests = peer.requests();
    assert_eq!(requests.len(), 5);
    assert!(requests.iter().all(|request| *request == requests[0]));
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/checkouts HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("authorization: Bearer {KEY}")), "{head}");
    let expected = json!({
        "reference": "order-17", "amount": "390.50", "description": "Honey", "return_url": "https://s.kg",
        "methods": ["qr"], "lifetime_s": 90, "metadata": {"a": "b"}, "currency": "KGS",
    });
    assert_eq!(serde_json::from_str::<Value>(body).unwrap(), expected);
}

#[tokio::test]
async fn attempts_are_counted() {
    let peer = Peer::answering([problem(503, "unavailable", json!({}))]).await;
    let client = client(&peer);
    let failed = client.open_checkout(&wanted()).await.unwrap_err();
    assert!(matches!(&failed, Error::Unavailable { status: Some(503), .. }), "{failed}");
    assert!(failed.is_temporary());
    assert_eq!(peer.requests().len(), 8);
    // A person's decision is sent once.
    let failed = client.resolve_payment("pay_1", Outcome::Charged, "seen", "Aida").await.unwrap_err();
    assert!(failed.to_string().contains("answered HTTP 503"), "{failed}");
    assert_eq!(peer.requests().len(), 9);
    assert!(peer.requests()[8].ends_with(r#"{"by":"Aida","outcome":"charged","reason":"seen"}"#));
    assert_eq!(peer.targets()[8], "/v1/payments/pay_1/resolve");
}

#[tokio::test]
async fn long_retry_after_is_reported_at_once() {
    let seconds = patience().as_secs() + 60;
    let peer = Peer::answering([response(429, "{}", &format!("retry-after: {seconds}\r\n"))]).await;
    let failed = client(&peer).checkout("co_1").await.unwrap_err();
    let Error::Unavailable { retry_after, .. } = &failed else { panic!("{failed}") };
    assert_eq!(*retry_after, Some(Duration::from_secs(seconds)));
    assert!(failed.to_string().contains(&format!("it asks to wait {seconds} s")), "{failed}");
    assert_eq!(peer.requests().len(), 1);
}

#[tokio::test]
async fn unreachable_server_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let failed = settings(&url).build().unwrap().checkout("co_1").await.unwrap_err();
    assert!(matches!(failed, Error::Unavailable { status: None, retry_after: None, .. }), "{failed}");
    assert!(failed.to_string().starts_with(&format!("{url} could not be reached: ")), "{failed}");
}

#[tokio::test]
async fn refusals_name_the_fields() {
    let peer = Peer::answering([]).await;
    let violation = json!({"field": "amount", "rule": "amount", "text": "must be a number"});
    let named = json!({"field": "return_url", "rule": "url", "text": "return_url must be https"});
    let members = json!({"detail": "Why.", "state": "paid", "violations": [violation, named], "next": "7.a.b"});
    for (status, kind) in [
        (400, "invalid"),
        (401, "unauthorized"),
        (404, "not_found"),
        (409, "not_open"),
        (410, "history_gone"),
        (422, "x"),
    ] {
        peer.answers([problem(status, kind, members.clone())]);
        let refused = client(&peer).cancel("co_1").await.unwrap_err();
        let is_right = match &refused {
            Error::Refused(_) => status == 400,
            Error::WrongKey(_) => status == 401,
            Error::NotFound(_) => status == 404,
            Error::Conflict(_) => matches!(status, 409 | 422),
            Error::HistoryGone { next, .. } => status == 410 && next == "7.a.b",
            _ => false,
        };
        assert!(is_right, "{status}: {refused:?}");
        let said = refused.problem().unwrap();
        assert_eq!((said.status, said.kind.as_str(), said.detail.as_str()), (status, kind, "Why."));
        assert_eq!(said.state.as_deref(), Some("paid"));
        let fields: Vec<&str> = said.violations.iter().map(|each| each.field.as_str()).collect();
        assert_eq!(fields, ["amount", "return_url"]);
        let text = format!(
            "HTTP {status} ({kind}): Why. Its state is paid. amount: must be a number; return_url must be https"
        );
        assert!(refused.to_string().starts_with(&text), "{refused}");
        assert!(!refused.is_temporary());
    }
    assert_eq!(peer.requests().len(), 6);
}

#[tokio::test]
async fn unknown_reference_is_none() {
    let detail = json!({"detail": "There is no such checkout."});
    let peer = Peer::answering([problem(404, "not_found", detail)]).await;
    let client = client(&peer);
    assert_eq!(client.find_checkout("order 17/ы").await, Ok(None));
    assert_eq!(peer.targets(), ["/v1/checkouts?reference=order+17%2F%D1%8B"]);
    // Another program's 404 says nothing about checkouts, and neither does that of a path that the server does not know.
    peer.answers([response(404, "<html>Welcome to nginx", "")]);
    assert!(client.find_checkout("order-17").await.unwrap_err().to_string().contains("Welcome to nginx"));
    peer.answers([problem(404, "not_found", json!({}))]);
    assert!(matches!(client.find_checkout("order-17").await, Err(Error::NotFound(_))));
    // What is no identifier stays one part of the path.
    let _ = client.checkout("co_1/../x?y").await;
    assert_eq!(peer.targets().last().unwrap(), "/v1/checkouts/co_1%2F..%2Fx%3Fy");
}

#[tokio::test]
async fn odd_answers_are_named_without_secrets() {
    let with = |name: &str, value: Value| {
        let mut body = open();
        body[name] = value;
        answer(&body)
    };
    let page = format!("<html>{KEY} ct_abc whsec_abc= https://a.kg/pay/abc</html>");
    let peer = Peer::answering([]).await;
    for (answered, says) in [
        (response(200, &page, ""), "it is not JSON"),
        (response(200, &"[".repeat(100_000), ""), "did not answer as kassa-server does"),
        (answer(&json!({ "id": KEY })), "missing field `reference`"),
        (with("amount", json!(390)), "did not answer as kassa-server does"),
        (with("amount", json!("NaN")), "an amount must be a decimal number"),
        (with("version", json!(true)), "did not answer as kassa-server does"),
        (with("expires_at_ms", json!(u64::MAX)), "a time is out of range"),
        (with("payments", json!([{"id": "pay_1"}])), "missing field `number`"),
        (
            response(302, "", &format!("location: https://evil.example/{KEY}\r\n")),
            r#"redirects to "https://evil.example/***""#,
        ),
        (response(404, r#"{"type": "about:blank", "title": "No"}"#, ""), "did not answer as kassa-server does"),
        (response(400, r#"{"type": "urn:kassa:problem:invalid"}"#, ""), "did not answer as kassa-server does"),
    ] {
        peer.answers([answered]);
        let before = peer.requests().len();
        let failed = client(&peer).checkout("co_1").await.unwrap_err();
        let Error::BadResponse { text, .. } = &failed else { panic!("{says}: {failed}") };
        assert!(text.chars().count() <= 200);
        let (printed, debugged) = (failed.to_string(), format!("{failed:?}"));
        assert!(printed.contains(says), "{says}: {printed}");
        for secret in [KEY, "ct_abc", "whsec_abc", "pay/abc"] {
            assert!(!printed.contains(secret) && !debugged.contains(secret), "{printed}");
        }
        assert_eq!(peer.requests().len(), before + 1);
    }
    // 5xx that is the server's own leaves the outcome open.
    peer.answers([problem(500, "internal", json!({"detail": format!("Why {KEY}")}))]);
    let failed = client(&peer).cancel("co_1").await.unwrap_err();
    assert!(failed.to_string().ends_with("answered HTTP 500: Why ***"), "{failed}");
}

#[tokio::test]
async fn calls_end_within_their_timeout() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 9";
    for answered in [Answer::Silence, Answer::Bytes(head.into())] {
        let peer = Peer::answering([answered]).await;
        let client = settings(&peer.url).timeout(Duration::from_millis(300)).build().unwrap();
        let started = Instant::now();
        let failed = client.checkout("co_1").await.unwrap_err();
        assert!(matches!(failed, Error::Unavailable { .. }), "{failed}");
        assert!(started.elapsed() < patience(), "{failed}");
    }
}

#[tokio::test]
async fn connections_are_reused_and_renewed() {
    let peer = Peer::answering([Answer::KeepAlive(3), Answer::KeepAlive(1)]).await;
    let client = client(&peer);
    // The server closes the connection when it has been idle; a call after that begins another one.
    for connections in [1, 1, 1, 2] {
        client.replay_events(None).await.unwrap();
        assert_eq!(peer.requests().len(), connections);
    }
}

#[tokio::test]
async fn only_trusted_certificates_are_accepted() {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(signing_key.serialize_der()).into();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider);
    let tls = tls.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let tls = Arc::new(tls.with_single_cert(vec![cert.der().clone()], key).unwrap());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let connections = Arc::new(AtomicU32::new(0));
    let (counted, requests) = (connections.clone(), Arc::default());
    tokio::spawn(async move {
        let answers = Arc::new(Mutex::new([answer(&json!({ "count": 3 }))].into()));
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            if let Ok(stream) = tokio_rustls::TlsAcceptor::from(tls.clone()).accept(stream).await {
                converse(stream, Arc::clone(&answers), Arc::clone(&requests)).await;
            }
        }
    });
    let trusting = settings(&url).ca_pem(cert.pem()).build().unwrap();
    assert_eq!(trusting.replay_events(None).await, Ok(3));
    let before = connections.load(Ordering::SeqCst);
    let failed = settings(&url).build().unwrap().replay_events(None).await.unwrap_err();
    assert!(failed.to_string().contains("invalid peer certificate"), "{failed}");
    // The next attempt would meet the same certificate.
    assert_eq!(connections.load(Ordering::SeqCst), before + 1);
    assert!(settings(&url).ca_pem("no certificate").build().is_err());
}

fn history(cursors: &[&str], next: &str) -> Answer {
    let data = json!({
        "checkout": "co_1", "reference": "order-17", "amount": "390", "currency": "KGS", "checkout_state": "paid",
        "version": 1, "number": 1,
    });
    let event = json!({"id": "evt_1", "type": "checkout.paid", "timestamp_ms": 1, "data": data});
    let events: Vec<Value> = cursors.iter().map(|cursor| json!({"cursor": cursor, "event": event})).collect();
    answer(&json!({"events": events, "next": next}))
}

#[tokio::test]
async fn history_is_followed_through_outages() {
    let mut answers = vec![history(&["1.a.b", "2.a.b"], "2.a.b")];
    answers.extend((0..8).map(|_| problem(503, "unavailable", json!({}))));
    answers.extend([problem(500, "internal", json!({})), response(500, "<html>", ""), history(&["3.a.b"], "3.a.b")]);
    answers.push(history(&[], "3.a.b"));
    let peer = Peer::answering(answers).await;
    let client = client(&peer);
    let mut events = client.events("0").limit(7).follow(Duration::ZERO);
    for cursor in ["1.a.b", "2.a.b", "3.a.b"] {
        let next = events.next().await.unwrap().unwrap();
        assert_eq!((next.cursor.as_str(), next.event.is_paid()), (cursor, true));
    }
    let targets = peer.targets();
    assert_eq!(targets[..2], ["/v1/events?after=0&limit=7", "/v1/events?after=2.a.b&limit=7"]);
    assert_eq!(client.events("3.a.b").next().await, Ok(None));
}

#[tokio::test]
async fn restored_history_names_the_next_cursor() {
    let peer = Peer::answering([problem(410, "history_gone", json!({"next": "5.a.b"}))]).await;
    let failed = client(&peer).events("9.a.b").follow(Duration::ZERO).next().await.unwrap_err();
    assert!(matches!(&failed, Error::HistoryGone { next, .. } if next == "5.a.b"), "{failed}");
    assert!(failed.to_string().contains(r#"Read on from the cursor "5.a.b""#), "{failed}");
    peer.answers([problem(410, "history_gone", json!({}))]);
    let failed = client(&peer).page("9.a.b", 100).await.unwrap_err();
    assert!(failed.to_string().contains("next is missing"), "{failed}");
}

#[test]
fn wrong_settings_are_named_without_secrets() {
    for (url, key, says) in [
        ("", KEY, "url must begin with"),
        ("ftp://shop.kg", KEY, "url must begin with"),
        ("https://", KEY, "url must be"),
        ("https://shop.kg:99999", KEY, "url must be"),
        ("https://me:secret@shop.kg", KEY, "url must have no user name"),
        ("https://shop.kg/?a=b", KEY, "url must have no"),
        ("https://shop.kg/a b", KEY, "url must have no"),
        ("https://pay..shop.kg", KEY, "url must be the server's address"),
        ("https://shop.kg/v1", KEY, "without /v1 at its end"),
        ("https://shop.kg/pay/v1/", KEY, "without /v1 at its end"),
        ("http://shop.kg", KEY, "plain_http_hosts names"),
        ("http://127.0.0.1.shop.kg", KEY, "url must"),
        ("https://shop.kg", "", "api_key must not be empty"),
        ("https://shop.kg", "ak_1\n", "no spaces, line breaks"),
        ("https://shop.kg", "ключ", "no spaces, line breaks"),
    ] {
        let wrong = Client::new(url, key).unwrap_err().to_string();
        assert!(wrong.contains(says), "{url}: {wrong}");
        assert!(!wrong.contains("secret") && !wrong.contains(KEY) && !wrong.contains("ключ"), "{wrong}");
    }
    for timeout in [Duration::ZERO, Duration::MAX] {
        assert!(Client::builder("https://shop.kg", KEY).timeout(timeout).build().is_err());
    }
    for url in ["http://localhost:8080", "http://[::1]", "http://Kassa", "HTTPS://shop.kg/pay/v10", "https://shop.kg/"]
    {
        let builder = Client::builder(url, KEY).plain_http_hosts(["kassa"]);
        assert!(!format!("{builder:?}").contains(KEY));
        let client = builder.build().unwrap();
        assert!(!format!("{client:?}").contains(KEY), "{client:?}");
    }
    let client = Client::new("https://shop.kg/pay/", KEY).unwrap();
    assert_eq!(format!("{client:?}"), "Client(https://shop.kg/pay)");
}
