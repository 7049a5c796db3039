//! Response bodies of the API: checkouts, payments and events.

use std::collections::BTreeMap;

use kassa::{Advice, DeclineReason, Dialect};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{
    checkouts::{Checkout, CheckoutView},
    events::{Body, Event},
    payments::{Failure, Payment},
    values::{Cursor, Millis},
};

/// The fields of a checkout that both the shop and the payer's app see.
#[derive(Serialize, JsonSchema)]
struct CheckoutFields<'a> {
    /// Identifier of the checkout.
    id: &'a str,
    /// The shop's reference for the checkout, such as an order number.
    reference: &'a str,
    /// Amount in units of `currency`, as a decimal string with exact digits.
    amount: String,
    /// Currency code of three letters, such as `KGS`.
    currency: &'a str,
    /// Description of what is paid for.
    description: &'a str,
    /// Payment methods that the payer can choose from.
    methods: Vec<&'static str>,
    /// URL to which the payer returns.
    return_url: &'a str,
    /// State of the checkout: `open`, `paid`, `expired` or `cancelled`. **Deliver only if it is `paid`.**
    state: &'static str,
    /// Version of the checkout. It increases with every change; pass it as `after` to wait for the next one.
    version: i64,
    /// Time at which the checkout expires, in milliseconds since the Unix epoch.
    expires_at_ms: Millis,
}

/// A checkout, as the shop sees it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Checkout", deny_unknown_fields)]
pub(super) struct ShopCheckout<'a> {
    #[serde(flatten)]
    checkout_fields: CheckoutFields<'a>,
    /// The shop's own key-value pairs, as given when the checkout was opened.
    metadata: &'a BTreeMap<String, String>,
    /// Time at which the checkout was opened, in milliseconds since the Unix epoch.
    opened_at_ms: Millis,
    /// URL of the hosted payment page: send the payer there. Anyone with this URL can pay and can see the checkout's state.
    /// Null if hosted pages are disabled.
    page_url: Option<String>,
    /// Identifier of the payment that paid the checkout. Null if it is not paid.
    paid_by: Option<&'a str>,
    /// Whether more than one payment was charged. The surplus must be refunded manually.
    is_overpaid: bool,
    /// Payments of the checkout, oldest first.
    payments: Vec<ShopPayment<'a>>,
}

/// A payment, as the shop sees it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ShopPayment", deny_unknown_fields)]
pub(super) struct ShopPayment<'a> {
    #[serde(flatten)]
    payment_fields: PaymentFields<'a>,
    /// Why the payment was not made or was rejected, or why the last one-time password was not accepted. For a pay-form in the state
    /// `awaiting`: why the payer's last attempt on the gateway's page was declined; the page can still be paid on. Null if none of
    /// these applies.
    failure: Option<FailureView<'a>>,
    /// The merchant's order number of the payment at the gateway. Null if the gateway assigns the number.
    order_number: Option<&'a str>,
    /// The number that the gateway assigned to the payment. Null if there is none.
    gateway_number: Option<&'a str>,
    /// Identifier of the QR transaction at the gateway. Null if there is none.
    transaction_id: Option<&'a str>,
    /// Whether the payment needs manual review: it has been open for three days, or may have been paid through a QR code whose
    /// status cannot be queried.
    is_stuck: bool,
    /// Whether a charge was reported that cannot be trusted, so that a person must decide the outcome.
    is_in_doubt: bool,
    /// Recommended dialect changes: what the dialect did not find in the gateway's response to a QR payment, and the consequence.
    /// Usually empty.
    advice: Vec<PaymentAdvice>,
}

/// A recommended dialect setting.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Advice", deny_unknown_fields)]
struct PaymentAdvice {
    /// Key of the dialect, such as `dialect.endpoints.qr_data.transaction_id`.
    field: String,
    /// One sentence in English: what is missing, the consequence, and what to set.
    text: String,
}

/// A checkout, as the payer's app sees it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AppCheckout", deny_unknown_fields)]
pub(super) struct AppCheckout<'a> {
    #[serde(flatten)]
    checkout_fields: CheckoutFields<'a>,
    /// Payments of the checkout, oldest first.
    payments: Vec<AppPayment<'a>>,
}

/// A payment, as the payer's app sees it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AppPayment", deny_unknown_fields)]
pub(super) struct AppPayment<'a> {
    #[serde(flatten)]
    payment_fields: PaymentFields<'a>,
    /// Why the payment was not made or was rejected, or why the last one-time password was not accepted. For a pay-form in the state
    /// `awaiting`: why the payer's last attempt on the gateway's page was declined; the page can still be paid on. Null if none of
    /// these applies.
    failure: Option<AppFailure<'a>>,
}

/// The fields of a payment that both the shop and the payer's app see.
#[derive(Serialize, JsonSchema)]
struct PaymentFields<'a> {
    /// Identifier of the payment.
    id: &'a str,
    /// Sequence number of the payment within the checkout, starting at 1.
    number: u32,
    /// Payment method: `pay_form`, `qr`, `mbank`, `megapay` or `card`.
    method: &'static str,
    /// State of the payment: `prepared`, `sending`, `not_made`, `unknown`, `awaiting`, `confirming`, `charged`, `rejected`,
    /// `mismatch` or `unverifiable`.
    state: &'static str,
    /// URL of the page that the payer opens to pay, or to confirm a card payment (3DS). Null if there is none.
    page_url: Option<&'a str>,
    /// Content of the QR code that the payer scans. Null if there is none.
    qr_text: Option<&'a str>,
    /// Last four digits of the card. Null unless the payment is by card.
    card_last4: Option<&'a str>,
    /// Last two digits of the phone number that receives the one-time password or PIN. Null unless the payment is by mobile bank or
    /// MegaPay.
    phone_last2: Option<&'a str>,
    /// What the payer's MegaPay wallet pays in addition to the amount, in KGS, as a decimal string: show it before the payer enters the
    /// PIN. Null if the gateway did not report a commission, and with other methods.
    commission: Option<String>,
    /// What the payer's MegaPay wallet pays in total, in KGS, as a decimal string: the amount and the commission. Null without
    /// `commission`.
    total: Option<String>,
    /// Time at which the MegaPay wallet's PIN expires, in milliseconds since the Unix epoch. Null if the gateway did not report its
    /// lifetime, and with other methods.
    code_expires_at_ms: Option<Millis>,
    /// Whether a new payment can replace this one (`instead_of`), for example because the payer entered a wrong phone number or has
    /// no app for the QR code.
    can_be_replaced: bool,
    /// Whether another payment has replaced this one. A replaced payment accepts no one-time password and does not block other
    /// payments.
    is_replaced: bool,
    /// Remaining attempts to enter the one-time password or PIN. Null unless the payment is by mobile bank or MegaPay.
    attempts_left: Option<u32>,
    /// Time at which the payment was started, in milliseconds since the Unix epoch.
    begun_at_ms: Millis,
}

/// Why a payment was not made, or a one-time password was not accepted, for the payer. The gateway's own code and message are only for the
/// shop.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AppFailure", deny_unknown_fields)]
struct AppFailure<'a> {
    /// Kind of error, such as `Refused` or `Unavailable`.
    kind: &'a str,
    /// Why the gateway declined, by the lists `decline_reasons` of the dialect: `insufficient_funds`, `limit_exceeded`, `wrong_code`,
    /// `code_expired`, `unknown_payer` or `declined_by_bank`. Null if it is not known. Newer servers may send others.
    decline: Option<&'static str>,
}

/// Why a payment was not made, or a one-time password was not accepted.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Failure", deny_unknown_fields)]
struct FailureView<'a> {
    /// Kind of error, such as `Refused` or `Unavailable`.
    kind: &'a str,
    /// The gateway's code. Null if there is none.
    code: Option<&'a str>,
    /// The gateway's message. Null if there is none.
    reason: Option<&'a str>,
}

/// A new client token.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Token", deny_unknown_fields)]
pub(super) struct Token<'a> {
    /// The client token. It is shown only once.
    pub(super) token: &'a str,
    /// Lifetime of the token, in seconds.
    pub(super) lifetime_s: u64,
}

/// The number of records that the request affected.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Count", deny_unknown_fields)]
pub(super) struct Count {
    /// Number of affected records.
    pub(super) count: u64,
}

/// A page of events, oldest first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Events", deny_unknown_fields)]
pub(super) struct Events {
    /// The events.
    pub(super) events: Vec<EventAt>,
    /// Cursor of the next page: pass it as `after`.
    pub(super) next: String,
}

/// An event and its cursor.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventAt", deny_unknown_fields)]
pub(super) struct EventAt {
    /// Cursor of the event: pass it as `after` to read the events that follow.
    cursor: String,
    /// The event, as the webhook delivers it.
    #[schemars(with = "Body<'_>")]
    event: Value,
}

/// An empty object.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Done", deny_unknown_fields)]
pub(super) struct Done {}

/// Health of the server.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Health", deny_unknown_fields)]
pub(super) struct Health {
    /// Always `ok`.
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

pub(super) fn app_checkout<'a>(view: &'a CheckoutView, dialect: &Dialect) -> AppCheckout<'a> {
    AppCheckout {
        checkout_fields: checkout_fields(&view.checkout),
        payments: view.payments.iter().map(|payment| app_payment(payment, dialect)).collect(),
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
        payment_fields: payment_fields(payment),
        failure: payment.failure.as_ref().map(failure_view),
        order_number: payment.reference.order_number.as_deref(),
        gateway_number: payment.reference.gateway_number.as_deref(),
        transaction_id: payment.reference.transaction_id.as_deref(),
        is_stuck: payment.is_stuck,
        is_in_doubt: payment.is_in_doubt,
        advice: payment.advice().into_iter().map(|Advice { field, text, .. }| PaymentAdvice { field, text }).collect(),
    }
}

pub(super) fn app_payment<'a>(payment: &'a Payment, dialect: &Dialect) -> AppPayment<'a> {
    let decline = payment.decline_reason(dialect).map(DeclineReason::as_str);
    let failure = |failure: &'a Failure| AppFailure { kind: &failure.kind, decline };
    AppPayment { payment_fields: payment_fields(payment), failure: payment.failure.as_ref().map(failure) }
}

fn payment_fields(payment: &Payment) -> PaymentFields<'_> {
    PaymentFields {
        id: payment.id.as_str(),
        number: payment.number,
        method: payment.method.into(),
        state: payment.state.into(),
        page_url: payment.page_url.as_deref(),
        qr_text: payment.qr_text.as_deref(),
        card_last4: payment.card_last4.as_deref(),
        phone_last2: payment.phone_last2.as_deref(),
        commission: payment.commission.map(|amount| amount.to_string()),
        total: payment.total.map(|amount| amount.to_string()),
        code_expires_at_ms: payment.code_expires_at,
        can_be_replaced: payment.can_be_replaced(),
        is_replaced: payment.is_replaced,
        attempts_left: Some(payment.attempts_left).filter(|_| payment.method.is_confirmed_by_code()),
        begun_at_ms: payment.begun_at,
    }
}

fn failure_view(failure: &Failure) -> FailureView<'_> {
    FailureView { kind: &failure.kind, code: failure.code.as_deref(), reason: failure.reason.as_deref() }
}

pub(super) fn events(after: &Cursor, events: Vec<Event>) -> Events {
    let next = events.last().map_or(after.to_string(), |event| event.cursor().to_string());
    // The stored JSON is read back unchanged.
    let at = |event: Event| {
        let cursor = event.cursor().to_string();
        EventAt { cursor, event: serde_json::from_str(&event.body).unwrap_or_default() }
    };
    Events { events: events.into_iter().map(at).collect(), next }
}
