//! Resolution: a payment becomes final, unless fault injection keeps it pending.

use crate::{
    domain::{EndpointName, Event, PaymentKind},
    faults::Moment,
    payments::transition,
    state::State,
    store::{
        StoreError, WriteTransaction,
        payments::{self, Record},
    },
};

/// Lets an event happen to a payment. Where `stuck-pending` strikes, the provider thinks about it instead.
pub(super) fn resolve(
    state: &State,
    transaction: &WriteTransaction<'_>,
    record: Record,
    event: Event,
) -> Result<Record, StoreError> {
    let payment = &record.payment;
    let becomes_final = payment.status.after(event).is_some_and(|status| status.is_final());
    let strike = || state.faults.strike(Moment::Payment, endpoints(payment.kind), &payment.numbers(), |_| true);
    let stuck = becomes_final && strike().is_some();
    if let (true, Event::Reject(reason)) = (stuck, event) {
        payments::set_pending_reason(transaction, record.id, reason)?;
    }
    let event = if stuck { Event::Hold } else { event };
    let record = transition::apply(transaction, &state.faults, record, event)?;
    Ok(Record { stuck, ..record })
}

/// The endpoints at which a payment of a kind is made or confirmed.
fn endpoints(kind: PaymentKind) -> &'static [EndpointName] {
    match kind {
        PaymentKind::Card => &[EndpointName::Payment],
        PaymentKind::Mbank => &[EndpointName::MbankPay, EndpointName::MbankConfirm],
        PaymentKind::PayForm => &[EndpointName::PayForm],
        PaymentKind::Qr => &[EndpointName::QrDynamic, EndpointName::QrDynamicData],
    }
}
