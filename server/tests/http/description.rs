//! The description of the interface fits what is served.

use std::{collections::BTreeSet, env, fs, path::Path};

use serde_json::{Value, json};

use crate::client::Served;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openapi_examples_and_references_are_valid() {
    let served = Served::start().await;
    let description = served.send("GET", "/openapi.json", &[], "").await.json();
    assert_eq!(description["openapi"], "3.1.0");
    let body = &description["paths"]["/v1/checkouts"]["post"]["requestBody"]["content"]["application/json"];
    let made = served.shop("POST", "/v1/checkouts", &body["example"]).await;
    assert_eq!(made.status, 201, "{made:?}");
    let schema = &description["components"]["schemas"]["Checkout"]["properties"];
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(schema), names(&made.json()));
    let text = description.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(description["components"]["schemas"][name].is_object(), "{name}");
    }
}

/// It is what a shop has been promised: a change of it shows in the difference of this file, and the site shows it to people.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn served_openapi_matches_repository_file() {
    let served = Served::start().await;
    let mut description = served.send("GET", "/openapi.json", &[], "").await.json();
    description["servers"] = json!([{ "url": "https://pay.shop.example.kg" }]);
    let text = serde_json::to_string_pretty(&description).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/interfaces/server.json");
    if env::var_os("KASSA_WRITE_INTERFACES").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let is_the_same = fs::read_to_string(&path).unwrap() == text;
    assert!(is_the_same, "the interface has changed: KASSA_WRITE_INTERFACES=1 writes {} anew", path.display());
}

/// The members of an object, by name; of nothing, none.
fn members(value: Option<&Value>) -> BTreeSet<String> {
    value.and_then(Value::as_object).map(|object| object.keys().cloned().collect()).unwrap_or_default()
}

/// Examples are made of the server's own types, but not by its state machines: so members and states are compared with a real payment's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn examples_are_what_is_really_said() {
    let served = Served::start().await;
    let description = served.send("GET", "/openapi.json", &[], "").await.json();
    let content = |at: &str| description.pointer(at).unwrap()["content"]["application/json"]["examples"].clone();
    let checkouts = content("/paths/~1v1~1checkouts~1{checkout}/get/responses/200");
    let events = content("/webhooks/event/post/requestBody");

    let (id, token) = served.opened("order-1").await;
    let path = format!("/v1/checkouts/{id}");
    let mut views = vec![("open", served.shop("GET", &path, &Value::Null).await.json())];
    let begun = served.pay(&token, "try-1", &json!({ "method": "mbank", "phone": "996700000001" })).await;
    assert_eq!(begun.status, 201, "{begun:?}");
    views.push(("open_with_payment", served.shop("GET", &path, &Value::Null).await.json()));
    let confirm = format!("/v1/checkout/payments/{}/confirm", begun.json()["id"].as_str().unwrap());
    let right = served.fake.otp();
    for (key, otp) in [("otp-1", "000000"), ("otp-2", right.as_str())] {
        let sent =
            served.call_with(&token, "POST", &confirm, &[("idempotency-key", key)], &json!({ "otp": otp })).await;
        assert!(matches!(sent.status, 200 | 202), "{sent:?}");
    }
    let mut seen = served.shop("GET", &path, &Value::Null).await.json();
    while seen["state"] == "open" {
        let path = format!("{path}?after={}&wait=25", seen["version"]);
        seen = served.shop("GET", &path, &Value::Null).await.json();
    }
    views.push(("paid", seen));
    let (other, _) = served.opened("order-2").await;
    let cancelled = served.shop("POST", &format!("/v1/checkouts/{other}/cancel"), &Value::Null).await;
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
    views.push(("cancelled", cancelled.json()));

    for (name, said) in &views {
        let example = &checkouts[name]["value"];
        for at in ["", "/payments/0"] {
            assert_eq!(members(said.pointer(at)), members(example.pointer(at)), "{name}{at}");
        }
        for at in ["/state", "/payments/0/state", "/payments/0/can_be_replaced"] {
            assert_eq!(said.pointer(at), example.pointer(at), "{name}{at}");
        }
        assert_eq!(said["paid_by"].is_string(), example["paid_by"].is_string(), "{name}");
    }
    let listed = served.shop("GET", "/v1/events", &Value::Null).await.json();
    let mut kinds = BTreeSet::new();
    for said in listed["events"].as_array().unwrap().iter().map(|listed| &listed["event"]) {
        let kind = said["type"].as_str().unwrap();
        let example = &events[kind]["value"];
        for at in ["", "/data", "/data/payment"] {
            assert_eq!(members(said.pointer(at)), members(example.pointer(at)), "{kind}{at}");
        }
        for at in ["/data/checkout_state", "/data/payment/state", "/data/reason"] {
            assert_eq!(said.pointer(at), example.pointer(at), "{kind}{at}");
        }
        kinds.insert(kind);
    }
    let wanted = [
        "checkout.cancelled",
        "checkout.paid",
        "payment.accepted",
        "payment.charged",
        "payment.confirming",
        "payment.created",
        "payment.not_confirmed",
    ];
    assert_eq!(kinds, BTreeSet::from(wanted));
}
