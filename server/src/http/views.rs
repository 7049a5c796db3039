//! What is told of checkouts, payments and events.

use std::collections::BTreeMap;

use kassa::Advice;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{
    checkouts::{Checkout, CheckoutView},
    events::{Body, Event},
    payments::{Failure, Payment},
    values::{Cursor, Method, Millis},
};

/// What shop and app are told of a checkout.
#[derive(Serialize, JsonSchema)]
struct CheckoutFields<'a> {
    /// Its identifier.
    id: &'a str,
    /// The shop's own reference.
    reference: &'a str,
    /// The amount, digit for digit.
    amount: String,
    /// The currency's three letters.
    currency: &'a str,
    /// What is paid for.
    description: &'a str,
    /// The ways to pay.
    methods: Vec<&'static str>,
    /// Where the payer returns to.
    return_url: &'a str,
    /// `open`, `paid`, `expired` or `cancelled`. **Deliver where it is paid.**
    state: &'static str,
    /// Grows with everything that happens to it: what `after` takes.
    version: i64,
    /// When it expires, in milliseconds since the beginning of 1970.
    expires_at_ms: Millis,
}

/// A checkout, for its shop.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Checkout", deny_unknown_fields)]
pub(super) struct ShopCheckout<'a> {
    #[serde(flatten)]
    checkout_fields: CheckoutFields<'a>,
    /// The shop's own texts.
    metadata: &'a BTreeMap<String, String>,
    /// When it was opened, in milliseconds since the beginning of 1970.
    opened_at_ms: Millis,
    /// The hosted page where the payer pays: send the payer there. Whoever has this address can pay, and sees how it stands.
    /// Nothing where the pages are off.
    page_url: Option<String>,
    /// The payment that paid it.
    paid_by: Option<&'a str>,
    /// More than one payment was charged: a person has to give money back.
    is_overpaid: bool,
    /// The tries to pay it, the first one first.
    payments: Vec<ShopPayment<'a>>,
}

/// A payment, for the shop.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ShopPayment", deny_unknown_fields)]
pub(super) struct ShopPayment<'a> {
    #[serde(flatten)]
    payment: AppPayment<'a>,
    /// Its order number at the gateway, where the merchant chose it.
    order_number: Option<&'a str>,
    /// The gateway's own number.
    gateway_number: Option<&'a str>,
    /// The QR transaction.
    transaction_id: Option<&'a str>,
    /// It has been open for three days, or may have been paid by a code that nobody can ask about: a person should look.
    is_stuck: bool,
    /// A charge of it was reported that cannot be believed, and a person should decide.
    is_in_doubt: bool,
    /// What the dialect does not find in the gateway's response about a QR code, and what that means. Mostly empty.
    advice: Vec<PaymentAdvice>,
}

/// What to set in the dialect.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Advice", deny_unknown_fields)]
struct PaymentAdvice {
    /// The dialect's key, such as `dialect.endpoints.qr_data.transaction_id`.
    field: String,
    /// One sentence, in English: what is not found, what that means, and what to set.
    text: String,
}

/// A checkout, for its payer's app.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AppCheckout", deny_unknown_fields)]
pub(super) struct AppCheckout<'a> {
    #[serde(flatten)]
    checkout_fields: CheckoutFields<'a>,
    /// The tries to pay it, the first one first.
    payments: Vec<AppPayment<'a>>,
}

/// A payment, for its payer's app.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AppPayment")]
pub(super) struct AppPayment<'a> {
    /// Its identifier.
    id: &'a str,
    /// Its number among the checkout's payments, from 1.
    number: u32,
    /// `pay_form`, `qr`, `mbank` or `card`.
    method: &'static str,
    /// `prepared`, `sending`, `not_made`, `unknown`, `awaiting`, `confirming`, `charged`, `rejected`, `mismatch` or
    /// `unverifiable`.
    state: &'static str,
    /// The page that the payer opens: to pay, or to confirm a payment by card (3DS).
    page_url: Option<&'a str>,
    /// The text of the QR code that the payer scans.
    qr_text: Option<&'a str>,
    /// The last four digits of the card, where it is paid by one.
    card_last4: Option<&'a str>,
    /// The last two digits of the phone to which the one-time password went, where it is paid by mobile bank.
    phone_last2: Option<&'a str>,
    /// Whether another payment can be begun instead of it (`instead_of`): the payer may have typed somebody else's number, or have
    /// no app for its code.
    can_be_replaced: bool,
    /// Another payment was begun instead of it: it takes no one-time password any more, and holds back no others.
    is_replaced: bool,
    /// How many one-time passwords may still be tried, where it is paid by one.
    attempts_left: Option<u32>,
    /// Why it was not made, or the last one-time password not taken.
    failure: Option<FailureView<'a>>,
    /// When it was begun, in milliseconds since the beginning of 1970.
    begun_at_ms: Millis,
}

/// Why nothing happened.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Failure", deny_unknown_fields)]
struct FailureView<'a> {
    /// The kind of error, such as `Refused` or `Unavailable`.
    kind: &'a str,
    /// The gateway's code.
    code: Option<&'a str>,
    /// The gateway's own words.
    reason: Option<&'a str>,
}

/// A new client token.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Token", deny_unknown_fields)]
pub(super) struct Token<'a> {
    /// The token, shown once.
    pub(super) token: &'a str,
    /// How long it is good, in seconds.
    pub(super) lifetime_s: u64,
}

/// How many.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Count", deny_unknown_fields)]
pub(super) struct Count {
    /// How many there were.
    pub(super) count: u64,
}

/// Events, the oldest first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Events", deny_unknown_fields)]
pub(super) struct Events {
    /// They.
    pub(super) events: Vec<EventAt>,
    /// The cursor to go on with: `after` of the next call.
    pub(super) next: String,
}

/// An event at its place.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventAt", deny_unknown_fields)]
pub(super) struct EventAt {
    /// Its place: `after` of the next call.
    cursor: String,
    /// What was delivered, or will be.
    #[schemars(with = "Body<'_>")]
    event: Value,
}

/// Nothing more to say.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Done", deny_unknown_fields)]
pub(super) struct Done {}

/// How the server is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Health", deny_unknown_fields)]
pub(super) struct Health {
    /// `ok`.
    pub(super) status: &'static str,
}

pub(super) fn shop_checkout(view: &CheckoutView, page_url: Option<String>) -> ShopCheckout<'_> {
    let checkout = &view.checkout;
    ShopCheckout {
        checkout_fields: checkout_fields(checkout),
        metadata: &checkout.metadata,
        opened_at_ms: checkout.opened_at,
        page_url,
        paid_by: checkout.paid_by.as_ref().map(|id| id.as_str()),
        is_overpaid: checkout.is_overpaid,
        payments: view.payments.iter().map(shop_payment).collect(),
    }
}

pub(super) fn app_checkout(view: &CheckoutView) -> AppCheckout<'_> {
    AppCheckout {
        checkout_fields: checkout_fields(&view.checkout),
        payments: view.payments.iter().map(app_payment).collect(),
    }
}

fn checkout_fields(checkout: &Checkout) -> CheckoutFields<'_> {
    CheckoutFields {
        id: checkout.id.as_str(),
        reference: &checkout.reference,
        amount: checkout.amount.to_string(),
        currency: &checkout.currency,
        description: &checkout.description,
        methods: checkout.methods.iter().map(|method| (*method).into()).collect(),
        return_url: &checkout.return_url,
        state: checkout.state.into(),
        version: checkout.version,
        expires_at_ms: checkout.expires_at,
    }
}

pub(super) fn shop_payment(payment: &Payment) -> ShopPayment<'_> {
    ShopPayment {
        payment: app_payment(payment),
        order_number: payment.reference.order_number.as_deref(),
        gateway_number: payment.reference.gateway_number.as_deref(),
        transaction_id: payment.reference.transaction_id.as_deref(),
        is_stuck: payment.is_stuck,
        is_in_doubt: payment.is_in_doubt,
        advice: payment.advice().into_iter().map(|Advice { field, text, .. }| PaymentAdvice { field, text }).collect(),
    }
}

pub(super) fn app_payment(payment: &Payment) -> AppPayment<'_> {
    AppPayment {
        id: payment.id.as_str(),
        number: payment.number,
        method: payment.method.into(),
        state: payment.state.into(),
        page_url: payment.page_url.as_deref(),
        qr_text: payment.qr_text.as_deref(),
        card_last4: payment.card_last4.as_deref(),
        phone_last2: payment.phone_last2.as_deref(),
        can_be_replaced: payment.can_be_replaced(),
        is_replaced: payment.is_replaced,
        attempts_left: Some(payment.attempts_left).filter(|_| payment.method == Method::Mbank),
        failure: payment.failure.as_ref().map(failure_view),
        begun_at_ms: payment.begun_at,
    }
}

fn failure_view(failure: &Failure) -> FailureView<'_> {
    FailureView { kind: &failure.kind, code: failure.code.as_deref(), reason: failure.reason.as_deref() }
}

pub(super) fn events(after: &Cursor, events: Vec<Event>) -> Events {
    let next = events.last().map_or(after.to_string(), |event| event.cursor().to_string());
    // What was written as JSON is read back as it is.
    let at = |event: Event| {
        let cursor = event.cursor().to_string();
        EventAt { cursor, event: serde_json::from_str(&event.body).unwrap_or_default() }
    };
    Events { events: events.into_iter().map(at).collect(), next }
}
