//! The shop's receiver of events: it verifies each one, and takes none twice. Also the line that shows one.

use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use kassa_client::{Event, EventVerifier};
use tokio::{
    net::TcpListener,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

use crate::Failure;

/// Kyrgyzstan has one time zone, without daylight saving time.
const BISHKEK_S: u64 = 6 * 60 * 60;
const DAY_S: u64 = 24 * 60 * 60;

/// The receiver while it listens.
pub(crate) struct Receiver {
    /// For the setting `events.url`.
    pub(crate) url: String,
    pub(crate) received: ReceivedEvents,
    /// Each event once, in the order in which they come.
    pub(crate) events: UnboundedReceiver<Event>,
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
    fn insert(&self, event: &Event) -> bool {
        let mut book = self.locked();
        if book.seen.contains(&event.id) {
            return false;
        }
        book.seen.push(event.id.clone());
        book.by_checkout.entry(event.checkout.clone()).or_default().push(event.kind.clone());
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
    let shop = Shop { received: ReceivedEvents::default(), verifier: EventVerifier::new([secret])?, sender };
    let received = shop.received.clone();
    let router = Router::new().route("/events", post(take)).with_state(shop);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(Receiver { url, received, events })
}

#[derive(Clone)]
struct Shop {
    received: ReceivedEvents,
    verifier: EventVerifier,
    sender: UnboundedSender<Event>,
}

async fn take(State(shop): State<Shop>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let Ok(event) = shop.verifier.verify(&body, &headers) else { return StatusCode::UNAUTHORIZED };
    if shop.received.insert(&event) {
        // Nobody may want to see it.
        let _ = shop.sender.send(event);
    }
    StatusCode::NO_CONTENT
}

/// An event in one line: Bishkek's time, the kind, the order, the amount, and the checkout or the payment that it is about.
pub(crate) fn line(event: &Event) -> String {
    let since = event.timestamp.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = (since.as_secs() + BISHKEK_S) % DAY_S;
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let subject = match &event.payment {
        Some(payment) => format!("{} ({}, {})", payment.id, payment.method, payment.state),
        None => format!("{} ({})", event.checkout, event.checkout_state),
    };
    let reason = event.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let advice = if event.is_paid() { "  <- deliver now" } else { "" };
    let Event { kind, reference, currency, .. } = event;
    let amount = event.amount.to_string();
    format!("{time}  {kind:<22} {reference:<10} {amount:>8} {currency}  {subject}{reason}{advice}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kassa_client::testing::EventToSign;
    use serde_json::json;

    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    #[test]
    fn event_is_one_line() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_204_060);
        let shown = |event: EventToSign| {
            let signed = event.member("checkout", "co_1").sent_at(at).sign(SECRET).unwrap();
            line(&EventVerifier::new([SECRET]).unwrap().verify_at(&signed.body, &signed.headers, at).unwrap())
        };
        let paid = "00:01:00  checkout.paid          order-17        390 KGS  co_1 (paid)  <- deliver now";
        assert_eq!(shown(EventToSign::new("checkout.paid")), paid);
        let payment = json!({ "id": "pay_1", "method": "qr", "state": "unverifiable" });
        let event = EventToSign::new("payment.unverifiable").member("payment", payment);
        let unverifiable =
            "00:01:00  payment.unverifiable   order-17        390 KGS  pay_1 (qr, unverifiable): the unit is not known";
        assert_eq!(shown(event.member("reason", "the unit is not known")), unverifiable);
    }
}
