//! The shop's receiver of events: it verifies each one by the scheme's own library, and takes none twice. Also the line that shows one.

use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::{
    net::TcpListener,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

use crate::Failure;

/// Kyrgyzstan has one time zone, without daylight saving time.
const BISHKEK_S: i64 = 6 * 60 * 60;
const DAY_S: i64 = 24 * 60 * 60;

/// The receiver while it listens.
pub(crate) struct Receiver {
    /// For the setting `events.url`.
    pub(crate) url: String,
    pub(crate) received: ReceivedEvents,
    /// Each event once, in the order in which they come.
    pub(crate) events: UnboundedReceiver<Value>,
}

/// The events that the shop received: by checkout, their kinds in order.
#[derive(Clone, Default)]
pub(crate) struct ReceivedEvents(Arc<Mutex<Book>>);

#[derive(Default)]
struct Book {
    seen: Vec<String>,
    by_checkout: BTreeMap<String, Vec<String>>,
}

impl ReceivedEvents {
    /// The kinds of events about a checkout, the first one first.
    pub(crate) fn about(&self, checkout: &str) -> Vec<String> {
        self.locked().by_checkout.get(checkout).cloned().unwrap_or_default()
    }

    /// Whether an event of this kind about a checkout was received.
    pub(crate) fn has(&self, checkout: &str, kind: &str) -> bool {
        self.about(checkout).iter().any(|known| known == kind)
    }

    /// Stores an event. False if it was stored before: delivery is at-least-once, and a repeated event has the same identifier.
    fn insert(&self, event: &Value) -> bool {
        let mut book = self.locked();
        let id = text(&event["id"]).to_owned();
        if book.seen.contains(&id) {
            return false;
        }
        book.seen.push(id);
        book.by_checkout
            .entry(text(&event["data"]["checkout"]).to_owned())
            .or_default()
            .push(text(&event["type"]).to_owned());
        true
    }

    fn locked(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the shop's port.
pub(crate) async fn open(secret: &str) -> Result<Receiver, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}/events", listener.local_addr()?);
    let (sender, events) = unbounded_channel();
    let shop = Shop { received: ReceivedEvents::default(), webhook: Arc::new(Webhook::new(secret)?), sender };
    let received = shop.received.clone();
    let router = Router::new().route("/events", post(take)).with_state(shop);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(Receiver { url, received, events })
}

#[derive(Clone)]
struct Shop {
    received: ReceivedEvents,
    webhook: Arc<Webhook>,
    sender: UnboundedSender<Value>,
}

async fn take(State(shop): State<Shop>, headers: HeaderMap, body: String) -> StatusCode {
    if shop.webhook.verify(body.as_bytes(), &headers).is_err() {
        return StatusCode::UNAUTHORIZED;
    }
    let Ok(event) = serde_json::from_str(&body) else { return StatusCode::BAD_REQUEST };
    if shop.received.insert(&event) {
        // Nobody may want to see it.
        let _ = shop.sender.send(event);
    }
    StatusCode::NO_CONTENT
}

/// An event in one line: Bishkek's time, the kind, the order, the amount, and the checkout or the payment that it is about.
pub(crate) fn line(event: &Value) -> String {
    let (kind, data) = (text(&event["type"]), &event["data"]);
    let seconds = (event["timestamp_ms"].as_i64().unwrap_or_default() / 1000 + BISHKEK_S).rem_euclid(DAY_S);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let payment = &data["payment"];
    let subject = match payment.is_object() {
        true => format!("{} ({}, {})", text(&payment["id"]), text(&payment["method"]), text(&payment["state"])),
        false => format!("{} ({})", text(&data["checkout"]), text(&data["checkout_state"])),
    };
    let reason = data["reason"].as_str().map(|reason| format!(": {reason}")).unwrap_or_default();
    let advice = if kind == "checkout.paid" { "  <- deliver now" } else { "" };
    let (reference, amount) = (text(&data["reference"]), text(&data["amount"]));
    format!("{time}  {kind:<22} {reference:<10} {amount:>8} {}  {subject}{reason}{advice}", text(&data["currency"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_one_line() {
        let mut event = json!({
            "id": "evt_1", "type": "checkout.paid", "timestamp_ms": 1_767_204_060_000_i64,
            "data": {
                "checkout": "co_1", "reference": "order-17", "amount": "390", "currency": "KGS", "checkout_state": "paid",
                "version": 5, "number": 1,
            },
        });
        let paid = "00:01:00  checkout.paid          order-17        390 KGS  co_1 (paid)  <- deliver now";
        assert_eq!(line(&event), paid);
        event["type"] = "payment.unverifiable".into();
        event["data"]["payment"] = json!({ "id": "pay_1", "method": "qr", "state": "unverifiable" });
        event["data"]["reason"] = "the unit is not known".into();
        let unverifiable =
            "00:01:00  payment.unverifiable   order-17        390 KGS  pay_1 (qr, unverifiable): the unit is not known";
        assert_eq!(line(&event), unverifiable);
        assert!(line(&json!({})).starts_with("06:00:00 "), "what is no event of ours is shown as far as it goes");
    }
}
