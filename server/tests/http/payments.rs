//! Whole payments, as a shop and an app see them.

use std::time::Duration;

use kassa::{Credentials, Dialect, FakeFault, Gateway, GatewayConfig};
use kassa_sandbox::{Dialect as ActsAs, Sandbox, SandboxOptions};
use kassa_server::ApiKey;
use serde_json::{Value, json};

use crate::client::{Served, order};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mbank_payment_is_confirmed_and_reported() {
    let served = Served::start().await;
    let (id, token) = served.opened("order-1").await;
    let begun = served.pay(&token, "try-1", &json!({ "method": "mbank", "phone": "996700000001" })).await;
    assert_eq!(begun.status, 201, "{begun:?}");
    assert_eq!(begun.json()["state"], "awaiting");
    let payment = begun.json()["id"].as_str().unwrap().to_owned();
    let confirm = format!("/v1/checkout/payments/{payment}/confirm");

    let key = |text| [("idempotency-key", text)];
    let wrong = served.call_with(&token, "POST", &confirm, &key("otp-1"), &json!({ "otp": "000000" })).await;
    assert_eq!((wrong.status, &wrong.json()["attempts_left"]), (200, &json!(2)), "{wrong:?}");
    assert_eq!(wrong.json()["state"], "awaiting");
    assert_eq!(wrong.json()["failure"]["kind"], "Refused");
    let word = served.call_with(&token, "POST", &confirm, &key("otp-2"), &json!({ "otp": "код" })).await;
    assert_eq!((word.status, word.broken()), (400, vec![("otp".to_owned(), "format".to_owned())]), "{word:?}");
    // As a message groups it, with a mark that is not seen.
    let grouped = format!("{}-{}\u{200e}", &served.fake.otp()[..3], &served.fake.otp()[3..]);
    let right = served.call_with(&token, "POST", &confirm, &key("otp-2"), &json!({ "otp": grouped })).await;
    assert!(matches!(right.status, 200 | 202), "{right:?}");

    let mut seen = served.call(&token, "GET", "/v1/checkout", &Value::Null).await.json();
    while seen["state"] == "open" {
        let path = format!("/v1/checkout?after={}&wait=25", seen["version"]);
        seen = served.call(&token, "GET", &path, &Value::Null).await.json();
    }
    assert_eq!((&seen["state"], &seen["payments"][0]["state"]), (&json!("paid"), &json!("charged")));
    let shop = served.shop("GET", &format!("/v1/checkouts/{id}"), &Value::Null).await.json();
    assert_eq!((&shop["state"], &shop["paid_by"]), (&json!("paid"), &json!(payment)));
    assert_eq!(shop["payments"][0]["order_number"], payment.strip_prefix("pay_").unwrap());

    let events = served.shop("GET", "/v1/events", &Value::Null).await.json();
    let kinds: Vec<_> = events["events"].as_array().unwrap().iter().map(|at| at["event"]["type"].clone()).collect();
    assert_eq!(kinds.first(), Some(&json!("payment.created")));
    assert_eq!(kinds[kinds.len() - 2..], [json!("payment.charged"), json!("checkout.paid")]);
    let rest = served
        .shop("GET", &format!("/v1/events?after={}", events["next"].as_str().unwrap()), &Value::Null)
        .await
        .json();
    assert_eq!(rest, json!({ "events": [], "next": events["next"] }));

    // As after a restore: this event was written again, under another identifier.
    let cursor = events["events"][1]["cursor"].as_str().unwrap();
    let sql = "UPDATE events SET event_id = 'evt_' || lower(hex(randomblob(16))) WHERE seq = ?1";
    let seq: i64 = cursor.split_once('.').unwrap().0.parse().unwrap();
    served.database().execute(sql, [seq]).unwrap();
    let gone = served.shop("GET", &format!("/v1/events?after={cursor}"), &Value::Null).await;
    assert_eq!((gone.status, gone.problem()), (410, "history_gone".to_owned()));
    assert_eq!(gone.json()["next"], "0", "nothing was written an hour before");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_page_or_code_is_returned_again() {
    let served = Served::start().await;
    for (method, shows) in [("pay_form", "page_url"), ("qr", "qr_text")] {
        let (_, token) = served.opened(method).await;
        let first = served.pay(&token, "try-1", &json!({ "method": method })).await;
        assert_eq!(first.status, 201, "{first:?}");
        assert!(first.json()[shows].is_string(), "{first:?}");
        let second = served.pay(&token, "try-2", &json!({ "method": method })).await;
        assert_eq!((second.status, second.json()), (201, first.json()));
    }
    assert_eq!(served.fake.payments().len(), 2);
}

/// The default dialect guesses where a response has the text of a code and its transaction; this gateway has both elsewhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn qr_fields_missing_in_dialect_are_advised() {
    let options = SandboxOptions { acts_as: ActsAs::Finipay, ..SandboxOptions::default() };
    let sandbox = Sandbox::start(options).unwrap();
    let (payload, transaction) = ("dialect.endpoints.qr_data.qr_payload", "dialect.endpoints.qr_data.transaction_id");
    for (dialect, state, advised) in [
        ("{}", "not_made", Some(payload)),
        (r#"{"endpoints": {"qr_data": {"qr_payload": ["/data"]}}}"#, "awaiting", Some(transaction)),
        (r#"{"base": "finipay"}"#, "awaiting", None),
    ] {
        let config = GatewayConfig::new(sandbox.url(), Credentials::basic(sandbox.login(), sandbox.password()))
            .with_dialect(Dialect::from_json(dialect).unwrap());
        let served = Served::with_gateway(Gateway::new(config).unwrap()).await;
        let (id, token) = served.opened("order-1").await;
        let begun = served.pay(&token, "try-1", &json!({ "method": "qr" })).await;
        assert_eq!((begun.status, &begun.json()["state"]), (201, &json!(state)), "{dialect}: {begun:?}");
        assert_eq!(begun.json().get("advice"), None, "a payer can do nothing about it: {begun:?}");
        let shop = served.shop("GET", &format!("/v1/checkouts/{id}"), &Value::Null).await.json();
        let advice = shop["payments"][0]["advice"].as_array().unwrap();
        let fields: Vec<&str> = advice.iter().filter_map(|one| one["field"].as_str()).collect();
        assert_eq!(fields, Vec::from_iter(advised), "{dialect}: {shop}");
        for one in advice {
            assert!(one["text"].as_str().is_some_and(|text| text.contains(" finds no ")), "{shop}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeated_api_request_is_idempotent() {
    let served = Served::start().await;
    let (id, token) = served.opened("order-1").await;
    assert_eq!(served.opened("order-1").await.0, id, "the reference is its key");
    let mut dearer = order("order-1");
    dearer["amount"] = json!("391");
    let other = served.shop("POST", "/v1/checkouts", &dearer).await;
    assert_eq!((other.status, other.problem().as_str()), (422, "reference_used"));
    assert!(other.json()["detail"].as_str().is_some_and(|detail| detail.contains(": amount is not what")), "{other:?}");
    for (field, value) in [
        ("description", json!("Three tickets")),
        ("methods", json!(["qr"])),
        ("return_url", json!("https://shop.example.kg/elsewhere")),
        ("lifetime_s", json!(61)),
        ("metadata", json!({ "colour": "red" })),
    ] {
        let mut changed = order("order-1");
        changed[field] = value;
        let other = served.shop("POST", "/v1/checkouts", &changed).await;
        let detail = other.json()["detail"].as_str().unwrap_or_default().to_owned();
        assert!(detail.contains(&format!(": {field} is not what")), "{field}: {other:?}");
    }

    let body = json!({ "method": "mbank", "phone": "996700000001" });
    let first = served.pay(&token, "try-1", &body).await;
    let again = served.pay(&token, "try-1", &body).await;
    assert_eq!((again.status, again.json()), (first.status, first.json()));
    for phone in ["0700 00-00-01", "\u{202a}+996\u{a0}700 000 001\u{202c}", "00996 0700 000 001"] {
        let spelled = served.pay(&token, "try-1", &json!({ "method": "mbank", "phone": phone })).await;
        assert_eq!((spelled.status, spelled.json()), (first.status, first.json()), "{phone:?}");
    }
    let other = served.pay(&token, "try-1", &json!({ "method": "mbank", "phone": "996700000002" })).await;
    assert_eq!((other.status, other.problem().as_str()), (422, "key_reused"));
    let reused = served.pay(&token, "try-1", &json!({ "method": "qr" })).await;
    assert_eq!((reused.status, reused.problem().as_str()), (422, "key_reused"));
    let second = served.pay(&token, "try-2", &json!({ "method": "qr" })).await;
    assert_eq!((second.status, second.problem().as_str()), (409, "under_way"));
    assert_eq!(second.json()["state"], "awaiting");
    assert_eq!(served.fake.payments().len(), 1, "one went to the gateway");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unconfirmed_payment_is_replaced() {
    let served = Served::start().await;
    let (_, token) = served.opened("order-1").await;
    let first = served.pay(&token, "try-1", &json!({ "method": "mbank", "phone": "0700 000 099" })).await.json();
    assert_eq!((&first["phone_last2"], &first["can_be_replaced"]), (&json!("99"), &json!(true)), "{first}");
    let body = |other: &Value| json!({ "method": "mbank", "phone": "0700 000 001", "instead_of": other });
    let wrong = served.pay(&token, "try-2", &body(&json!("pay_1"))).await;
    assert_eq!((wrong.status, wrong.broken()), (400, vec![("instead_of".to_owned(), "format".to_owned())]));
    let second = served.pay(&token, "try-2", &body(&first["id"])).await;
    assert_eq!((second.status, &second.json()["state"]), (201, &json!("awaiting")), "{second:?}");
    let again = served.pay(&token, "try-2", &body(&first["id"])).await;
    assert_eq!((again.status, again.json()), (201, second.json()));

    let confirm = |payment: &Value| format!("/v1/checkout/payments/{}/confirm", payment.as_str().unwrap());
    let otp = json!({ "otp": served.fake.otp() });
    let late = served.call_with(&token, "POST", &confirm(&first["id"]), &[("idempotency-key", "otp-1")], &otp).await;
    assert_eq!((late.status, late.problem().as_str()), (409, "not_awaited"), "{late:?}");
    let path = confirm(&second.json()["id"]);
    let right = served.call_with(&token, "POST", &path, &[("idempotency-key", "otp-2")], &otp).await;
    assert!(matches!(right.status, 200 | 202), "{right:?}");
    // Its code was taken.
    let third = json!({ "method": "qr", "instead_of": second.json()["id"] });
    assert_eq!(served.pay(&token, "try-3", &third).await.status, 409);
    assert_eq!(served.fake.payments().len(), 2);
}

/// A terminal once showed "declined" for a paid card, as it was told 409 while the first request was under way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_payment_is_reported_as_under_way() {
    let served = Served::with(|_, http| http.answer_within = Duration::from_secs(2)).await;
    let (_, token) = served.opened("order-1").await;
    served.fake.fail_next(FakeFault::NoResponse);
    // The gateway in memory waits by its own clock.
    served.fake.stop_clock();
    let body = json!({ "method": "mbank", "phone": "996700000001" });
    let begun = served.pay(&token, "try-1", &body).await;
    assert_eq!(begun.status, 202, "{begun:?}");
    assert_eq!(begun.json()["state"], "sending");
    let again = served.pay(&token, "try-1", &body).await;
    assert_eq!((again.status, again.json()), (202, begun.json()));
    served.fake.start_clock();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callback_or_check_updates_payment_at_once() {
    let served = Served::start().await;
    let (id, token) = served.opened("order-1").await;
    let begun = served.pay(&token, "try-1", &json!({ "method": "qr" })).await.json();
    served.fake.charge(begun["qr_text"].as_str().unwrap()).unwrap();
    // Where the gateway was told to call, with a body that says nothing.
    let url = served.fake.payments()[0].callback_url.clone().unwrap();
    let path = url.split_once("/callbacks").map(|(_, end)| format!("/callbacks{end}")).unwrap();
    let called = served.send("POST", &path, &[], "hello").await;
    assert_eq!((called.status, called.text.as_str()), (200, "{}"), "{called:?}");
    let mut seen = served.shop("GET", &format!("/v1/checkouts/{id}"), &Value::Null).await.json();
    while seen["state"] == "open" {
        let path = format!("/v1/checkouts/{id}?after={}&wait=25", seen["version"]);
        seen = served.shop("GET", &path, &Value::Null).await.json();
    }
    assert_eq!(seen["state"], "paid");
    let looked = served.call(&token, "POST", "/v1/checkout/check", &Value::Null).await;
    assert_eq!((looked.status, looked.text.as_str()), (202, "{}"));
    let guessed = format!("/callbacks/{}/{}", "0".repeat(32), "0".repeat(32));
    assert_eq!(served.send("POST", &guessed, &[], "{}").await.problem(), "not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_checkout_takes_no_payment() {
    let served = Served::start().await;
    let (id, token) = served.opened("order-1").await;
    let found = served.shop("GET", "/v1/checkouts?reference=order-1", &Value::Null).await;
    assert_eq!((found.status, &found.json()["id"]), (200, &json!(id)));
    let cancelled = served.shop("POST", &format!("/v1/checkouts/{id}/cancel"), &Value::Null).await;
    assert_eq!((cancelled.status, &cancelled.json()["state"]), (200, &json!("cancelled")));
    let refused = served.pay(&token, "try-1", &json!({ "method": "qr" })).await;
    assert_eq!((refused.status, refused.problem().as_str()), (409, "not_open"));
    assert_eq!(refused.json()["state"], "cancelled");
    let nowhere = served.shop("GET", "/v1/checkouts?reference=order-2", &Value::Null).await;
    assert_eq!((nowhere.status, nowhere.problem().as_str()), (404, "not_found"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gateway_refusal_reason_is_returned() {
    let served = Served::start().await;
    let (id, token) = served.opened("order-1").await;
    for (key, said, returned, decline) in [
        ("try-1", "Not this phone", "Not this phone", Value::Null),
        // The number has a right check digit, as one in ten has by chance.
        ("try-2", "Too little for order 2026112614050606", "Too little for order ****************", Value::Null),
        ("try-3", "Card 4000 0000 0000 2016 is blocked", "Card **** **** **** **** is blocked", Value::Null),
        ("try-4", "Insufficient funds", "Insufficient funds", json!("insufficient_funds")),
    ] {
        served.fake.fail_next(FakeFault::Refused { code: "17".into(), reason: said.into() });
        let refused = served.pay(&token, key, &json!({ "method": "mbank", "phone": "996700000001" })).await;
        assert_eq!((refused.status, &refused.json()["state"]), (201, &json!("not_made")), "{refused:?}");
        // The gateway's code and words are for the shop; the payer's app gets the kind of reason.
        let for_app = json!({ "kind": "Refused", "decline": decline });
        let of_app = served.call(&token, "GET", "/v1/checkout", &Value::Null).await.json();
        let of_shop = served.shop("GET", &format!("/v1/checkouts/{id}"), &Value::Null).await.json();
        let last = |checkout: &Value| checkout["payments"].as_array().unwrap().last().unwrap()["failure"].clone();
        assert_eq!((&refused.json()["failure"], &last(&of_app)), (&for_app, &for_app));
        assert_eq!(last(&of_shop), json!({ "kind": "Refused", "code": "17", "reason": returned }));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_poll_returns_on_change() {
    let served = Served::start().await;
    let (id, token) = served.opened("order-1").await;
    let version = served.call(&token, "GET", "/v1/checkout", &Value::Null).await.json()["version"].clone();
    let path = format!("/v1/checkout?after={version}&wait=30");
    let waiting = served.call(&token, "GET", &path, &Value::Null);
    let cancel = async {
        served.shop("POST", &format!("/v1/checkouts/{id}/cancel"), &Value::Null).await;
    };
    let (changed, ()) = tokio::join!(waiting, cancel);
    assert_eq!(changed.json()["state"], "cancelled");
    let old = served.call(&token, "GET", "/v1/checkout?after=0&wait=30", &Value::Null).await;
    assert_eq!(old.json(), changed.json(), "what is newer is told without waiting");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_payment_resolved_by_staff_is_reported() {
    let served = Served::start().await;
    let (id, token) = served.opened("order-1").await;
    served.fake.fail_next(FakeFault::RequestLost);
    let body = json!({ "method": "mbank", "phone": "996700000001" });
    let begun = served.pay(&token, "try-1", &body).await;
    assert_eq!((begun.status, &begun.json()["state"]), (202, &json!("unknown")), "{begun:?}");
    let path = format!("/v1/payments/{}/resolve", begun.json()["id"].as_str().unwrap());
    let unsaid = served.shop("POST", &path, &json!({ "outcome": "not_charged", "by": "Aida" })).await;
    assert_eq!(unsaid.broken(), [("reason".to_owned(), "required".to_owned())]);
    let decided = json!({ "outcome": "not_charged", "reason": "Not in the gateway's list", "by": "Aida" });
    let resolved = served.shop("POST", &path, &decided).await;
    assert_eq!((resolved.status, &resolved.json()["state"]), (200, &json!("rejected")), "{resolved:?}");
    let events = served.shop("GET", "/v1/events", &Value::Null).await.json();
    let mut events = events["events"].as_array().unwrap().iter().map(|at| &at["event"]);
    let event = events.find(|event| event["type"] == "payment.resolved").unwrap();
    let key = served.key.parse::<ApiKey>().unwrap();
    let via = json!({ "role": "shop", "key": key.id().as_str() });
    assert_eq!((&event["data"]["reason"], &event["data"]["by"]), (&decided["reason"], &json!("Aida")));
    assert_eq!(event["data"]["via"], via, "a shop's key names whomever it likes");

    let second = served.pay(&token, "try-2", &body).await;
    assert_eq!((second.status, &second.json()["state"]), (201, &json!("awaiting")), "{id} is free for another try");
    let path = format!("/v1/payments/{}/resolve", second.json()["id"].as_str().unwrap());
    assert_eq!(served.shop("POST", &path, &decided).await.status, 200, "it has not ended");
    let too_late = json!({ "outcome": "charged", "reason": "It is in the list after all", "by": "Aida" });
    let refused = served.shop("POST", &path, &too_late).await;
    assert_eq!((refused.status, refused.problem().as_str()), (409, "not_in_doubt"));
}
