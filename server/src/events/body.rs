//! The text of an event (`type`, a time, `data`, as Standard Webhooks recommends). It is written once, with the change
//! that it tells of, and holds no secret.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use strum::IntoEnumIterator;

use crate::{events::kind::EventKind, values::Millis};

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
