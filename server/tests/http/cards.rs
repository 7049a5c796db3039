//! Payments by card: where cards are off nothing of them is taken, and where they are on nothing of them stays.

use std::time::Duration;

use kassa::FakeFault;
use serde_json::{Value, json};

use crate::client::{Answer, Served, order};

const PAN: &str = "4000 0000 0000 2016";
const CVC: &str = "737";

async fn with_cards() -> Served {
    Served::with(|server, _| server.takes_cards = true).await
}

fn by_card() -> Value {
    json!({
        "method": "card",
        "card": {
            "number": PAN, "expiry_month": "08", "expiry_year": 2031, "cvc": CVC, "holder_name": "Aibek Usenov",
        },
    })
}

/// A checkout that names cards, and a token for it.
async fn opened(served: &Served, reference: &str) -> (String, String) {
    let mut order = order(reference);
    order["methods"] = json!(["card", "qr"]);
    let made = served.shop("POST", "/v1/checkouts", &order).await;
    assert_eq!((made.status, &made.json()["methods"]), (201, &json!(["qr", "card"])), "{made:?}");
    served.token_of(made).await
}

fn assert_clean(text: &str) {
    for secret in [PAN, "4000000000002016", "4000-0000-0000-2016"] {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(!text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == CVC), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn card_payment_stores_only_four_digits() {
    let served = with_cards().await;
    let (id, token) = opened(&served, "order-1").await;
    let begun = served.pay(&token, "try-1", &by_card()).await;
    assert_eq!((begun.status, &begun.json()["state"]), (201, &json!("awaiting")), "{begun:?}");
    assert_eq!(begun.json()["card_last4"], "2016");
    let page = begun.json()["page_url"].as_str().unwrap().to_owned();
    served.fake.charge(&page).unwrap();
    // The payer came back. That says nothing: the gateway is asked.
    assert_eq!(served.call(&token, "POST", "/v1/checkout/check", &Value::Null).await.status, 202);
    let mut seen = served.call(&token, "GET", "/v1/checkout", &Value::Null).await;
    while seen.json()["state"] == "open" {
        let path = format!("/v1/checkout?after={}&wait=25", seen.json()["version"]);
        seen = served.call(&token, "GET", &path, &Value::Null).await;
    }
    assert_eq!(seen.json()["state"], "paid");
    let shop = served.shop("GET", &format!("/v1/checkouts/{id}"), &Value::Null).await;
    assert_eq!(shop.json()["payments"][0]["card_last4"], "2016");
    let events = served.shop("GET", "/v1/events", &Value::Null).await;
    for text in [begun.text, seen.text, shop.text, events.text] {
        assert_clean(&text);
    }
    for file in served.files() {
        assert_clean(&String::from_utf8_lossy(&file));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn key_with_another_card_returns_first_payment() {
    let served = with_cards().await;
    let (_, token) = opened(&served, "order-1").await;
    let first = served.pay(&token, "try-1", &by_card()).await;
    let mut other = by_card();
    other["card"]["number"] = json!("5555 5555 5555 4444");
    let again = served.pay(&token, "try-1", &other).await;
    assert_eq!((again.status, again.json()), (first.status, first.json()));
    let reused = served.pay(&token, "try-1", &json!({ "method": "qr" })).await;
    assert_eq!((reused.status, reused.problem().as_str()), (422, "key_reused"));
    let second = served.pay(&token, "try-2", &other).await;
    assert_eq!((second.status, second.problem().as_str()), (409, "under_way"), "its page can be paid");
    assert_eq!(served.fake.payments().len(), 1);
}

/// It would have to be kept meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn card_payment_is_never_queued() {
    let served = with_cards().await;
    let (_, token) = opened(&served, "order-1").await;
    served.fake.fail_next(FakeFault::TooManyRequests { retry_after: Duration::from_secs(600) });
    let refused = served.pay(&token, "try-1", &by_card()).await;
    assert_eq!((refused.status, &refused.json()["state"]), (201, &json!("not_made")), "{refused:?}");
    let unsent = served.pay(&token, "try-2", &by_card()).await;
    assert_eq!((unsent.status, &unsent.json()["state"]), (201, &json!("not_made")), "{unsent:?}");
    assert_eq!(
        (&unsent.json()["failure"]["kind"], &unsent.json()["card_last4"]),
        (&json!("Unavailable"), &json!("2016"))
    );
    assert!(served.fake.payments().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disabled_card_input_is_rejected() {
    let served = Served::start().await;
    let mut named = order("order-1");
    named["methods"] = json!(["card"]);
    let refused = served.shop("POST", "/v1/checkouts", &named).await;
    assert_eq!((refused.status, refused.broken()), (400, pairs(&[("methods", "one_of")])));
    let (_, token) = served.opened("order-2").await;
    let refused = served.pay(&token, "try-1", &json!({ "method": "card" })).await;
    assert_eq!((refused.status, refused.broken()), (400, pairs(&[("method", "one_of")])));
    let refused = served.pay(&token, "try-1", &by_card()).await;
    assert_eq!((refused.status, refused.broken()), (400, pairs(&[("card", "card_number")])));
    assert_clean(&refused.text);
    assert!(!served.description().await.to_string().contains("expiry_month"));
}

/// A shop tries again after the settings changed: the same reference gives the same checkout.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn card_checkout_is_returned_after_disabling() {
    let before = with_cards().await;
    let (id, _) = opened(&before, "order-1").await;
    let served = before.again().await;
    let mut named = order("order-1");
    named["methods"] = json!(["card", "qr"]);
    let again = served.shop("POST", "/v1/checkouts", &named).await;
    assert_eq!((again.status, &again.json()["id"]), (201, &json!(id)), "{again:?}");
    let (_, token) = served.token_of(again).await;
    let refused = served.pay(&token, "try-1", &json!({ "method": "card" })).await;
    assert_eq!((refused.status, refused.broken()), (400, pairs(&[("method", "one_of")])));
    named["amount"] = json!("391");
    let other = served.shop("POST", "/v1/checkouts", &named).await;
    assert_eq!((other.status, other.problem().as_str()), (422, "reference_used"));
    named["reference"] = json!("order-2");
    let new = served.shop("POST", "/v1/checkouts", &named).await;
    assert_eq!((new.status, new.broken()), (400, pairs(&[("methods", "one_of")])));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn card_number_is_accepted_in_card_field_only() {
    let served = with_cards().await;
    assert!(served.description().await.to_string().contains("expiry_month"));
    let (_, without) = served.opened("order-0").await;
    let refused = served.pay(&without, "try-1", &by_card()).await;
    assert_eq!(refused.broken(), pairs(&[("method", "one_of")]), "a shop asks for cards by name");
    let (_, token) = opened(&served, "order-1").await;
    let mut answers = Vec::new();
    for field in ["expiry_month", "expiry_year", "cvc", "holder_name", "note"] {
        let mut body = by_card();
        body["card"][field] = json!(PAN);
        answers.push(served.pay(&token, "try-1", &body).await);
    }
    for (field, value) in [("language", json!(PAN)), ("phone", json!(PAN)), ("method", json!("qr"))] {
        let mut body = by_card();
        body[field] = value;
        answers.push(served.pay(&token, "try-1", &body).await);
    }
    let mut order = order("order-2");
    order["metadata"] = json!({ "note": PAN });
    answers.push(served.shop("POST", "/v1/checkouts", &order).await);
    answers.push(served.pay(&token, "4000000000002016", &by_card()).await);
    for answer in &answers {
        assert_eq!((answer.status, answer.broken()[0].1.as_str()), (400, "card_number"), "{answer:?}");
        assert_clean(&answer.text);
    }
    let all = json!({
        "method": "card", "language": "Kyrgyz",
        "card": { "number": "4000 0000 0000 2017", "expiry_month": "8", "cvc": "73", "holder_name": " ", "pin": "1" },
    });
    let refused = served.pay(&token, "try-1", &all).await;
    let mut broken = refused.broken();
    broken.sort();
    let expected = [
        ("card.cvc", "format"),
        ("card.expiry_month", "format"),
        ("card.expiry_year", "required"),
        ("card.holder_name", "required"),
        ("card.number", "format"),
        ("card.pin", "unknown"),
        ("language", "format"),
    ];
    assert_eq!(broken, pairs(&expected));
    assert!(served.fake.payments().is_empty());
}

/// Card testing: who has many numbers, or guesses the code of one, does not find out with one checkout which is right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checkout_rejects_cards_after_five_refusals() {
    let served = with_cards().await;
    let (_, token) = opened(&served, "order-1").await;
    for number in 1..=5 {
        served.fake.fail_next(FakeFault::Refused { code: "51".into(), reason: "no".into() });
        let refused = served.pay(&token, &format!("try-{number}"), &by_card()).await;
        assert_eq!((refused.status, &refused.json()["state"]), (201, &json!("not_made")), "{refused:?}");
    }
    let sixth = served.pay(&token, "try-6", &by_card()).await;
    assert_eq!((sixth.status, sixth.problem().as_str()), (409, "no_attempts_left"));
    assert!(served.fake.payments().is_empty());
    let again = served.pay(&token, "try-5", &by_card()).await;
    assert_eq!((again.status, &again.json()["state"]), (201, &json!("not_made")), "what became of it is told still");
    let other = served.pay(&token, "try-7", &json!({ "method": "qr" })).await;
    assert_eq!((other.status, &other.json()["state"]), (201, &json!("awaiting")), "other ways stay");
}

/// What the gateway repeats of a card is masked; nothing is told of it but that it was refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn card_echoed_by_gateway_is_masked() {
    let served = with_cards().await;
    let (_, token) = opened(&served, "order-1").await;
    let reason = format!("card {PAN} with {CVC} was refused");
    served.fake.fail_next(FakeFault::Refused { code: "51".into(), reason });
    let refused = served.pay(&token, "try-1", &by_card()).await;
    assert_eq!((&refused.json()["state"], &refused.json()["failure"]["kind"]), (&json!("not_made"), &json!("Refused")));
    assert_clean(&refused.text);
    for file in served.files() {
        assert_clean(&String::from_utf8_lossy(&file));
    }
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(field, rule)| ((*field).to_owned(), (*rule).to_owned())).collect()
}

impl Served {
    pub async fn description(&self) -> Value {
        self.send("GET", "/openapi.json", &[], "").await.json()
    }

    /// A token for a checkout that was made.
    pub async fn token_of(&self, made: Answer) -> (String, String) {
        let id = made.json()["id"].as_str().unwrap().to_owned();
        let token = self.shop("POST", &format!("/v1/checkouts/{id}/tokens"), &Value::Null).await;
        (id, token.json()["token"].as_str().unwrap().to_owned())
    }
}
