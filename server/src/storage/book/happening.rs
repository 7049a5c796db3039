//! Changes of states, each with its event. What follows from what is decided by the pure state machines.

use super::{
    Book, Head, Kept,
    changes::{Changes, Number},
    telling::{Told, tell},
};
use crate::{
    checkouts::machine as checkout_machine,
    events::kind::EventKind,
    payments::{
        machine::{self, Happened},
        payment::{Failure, Payment},
    },
    storage::error::StorageError,
    tokens::decided_by::DecidedBy,
    values::{Millis, states::PaymentState},
};

/// Why a person has to look at a payment that ended before the gateway told a number to ask by.
const UNKNOWN_WORD_OF_NOT_MADE: &str = "a callback about its QR code has no status that the dialect knows, and came before the payment ended: \
    the payment was not made as far as this server knows, and the code may have been paid";

/// Why something happened, and where a person decided, who.
#[derive(Clone, Copy, Default)]
pub(super) struct Why<'a> {
    pub(super) reason: Option<&'a str>,
    pub(super) by: Option<&'a DecidedBy>,
}

impl<'a> Why<'a> {
    /// A reason that no person gave.
    pub(super) fn of(reason: &'a str) -> Self {
        Self { reason: Some(reason), by: None }
    }
}

/// Something happened to a payment. True where that changed its state.
pub(super) fn happen(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    happened: Happened,
    why: Why<'_>,
) -> Result<bool, StorageError> {
    let kept = &mut book.payments[at];
    let Some(change) = machine::next(kept.payment.state, kept.payment.method, happened) else { return Ok(false) };
    let was_under_way = kept.payment.is_under_way();
    // What is being sent is stuck only where a callback had a status that the dialect does not know.
    let has_unknown_word = change.to == PaymentState::NotMade && kept.payment.is_stuck;
    kept.touch_state();
    kept.payment.state = change.to;
    if matches!(happened, Happened::ResolvedCharged | Happened::ResolvedNotCharged) || change.to.is_in_doubt() {
        kept.set_doubt(change.to.is_in_doubt());
    }
    kept.payment.is_stuck &= !change.to.is_final();
    kept.unknown_since = (change.to == PaymentState::Unknown).then_some(changes.now);
    if was_under_way && !kept.payment.is_under_way() {
        book.head.wait_no_longer(changes.now);
    }
    let after = change.after.map(|state| state.to_string());
    tell(changes, book, change.event, &Told { payment: Some(at), after, reason: why.reason, by: why.by })?;
    if has_unknown_word {
        warn_of_unknown_word(&book.payments[at].payment);
        let told = Told { payment: Some(at), reason: Some(UNKNOWN_WORD_OF_NOT_MADE), ..Told::default() };
        tell(changes, book, EventKind::PaymentStuck, &told)?;
    }
    if change.to == PaymentState::Charged {
        happen_to_checkout(changes, book, checkout_machine::Happened::PaymentCharged, Some(at), None)?;
    }
    Ok(true)
}

/// Something that nobody may ask about any more has a status that is not understood.
pub(super) fn warn_of_unknown_word(payment: &Payment) {
    let (payment, state) = (&payment.id, payment.state);
    tracing::warn!(
        target: "kassa_server", %payment, %state, "a callback about a payment that has ended has a status that the dialect does not \
        know, and the payment has no number to ask the gateway by"
    );
}

/// Something happened to a checkout. True where that changed it.
pub(super) fn happen_to_checkout(
    changes: &mut Changes,
    book: &mut Book,
    happened: checkout_machine::Happened,
    paid_by: Option<usize>,
    by: Option<&DecidedBy>,
) -> Result<bool, StorageError> {
    let Book { head, payments, .. } = &mut *book;
    let Some(change) = checkout_machine::next(head.state, happened) else { return Ok(false) };
    if change.to == head.state {
        head.is_overpaid = true;
        head.refunds_due = head.refunds_due.saturating_add(1);
    }
    head.state = change.to;
    head.keys_kept_since = Some(changes.now);
    if head.paid_by.is_none() {
        head.paid_by = paid_by.map(|at| payments[at].payment.id.clone());
    }
    head.touched.state = true;
    let after = change.after.map(|state| state.to_string());
    tell(changes, book, change.event, &Told { after, by, ..Told::default() })?;
    Ok(true)
}

impl Head {
    /// Something of it is no longer under way: whether it expires is looked at when it should, or now. Never before now, where
    /// nobody may look any more.
    fn wait_no_longer(&mut self, now: Millis) {
        let at = self.expires_at.max(now);
        if self.expiry_due_at > at {
            self.expiry_due_at = at;
            self.touched.expiry = true;
        }
    }
}

impl Kept {
    /// Why it was not made, or the last confirmation was not.
    pub(super) fn note_failure(&mut self, failure: &Failure) {
        self.payment.failure = Some(failure.clone());
        self.touched.rest = true;
    }

    /// What it is asked with from now on. The gateway may know it by its own number as well: nobody else's claim pays with that.
    /// A number that another payment holds is not adopted: by that, the gateway would tell of the other one.
    pub(super) fn note_reference(&mut self, changes: &mut Changes, to: &kassa::PaymentRef) {
        let mut to = to.clone();
        let number = to.gateway_number.as_deref().map(Number::order);
        if number.is_some_and(|number| !changes.numbers.take(&number, &self.payment.id)) {
            let (payment, number) = (&self.payment.id, &to.gateway_number);
            tracing::warn!(target: "kassa_server", %payment, ?number, "the gateway gave a number that another payment has");
            to.gateway_number = None;
        }
        if self.payment.reference != to {
            self.payment.reference = to;
            self.touched.reference = true;
        }
    }
}
