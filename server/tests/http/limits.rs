//! Limits of number and size, and what every answer carries.

use serde_json::Value;

use crate::client::Served;

/// Far more requests than a rate of one a second lets through.
const MANY: usize = 1000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn token_has_a_rate_and_another_has_its_own() {
    let served = Served::with(|_, http| http.per_token = 1).await;
    let ((_, mine), (_, others)) = (served.opened("mine").await, served.opened("other").await);
    // Ten seconds' worth may come at once, and then one a second.
    let mut refused = served.call(&mine, "GET", "/v1/checkout", &Value::Null).await;
    for _ in 0..MANY {
        if refused.status == 200 {
            refused = served.call(&mine, "GET", "/v1/checkout", &Value::Null).await;
        }
    }
    assert_eq!(refused.problem(), "too_many_requests");
    assert!(refused.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1);
    assert_eq!(served.call(&others, "GET", "/v1/checkout", &Value::Null).await.status, 200);
    let counted = r#"kassa_limit_reached_total{limit="requests_of_token"} 1"#;
    assert!(served.server.metrics_text().await.lines().any(|line| line == counted));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn address_has_a_rate_and_the_shop_its_own() {
    let served = Served::with(|_, http| http.per_address = 1).await;
    let mut answer = served.send("GET", "/readyz", &[], "").await;
    for _ in 0..MANY {
        if answer.status == 200 {
            answer = served.send("GET", "/readyz", &[], "").await;
        }
    }
    assert_eq!(answer.problem(), "too_many_requests");
    assert_eq!(served.shop("GET", "/v1/events", &Value::Null).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_are_limited_in_size_and_kind() {
    let served = Served::start().await;
    let authorization = format!("Bearer {}", served.key);
    let own = ("authorization", authorization.as_str());
    let json = ("content-type", "application/json; charset=utf-8");
    let large = format!(r#"{{"reference": "{}"}}"#, "x".repeat(70_000));
    let too_large = served.send("POST", "/v1/checkouts", &[own, json], &large).await;
    assert_eq!((too_large.status, too_large.problem().as_str()), (413, "too_large"));
    let form = ("content-type", "application/x-www-form-urlencoded");
    let form = served.send("POST", "/v1/checkouts", &[own, form], "reference=1").await;
    assert_eq!((form.status, form.problem().as_str()), (415, "unsupported_media_type"));
    let broken = served.send("POST", "/v1/checkouts", &[own, json], "{").await;
    assert_eq!(broken.broken(), [("body".to_owned(), "format".to_owned())]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responses_are_uncached_and_unknown_is_404() {
    let served = Served::with(|_, http| http.public_url = "https://pay.shop.example.kg".into()).await;
    let nowhere = served.send("GET", "/v1/nothing", &[], "").await;
    assert_eq!((nowhere.status, nowhere.problem().as_str()), (404, "not_found"));
    let no_text = served.shop("GET", "/v1/checkouts/%FF", &Value::Null).await;
    assert_eq!((no_text.status, no_text.problem().as_str()), (404, "not_found"));
    let wrong = served.send("PUT", "/v1/checkouts", &[], "").await;
    assert_eq!((wrong.status, wrong.problem().as_str()), (405, "method_not_allowed"));
    let allowed = wrong.header("allow").unwrap();
    assert!(allowed.contains("POST") && allowed.contains("GET"), "{allowed}");
    for answer in [
        nowhere,
        wrong,
        served.send("GET", "/healthz", &[], "").await,
        served.shop("GET", "/v1/events", &Value::Null).await,
    ] {
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer:?}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("strict-transport-security"), Some("max-age=31536000"));
        assert!(answer.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_stops_is_alive_and_not_ready() {
    let served = Served::start().await;
    assert_eq!(served.send("GET", "/readyz", &[], "").await.status, 200);
    served.server.stop().await;
    assert_eq!(served.send("GET", "/healthz", &[], "").await.status, 200);
    let stopping = served.send("GET", "/readyz", &[], "").await;
    assert_eq!((stopping.status, stopping.problem().as_str()), (503, "unavailable"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_metrics_are_labeled_by_route_not_path() {
    let served = Served::start().await;
    let (id, token) = served.opened("order-1").await;
    served.shop("GET", &format!("/v1/checkouts/{id}"), &Value::Null).await;
    served.call("ct_guess", "GET", "/v1/checkout", &Value::Null).await;
    let text = served.server.metrics_text().await;
    for line in [
        r#"kassa_http_requests_total{route="/v1/checkouts/{checkout}",status="200"} 1"#,
        r#"kassa_http_requests_total{route="/v1/checkout",status="401"} 1"#,
        "kassa_waiting_apps 0",
        "kassa_database_up 1",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains(&id) && !text.contains(&token), "{text}");
}
