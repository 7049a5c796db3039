//! Payments from MegaPay wallets: where the setting is not there none is taken, and where it is the payer sees the total first. The
//! phone is kept as long as a PIN may be sent.

use serde_json::{Value, json};

use crate::{
    client::{Answer, Served, order, take_megapay},
    payer::order_by,
    visitor::Visitor,
};

const PHONE: &str = "996755000201";

fn by_megapay() -> Value {
    json!({ "method": "megapay", "phone": "+996 755 000-201" })
}

async fn confirm(served: &Served, token: &str, payment: &Value, key: &str, pin: &str) -> Answer {
    let path = format!("/v1/checkout/payments/{}/confirm", payment["id"].as_str().unwrap());
    served.call_with(token, "POST", &path, &[("idempotency-key", key)], &json!({ "otp": pin })).await
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(field, rule)| ((*field).to_owned(), (*rule).to_owned())).collect()
}

fn is_in_a_file(served: &Served) -> bool {
    let has = |file: &Vec<u8>| file.windows(9).any(|part| part == &PHONE.as_bytes()[3..]);
    served.files().iter().any(has)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn megapay_shows_total_and_is_confirmed_by_pin() {
    let served = Served::with_megapay().await;
    let (id, token) = served.opened("order-1").await;
    let offered = served.call(&token, "GET", "/v1/checkout", &Value::Null).await.json()["methods"].clone();
    assert_eq!(offered, json!(["pay_form", "qr", "mbank", "megapay"]));
    let begun = served.pay(&token, "try-1", &by_megapay()).await;
    assert_eq!((begun.status, &begun.json()["state"]), (201, &json!("awaiting")), "{begun:?}");
    let payment = begun.json();
    let terms = (&payment["commission"], &payment["total"], &payment["attempts_left"], &payment["phone_last2"]);
    assert_eq!(terms, (&json!("7.80"), &json!("397.80"), &json!(3), &json!("01")), "{payment}");
    let lifetime = payment["code_expires_at_ms"].as_i64().unwrap() - payment["begun_at_ms"].as_i64().unwrap();
    assert!((1..=240_000).contains(&lifetime), "{payment}");
    let again = served.pay(&token, "try-1", &json!({ "method": "megapay", "phone": PHONE })).await;
    assert_eq!((again.status, again.json()), (201, payment.clone()));
    let reused = served.pay(&token, "try-1", &json!({ "method": "mbank", "phone": PHONE })).await;
    assert_eq!((reused.status, reused.problem().as_str()), (422, "key_reused"));

    let wrong = confirm(&served, &token, &payment, "pin-1", "000000").await;
    assert_eq!((wrong.status, &wrong.json()["attempts_left"]), (200, &json!(2)), "{wrong:?}");
    let right = confirm(&served, &token, &payment, "pin-2", &served.fake.otp()).await;
    assert!(matches!(right.status, 200 | 202), "{right:?}");
    let path = format!("/v1/checkouts/{id}");
    let mut seen = served.shop("GET", &path, &Value::Null).await.json();
    while seen["state"] == "open" {
        seen = served.shop("GET", &format!("{path}?after={}&wait=25", seen["version"]), &Value::Null).await.json();
    }
    assert_eq!((&seen["state"], &seen["payments"][0]["total"]), (&json!("paid"), &json!("397.80")), "{seen}");
    assert_eq!(served.fake.payments()[0].amount, Some(390.into()), "the commission is none of the amount");

    let events = served.shop("GET", "/v1/events", &Value::Null).await.json();
    let of = |kind: &str| {
        let mut events = events["events"].as_array().unwrap().iter().map(|at| &at["event"]);
        events.find(|event| event["type"] == kind).unwrap()["data"]["payment"].clone()
    };
    assert_eq!(of("payment.created").get("commission"), None);
    let charged = of("payment.charged");
    assert_eq!((&charged["commission"], &charged["total"]), (&json!("7.80"), &json!("397.80")), "{charged}");
    assert_eq!(charged["code_expires_at_ms"], payment["code_expires_at_ms"]);
    let person = Visitor::log_in(&served, "Aizada").await;
    let page = person.page(&served, &format!("/staff/checkouts/{id}")).await;
    for part in ["1. MegaPay", "<dd>7.80\u{a0}som</dd>", "<dd>397.80\u{a0}som</dd>", "PIN valid until"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for text in [begun.text, right.text, seen.to_string(), events.to_string(), page] {
        assert!(!text.contains(&PHONE[3..]), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn phone_of_a_wallet_is_wiped_from_the_files() {
    let served = Served::with_megapay().await;
    for (number, end) in ["charged", "cancelled", "replaced", "refused"].into_iter().enumerate() {
        let (id, token) = served.opened(end).await;
        let payment = served.pay(&token, "try-1", &by_megapay()).await.json();
        assert_eq!(payment["state"], "awaiting", "{payment}");
        assert!(is_in_a_file(&served), "the request with the PIN needs it");
        match number {
            0 => drop(confirm(&served, &token, &payment, "pin", &served.fake.otp()).await),
            1 => drop(served.shop("POST", &format!("/v1/checkouts/{id}/cancel"), &Value::Null).await),
            2 => {
                let other = json!({ "method": "qr", "instead_of": payment["id"] });
                assert_eq!(served.pay(&token, "try-2", &other).await.status, 201);
            }
            _ => {
                for key in ["pin-1", "pin-2", "pin-3"] {
                    assert_eq!(confirm(&served, &token, &payment, key, "000000").await.status, 200);
                }
            }
        }
        served.checkpoint();
        assert!(!is_in_a_file(&served), "{end}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wallet_payment_is_replaced_by_another_number() {
    let served = Served::with_megapay().await;
    let (_, token) = served.opened("order-1").await;
    let first = served.pay(&token, "try-1", &by_megapay()).await.json();
    assert_eq!(first["can_be_replaced"], true, "{first}");
    let other = json!({ "method": "megapay", "phone": "0755 000 202", "instead_of": first["id"] });
    let second = served.pay(&token, "try-2", &other).await;
    assert_eq!((second.status, &second.json()["phone_last2"]), (201, &json!("02")), "{second:?}");
    let late = confirm(&served, &token, &first, "pin-1", &served.fake.otp()).await;
    assert_eq!((late.status, late.problem().as_str()), (409, "not_awaited"), "{late:?}");
    let right = confirm(&served, &token, &second.json(), "pin-2", &served.fake.otp()).await;
    assert!(matches!(right.status, 200 | 202), "{right:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn megapay_without_its_setting_is_rejected() {
    let served = Served::start().await;
    let refused = served.shop("POST", "/v1/checkouts", &order_by("order-1", &["megapay"])).await;
    assert_eq!((refused.status, refused.broken()), (400, pairs(&[("methods", "one_of")])));
    assert!(refused.text.contains("this server takes no MegaPay payments"), "{refused:?}");
    let (_, token) = served.opened("order-2").await;
    let refused = served.pay(&token, "try-1", &by_megapay()).await;
    assert_eq!((refused.status, refused.broken()), (400, pairs(&[("method", "one_of"), ("phone", "unknown")])));
    assert!(!served.description().await.to_string().contains("\"megapay\""));

    let served = Served::with_megapay().await;
    assert!(served.description().await.to_string().contains("\"megapay\""));
    let mut small = order_by("order-3", &["megapay"]);
    small["amount"] = json!("4.99");
    let refused = served.shop("POST", "/v1/checkouts", &small).await;
    assert_eq!((refused.status, refused.broken()), (400, pairs(&[("methods", "exact")])));
    small["amount"] = json!("5.05");
    assert_eq!(served.shop("POST", "/v1/checkouts", &small).await.status, 201);
}

/// A shop tries again after the setting changed: the same reference gives the same checkout.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checkout_outlives_change_of_megapay_setting() {
    let off = Served::start().await;
    let usual = off.shop("POST", "/v1/checkouts", &order("order-1")).await.json();
    let on = off.again_with(|server, _| take_megapay(server)).await;
    let again = on.shop("POST", "/v1/checkouts", &order("order-1")).await;
    assert_eq!((again.status, &again.json()["id"]), (201, &usual["id"]), "{again:?}");
    assert_eq!(again.json()["methods"], json!(["pay_form", "qr", "mbank"]));

    let named = on.shop("POST", "/v1/checkouts", &order_by("order-2", &["megapay"])).await;
    let (_, token) = on.token_of(named).await;
    let payment = on.pay(&token, "try-1", &by_megapay()).await.json();
    let off = on.again().await;
    assert_eq!(off.shop("POST", "/v1/checkouts", &order_by("order-2", &["megapay"])).await.status, 201);
    assert_eq!(off.pay(&token, "try-2", &by_megapay()).await.status, 400);
    // Nobody knows to which requisite the money would go.
    let unsent = confirm(&off, &token, &payment, "pin-1", &off.fake.otp()).await.json();
    let seen = (&unsent["state"], &unsent["failure"]["kind"], &unsent["attempts_left"]);
    assert_eq!(seen, (&json!("awaiting"), &json!("Misconfigured"), &json!(3)), "{unsent}");
    let on = off.again_with(|server, _| take_megapay(server)).await;
    let right = confirm(&on, &token, &payment, "pin-2", &on.fake.otp()).await;
    assert!(matches!(right.status, 200 | 202), "{right:?}");
}
