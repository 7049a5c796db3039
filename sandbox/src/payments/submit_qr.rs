//! The payer's decision after scanning a QR code.

use rust_decimal::Decimal;

use crate::{
    domain::{Event, PaymentStatus, RejectReason},
    payments::resolve::resolve,
    state::State,
    store::{
        StoreError,
        payments::{self, Record},
    },
};

/// What the payer of a QR code does.
#[derive(Clone, Copy)]
pub(crate) enum QrDecision {
    /// Pays; with the tyiyn they named, where the QR code names no sum.
    Approve(Option<Decimal>),
    Decline,
}

/// Carries the decision out; of a payment already decided nothing changes.
pub(crate) fn submit_qr(state: &State, id: i64, decision: QrDecision) -> Result<Record, StoreError> {
    state.write(|transaction| {
        let record = payments::by_id(transaction, id)?;
        if record.payment.status != PaymentStatus::Created {
            return Ok(record);
        }
        match decision {
            QrDecision::Approve(named) => {
                match (record.payment.amount, named) {
                    (Some(_), _) => {}
                    (None, Some(tyiyn)) => payments::set_amount(transaction, id, tyiyn)?,
                    // Without an amount there is nothing to charge.
                    (None, None) => return Ok(record),
                }
                resolve(state, transaction, record, Event::Charge)
            }
            QrDecision::Decline => {
                let declined = Event::Reject(RejectReason::CancelledByPayer);
                resolve(state, transaction, record, declined)
            }
        }
    })
}
