//! Events: what happened, never changed afterwards. Which kinds there are, and the text that a shop gets.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use strum::{Display, EnumIter, EnumString, IntoEnumIterator, IntoStaticStr};

use crate::values::{CheckoutId, Cursor, Millis, PaymentId};

/// An event, as it is kept and delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Its place among all events of this database's history.
    pub seq: i64,
    /// Its identifier, which is the same however often it is delivered.
    pub id: String,
    /// Its checkout.
    pub checkout: CheckoutId,
    /// Its payment, where it is about one.
    pub payment: Option<PaymentId>,
    /// Its number among its payment's events, or among those of the checkout alone: 1, 2, 3, without a gap.
    pub number: i64,
    /// What happened; nothing where a later version of the server wrote it: the body's `type` has its name.
    pub kind: Option<EventKind>,
    /// The JSON that is delivered.
    pub body: String,
    /// When it was written.
    pub at: Millis,
}

impl Event {
    /// Where to read on after this event.
    pub fn cursor(&self) -> Cursor {
        Cursor::at(self.seq, self.at, &self.id)
    }

    pub(crate) fn new(seq: i64, id: String, checkout: CheckoutId, payment: Option<PaymentId>) -> Self {
        let (number, kind, body, at) = (0, None, String::new(), 0);
        Self { seq, id, checkout, payment, number, kind, body, at }
    }
}

// Kinds of events.

/// What happened. Each change of a state has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[non_exhaustive]
pub enum EventKind {
    /// The gateway reported a charge: **deliver**.
    #[strum(serialize = "checkout.paid")]
    CheckoutPaid,
    /// Its time passed.
    #[strum(serialize = "checkout.expired")]
    CheckoutExpired,
    /// The shop cancelled it.
    #[strum(serialize = "checkout.cancelled")]
    CheckoutCancelled,
    /// Another payment of it was charged as well: somebody has to give money back.
    #[strum(serialize = "checkout.overpaid")]
    CheckoutOverpaid,
    /// A person gave money of an overpaid one back, at the gateway.
    #[strum(serialize = "checkout.refund_noted")]
    CheckoutRefundNoted,
    /// A payment was written down.
    #[strum(serialize = "payment.created")]
    PaymentCreated,
    /// It waited, and is sent now.
    #[strum(serialize = "payment.sending")]
    PaymentSending,
    /// The gateway has it; the payer has to act.
    #[strum(serialize = "payment.accepted")]
    PaymentAccepted,
    /// Certainly nothing happened.
    #[strum(serialize = "payment.not_made")]
    PaymentNotMade,
    /// It may have happened, and is asked about.
    #[strum(serialize = "payment.unknown")]
    PaymentUnknown,
    /// The payer's one-time password is sent.
    #[strum(serialize = "payment.confirming")]
    PaymentConfirming,
    /// The one-time password was refused, or certainly not sent.
    #[strum(serialize = "payment.not_confirmed")]
    PaymentNotConfirmed,
    /// Its payer went another way: another payment is begun instead of it, and it takes no one-time password any more.
    #[strum(serialize = "payment.replaced")]
    PaymentReplaced,
    /// The gateway reported a charge.
    #[strum(serialize = "payment.charged")]
    PaymentCharged,
    /// The gateway reported its end without a charge.
    #[strum(serialize = "payment.rejected")]
    PaymentRejected,
    /// The gateway reports something else than was asked for: a person has to look.
    #[strum(serialize = "payment.mismatch")]
    PaymentMismatch,
    /// The gateway reports a charge that cannot be verified: a person has to look, and the payer must not pay again.
    #[strum(serialize = "payment.unverifiable")]
    PaymentUnverifiable,
    /// A person decided about one more charge that was reported of a charged payment; the payment stays charged.
    #[strum(serialize = "payment.reviewed")]
    PaymentReviewed,
    /// A person decided whether it was charged.
    #[strum(serialize = "payment.resolved")]
    PaymentResolved,
    /// It has been open for three days, or its checkout ended and nobody can ask about its code: a person has to look.
    #[strum(serialize = "payment.stuck")]
    PaymentStuck,
}

impl EventKind {
    /// Its name, such as `checkout.paid`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the shop has to act on money: to deliver, or to give it back. Behind any other event one of these may wait.
    pub fn requires_action(self) -> bool {
        match self {
            Self::CheckoutPaid | Self::CheckoutOverpaid => true,
            Self::CheckoutExpired
            | Self::CheckoutCancelled
            | Self::CheckoutRefundNoted
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

// The text of an event (`type`, a time, `data`, as Standard Webhooks recommends). It is written once, with the change
// that it tells of, and holds no secret.

/// An event.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub struct Body<'a> {
    /// The event's identifier: `webhook-id`, the same however often it comes.
    pub id: &'a str,
    /// Its kind. Newer servers may tell of more: answer 2xx to a kind that you do not know, and ignore it.
    #[serde(rename = "type", serialize_with = "name")]
    #[schemars(schema_with = "kinds")]
    pub kind: EventKind,
    /// When, in milliseconds since the beginning of 1970.
    pub timestamp_ms: Millis,
    /// What about.
    pub data: Data<'a>,
}

/// What an event is about.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventData")]
pub struct Data<'a> {
    /// The checkout.
    pub checkout: &'a str,
    /// The shop's own reference.
    pub reference: &'a str,
    /// The amount, digit for digit.
    pub amount: &'a str,
    /// The currency.
    pub currency: &'a str,
    /// The state of the checkout from then on: `open`, `paid`, `expired` or `cancelled`.
    pub checkout_state: &'a str,
    /// The version of the checkout from then on.
    pub version: i64,
    /// The payment, where the event is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PaymentData<'a>")]
    pub payment: Option<PaymentData<'a>>,
    /// The event's number among its payment's, or among those of the checkout alone.
    pub number: i64,
    /// What stood before, where that is surprising (a charge after a rejection, money after the expiry), and where a person
    /// decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "&str")]
    pub after: Option<&'a str>,
    /// Why, where the gateway, the server or a person said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "&str")]
    pub reason: Option<&'a str>,
    /// Who decided, where a person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "&str")]
    pub by: Option<&'a str>,
    /// Through which key that person's decision came: anybody's name can come through a shop's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ViaData<'a>")]
    pub via: Option<ViaData<'a>>,
}

/// The key through which a decision came.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventVia")]
pub struct ViaData<'a> {
    /// `shop` or `staff`.
    pub role: &'a str,
    /// The key's identifier, which is no secret.
    pub key: &'a str,
}

/// The payment that an event is about.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventPayment")]
pub struct PaymentData<'a> {
    /// Its identifier.
    pub id: &'a str,
    /// The way to pay: `pay_form`, `qr`, `mbank` or `card`.
    pub method: &'a str,
    /// Its state from then on: `prepared`, `sending`, `not_made`, `unknown`, `awaiting`, `confirming`, `charged`, `rejected`,
    /// `mismatch` or `unverifiable`.
    pub state: &'a str,
}

impl Body<'_> {
    /// The JSON.
    ///
    /// # Errors
    /// None that could be met: all of it can be written.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

fn name<S: serde::Serializer>(kind: &EventKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

/// An open enum (`x-extensible-enum`): readers are told which kinds there are, and that there can be more.
fn kinds(_: &mut SchemaGenerator) -> Schema {
    let kinds: Vec<&str> = EventKind::iter().map(EventKind::name).collect();
    json_schema!({ "type": "string", "x-extensible-enum": kinds })
}
