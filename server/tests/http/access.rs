//! Who may call what: every route with every kind of key.

use serde_json::{Value, json};

use crate::client::Served;

/// Every kind of key that is not the right one, or is.
async fn kinds(served: &Served) -> Vec<(&'static str, String)> {
    let (own, token) = served.opened("own").await;
    let revoked_key = served.server.new_api_key("revoked").await.unwrap();
    served.revoke(revoked_key.id()).await;
    let (other, other_token) = served.opened("other").await;
    let revoked = served.shop("DELETE", &format!("/v1/checkouts/{other}/tokens"), &Value::Null).await;
    assert_eq!((revoked.status, &revoked.json()["count"]), (200, &json!(1)));
    let mut nearly = served.key.clone();
    let last = if nearly.pop() == Some('A') { 'B' } else { 'A' };
    nearly.push(last);
    vec![
        ("the shop's", served.key.clone()),
        ("the app's", token),
        ("a revoked API key", revoked_key.expose()),
        ("a revoked token", other_token),
        ("nearly the shop's", nearly),
        ("the identifier of an API key", revoked_key.id().to_string()),
        ("the identifier of a checkout", own),
        ("nonsense", "nonsense".to_owned()),
        ("nothing", String::new()),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_takes_its_own_kind_of_key_alone() {
    let served = Served::start().await;
    let description = served.send("GET", "/openapi.json", &[], "").await.json();
    let kinds = kinds(&served).await;
    let own = &kinds.iter().find(|(kind, _)| kind.contains("checkout")).unwrap().1;
    let mut walked = 0;
    for (path, item) in description["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let right = match operation["security"][0].as_object().and_then(|one| one.keys().next()) {
                Some(name) if name == "shop" => "the shop's",
                Some(_) => "the app's",
                None => continue,
            };
            let path = path.replace("{checkout}", own).replace("{payment}", &format!("pay_{}", "0".repeat(32)));
            for (kind, key) in &kinds {
                let answer = served.call(key, &method.to_uppercase(), &path, &Value::Null).await;
                let is_in = !matches!(answer.status, 401 | 429);
                assert_eq!(is_in, *kind == right, "{method} {path} with {kind}: {answer:?}");
                if !is_in {
                    // As they guess, they are told to wait; what they are told never depends on what is there.
                    assert!(matches!(answer.problem().as_str(), "unauthorized" | "too_many_requests"), "{answer:?}");
                }
                walked += 1;
            }
        }
    }
    assert_eq!(walked, 13 * kinds.len(), "all routes but those for anybody");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_opens_its_own_checkout_and_nothing_of_another() {
    let served = Served::start().await;
    let ((_, mine), (other, others)) = (served.opened("mine").await, served.opened("other").await);
    let body = json!({ "method": "mbank", "phone": "996700000001" });
    let payment = served.pay(&others, "try-1", &body).await.json()["id"].as_str().unwrap().to_owned();
    let confirm = format!("/v1/checkout/payments/{payment}/confirm");
    let key = [("idempotency-key", "otp-1")];
    let stolen = served.call_with(&mine, "POST", &confirm, &key, &json!({ "otp": served.fake.otp() })).await;
    assert_eq!((stolen.status, stolen.problem().as_str()), (404, "not_found"));
    let seen = served.call(&mine, "GET", "/v1/checkout", &Value::Null).await.json();
    assert_eq!((&seen["reference"], &seen["payments"]), (&json!("mine"), &json!([])));
    assert!(seen.get("metadata").is_none(), "the shop's own texts are no business of an app's");
    let theirs = served.shop("GET", &format!("/v1/checkouts/{other}"), &Value::Null).await.json();
    assert_eq!(theirs["payments"][0]["state"], "awaiting");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guessing_is_slowed_down_and_a_right_key_never() {
    let served = Served::start().await;
    let mut refused = None;
    for _ in 0..10 {
        let answer = served.call("ct_guess", "GET", "/v1/checkout", &Value::Null).await;
        match answer.status {
            401 => assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"kassa\"")),
            status => refused = refused.or(Some((status, answer.problem(), answer.header("retry-after").is_some()))),
        }
    }
    assert_eq!(refused, Some((429, "too_many_requests".to_owned(), true)));
    assert_eq!(served.shop("GET", "/v1/events", &Value::Null).await.status, 200);
    assert_eq!(served.call("ct_guess", "GET", "/v1/checkout", &Value::Null).await.status, 401, "it begins anew");
}
