//! Hints: callbacks, returns, apps that look. A hint makes a payment due, and proves nothing.

use kassa::PaymentStatus;

use super::{
    Book, Kept,
    changes::Changes,
    claims,
    happening::{Why, happen, warn_of_unknown_word},
    telling::{Told, tell},
};
use crate::{
    events::kind::EventKind,
    pace::schedule::Class,
    payments::{exchange::Exchange, machine::Happened, payment::Payment},
    storage::{error::StorageError, inputs::Claim, outputs::HintNoted},
    values::{method::Method, states::PaymentState},
};

/// Why the charge that a callback reports is in doubt where nothing else can be heard of it.
const NO_NUMBER: &str = "a callback reports it, and the payment has no number to ask the gateway by";
/// Why it is in doubt where a person has found the payment charged before.
const CHARGED_BEFORE: &str = "a callback reports a charge of a payment that a person found charged, and that has no number to ask the \
    gateway by: it may be the same charge, or one more";
/// Why a person has to look at a payment that stays payable.
const UNKNOWN_WORD: &str = "a callback about its QR code has no status that the dialect knows, and the gateway told no transaction to \
    ask it by: the code may have been paid";

/// What a callback brought.
#[derive(Clone, Copy)]
pub(in crate::storage) struct Called<'a> {
    pub(in crate::storage) claim: Option<&'a Claim>,
    pub(in crate::storage) status: Option<&'a PaymentStatus>,
    pub(in crate::storage) exchange: Option<&'a Exchange>,
    pub(in crate::storage) is_whole: bool,
}

/// Somebody looks at a checkout: what is open of it is due.
pub(in crate::storage) fn look(changes: &mut Changes, book: &mut Book) -> HintNoted {
    make_due(changes, book.payments.iter_mut().filter(|kept| is_open(kept)))
}

/// A callback came about one of its payments, with the number that it claims for a pay-form, and with what of it could not be
/// read. Also about what has ended: money may come after a rejection, and a second time after a charge. Of a payment without a
/// number to ask by, every callback is kept: it is all that is heard of it.
pub(in crate::storage) fn call_back(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    called: Called<'_>,
) -> Result<HintNoted, StorageError> {
    let Called { claim, status, exchange, is_whole } = called;
    let kept = &mut book.payments[at];
    let is_pay_form = kept.payment.method == Method::PayForm;
    if let Some(claim) = claim.filter(|_| is_pay_form)
        && !claims::keep(changes, kept, claim)
    {
        return Ok(HintNoted::TooManyClaims);
    }
    let has_number = has_number(&kept.payment);
    if let Some(exchange) = exchange.filter(|_| !has_number || !is_whole) {
        changes.note_exchange(&kept.payment.id, exchange, None);
    }
    if !has_number {
        return hear_of_what_has_no_number(changes, book, at, status);
    }
    let is_to_ask = kept.payment.state != PaymentState::Charged || (is_pay_form && kept.has_claim_to_ask());
    Ok(make_due(changes, Some(kept).filter(|_| is_to_ask).into_iter()))
}

/// What a callback claims of what nobody can ask about. **A charge alone makes it a person's**; a rejection ends nothing, because
/// the code stays payable. Of any other word, or of none, a person is told, and the payment stays as it is. A copy of a callback does not
/// come here; another word may be that of the charge, so it is told again.
fn hear_of_what_has_no_number(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    claimed: Option<&PaymentStatus>,
) -> Result<HintNoted, StorageError> {
    let kept = &mut book.payments[at];
    let is_being_sent = matches!(kept.payment.state, PaymentState::Prepared | PaymentState::Sending);
    match claimed {
        Some(PaymentStatus::Rejected) => {}
        Some(PaymentStatus::Charged) if is_being_sent => return Ok(make_due(changes, Some(kept).into_iter())),
        Some(PaymentStatus::Charged) => {
            doubt_what_has_no_number(changes, book, at)?;
        }
        // The gateway's answer may tell a transaction to ask by: who looks is told when it is there.
        _ if is_being_sent => {
            if !kept.payment.is_stuck {
                kept.touch_state();
                kept.payment.is_stuck = true;
            }
        }
        _ if kept.payment.state == PaymentState::Awaiting => {
            if !kept.payment.is_stuck || claimed.is_some() {
                leave_unknown_word_to_a_person(changes, book, at)?;
            }
        }
        // A person found that it was not paid. The word may say that it was.
        Some(_) if kept.payment.state == PaymentState::Rejected => {
            doubt_what_has_no_number(changes, book, at)?;
        }
        _ => warn_of_unknown_word(&kept.payment),
    }
    Ok(HintNoted::Due(0))
}

/// A callback about a code that nobody can ask about said something that is not understood.
pub(super) fn leave_unknown_word_to_a_person(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
) -> Result<(), StorageError> {
    let kept = &mut book.payments[at];
    kept.touch_state();
    kept.payment.is_stuck = true;
    let told = Told { payment: Some(at), reason: Some(UNKNOWN_WORD), ..Told::default() };
    tell(changes, book, EventKind::PaymentStuck, &told)
}

/// A callback may report a charge of what nobody can ask about: of a code for which the gateway told no transaction, or of what was
/// not made. A code whose number was lost with the gateway's answer was shown to nobody, unless the database was put back to an
/// earlier moment. Either way this callback is all that tells of the charge. Of a payment that a person has found charged it may tell
/// of one more, which is told until a person has looked.
pub(super) fn doubt_what_has_no_number(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
) -> Result<bool, StorageError> {
    let kept = &mut book.payments[at];
    if kept.payment.state != PaymentState::Charged {
        return happen(changes, book, at, Happened::ReportedUnverifiable, Why::of(NO_NUMBER));
    }
    if kept.payment.is_in_doubt {
        return Ok(false);
    }
    kept.set_doubt(true);
    let told = Told { payment: Some(at), reason: Some(CHARGED_BEFORE), ..Told::default() };
    tell(changes, book, EventKind::PaymentUnverifiable, &told)?;
    Ok(true)
}

/// Whether the gateway can be asked about it, by its own number or by those that are claimed for a pay-form.
pub(super) fn has_number(payment: &Payment) -> bool {
    payment.method == Method::PayForm || payment.reference.can_be_checked()
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
