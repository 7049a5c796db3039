//! Typed values of the server's responses. Unknown members are ignored: a newer server can have more members, states and kinds.

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, SystemTime},
};

use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer, de};

/// Why a payment was not made, or the last one-time password was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// The kind of error, such as `Refused` or `Unavailable`.
    pub kind: String,
    /// The gateway's code, if any.
    pub code: Option<String>,
    /// The gateway's message, if any.
    pub reason: Option<String>,
}

/// A recommended setting of the server's dialect.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct DialectAdvice {
    /// The key of the dialect, such as `dialect.endpoints.qr_data.transaction_id`.
    pub field: String,
    /// What is missing, the consequence, and what to set.
    pub text: String,
}

/// A payment of a checkout, as the shop sees it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Payment {
    /// The payment's identifier.
    pub id: String,
    /// Its number within the checkout, from 1.
    pub number: u64,
    /// `pay_form`, `qr`, `mbank`, `megapay` or `card`. A newer server can have more.
    pub method: String,
    /// `prepared`, `sending`, `not_made`, `unknown`, `awaiting`, `confirming`, `charged`, `rejected`, `mismatch` or `unverifiable`. A
    /// newer server can have more.
    pub state: String,
    /// When it was started.
    #[serde(rename = "begun_at_ms", deserialize_with = "moment")]
    pub begun_at: SystemTime,
    /// The page on which the payer pays, or confirms a card payment. None if there is none.
    pub page_url: Option<String>,
    /// The content of the QR code. None if there is none.
    pub qr_text: Option<String>,
    /// The last four digits of the card. None with other methods.
    pub card_last4: Option<String>,
    /// The last two digits of the payer's phone. None with other methods.
    pub phone_last2: Option<String>,
    /// The commission that a MegaPay wallet pays in addition to the amount. None if it is not known.
    #[serde(default, deserialize_with = "optional_amount")]
    pub commission: Option<Decimal>,
    /// The amount and the commission. None without `commission`.
    #[serde(default, deserialize_with = "optional_amount")]
    pub total: Option<Decimal>,
    /// When the MegaPay PIN expires. None if it is not known.
    #[serde(default, rename = "code_expires_at_ms", deserialize_with = "optional_moment")]
    pub code_expires_at: Option<SystemTime>,
    /// Whether the payer can start another payment instead.
    pub can_be_replaced: bool,
    /// Whether the payer has started another payment instead.
    pub is_replaced: bool,
    /// How often a one-time password can still be entered. None with other methods.
    pub attempts_left: Option<u64>,
    /// Why it was not made, or the last one-time password was not accepted. None if neither applies.
    pub failure: Option<Failure>,
    /// The merchant's number of the payment at the gateway. None if the gateway assigns the number.
    pub order_number: Option<String>,
    /// The gateway's number of the payment. None if there is none.
    pub gateway_number: Option<String>,
    /// The gateway's identifier of a QR payment. None if there is none.
    pub transaction_id: Option<String>,
    /// Whether it needs a person: it has been open for three days, or its QR code cannot be polled.
    pub is_stuck: bool,
    /// Whether a charge was reported that cannot be trusted: a person decides.
    pub is_in_doubt: bool,
    /// Fields of the gateway's response that the server's dialect does not read. Usually empty.
    pub advice: Vec<DialectAdvice>,
}

/// A shop's request to be paid. It can have several payments and is paid once.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Checkout {
    /// The checkout's identifier.
    pub id: String,
    /// The shop's own reference, such as the order's number.
    pub reference: String,
    /// The amount to pay, in units of `currency`.
    #[serde(deserialize_with = "amount")]
    pub amount: Decimal,
    /// Three letters, such as `KGS`.
    pub currency: String,
    /// The description of what is paid for.
    pub description: String,
    /// The payment methods that the payer can choose from.
    pub methods: Vec<String>,
    /// The page to which the payer returns.
    pub return_url: String,
    /// `open`, `paid`, `expired` or `cancelled`. A newer server can have more.
    pub state: String,
    /// It grows with every change: [`Client::wait_for_change`](crate::Client::wait_for_change) takes it.
    pub version: u64,
    /// When it expires.
    #[serde(rename = "expires_at_ms", deserialize_with = "moment")]
    pub expires_at: SystemTime,
    /// The shop's own values, as they were given.
    pub metadata: BTreeMap<String, String>,
    /// When it was opened.
    #[serde(rename = "opened_at_ms", deserialize_with = "moment")]
    pub opened_at: SystemTime,
    /// **Where to send the payer.** Anyone who knows the address can pay there and see the state, so it is not printed.
    /// None if the server shows no pages.
    pub page_url: Option<String>,
    /// The identifier of the payment that paid it. None if it is not paid.
    pub paid_by: Option<String>,
    /// Whether more than one payment was charged: refund one of them.
    pub is_overpaid: bool,
    /// Its payments, the first one first.
    pub payments: Vec<Payment>,
}

impl Checkout {
    /// Whether it is paid: the only state in which to deliver.
    pub fn is_paid(&self) -> bool {
        self.state == "paid"
    }
}

impl fmt::Debug for Checkout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkout")
            .field("id", &self.id)
            .field("reference", &self.reference)
            .field("amount", &self.amount)
            .field("currency", &self.currency)
            .field("description", &self.description)
            .field("methods", &self.methods)
            .field("return_url", &self.return_url)
            .field("state", &self.state)
            .field("version", &self.version)
            .field("expires_at", &self.expires_at)
            .field("metadata", &self.metadata)
            .field("opened_at", &self.opened_at)
            .field("paid_by", &self.paid_by)
            .field("is_overpaid", &self.is_overpaid)
            .field("payments", &self.payments)
            .finish_non_exhaustive()
    }
}

/// A client token: it gives the payer's app access to one checkout.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Token {
    /// The token itself, for `kassa::Checkout`. The server shows it once; it is not printed.
    pub token: String,
    /// How long it is valid.
    #[serde(rename = "lifetime_s", deserialize_with = "seconds")]
    pub lifetime: Duration,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}

/// The payment that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct EventPayment {
    /// The payment's identifier.
    pub id: String,
    /// Its method, such as `mbank`.
    pub method: String,
    /// Its state after the event, such as `charged`.
    pub state: String,
    /// The commission that a MegaPay wallet pays in addition to the amount. None if it is not known.
    #[serde(default, deserialize_with = "optional_amount")]
    pub commission: Option<Decimal>,
    /// The amount and the commission. None without `commission`.
    #[serde(default, deserialize_with = "optional_amount")]
    pub total: Option<Decimal>,
    /// When the MegaPay PIN expires. None if it is not known.
    #[serde(default, rename = "code_expires_at_ms", deserialize_with = "optional_moment")]
    pub code_expires_at: Option<SystemTime>,
}

/// The key through which a person decided.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct EventVia {
    /// `shop` or `staff`. With a shop's key, the name in [`Event::by`] can be anyone's.
    pub role: String,
    /// The key's identifier. It is not secret.
    pub key: String,
}

/// A change of a checkout or one of its payments. **Deliver only if [`is_paid`](Self::is_paid).**
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "EventBody")]
#[non_exhaustive]
pub struct Event {
    /// The same for every delivery of this event (`webhook-id`). After a restore of the server the same payment has an event with a
    /// new identifier, so deliver once for each order, not once for each identifier.
    pub id: String,
    /// Such as `checkout.paid`; what the JSON calls `type`. Accept and ignore the kinds that you do not know.
    pub kind: String,
    /// When it happened.
    pub timestamp: SystemTime,
    /// The checkout's identifier.
    pub checkout: String,
    /// The shop's own reference of the checkout.
    pub reference: String,
    /// The checkout's amount, in units of `currency`.
    pub amount: Decimal,
    /// Three letters, such as `KGS`.
    pub currency: String,
    /// The checkout's state after the event, such as `paid`.
    pub checkout_state: String,
    /// The checkout's version after the event.
    pub version: u64,
    /// Its number among the events of its payment, or among those of the checkout itself, from 1.
    pub number: u64,
    /// The payment, if it is about one.
    pub payment: Option<EventPayment>,
    /// The previous state, if the change is unexpected. Of a paid checkout `expired` or `cancelled`: the money came late.
    pub after: Option<String>,
    /// The reason that the gateway, the server or a person gave.
    pub reason: Option<String>,
    /// The person who decided it, if a person did.
    pub by: Option<String>,
    /// The key through which that person decided.
    pub via: Option<EventVia>,
}

impl Event {
    /// Whether it says that the checkout is paid (`checkout.paid`): deliver.
    pub fn is_paid(&self) -> bool {
        self.kind == "checkout.paid"
    }
}

/// An event on the wire.
#[derive(Deserialize)]
struct EventBody {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "timestamp_ms", deserialize_with = "moment")]
    timestamp: SystemTime,
    data: EventData,
}

#[derive(Deserialize)]
struct EventData {
    checkout: String,
    reference: String,
    #[serde(deserialize_with = "amount")]
    amount: Decimal,
    currency: String,
    checkout_state: String,
    version: u64,
    number: u64,
    payment: Option<EventPayment>,
    after: Option<String>,
    reason: Option<String>,
    by: Option<String>,
    via: Option<EventVia>,
}

impl From<EventBody> for Event {
    fn from(body: EventBody) -> Self {
        let EventData { checkout, reference, amount, currency, checkout_state, version, number, .. } = body.data;
        let EventData { payment, after, reason, by, via, .. } = body.data;
        let (id, kind, timestamp) = (body.id, body.kind, body.timestamp);
        Self {
            id,
            kind,
            timestamp,
            checkout,
            reference,
            amount,
            currency,
            checkout_state,
            version,
            number,
            payment,
            after,
            reason,
            by,
            via,
        }
    }
}

/// An event of the history, and its place there.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct EventAt {
    /// Store it after the event is processed: [`Client::events`](crate::Client::events) reads on from there. It is opaque.
    pub cursor: String,
    /// The event.
    pub event: Event,
}

/// A page of the history.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct EventPage {
    /// The events, the oldest first. None at the end of the history.
    pub events: Vec<EventAt>,
    /// The cursor of the next page.
    pub next: String,
}

// Amounts are strings, so that they stay exact; times are milliseconds since 1970.

fn amount<'de, D: Deserializer<'de>>(from: D) -> Result<Decimal, D::Error> {
    let text = String::deserialize(from)?;
    Decimal::from_str_exact(&text).map_err(|_| de::Error::custom("an amount must be a decimal number"))
}

fn optional_amount<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Decimal>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    let amount = text.map(|text| Decimal::from_str_exact(&text)).transpose();
    amount.map_err(|_| de::Error::custom("an amount must be a decimal number"))
}

fn at(milliseconds: u64) -> Option<SystemTime> {
    // The end of the year 9999, as in the other languages.
    let latest = 253_402_300_799_999;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds)).filter(|_| milliseconds <= latest)
}

fn moment<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
    at(u64::deserialize(from)?).ok_or_else(|| de::Error::custom("a time is out of range"))
}

fn optional_moment<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SystemTime>, D::Error> {
    match Option::<u64>::deserialize(from)? {
        None => Ok(None),
        Some(milliseconds) => at(milliseconds).map(Some).ok_or_else(|| de::Error::custom("a time is out of range")),
    }
}

fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    u64::deserialize(from).map(Duration::from_secs)
}
