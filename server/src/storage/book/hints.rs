//! Hints: callbacks, returns, apps that look. A hint makes a payment due, and settles nothing.

use super::{
    Book, Kept,
    changes::Changes,
    claims,
    happening::{Why, happen},
};
use crate::{
    pace::schedule::Class,
    payments::{exchange::Exchange, machine::Happened, payment::Payment},
    storage::{error::StorageError, inputs::Claim, outputs::HintNoted},
    values::{method::Method, states::PaymentState},
};

/// Why the charge that a callback reports is in doubt where nothing else can be heard of it.
const NO_NUMBER: &str = "a callback reports it, and the payment has no number to ask the gateway by";

/// Somebody looks at a checkout: what is open of it is due.
pub(in crate::storage) fn look(changes: &mut Changes, book: &mut Book) -> HintNoted {
    make_due(changes, book.payments.iter_mut().filter(|kept| is_open(kept)))
}

/// A callback came about one of its payments, with the number that it claims for a pay-form, and with what of it could not be
/// read. Also about what has ended: money may come after a rejection, and a second time after a charge.
pub(in crate::storage) fn call_back(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    claim: Option<&Claim>,
    exchange: Option<&Exchange>,
) -> Result<HintNoted, StorageError> {
    let kept = &mut book.payments[at];
    let is_pay_form = kept.payment.method == Method::PayForm;
    if let Some(claim) = claim.filter(|_| is_pay_form)
        && !claims::keep(changes, kept, claim)
    {
        return Ok(HintNoted::TooManyClaims);
    }
    if let Some(exchange) = exchange {
        changes.note_exchange(&kept.payment.id, exchange, None);
    }
    let has_number = has_number(&kept.payment);
    if !has_number && !claim.is_some_and(|claim| claim.may_be_charge) {
        return Ok(HintNoted::Due(0));
    }
    if !has_number && !matches!(kept.payment.state, PaymentState::Prepared | PaymentState::Sending) {
        doubt_what_has_no_number(changes, book, at)?;
        return Ok(HintNoted::Due(0));
    }
    let is_to_ask = kept.payment.state != PaymentState::Charged || (is_pay_form && kept.has_claim_to_ask());
    Ok(make_due(changes, Some(kept).filter(|_| is_to_ask).into_iter()))
}

/// A callback may report a charge of what nobody can ask about: of a code for which the gateway told no transaction, or of what was
/// not made. A code whose number was lost with the gateway's answer was shown to nobody, unless the database was put back to an
/// earlier moment. Either way this callback is all that tells of the charge.
pub(super) fn doubt_what_has_no_number(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
) -> Result<bool, StorageError> {
    happen(changes, book, at, Happened::ReportedUnverifiable, Why::of(NO_NUMBER))
}

/// Whether the gateway can be asked about it, by its own number or by those that are claimed for a pay-form.
pub(super) fn has_number(payment: &Payment) -> bool {
    payment.method == Method::PayForm || payment.reference.can_be_asked_about()
}

/// Who only looks has no news of what has ended; but a charge in doubt is nobody's last word: the gateway may have put it right.
fn is_open(kept: &Kept) -> bool {
    let has_ended = kept.payment.state.is_final() && !kept.payment.state.is_in_doubt();
    has_number(&kept.payment) && !has_ended
}

fn make_due<'a>(changes: &mut Changes, payments: impl Iterator<Item = &'a mut Kept>) -> HintNoted {
    let mut made_due = 0;
    for kept in payments {
        if matches!(kept.payment.state, PaymentState::Prepared | PaymentState::Sending) {
            // A callback can come before the create call returned. Nobody is asked about what may not be there yet.
            kept.is_hinted = true;
            kept.touched.rest = true;
        } else {
            changes.make_due(&kept.payment, changes.now, Class::Hinted, changes.now);
        }
        made_due += 1;
    }
    HintNoted::Due(made_due)
}
