//! How a checkout ends without being paid, and what is noted after it was paid too often.

use super::{
    Book,
    changes::Changes,
    happening::happen_to_checkout,
    hints::has_number,
    telling::{Told, tell},
};
use crate::{
    checkouts::machine::Happened,
    events::kind::EventKind,
    storage::{error::StorageError, outputs::Cancelled, staff::NoteRefund, staff::RefundNoted},
    tokens::decided_by::DecidedBy,
    values::{
        Millis,
        states::{CheckoutState, PaymentState},
    },
};

/// How long one waits at least whose time has passed, and of which something is under way.
const SHORTEST_WAIT: Millis = 60_000;
/// Why a payment is for a person whose checkout ended.
const NO_TRANSACTION: &str =
    "its QR code was shown and may have been paid, and the gateway told no transaction to ask it by";

/// Cancels a checkout; nothing where it is cancelled by now, or why it is not. Nothing is cancelled under a request that is
/// on its way, or of which nobody knows what it did.
pub(in crate::storage) fn cancel(
    changes: &mut Changes,
    book: &mut Book,
    by: Option<&DecidedBy>,
) -> Result<Option<Cancelled>, StorageError> {
    book.check()?;
    match book.head.state {
        CheckoutState::Open => {}
        CheckoutState::Cancelled => return Ok(None),
        state => return Ok(Some(Cancelled::NotOpen(state))),
    }
    if let Some(kept) = book.payments.iter().find(|kept| kept.payment.is_under_way()) {
        return Ok(Some(Cancelled::UnderWay(kept.payment.state)));
    }
    leave_to_a_person(changes, book)?;
    happen_to_checkout(changes, book, Happened::Cancelled, None, by)?;
    Ok(None)
}

/// A checkout ends without being paid, as far as anybody knows. A code that was shown, and that nobody can ask about, may have been
/// paid all the same: the shop is told, once, and a person decides.
fn leave_to_a_person(changes: &mut Changes, book: &mut Book) -> Result<(), StorageError> {
    for at in 0..book.payments.len() {
        let kept = &mut book.payments[at];
        let is_open = kept.payment.state == PaymentState::Awaiting && !kept.payment.is_stuck;
        if is_open && !has_number(&kept.payment) {
            kept.touch_state();
            kept.payment.is_stuck = true;
            let told = Told { payment: Some(at), reason: Some(NO_TRANSACTION), ..Told::default() };
            tell(changes, book, EventKind::PaymentStuck, &told)?;
        }
    }
    Ok(())
}

/// The time of a checkout has passed. It waits while something of it is under way: its shop must not hear "expired" of what
/// may have been paid. It is looked at again as soon as that ends, and by and by, so that many that wait hold up no others.
/// True where it has expired.
pub(in crate::storage) fn expire(changes: &mut Changes, book: &mut Book) -> Result<bool, StorageError> {
    let head = &mut book.head;
    if head.state != CheckoutState::Open || head.expiry_due_at > changes.now {
        return Ok(false);
    }
    if book.is_damaged || book.payments.iter().any(|kept| kept.payment.is_under_way()) {
        let wait = ((changes.now - head.expires_at) / 10).max(SHORTEST_WAIT);
        head.expiry_due_at = changes.now.saturating_add(wait);
        head.touched.expiry = true;
        return Ok(false);
    }
    leave_to_a_person(changes, book)?;
    happen_to_checkout(changes, book, Happened::TimePassed, None, None)
}

/// Each note is of one payment too many, with the event that says why, and who gave it back. The last one takes the checkout off
/// the list of those that need a person.
pub(in crate::storage) fn note_refund(
    changes: &mut Changes,
    book: &mut Book,
    note: &NoteRefund,
) -> Result<RefundNoted, StorageError> {
    if book.head.refunds_due == 0 {
        return Ok(RefundNoted::NotDue);
    }
    if book.head.version != note.version {
        return Ok(RefundNoted::Moved);
    }
    book.head.refunds_due -= 1;
    book.head.touched.state = true;
    let told = Told { reason: Some(&note.reason), by: Some(&note.by), ..Told::default() };
    tell(changes, book, EventKind::CheckoutRefundNoted, &told)?;
    Ok(RefundNoted::Done)
}
