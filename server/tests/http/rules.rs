//! Inputs that break rules: each field and rule is named, and nothing is done.

use serde_json::{Value, json};

use crate::{
    client::{Served, order},
    visitor::{Visitor, checkouts},
};

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(field, rule)| ((*field).to_owned(), (*rule).to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_request_lists_all_violations() {
    let served = Served::start().await;
    let body = json!({
        "amount": "0.5", "currency": "USD", "description": " ", "return_url": "javascript:x", "methods": [],
        "lifetime_s": 1, "colour": "red",
    });
    let refused = served.shop("POST", "/v1/checkouts", &body).await;
    assert_eq!((refused.status, refused.problem().as_str()), (400, "invalid"));
    let mut broken = refused.broken();
    broken.sort();
    let expected = [
        ("amount", "range"),
        ("colour", "unknown"),
        ("currency", "one_of"),
        ("description", "required"),
        ("lifetime_s", "range"),
        ("reference", "required"),
        ("return_url", "url"),
    ];
    assert_eq!(broken, pairs(&expected));
    let events = served.shop("GET", "/v1/events", &Value::Null).await.json();
    assert_eq!(events["events"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn card_number_in_request_is_not_echoed() {
    let served = Served::start().await;
    let (_, token) = served.opened("order-1").await;
    let pan = "4000 0000 0000 2016";
    let mut answers = Vec::new();
    for name in ["reference", "amount", "description", "return_url", "currency", "colour"] {
        let mut body = order("order-2");
        body[name] = json!(pan);
        answers.push(served.shop("POST", "/v1/checkouts", &body).await);
    }
    let mut body = order("order-2");
    body["metadata"] = json!({ "note": pan });
    answers.push(served.shop("POST", "/v1/checkouts", &body).await);
    answers.push(served.pay(&token, "try-1", &json!({ "method": "mbank", "phone": pan })).await);
    answers.push(served.pay(&token, "4000000000002016", &json!({ "method": "qr" })).await);
    answers.push(served.pay(&token, "try-1", &json!({ "method": "card", "pan": 4_000_000_000_002_016_u64 })).await);
    for answer in &answers {
        assert_eq!(answer.status, 400, "{answer:?}");
        assert_eq!(answer.broken()[0].1, "card_number", "{answer:?}");
        assert!(!answer.text.contains("2016"), "{answer:?}");
    }
    assert!(served.fake.payments().is_empty());
}

/// One in ten of a shop's own numbers has a card number's check digit by chance; each of these has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shop_order_numbers_are_accepted_and_found() {
    let served = Served::start().await;
    let person = Visitor::log_in(&served, "Aizada").await;
    for number in [
        "2026112614050606",   // an order, by its time
        "2611261405060604",   // the same with a short year
        "2026112614050606-2", // its second try
        "4708307848535",      // a barcode
        "02810196615728",     // a tax number
        "1350673936567377",   // an account
        "352204784321368",    // a device
        "640340394368690839", // a time in ticks
    ] {
        let mut body = order(number);
        body["description"] = json!(format!("Order {number} of 2026-11-26"));
        body["return_url"] = json!(format!("https://shop.example.kg/paid?order={number}"));
        body["metadata"] = json!({ "number": number });
        let opened = served.shop("POST", "/v1/checkouts", &body).await;
        assert_eq!(opened.status, 201, "{opened:?}");
        let id = opened.json()["id"].as_str().unwrap().to_owned();
        let found = served.shop("GET", &format!("/v1/checkouts?reference={number}"), &Value::Null).await;
        assert_eq!((found.status, found.json()["id"].as_str()), (200, Some(id.as_str())), "{found:?}");
        let page = person.page(&served, &format!("/staff?q={number}")).await;
        assert_eq!(checkouts(&page), [id], "{page}");
        assert!(page.contains(&format!("value=\"{number}\"")), "{page}");
    }
}

/// Looking something up writes nothing down, and a gateway's number may look like anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn card_like_search_is_accepted_and_not_echoed() {
    let served = Served::start().await;
    let (id, token) = served.opened("order-1").await;
    served.pay(&token, "try-1", &json!({ "method": "qr" })).await;
    served.database().execute("UPDATE payments SET gateway_number = '4000000000002016'", []).unwrap();
    let person = Visitor::log_in(&served, "Aizada").await;
    let page = person.page(&served, "/staff?q=4000000000002016").await;
    assert_eq!(checkouts(&page), [id], "{page}");
    assert!(!page.contains("4000000000002016"), "{page}");
    let page = person.page(&served, "/staff?q=4000+0000+0000+2016").await;
    assert!(page.contains("Nothing found") && !page.contains("4000 0000"), "{page}");
    for (path, status) in [
        ("/v1/checkouts?reference=4000+0000+0000+2016", 404),
        ("/v1/checkouts/4000000000002016", 404),
        ("/v1/events?after=4000000000002016", 400),
    ] {
        let answer = served.shop("GET", path, &Value::Null).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(!answer.text.contains("2016") && !answer.text.contains("card"), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payment_request_needs_key_and_fields() {
    let served = Served::start().await;
    let (_, token) = served.opened("order-1").await;
    let without = served.call(&token, "POST", "/v1/checkout/payments", &json!({ "method": "qr" })).await;
    assert_eq!(without.broken(), pairs(&[("Idempotency-Key", "required")]));
    for (body, field, rule) in [
        (json!({}), "method", "required"),
        (json!({ "method": "cash" }), "method", "one_of"),
        (json!({ "method": "mbank" }), "phone", "required"),
        (json!({ "method": "mbank", "phone": "12" }), "phone", "format"),
        (json!({ "method": "qr", "phone": "996700000001" }), "phone", "unknown"),
    ] {
        let refused = served.pay(&token, "try-1", &body).await;
        assert_eq!(refused.broken(), pairs(&[(field, rule)]), "{body}");
    }
    for key in ["", "a b", &"x".repeat(65)] {
        let refused = served.pay(&token, key, &json!({ "method": "qr" })).await;
        assert_eq!(refused.broken(), pairs(&[("Idempotency-Key", "format")]), "{key}");
    }
    assert!(served.fake.payments().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_are_as_strict_as_bodies() {
    let served = Served::start().await;
    for (path, field, rule) in [
        ("/v1/checkouts", "reference", "required"),
        ("/v1/events?after=-1", "after", "format"),
        ("/v1/events?limit=1001", "limit", "range"),
        ("/v1/events?limit=1&limit=2", "limit", "format"),
        ("/v1/events?colour=red", "query", "unknown"),
        ("/healthz?colour=red", "query", "unknown"),
    ] {
        let refused = served.shop("GET", path, &Value::Null).await;
        assert_eq!((refused.status, refused.broken()), (400, pairs(&[(field, rule)])), "{path}");
    }
}
