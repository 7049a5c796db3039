//! Events as in docs/events.md, with Standard Webhooks signatures. Written independently: no code is shared with the server.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;
use serde_json::{Value, json};
use uuid::Uuid;

/// An event: its `webhook-id`, and its body.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) body: Vec<u8>,
}

impl Event {
    pub(crate) fn of(value: &Value) -> Self {
        Self { id: value["id"].as_str().unwrap_or_default().to_owned(), body: value.to_string().into_bytes() }
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn kind(&self) -> String {
        self.value()["type"].as_str().unwrap_or_default().to_owned()
    }

    /// A copy with changes. Its identifier stays unless the change names another one.
    pub(crate) fn altered(&self, change: impl FnOnce(&mut Value)) -> Self {
        let mut value = self.value();
        change(&mut value);
        Self::of(&value)
    }

    /// The same under a new identifier, as after a restore of the server.
    pub(crate) fn renamed(&self) -> Self {
        self.altered(|event| event["id"] = new_id().into())
    }
}

/// A new identifier.
pub(crate) fn new_id() -> String {
    format!("evt_{}", Uuid::new_v4().simple())
}

/// The data of an event about an order without a payment.
pub(crate) struct About<'a> {
    pub(crate) checkout: &'a str,
    pub(crate) reference: &'a str,
    pub(crate) amount: &'a str,
    pub(crate) currency: &'a str,
}

/// An event that the server did not send.
pub(crate) fn invented(kind: &str, about: &About<'_>) -> Event {
    let state = match kind {
        "checkout.expired" => "expired",
        "checkout.cancelled" => "cancelled",
        kind if kind.starts_with("checkout.") => "paid",
        _ => "open",
    };
    let mut data = json!({
        "checkout": about.checkout, "reference": about.reference, "amount": about.amount, "currency": about.currency,
        "checkout_state": state, "version": 5, "number": 4,
    });
    if let Some(name) = kind.strip_prefix("payment.") {
        let state = match name {
            "created" | "sending" => "sending",
            "accepted" | "not_confirmed" | "replaced" => "awaiting",
            "reviewed" | "charged" => "charged",
            "resolved" | "rejected" => "rejected",
            "stuck" => "unknown",
            other => other,
        };
        data["payment"] =
            json!({ "id": format!("pay_{}", Uuid::new_v4().simple()), "method": "pay_form", "state": state });
    }
    let timestamp_ms = now_s() * 1000;
    Event::of(&json!({ "id": new_id(), "type": kind, "timestamp_ms": timestamp_ms, "data": data }))
}

/// Unix time in seconds.
pub(crate) fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// A secret in the form that `kassa-server secret` prints.
pub(crate) fn new_secret() -> String {
    let bytes = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
    format!("whsec_{}", STANDARD.encode(bytes))
}

/// The key in a secret.
pub(crate) fn key_of(secret: &str) -> Vec<u8> {
    STANDARD.decode(secret.trim_start_matches("whsec_")).unwrap_or_default()
}

/// A signature: HMAC-SHA256 over `id.timestamp.body`.
pub(crate) fn sign(key: &[u8], id: &str, timestamp: &str, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let content = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat();
    format!("v1,{}", STANDARD.encode(hmac::sign(&key, &content)))
}

/// A request to the shop: headers and body.
#[derive(Clone)]
pub(crate) struct Message {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Message {
    pub(crate) fn new(id: &str, timestamp: &str, signature: &str, body: &[u8]) -> Self {
        let headers = [
            ("content-type", "application/json"),
            ("webhook-id", id),
            ("webhook-timestamp", timestamp),
            ("webhook-signature", signature),
        ];
        let headers = headers.into_iter().filter(|(_, value)| !value.is_empty());
        Self {
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: body.to_vec(),
        }
    }

    /// An event as the server sends it now.
    pub(crate) fn signed(event: &Event, secret: &str) -> Self {
        Self::signed_at(event, secret, now_s())
    }

    pub(crate) fn signed_at(event: &Event, secret: &str, at: i64) -> Self {
        let at = at.to_string();
        Self::new(&event.id, &at, &sign(&key_of(secret), &event.id, &at, &event.body), &event.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the Standard Webhooks specification.
    #[test]
    fn signature_is_that_of_the_specification() {
        let key = key_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let signature = sign(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
