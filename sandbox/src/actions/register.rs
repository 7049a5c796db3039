//! Registering a payment, and what a reused order number does.

use crate::{
    gateway::Gateway,
    options::ReusedOrderNumber,
    refusal::Refusal,
    state::Event,
    store::{
        payments::{self, NewPayment, Record},
        transitions,
    },
};

/// Registers a payment under the merchant's order number. `at_once` happens to it right away.
pub(crate) fn register(gateway: &Gateway, new: &NewPayment, at_once: Option<Event>) -> Result<Record, Refusal> {
    let policy = gateway.options.reused_order_number;
    gateway.write(|transaction| {
        if policy != ReusedOrderNumber::ChargeTwice
            && let Some(earlier) = payments::first_with_order_number(transaction, &new.order_number)?
        {
            let replays = policy == ReusedOrderNumber::Replay && is_same(&earlier, new);
            return Ok(replays.then_some(earlier).ok_or(Refusal::ReusedOrderNumber));
        }
        let record = payments::insert(transaction, new)?;
        match at_once {
            Some(event) => transitions::apply(transaction, record, event).map(Ok),
            None => Ok(Ok(record)),
        }
    })?
}

/// A replay is only the same request again; anything else under its number is a conflict.
fn is_same(earlier: &Record, new: &NewPayment) -> bool {
    let payment = &earlier.payment;
    payment.kind == new.kind && payment.amount == new.amount && payment.currency == new.currency
}
