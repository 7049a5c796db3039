//! Registration and state transitions of payments: the one place where a stored status changes. The change, its record and its
//! callback are one transaction.

use crate::{
    callbacks::notice,
    domain::{EndpointName, Event, PaymentKind},
    faults::{FaultSet, Moment},
    redact::without_card_numbers,
    settings::ReusedOrderNumber,
    state::State,
    store::{
        StoreError, WriteTransaction,
        payments::{self, NewPayment, Record},
    },
};

/// Why a payment is not registered.
#[derive(Debug)]
pub(crate) enum RegisterError {
    /// Its order number was used before.
    ReusedOrderNumber,
    /// The database failed.
    Store(StoreError),
}

impl From<StoreError> for RegisterError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Registers a payment under the merchant's order number. The event `at_once`, if any, is applied immediately.
pub(crate) fn register(state: &State, new: &NewPayment, at_once: Option<Event>) -> Result<Record, RegisterError> {
    let policy = state.switches().reused_order_number;
    let registered: Result<Record, RegisterError> = state.write(|transaction| {
        if policy != ReusedOrderNumber::ChargeTwice
            && let Some(earlier) = payments::first_with_order_number(transaction, &new.order_number)?
        {
            let replays = policy == ReusedOrderNumber::Replay && is_same(&earlier, new);
            return Ok(replays.then_some(earlier).ok_or(RegisterError::ReusedOrderNumber));
        }
        let record = payments::insert(transaction, new)?;
        notice::of_registration(transaction, &state.faults, &record)?;
        match at_once {
            Some(event) => resolve(state, transaction, record, event).map(Ok),
            None => Ok(Ok(record)),
        }
    })?;
    registered.map(|record| with_sent_texts(record, new))
}

/// Restores the request's own texts for its response; the stored ones have masked card numbers.
fn with_sent_texts(mut record: Record, new: &NewPayment) -> Record {
    if record.description == without_card_numbers(&new.description) {
        record.description.clone_from(&new.description);
    }
    if record.holder_name == new.holder_name.as_deref().map(without_card_numbers) {
        record.holder_name.clone_from(&new.holder_name);
    }
    record
}

/// Idempotent replay: only for the same kind, amount and currency. Any other request with this number is a conflict.
fn is_same(earlier: &Record, new: &NewPayment) -> bool {
    let payment = &earlier.payment;
    payment.kind == new.kind && payment.amount == new.amount && payment.currency == new.currency
}

/// Applies an event to a payment. If `stuck-pending` is injected, the payment becomes pending instead of final.
pub(super) fn resolve(
    state: &State,
    transaction: &WriteTransaction<'_>,
    record: Record,
    event: Event,
) -> Result<Record, StoreError> {
    let payment = &record.payment;
    let becomes_final = payment.status.after(event).is_some_and(|status| status.is_final());
    let is_injected =
        || state.faults.inject(Moment::Payment, endpoints(payment.kind), &payment.numbers(), |_| true).is_some();
    let stuck = becomes_final && is_injected();
    if let (true, Event::Reject(reason)) = (stuck, event) {
        payments::set_pending_reason(transaction, record.id, reason)?;
    }
    let event = if stuck { Event::Hold } else { event };
    let record = apply(transaction, &state.faults, record, event)?;
    Ok(Record { stuck, ..record })
}

/// The endpoints at which a payment of a kind is created or confirmed.
fn endpoints(kind: PaymentKind) -> &'static [EndpointName] {
    match kind {
        PaymentKind::Card => &[EndpointName::Payment],
        PaymentKind::Mbank => &[EndpointName::MbankPay, EndpointName::MbankConfirm],
        PaymentKind::Megapay => &[EndpointName::MegaCheck, EndpointName::MegaPay],
        PaymentKind::PayForm => &[EndpointName::PayForm],
        PaymentKind::Qr => &[EndpointName::QrDynamic, EndpointName::QrDynamicData],
    }
}

/// Applies an event to a payment and returns the changed payment. Without such a transition in the state machine, nothing changes.
pub(crate) fn apply(
    transaction: &WriteTransaction<'_>,
    faults: &FaultSet,
    record: Record,
    event: Event,
) -> Result<Record, StoreError> {
    let Some(next) = record.payment.status.after(event) else {
        return Ok(record);
    };
    let reason = match event {
        Event::Reject(reason) => Some(reason),
        Event::Charge | Event::Hold => None,
    };
    payments::set_status(transaction, record.id, next, reason)?;
    let changed = payments::by_id(transaction, record.id)?;
    notice::of_change(transaction, faults, &changed)?;
    Ok(changed)
}
