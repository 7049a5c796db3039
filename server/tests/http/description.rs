//! The description of the interface fits what is served.

use std::{env, fs, path::Path};

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
