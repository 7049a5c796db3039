//! Who may call what: every route with every kind of key.

use std::time::{Duration, Instant};

use kassa_server::Permission::{self, Decide, View};
use kassa_test_patience::wait_until_async;
use serde_json::{Value, json};

use crate::{
    client::Served,
    visitor::{FORM, Visitor},
};

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
    assert_eq!(walked, 14 * kinds.len(), "all routes but those for anybody");
}

/// All that only who is logged in may see or do, and whether it takes a key that decides.
const STAFF: [(&str, &str, Permission); 16] = [
    ("GET", "/staff", View),
    ("GET", "/staff?needs=person", View),
    ("GET", "/staff/checkouts/{checkout}", View),
    ("POST", "/staff/checkouts/{checkout}/check-status", Decide),
    ("POST", "/staff/checkouts/{checkout}/cancel", Decide),
    ("POST", "/staff/checkouts/{checkout}/replay", Decide),
    ("POST", "/staff/checkouts/{checkout}/refund", Decide),
    ("POST", "/staff/checkouts/{checkout}/payments/{payment}/resolve", Decide),
    ("GET", "/staff/checkouts.csv", View),
    ("GET", "/staff/day", View),
    ("GET", "/staff/report", View),
    ("GET", "/staff/reconciliation", View),
    ("POST", "/staff/reconciliation", View),
    ("GET", "/staff/reconciliation.csv", View),
    ("POST", "/staff/logout", View),
    ("GET", "/staff/nowhere", View),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staff_key_opens_staff_pages_only() {
    let served = Served::start().await;
    let kinds = kinds(&served).await;
    let own = &kinds.iter().find(|(kind, _)| kind.contains("checkout")).unwrap().1;
    let (right, revoked) = (Visitor::log_in(&served, "right").await, Visitor::log_in(&served, "revoked").await);
    served.revoke(revoked.key.id()).await;
    let expired = Visitor::log_in(&served, "expired").await;
    let sql = "UPDATE staff_sessions SET expires_at = made_at WHERE key_id = ?1";
    assert_eq!(served.database().execute(sql, [expired.key.id().as_str()]).unwrap(), 1);
    let cookie = |value: &str| ("cookie", format!("kassa_staff={value}"));
    let mut wrong = vec![
        ("no cookie", ("x-nothing", String::new())),
        ("an empty cookie", cookie("")),
        ("a wrong cookie", cookie("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")),
        ("a staff key as cookie", cookie(&right.key.expose())),
        ("a staff key as Bearer", ("authorization", format!("Bearer {}", right.key.expose()))),
        ("a session as Bearer", ("authorization", format!("Bearer {}", right.cookie.split('=').nth(1).unwrap()))),
        ("a session of a revoked key", ("cookie", revoked.cookie.clone())),
        ("an expired session", ("cookie", expired.cookie.clone())),
    ];
    for (kind, key) in &kinds {
        wrong.push((kind, cookie(key)));
        wrong.push((kind, ("authorization", format!("Bearer {key}"))));
    }
    let viewer = Visitor::with_permission(&served, "viewer", View).await;
    for (method, path, needed) in STAFF {
        let path = path.replace("{checkout}", own).replace("{payment}", &format!("pay_{}", "0".repeat(32)));
        for (kind, (name, value)) in &wrong {
            let body = format!("csrf={}", right.csrf);
            let (headers, body) = match method {
                "POST" => (vec![(*name, value.as_str()), FORM], body.as_str()),
                _ => (vec![(*name, value.as_str())], ""),
            };
            let answer = served.send(method, &path, &headers, body).await;
            assert_eq!(answer.status, 401, "{method} {path} with {kind}: {answer:?}");
            assert!(
                answer.text.contains("action=\"/staff/login\"") && !answer.text.contains("/staff/checkouts"),
                "{kind}: {answer:?}"
            );
        }
        if method == "POST" {
            let answer = served.send(method, &path, &[("cookie", &right.cookie), FORM], "csrf=").await;
            assert_eq!(answer.status, 403, "{method} {path} without its token: {answer:?}");
            let refused = needed == Decide && viewer.post(&served, &path, &[]).await.status == 403;
            assert_eq!(refused, needed == Decide, "{path} by a read-only key");
        } else {
            let status = right.get(&served, &path).await.status;
            assert_eq!(status, if path.ends_with("nowhere") { 404 } else { 200 }, "{path}");
            assert_eq!(viewer.get(&served, &path).await.status, status, "{path} by a read-only key");
        }
    }
    let api = served.call(&right.key.expose(), "GET", "/v1/events", &Value::Null).await;
    assert!(matches!(api.status, 401 | 429), "a staff key is no API key: {api:?}");
    for key in [served.key.as_str(), &revoked.key.expose(), "", "nonsense"] {
        let answer = served.send("POST", "/staff/login", &[FORM], &format!("key={key}")).await;
        assert!(matches!(answer.status, 401 | 429) && answer.header("set-cookie").is_none(), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_token_opens_only_its_own_checkout() {
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

/// What happens after the end of a key or token is no business of who waits with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_poll_ends_with_its_key_or_token() {
    let served = Served::with(|settings, http| {
        settings.longest_unwatched = Duration::from_secs(3600);
        http.longest_wait = Duration::from_secs(60);
    })
    .await;
    for (case, status) in
        [("nothing", 200), ("a revoked token", 401), ("an expired token", 401), ("a revoked key", 401)]
    {
        let (id, token) = served.opened(case).await;
        let key = served.server.new_api_key(case).await.unwrap();
        let (credential, path) = match case {
            "a revoked key" => (key.expose(), format!("/v1/checkouts/{id}")),
            _ => (token, "/v1/checkout".to_owned()),
        };
        let seen = served.call(&credential, "GET", &path, &Value::Null).await.json()["version"].clone();
        let path = format!("{path}?after={seen}&wait=60");
        let happens = async {
            let waits = async || served.server.metrics_text().await.contains("\nkassa_waiting_apps 1\n");
            wait_until_async("the poll waits", waits).await;
            match case {
                "a revoked token" => {
                    // It ends the poll by itself.
                    return served.shop("DELETE", &format!("/v1/checkouts/{id}/tokens"), &Value::Null).await;
                }
                "an expired token" => {
                    let sql = "UPDATE tokens SET expires_at = 1 + expires_at - 900000 WHERE revoked_at IS NULL";
                    served.database().execute(sql, []).unwrap();
                }
                "a revoked key" => served.revoke(key.id()).await,
                _ => {}
            }
            served.shop("POST", &format!("/v1/checkouts/{id}/cancel"), &Value::Null).await
        };
        let begun = Instant::now();
        let (polled, happened) = tokio::join!(served.call(&credential, "GET", &path, &Value::Null), happens);
        assert_eq!((happened.status, polled.status), (200, status), "{case}: {polled:?}");
        assert_eq!(polled.text.contains("cancelled"), status == 200, "{case}: {polled:?}");
        assert!(begun.elapsed() < Duration::from_secs(50), "{case}: it waited to its end");
        if status == 401 {
            assert_eq!(polled.problem(), "unauthorized", "{case}");
        }
    }
}

/// Old screens of many phones, or of one, come from one address.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_token_does_not_count_as_guessing() {
    let served = Served::start().await;
    let (id, revoked) = served.opened("order-1").await;
    let path = format!("/v1/checkouts/{id}/tokens");
    assert_eq!(served.shop("DELETE", &path, &Value::Null).await.status, 200);
    let new_token =
        async || served.shop("POST", &path, &Value::Null).await.json()["token"].as_str().unwrap().to_owned();
    let expired = new_token().await;
    served
        .database()
        .execute("UPDATE tokens SET expires_at = 1 + expires_at - 900000 WHERE revoked_at IS NULL", [])
        .unwrap();
    let good = new_token().await;
    for token in [&revoked, &expired] {
        for _ in 0..10 {
            assert_eq!(served.call(token, "GET", "/v1/checkout", &Value::Null).await.status, 401);
        }
    }
    assert_eq!(served.call("ct_guess", "GET", "/v1/checkout", &Value::Null).await.status, 401, "the first guess");
    assert_eq!(served.call(&good, "GET", "/v1/checkout", &Value::Null).await.status, 200);
}
