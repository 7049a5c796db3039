//! What a shop and its payers' apps do, a call at a time.

use std::{thread, time::Duration};

use fastrand::Rng;
use kassa_sandbox::TEST_CARDS;
use serde_json::{Value, json};

use crate::{
    api::Answer,
    scene::{Begun, Opened, Scene},
    secrets::{CVC, WRONG_OTP, payers, wallets},
};

/// Where an app pays.
pub const PAYMENTS: &str = "/v1/checkout/payments";

/// A call that can be made by anybody at any time.
pub type Deed = Box<dyn FnOnce(&Scene) + Send>;

/// What an order is.
pub fn order(reference: &str, lifetime_s: u64) -> Value {
    json!({
        "reference": reference, "amount": "390", "description": "Two tickets", "lifetime_s": lifetime_s,
        "return_url": "https://shop.example.kg/paid", "methods": ["pay_form", "qr", "mbank", "megapay", "card"],
    })
}

/// Opens a checkout, or the same one again, and makes a token for it.
pub fn open(random: &mut Rng) -> Deed {
    let order = order(&format!("order-{}", random.u32(0..6)), [60, 600, 3600][random.usize(0..3)]);
    let server = random.usize(0..2);
    Box::new(move |scene| {
        let opened = scene.call_by_shop(server, "POST", "/v1/checkouts", &order);
        let Some(id) = opened.and_then(|opened| opened.member("id")) else { return };
        let made = scene.call_by_shop(server, "POST", &format!("/v1/checkouts/{id}/tokens"), &Value::Null);
        if let Some(token) = made.and_then(|made| made.member("token")) {
            scene.known().checkouts.push(Opened { id, token });
        }
    })
}

/// Somebody types a card number where a text belongs.
pub fn type_a_card_number(random: &mut Rng) -> Deed {
    let server = random.usize(0..2);
    let mut order = order("order-card", 600);
    order["description"] = json!(format!("paid with {}", TEST_CARDS[0].pan));
    Box::new(move |scene| {
        let refused = scene.call_by_shop(server, "POST", "/v1/checkouts", &order);
        assert!(refused.is_none_or(|refused| refused.status == 400), "a card number was taken");
    })
}

/// Begins a payment by some method, and types the one-time password where there is one, perhaps a wrong one first. One key
/// in three is one that was used before.
pub fn pay(random: &mut Rng) -> Deed {
    let (server, which, payer) = (random.usize(0..2), random.usize(..), payers()[random.usize(0..payers().len())]);
    let wallet = wallets()[random.usize(0..wallets().len())];
    let (body, otp) = match random.u32(0..8) {
        0 => (json!({ "method": "pay_form" }), payer.otp),
        1 => (json!({ "method": "qr" }), payer.otp),
        2 | 3 => (by_card(TEST_CARDS[random.usize(..TEST_CARDS.len())].pan), payer.otp),
        4 | 5 => (json!({ "method": "megapay", "phone": wallet.phone }), wallet.otp),
        _ => (json!({ "method": "mbank", "phone": payer.phone }), payer.otp),
    };
    let key = if random.u32(0..3) == 0 { "a-key".to_owned() } else { format!("key-{}", random.u32(..)) };
    let types = [&[][..], &[true], &[false, true], &[false]][random.usize(0..4)];
    let thinks = Duration::from_millis(random.u64(0..100));
    Box::new(move |scene| {
        let Some(Opened { token, .. }) = any(&scene.known().checkouts, which) else { return };
        let answer = scene.call(server, &token, "POST", PAYMENTS, &key, &body);
        let has_code = |answer: &Answer| answer.body["method"] == "mbank" || answer.body["method"] == "megapay";
        let begun = answer.filter(|answer| answer.status < 300 && has_code(answer));
        if let Some(id) = begun.and_then(|answer| answer.member("id")) {
            let begun = Begun { id, token, otp };
            scene.known().payments.push(begun.clone());
            for (number, is_right) in types.iter().enumerate() {
                thread::sleep(thinks);
                type_otp(scene, server, &begun, &format!("typed-{number}"), *is_right);
            }
        }
    })
}

/// What begins a payment by card.
pub fn by_card(pan: &str) -> Value {
    let groups: Vec<_> = pan.as_bytes().chunks(4).map(String::from_utf8_lossy).collect();
    json!({
        "method": "card",
        "card": {
            "number": groups.join(" "), "expiry_month": "08", "expiry_year": 2031, "cvc": CVC,
            "holder_name": "Aibek Usenov",
        },
    })
}

/// Sends a one-time password, right or wrong.
pub fn confirm(random: &mut Rng) -> Deed {
    let (server, is_right, back) = (random.usize(0..2), random.u32(0..3) > 0, random.usize(0..3));
    let key = if random.u32(0..4) == 0 { "an-otp".to_owned() } else { format!("otp-{}", random.u32(..)) };
    Box::new(move |scene| {
        let begun = scene.known().payments.iter().rev().nth(back).cloned();
        if let Some(begun) = begun {
            type_otp(scene, server, &begun, &key, is_right);
        }
    })
}

fn type_otp(scene: &Scene, server: usize, begun: &Begun, key: &str, is_right: bool) {
    let body = json!({ "otp": if is_right { begun.otp } else { WRONG_OTP } });
    scene.call(server, &begun.token, "POST", &format!("{PAYMENTS}/{}/confirm", begun.id), key, &body);
}

/// An app looks: it has the gateway asked, or waits for a change.
pub fn look(random: &mut Rng) -> Deed {
    let (server, which, checks) = (random.usize(0..2), random.usize(..), random.bool());
    Box::new(move |scene| {
        let Some(Opened { token, .. }) = any(&scene.known().checkouts, which) else { return };
        if checks {
            scene.call(server, &token, "POST", "/v1/checkout/check", "", &Value::Null);
        }
        let Some(seen) = scene.call(server, &token, "GET", "/v1/checkout", "", &Value::Null) else { return };
        let path = format!("/v1/checkout?after={}&wait=1", seen.body["version"]);
        scene.call(server, &token, "GET", &path, "", &Value::Null);
    })
}

/// The shop does not want the money any more.
pub fn cancel(random: &mut Rng) -> Deed {
    let (server, which) = (random.usize(0..2), random.usize(..));
    Box::new(move |scene| {
        let Some(Opened { id, .. }) = any(&scene.known().checkouts, which) else { return };
        scene.call_by_shop(server, "POST", &format!("/v1/checkouts/{id}/cancel"), &Value::Null);
    })
}

/// The shop reads events.
pub fn read_events(random: &mut Rng) -> Deed {
    let server = random.usize(0..2);
    Box::new(move |scene| scene.read_events(server))
}

fn any<T: Clone>(all: &[T], which: usize) -> Option<T> {
    all.get(which % all.len().max(1)).cloned()
}
