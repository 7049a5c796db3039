//! The description of the interface fits what is served.

use serde_json::Value;

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
