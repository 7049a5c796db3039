//! The description of the interface fits what is served.

use std::{env, fs, path::Path};

use kassa::FakeFault;
use serde_json::{Value, json};

use crate::client::Served;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn examples_are_taken_and_every_reference_leads_somewhere() {
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

/// Those of a payment that a person decided about, which have most to tell.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_what_the_description_says() {
    let served = Served::start().await;
    let (_, token) = served.opened("order-1").await;
    served.fake.fail_next(FakeFault::RequestLost);
    let begun = served.pay(&token, "try-1", &json!({ "method": "mbank", "phone": "996700000001" })).await;
    let path = format!("/v1/payments/{}/resolve", begun.json()["id"].as_str().unwrap());
    let resolved =
        served.shop("POST", &path, &json!({ "outcome": "charged", "reason": "On the list", "by": "Aida" })).await;
    assert_eq!(resolved.status, 200, "{resolved:?}");

    let description = served.send("GET", "/openapi.json", &[], "").await.json();
    let sent = &description["webhooks"]["event"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    let told = served.shop("GET", "/v1/events", &Value::Null).await.json();
    let events: Vec<&Value> = told["events"].as_array().unwrap().iter().map(|at| &at["event"]).collect();
    for event in &events {
        fits(&description, sent, event, "event");
    }
    let kinds = &description["components"]["schemas"]["Event"]["properties"]["type"]["x-extensible-enum"];
    let unnamed: Vec<_> = events.iter().filter(|event| !kinds.as_array().unwrap().contains(&event["type"])).collect();
    assert_eq!(unnamed, Vec::<&&Value>::new());
    let told_by_a_person = events.iter().find(|event| event["type"] == "payment.resolved").unwrap();
    assert!(
        told_by_a_person["data"]["via"].is_object() && told_by_a_person["data"]["payment"].is_object(),
        "{told_by_a_person}"
    );
}

/// Each member is described, has a type that it may have, and none is missing that is promised.
fn fits(description: &Value, schema: &Value, value: &Value, place: &str) {
    let schema = match schema["anyOf"].as_array() {
        Some(forms) => forms.iter().find(|form| form["type"] != "null").unwrap(),
        None => schema,
    };
    let schema = match schema["$ref"].as_str() {
        Some(path) => description.pointer(&path[1..]).unwrap(),
        None => schema,
    };
    let kind = match value {
        Value::Object(_) => "object",
        Value::String(_) => "string",
        Value::Number(_) => "integer",
        _ => panic!("{place}: {value}"),
    };
    let may_be = schema["type"] == kind || schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!(kind)));
    assert!(may_be, "{place}: {value} is no {}", schema["type"]);
    for (name, member) in value.as_object().into_iter().flatten() {
        let described = &schema["properties"][name];
        assert!(described.is_object(), "{place}.{name} is not described");
        fits(description, described, member, &format!("{place}.{name}"));
    }
    for name in schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()) {
        assert!(value.get(name).is_some(), "{place}.{name} is missing");
    }
}

/// It is what a shop has been promised: a change of it shows in the difference of this file, and the site shows it to people.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_served_is_what_the_repository_describes() {
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
