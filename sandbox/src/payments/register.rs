//! Idempotency: registering a payment, and what happens where its order number was used before.

use crate::{
    callbacks::notice,
    domain::Event,
    payments::resolve::resolve,
    redact::without_card_numbers,
    settings::ReusedOrderNumber,
    state::State,
    store::{
        StoreError,
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

/// Registers a payment under the merchant's order number. `at_once` happens to it right away.
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
    registered.map(|record| in_its_words(record, new))
}

/// The answer repeats what the request said, also where a card number in it is kept as its mask.
fn in_its_words(mut record: Record, new: &NewPayment) -> Record {
    if record.description == without_card_numbers(&new.description) {
        record.description.clone_from(&new.description);
    }
    if record.holder_name == new.holder_name.as_deref().map(without_card_numbers) {
        record.holder_name.clone_from(&new.holder_name);
    }
    record
}

/// Idempotent replay: only the same request again; anything else under its number is a conflict.
fn is_same(earlier: &Record, new: &NewPayment) -> bool {
    let payment = &earlier.payment;
    payment.kind == new.kind && payment.amount == new.amount && payment.currency == new.currency
}
