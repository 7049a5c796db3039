//! What a person decides: what became of a payment of which nobody knows.

use super::{
    Book, Kept,
    changes::{Changes, DueChange, Number},
    claims::KeptClaim,
    happening::{Why, happen, happen_to_checkout},
    telling::{Told, tell},
};
use crate::{
    checkouts::machine::Happened as CheckoutHappened,
    events::kind::EventKind,
    pace::{
        queues::Queue,
        schedule::{Class, interval_at},
    },
    payments::machine::{Happened, is_for_a_person},
    storage::{error::StorageError, inputs::Resolve, outputs::Resolved},
    values::{
        method::Method,
        states::{ClaimState, PaymentState, Resolution},
    },
};

/// The numbers that such a decision may take: those that were claimed for this pay-form and may have paid for it.
pub(in crate::storage) fn numbers_to_resolve(kept: &Kept) -> Vec<Number> {
    let may_have_paid = |claim: &&KeptClaim| !matches!(claim.state, ClaimState::Rejected | ClaimState::OtherPayment);
    kept.claims.iter().filter(may_have_paid).map(|claim| Number::order(&claim.number)).collect()
}

/// Notes a decision.
pub(in crate::storage) fn resolve(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    resolve: &Resolve,
) -> Result<Resolved, StorageError> {
    book.check()?;
    let kept = &book.payments[at];
    let (before, is_in_doubt) = (kept.payment.state, kept.payment.is_in_doubt);
    if before == resolve.resolution.state() && !is_in_doubt {
        return Ok(Resolved::Again(kept.payment.clone().into()));
    }
    let can_be_decided = is_for_a_person(before) || is_in_doubt;
    // Whether something happened to the checkout since the person looked at it.
    if can_be_decided && resolve.seen.is_some_and(|seen| seen != book.head.version) {
        return Ok(Resolved::Moved(kept.payment.clone().into()));
    }
    if before == PaymentState::Charged && is_in_doubt {
        return review(changes, book, at, resolve);
    }
    let happened = match resolve.resolution {
        Resolution::Charged => Happened::ResolvedCharged,
        Resolution::NotCharged => Happened::ResolvedNotCharged,
    };
    let why = Why { reason: Some(&resolve.reason), by: Some(&resolve.by) };
    if !can_be_decided || !happen(changes, book, at, happened, why)? {
        return Ok(Resolved::NotInDoubt(before));
    }
    let kept = &mut book.payments[at];
    kept.is_resolved = true;
    kept.touched.rest = true;
    if kept.payment.state == PaymentState::Charged {
        take_claimed_numbers(changes, kept);
    }
    keep_asking(changes, kept);
    Ok(Resolved::Done(kept.payment.clone().into()))
}

/// One more charge was reported of a charged payment, and cannot be believed. The payment stays charged; if the other charge
/// was made as well, it is money too much.
fn review(changes: &mut Changes, book: &mut Book, at: usize, resolve: &Resolve) -> Result<Resolved, StorageError> {
    book.payments[at].set_doubt(false);
    let told = Told { payment: Some(at), reason: Some(&resolve.reason), by: Some(&resolve.by), ..Told::default() };
    tell(changes, book, EventKind::PaymentReviewed, &told)?;
    if resolve.resolution == Resolution::Charged {
        take_claimed_numbers(changes, &book.payments[at]);
        book.payments[at].count_claims_in_doubt();
        happen_to_checkout(changes, book, CheckoutHappened::PaymentCharged, Some(at), Some(&resolve.by))?;
    }
    Ok(Resolved::Done(book.payments[at].payment.clone().into()))
}

/// What was claimed for this one, and not for another one, pays for nothing else.
fn take_claimed_numbers(changes: &mut Changes, kept: &Kept) {
    for number in numbers_to_resolve(kept) {
        changes.numbers.take(&number, &kept.payment.id);
    }
}

/// A person can be wrong: the gateway is asked on for a while, and a charge that it reports is told.
fn keep_asking(changes: &mut Changes, kept: &Kept) {
    let payment = &kept.payment;
    let is_charged = payment.state == PaymentState::Charged;
    let is_to_ask = match payment.method {
        Method::PayForm => !is_charged || kept.has_claim_to_ask(),
        _ => !is_charged && payment.reference.can_be_checked(),
    };
    if !is_to_ask {
        changes.due.push(DueChange::Forget { payment: payment.id.clone() });
        return;
    }
    let age = changes.now - payment.begun_at;
    changes.due.push(DueChange::PutUnlessThere {
        payment: payment.id.clone(),
        at: changes.now.saturating_add(interval_at(age)),
        queue: Queue { class: Class::at_age(age), method: payment.method },
        since: payment.begun_at,
    });
}
