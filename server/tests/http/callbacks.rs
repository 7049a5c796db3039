//! Callbacks over real sockets: whatever form they have, a number that can be read is queried, and nothing is dropped.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use kassa_test_patience::wait_until_async;
use serde_json::{Value, json};

use crate::{
    client::{Answer, Served},
    visitor::Visitor,
};

const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// Method, query, headers, body.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static str);

/// A pay-form that its payer has paid: its checkout, where callbacks about it go, and the number that they name.
async fn paid_form(served: &Served, reference: &str) -> (String, String, String) {
    let (id, token) = served.opened(reference).await;
    let begun = served.pay(&token, "try-1", &json!({ "method": "pay_form" })).await.json();
    served.fake.charge(begun["page_url"].as_str().unwrap()).unwrap();
    let booked =
        served.fake.payments().into_iter().find(|payment| payment.page_url.as_deref() == begun["page_url"].as_str());
    let booked = booked.unwrap();
    let url = booked.callback_url.unwrap();
    let path = url.strip_prefix(&format!("http://{}", served.address)).unwrap().to_owned();
    (id, path, booked.order_number.unwrap())
}

async fn is_paid(served: &Served, id: &str) {
    wait_until_async("it is paid", async || {
        served.shop("GET", &format!("/v1/checkouts/{id}"), &Value::Null).await.json()["state"] == "paid"
    })
    .await;
}

async fn send(served: &Served, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    served.send_bytes(method, path, headers, body).await
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callback_in_any_format_triggers_query() {
    let served = Served::start().await;
    let whole = r#"{"orderNumber":"NUMBER","amount":390.00,"currency":"KGS","status":"CHARGE",
        "dateCreated":"2026-11-26T21:05:07","provider":"Cards"}"#;
    let pairs = "OrderNumber=NUMBER&amount=390.00+KGS&status=CHARGE";
    let cases: [Case; 9] = [
        ("POST", "", &[JSON], whole),
        ("POST", "?sign=1", &[JSON], whole),
        ("POST", "", &[FORM], pairs),
        ("POST", "", &[], pairs),
        ("POST", "", &[JSON], r#"{"code":"200","data":{"orderNumber":"NUMBER","status":null,"amount":"390,00"}}"#),
        ("POST", "", &[JSON], r#"{"orderNumber":"NUMBER"}"#),
        ("POST", "?orderNumber=NUMBER&status=CHARGE", &[], ""),
        ("GET", "?orderNumber=NUMBER&status=CHARGE", &[], ""),
        ("POST", "", &[("content-encoding", "gzip"), JSON], "gzip"),
    ];
    for (index, (method, query, headers, body)) in cases.into_iter().enumerate() {
        let (id, path, number) = paid_form(&served, &format!("order-{index}")).await;
        let body = match body {
            "gzip" => packed(&whole.replace("NUMBER", &number)),
            text => text.replace("NUMBER", &number).into_bytes(),
        };
        let path = format!("{path}{}", query.replace("NUMBER", &number));
        let answer = send(&served, method, &path, headers, &body).await;
        assert_eq!(answer.status, 200, "{index}: {answer:?}");
        is_paid(&served, &id).await;
    }
}

/// It is shown to a person, without what nobody may keep.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreadable_callback_is_shown_to_staff() {
    let served = Served::start().await;
    let (id, path, _) = paid_form(&served, "order-1").await;
    let unreadable = send(&served, "POST", &path, &[JSON], br#"{"pan":"4000000000002016","status":"CHARGE"}"#).await;
    assert_eq!(unreadable.status, 200, "{unreadable:?}");
    let large = send(&served, "POST", &path, &[JSON], &vec![b'x'; 65 * 1024]).await;
    assert_eq!((large.status, large.problem()), (413, "too_large".to_owned()));
    let claims = send(&served, "POST", &path, &[JSON], br#"{"orderNumber":"GW-<7>"}"#).await;
    assert_eq!(claims.status, 200, "{claims:?}");
    let person = Visitor::log_in(&served, "Aizada").await;
    let page = person.page(&served, &format!("/staff/checkouts/{id}")).await;
    for part in [
        "Callback from the gateway",
        "an unreadable callback",
        "the body is too large",
        "a callback with missing fields",
        "absent or not readable: amount, status, dateCreated, provider",
        "GW-&#60;7&#62;",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("4000000000002016") && page.contains("****************"), "{page}");
}

/// Whose calls a proxy on this machine passes on.
const STRANGER: (&str, &str) = ("x-forwarded-for", "198.51.100.7");
const GATEWAY: (&str, &str) = ("x-forwarded-for", "203.0.113.9");

async fn count(served: &Served, sample: &str) -> u64 {
    let text = served.server.metrics_text().await;
    let value = text.lines().find_map(|line| line.strip_prefix(sample)).unwrap_or_else(|| panic!("{sample}: {text}"));
    value.trim().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_unknown_callbacks_are_rate_limited() {
    let served = Served::with(|_, http| {
        http.per_address = 1;
        http.proxies = "127.0.0.1".parse().unwrap();
    })
    .await;
    let nowhere = format!("/callbacks/{0}/{0}", "0f".repeat(16));
    let refused = r#"kassa_limit_reached_total{limit="callbacks_of_address"}"#;
    let looked_up = r#"kassa_gateway_callbacks_total{reading="unknown_address"}"#;
    assert_eq!(send(&served, "POST", &nowhere, &[STRANGER], b"{}").await.status, 404);
    // Ten seconds' worth may come at once, and then one a second.
    let mut sent = 1;
    while sent < 1000 && count(&served, refused).await == 0 {
        let answer = send(&served, "POST", &nowhere, &[STRANGER], b"{}").await;
        assert!(matches!(answer.status, 404 | 429), "{answer:?}");
        sent += 1;
    }
    assert_eq!(count(&served, refused).await, 1);
    assert_eq!(count(&served, looked_up).await, sent - 1, "the last one was not looked up");
    let answer = send(&served, "POST", &nowhere, &[STRANGER], b"{}").await;
    assert_eq!(answer.problem(), "too_many_requests");
    assert!(answer.header("retry-after").is_some());

    // Another address has its own rate. Once it has called back about a payment, it may call about forgotten ones, too.
    let (id, path, number) = paid_form(&served, "order-1").await;
    let body = format!(r#"{{"orderNumber":"{number}"}}"#);
    assert_eq!(send(&served, "POST", &path, &[GATEWAY, JSON], body.as_bytes()).await.status, 200);
    is_paid(&served, &id).await;
    for _ in 0..30 {
        assert_eq!(send(&served, "POST", &nowhere, &[GATEWAY], b"{}").await.status, 404);
    }
}
