//! The payer's decision after scanning a QR code.

use rust_decimal::Decimal;

use crate::{
    actions::settle::settle,
    domain::{Event, PaymentStatus, RejectReason},
    state::State,
    store::{
        StoreError,
        payments::{self, Record},
    },
};

/// What the payer of a QR code does.
#[derive(Clone, Copy)]
pub(crate) enum Decision {
    /// Pays; with the tyiyn they named, where the QR code names no sum.
    Approve(Option<Decimal>),
    Decline,
}

/// Carries the decision out; of a payment already decided nothing changes.
pub(crate) fn decide_qr(state: &State, id: i64, decision: Decision) -> Result<Record, StoreError> {
    state.write(|transaction| {
        let record = payments::by_id(transaction, id)?;
        if record.payment.status != PaymentStatus::Created {
            return Ok(record);
        }
        match decision {
            Decision::Approve(named) => {
                match (record.payment.amount, named) {
                    (Some(_), _) => {}
                    (None, Some(tyiyn)) => payments::set_amount(transaction, id, tyiyn)?,
                    // Nobody said how much: there is nothing to take.
                    (None, None) => return Ok(record),
                }
                settle(state, transaction, record, Event::Charge)
            }
            Decision::Decline => {
                let declined = Event::Reject(RejectReason::CancelledByPayer);
                settle(state, transaction, record, declined)
            }
        }
    })
}
