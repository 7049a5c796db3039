//! Events: an immutable record of what happened, their kinds, and the body that the shop receives.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use strum::{Display, EnumIter, EnumString, IntoEnumIterator, IntoStaticStr};

use crate::values::{CheckoutId, Cursor, Millis, PaymentId};

/// An event, as it is stored and delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Position among all events in the history of this database.
    pub seq: i64,
    /// Identifier, the same for every delivery attempt.
    pub id: String,
    /// The checkout of the event.
    pub checkout: CheckoutId,
    /// The payment of the event, if it is about one.
    pub payment: Option<PaymentId>,
    /// Sequence number among the events of its payment, or among the checkout's own events: 1, 2, 3, without gaps.
    pub number: i64,
    /// The kind of event. `None` if a later version of the server wrote the event: the body's `type` has the name.
    pub kind: Option<EventKind>,
    /// The JSON body that is delivered.
    pub body: String,
    /// Time at which the event was recorded.
    pub at: Millis,
}

impl Event {
    /// The cursor after which the following events are read.
    pub fn cursor(&self) -> Cursor {
        Cursor::at(self.seq, self.at, &self.id)
    }

    pub(crate) fn new(seq: i64, id: String, checkout: CheckoutId, payment: Option<PaymentId>) -> Self {
        let (number, kind, body, at) = (0, None, String::new(), 0);
        Self { seq, id, checkout, payment, number, kind, body, at }
    }
}

// Kinds of events.

/// The kind of an event. Each state change has exactly one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[non_exhaustive]
pub enum EventKind {
    /// The gateway reported a charge: **deliver**.
    #[strum(serialize = "checkout.paid")]
    CheckoutPaid,
    /// The checkout expired.
    #[strum(serialize = "checkout.expired")]
    CheckoutExpired,
    /// The shop cancelled the checkout.
    #[strum(serialize = "checkout.cancelled")]
    CheckoutCancelled,
    /// More than one payment of the checkout was charged: the surplus must be refunded manually.
    #[strum(serialize = "checkout.overpaid")]
    CheckoutOverpaid,
    /// A person recorded a refund of an overpaid checkout, made at the gateway.
    #[strum(serialize = "checkout.refund_recorded")]
    CheckoutRefundRecorded,
    /// A payment was recorded.
    #[strum(serialize = "payment.created")]
    PaymentCreated,
    /// A payment that was waiting is now being sent.
    #[strum(serialize = "payment.sending")]
    PaymentSending,
    /// The gateway accepted the payment; the payer must act.
    #[strum(serialize = "payment.accepted")]
    PaymentAccepted,
    /// The payment was definitely not made.
    #[strum(serialize = "payment.not_made")]
    PaymentNotMade,
    /// The payment may have been made; its status is being queried.
    #[strum(serialize = "payment.unknown")]
    PaymentUnknown,
    /// The payer's one-time password is being sent.
    #[strum(serialize = "payment.confirming")]
    PaymentConfirming,
    /// The one-time password was refused, or definitely not sent.
    #[strum(serialize = "payment.not_confirmed")]
    PaymentNotConfirmed,
    /// Another payment was started instead of this one, which no longer accepts a one-time password.
    #[strum(serialize = "payment.replaced")]
    PaymentReplaced,
    /// The gateway reported a charge.
    #[strum(serialize = "payment.charged")]
    PaymentCharged,
    /// The gateway reported that the payment ended without a charge.
    #[strum(serialize = "payment.rejected")]
    PaymentRejected,
    /// The gateway reports a payment that differs from the request: a person must review it.
    #[strum(serialize = "payment.mismatch")]
    PaymentMismatch,
    /// The gateway reports a charge that cannot be verified: a person must review it, and the payer must not pay again.
    #[strum(serialize = "payment.unverifiable")]
    PaymentUnverifiable,
    /// A person reviewed a further charge reported for a charged payment; the payment stays charged.
    #[strum(serialize = "payment.reviewed")]
    PaymentReviewed,
    /// A person decided whether the payment was charged.
    #[strum(serialize = "payment.resolved")]
    PaymentResolved,
    /// The payment has been open for three days, or its checkout ended and the status of its QR code cannot be queried: a person
    /// must review it.
    #[strum(serialize = "payment.stuck")]
    PaymentStuck,
}

impl EventKind {
    /// The name of the kind, such as `checkout.paid`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the shop has to act on money: deliver or refund. Such events may be queued after any other event.
    pub fn requires_action(self) -> bool {
        match self {
            Self::CheckoutPaid | Self::CheckoutOverpaid => true,
            Self::CheckoutExpired
            | Self::CheckoutCancelled
            | Self::CheckoutRefundRecorded
            | Self::PaymentCreated
            | Self::PaymentSending
            | Self::PaymentAccepted
            | Self::PaymentNotMade
            | Self::PaymentUnknown
            | Self::PaymentConfirming
            | Self::PaymentNotConfirmed
            | Self::PaymentReplaced
            | Self::PaymentCharged
            | Self::PaymentRejected
            | Self::PaymentMismatch
            | Self::PaymentUnverifiable
            | Self::PaymentReviewed
            | Self::PaymentResolved
            | Self::PaymentStuck => false,
        }
    }
}

// The text of an event (`type`, a time, `data`, as Standard Webhooks recommends). It is written once, with its
// change, and contains no secret.

/// An event.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub struct Body<'a> {
    /// Identifier of the event, equal to the header `webhook-id`. It is the same for every delivery attempt.
    pub id: &'a str,
    /// Kind of the event. Newer servers may send further kinds: respond with 2xx to unknown kinds and ignore them.
    #[serde(rename = "type", serialize_with = "name")]
    #[schemars(schema_with = "kinds")]
    pub kind: EventKind,
    /// Time of the event, in milliseconds since the Unix epoch.
    pub timestamp_ms: Millis,
    /// The checkout and payment that the event is about.
    pub data: Data<'a>,
}

/// The checkout and payment that an event is about.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventData")]
pub struct Data<'a> {
    /// Identifier of the checkout.
    pub checkout: &'a str,
    /// The shop's reference for the checkout.
    pub reference: &'a str,
    /// Amount of the checkout in units of `currency`, as a decimal string with exact digits.
    pub amount: &'a str,
    /// Currency code of three letters, such as `KGS`.
    pub currency: &'a str,
    /// State of the checkout after the event: `open`, `paid`, `expired` or `cancelled`.
    pub checkout_state: &'a str,
    /// Version of the checkout after the event.
    pub version: i64,
    /// The payment. Absent if the event is about the checkout only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PaymentData<'a>")]
    pub payment: Option<PaymentData<'a>>,
    /// Sequence number of the event among the events of its payment, or among the events of the checkout only, starting at 1.
    pub number: i64,
    /// Previous state. Present only if the change is unexpected (a charge after a rejection, or after the checkout expired) or if a
    /// person decided it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "&str")]
    pub after: Option<&'a str>,
    /// Reason given by the gateway, the server or a person. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "&str")]
    pub reason: Option<&'a str>,
    /// Name of the person who decided. Present only if a person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "&str")]
    pub by: Option<&'a str>,
    /// Key through which the person's decision was submitted. With a shop's key, the name in `by` can be anyone's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ViaData<'a>")]
    pub via: Option<ViaData<'a>>,
}

/// The key through which a person's decision was submitted.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventVia")]
pub struct ViaData<'a> {
    /// Role of the key: `shop` or `staff`.
    pub role: &'a str,
    /// Identifier of the key. It is not secret.
    pub key: &'a str,
}

/// The payment that an event is about.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventPayment")]
pub struct PaymentData<'a> {
    /// Identifier of the payment.
    pub id: &'a str,
    /// Payment method: `pay_form`, `qr`, `mbank`, `megapay` or `card`.
    pub method: &'a str,
    /// State of the payment after the event: `prepared`, `sending`, `not_made`, `unknown`, `awaiting`, `confirming`, `charged`, `rejected`,
    /// `mismatch` or `unverifiable`.
    pub state: &'a str,
    /// What the payer's MegaPay wallet pays in addition to the amount, in KGS, as a decimal string. Absent if the gateway did not report
    /// a commission, and with other methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "&str")]
    pub commission: Option<String>,
    /// What the payer's MegaPay wallet pays in total, in KGS, as a decimal string: the amount and the commission. Absent without
    /// `commission`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "&str")]
    pub total: Option<String>,
    /// Time at which the MegaPay wallet's PIN expires, in milliseconds since the Unix epoch. Absent if the gateway did not report its
    /// lifetime, and with other methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Millis")]
    pub code_expires_at_ms: Option<Millis>,
}

impl Body<'_> {
    /// The JSON.
    ///
    /// # Errors
    /// None in practice: every field can be serialized.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

fn name<S: serde::Serializer>(kind: &EventKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

/// An open enum (`x-extensible-enum`): it lists the known kinds, and readers must expect more.
fn kinds(_: &mut SchemaGenerator) -> Schema {
    let kinds: Vec<&str> = EventKind::iter().map(EventKind::name).collect();
    json_schema!({ "type": "string", "x-extensible-enum": kinds })
}
