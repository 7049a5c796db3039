//! For tests of **your own** receiver of events: signed ones, as kassa-server sends them.
//!
//! ```
//! use kassa_client::testing::EventToSign;
//!
//! # let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
//! let request = EventToSign::new("checkout.paid").reference("order-17").amount(390.into()).sign(secret)?;
//! // Send `request.body` with `request.headers` to your receiver.
//! # Ok::<(), kassa_client::EventError>(())
//! ```

use std::time::SystemTime;

use rust_decimal::Decimal;
use serde_json::{Map, Value, json};

use crate::{
    error::EventError,
    events::{ID, SIGNATURE, TIMESTAMP, signature},
};

/// A request of the server to `events.url`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignedEvent {
    /// `webhook-id`, `webhook-timestamp`, `webhook-signature` and `content-type`.
    pub headers: Vec<(String, String)>,
    /// The event as JSON.
    pub body: Vec<u8>,
}

/// An event of a kind, such as `checkout.paid`, about an order `order-17` of 390 som, signed with the secret (`whsec_…`) that your
/// receiver verifies with. [`EventToSign`] has more to set.
///
/// # Errors
/// [`MalformedSecret`](crate::EventErrorReason::MalformedSecret).
pub fn sign_event(secret: &str, kind: &str) -> Result<SignedEvent, EventError> {
    EventToSign::new(kind).sign(secret)
}

/// An event that is to be signed.
#[derive(Clone, Debug)]
pub struct EventToSign {
    kind: String,
    id: String,
    now: SystemTime,
    data: Map<String, Value>,
}

impl EventToSign {
    /// An event of a kind, about an order `order-17` of 390 som. Its identifier and that of its checkout are new.
    pub fn new(kind: &str) -> Self {
        let state = match kind {
            "checkout.expired" => "expired",
            "checkout.cancelled" => "cancelled",
            _ if kind.starts_with("checkout.") => "paid",
            _ => "open",
        };
        let data = json!({
            "checkout": format!("co_{}", random()), "reference": "order-17", "amount": "390", "currency": "KGS",
            "checkout_state": state, "version": 5, "number": 1,
        });
        let data = data.as_object().cloned().unwrap_or_default();
        Self { kind: kind.to_owned(), id: format!("evt_{}", random()), now: SystemTime::now(), data }
    }

    /// The event's identifier. Give the same one twice to test a repeated delivery.
    #[must_use]
    pub fn id(self, id: &str) -> Self {
        Self { id: id.to_owned(), ..self }
    }

    /// The shop's reference.
    #[must_use]
    pub fn reference(self, reference: &str) -> Self {
        self.member("reference", reference)
    }

    /// The checkout's amount.
    #[must_use]
    pub fn amount(self, amount: Decimal) -> Self {
        self.member("amount", amount.to_string())
    }

    /// When it is sent. Give an old time to test a replay.
    #[must_use]
    pub fn sent_at(self, now: SystemTime) -> Self {
        Self { now, ..self }
    }

    /// Any member of its data, such as `after` with `expired`.
    #[must_use]
    pub fn member(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.data.insert(name.to_owned(), value.into());
        self
    }

    /// Signs it with a secret (`whsec_…`).
    ///
    /// # Errors
    /// [`MalformedSecret`](crate::EventErrorReason::MalformedSecret).
    pub fn sign(&self, secret: &str) -> Result<SignedEvent, EventError> {
        let since = self.now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let milliseconds = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let event = json!({"id": self.id, "type": self.kind, "timestamp_ms": milliseconds, "data": self.data});
        let (body, timestamp) = (event.to_string().into_bytes(), since.as_secs().to_string());
        let signature = signature(secret, &self.id, &timestamp, &body)?;
        let headers = [
            (ID, self.id.clone()),
            (TIMESTAMP, timestamp),
            (SIGNATURE, signature),
            ("content-type", "application/json".to_owned()),
        ];
        Ok(SignedEvent { headers: headers.map(|(name, value)| (name.to_owned(), value)).into(), body })
    }
}

fn random() -> String {
    format!("{:032x}", fastrand::u128(..))
}
