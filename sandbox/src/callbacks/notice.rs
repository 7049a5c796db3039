//! Webhook payloads: the callback about a new status, and the faults that change, drop or forge it.

use rust_decimal::Decimal;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::{
    domain::{PaymentKind, PaymentStatus, Provider, amount::Amount, clock},
    faults::{Fault, FaultName, FaultSet, Moment},
    store::{
        self, StoreError, WriteTransaction,
        callback_queue::{self, FirstAttempt, NewCallback},
        payments::Record,
    },
};

/// A registration changes no status, so the only callback about it is a forged one.
pub(crate) fn of_registration(
    transaction: &WriteTransaction<'_>,
    faults: &FaultSet,
    record: &Record,
) -> Result<(), StoreError> {
    match &record.callback_url {
        Some(target) => forge(transaction, faults, record, target),
        None => Ok(()),
    }
}

/// Puts the callback about a payment's new status into the queue, if the payment has a callback URL.
pub(crate) fn of_change(
    transaction: &WriteTransaction<'_>,
    faults: &FaultSet,
    record: &Record,
) -> Result<(), StoreError> {
    let Some(target) = &record.callback_url else {
        return Ok(());
    };
    let payment = &record.payment;
    let body = body(record, payment.amount, payment.status, payment.provider);
    // The last callback has no later one to be held back for.
    let has_next = !payment.status.is_final();
    let fault = inject(faults, record, |name| match name {
        FaultName::CallbackForged => false,
        FaultName::CallbackOutOfOrder => has_next,
        _ => true,
    });
    let name = fault.as_ref().map(Fault::name);
    let now = store::transaction::gateway_now(transaction)?;
    let first_attempt = match &fault {
        Some(fault) if name == Some(FaultName::CallbackLate) => {
            let delay = i64::try_from(fault.delay_or_default().as_millis()).unwrap_or(i64::MAX);
            FirstAttempt::At(now.saturating_add(delay))
        }
        _ if name == Some(FaultName::CallbackLost) => FirstAttempt::Never,
        _ if name == Some(FaultName::CallbackOutOfOrder) => FirstAttempt::AfterTheNext,
        _ => FirstAttempt::At(now),
    };
    let copies = if name == Some(FaultName::CallbackDuplicated) { 2 } else { 1 };
    let new = NewCallback { payment_id: record.id, target, body: &body, first_attempt, fault: name };
    for _ in 0..copies {
        callback_queue::enqueue(transaction, &new)?;
    }
    forge(transaction, faults, record, target)
}

fn inject(faults: &FaultSet, record: &Record, can: impl Fn(FaultName) -> bool) -> Option<Fault> {
    faults.inject(Moment::Callback, &[], &record.payment.numbers(), can)
}

/// Forgery: an extra callback, as from an attacker who knows the order number and the target.
fn forge(
    transaction: &WriteTransaction<'_>,
    faults: &FaultSet,
    record: &Record,
    target: &str,
) -> Result<(), StoreError> {
    let Some(fault) = inject(faults, record, |name| name == FaultName::CallbackForged) else {
        return Ok(());
    };
    let amount = record.payment.amount.unwrap_or_default();
    let another = amount.checked_add(Decimal::ONE).unwrap_or(Decimal::ONE);
    let provider = record.payment.provider.or(Some(Provider::Cards));
    let body = body(record, Some(another), PaymentStatus::Charged, provider);
    let first_attempt = FirstAttempt::At(store::transaction::gateway_now(transaction)?);
    let new = NewCallback { payment_id: record.id, target, body: &body, first_attempt, fault: Some(fault.name()) };
    callback_queue::enqueue(transaction, &new)
}

/// The body of a callback, with the names and types of the interface's table.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Callback", deny_unknown_fields)]
struct Body<'a> {
    /// The merchant's order number. For pay-forms and QR payments, the gateway's number.
    order_number: &'a str,
    /// Amount, in tyiyn for QR payments.
    amount: Amount,
    /// Currency code.
    currency: &'a str,
    /// The payment's new state.
    #[schemars(extend("enum" = PaymentStatus::ALL.map(PaymentStatus::as_str)))]
    status: &'a str,
    /// Registration time in Bishkek, without a time zone, to the second.
    date_created: String,
    /// Requisite of the request. Present only for QR payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    requisite: Option<&'a str>,
    /// Provider of the payment: Cards, MegaPay or MBank. Null until the payer of a pay-form has chosen one.
    provider: Option<&'a str>,
}

/// The JSON Schema of a callback.
pub(crate) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Body<'_>>()
}

/// The callback about a payment in a status.
pub(crate) fn body(
    record: &Record,
    amount: Option<Decimal>,
    status: PaymentStatus,
    provider: Option<Provider>,
) -> String {
    let payment = &record.payment;
    let requisite = record.requisite.as_deref();
    let body = Body {
        order_number: &payment.order_number,
        // A QR code without a sum that was declined before its payer entered one has no amount.
        amount: Amount(amount.unwrap_or_default()),
        currency: &payment.currency,
        status: status.as_str(),
        date_created: clock::local_date_time(record.created_at),
        requisite: requisite.filter(|_| payment.kind == PaymentKind::Qr),
        provider: provider.map(Provider::as_str),
    };
    // Strings and numbers only, so serialization cannot fail.
    serde_json::to_string(&body).unwrap_or_default()
}
