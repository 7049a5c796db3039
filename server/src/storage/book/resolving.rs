//! What a person decides: what became of a payment of which nobody knows.

use super::{
    Book, Kept,
    changes::{Changes, DueChange},
    happening::{Why, happen},
};
use crate::{
    pace::schedule::{Class, interval_at},
    payments::machine::{Happened, is_for_a_person},
    storage::{error::StorageError, inputs::Resolve, outputs::Resolved},
    values::{method::Method, states::PaymentState, states::Resolution},
};

/// The numbers that such a decision may take: what the gateway knows by a number that was claimed for this pay-form.
pub(in crate::storage) fn numbers_to_resolve(kept: &Kept) -> Vec<String> {
    let is_open = |claim: &&super::KeptClaim| kept.payment.method == Method::PayForm && claim.state == "open";
    kept.claims.iter().filter(is_open).map(|claim| claim.number.clone()).collect()
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
    let before = kept.payment.state;
    if before == resolve.resolution.state() {
        return Ok(Resolved::Again(kept.payment.clone().into()));
    }
    let happened = match resolve.resolution {
        Resolution::Charged => Happened::ResolvedCharged,
        Resolution::NotCharged => Happened::ResolvedNotCharged,
    };
    let is_in_doubt = is_for_a_person(before, kept.payment.is_stuck);
    // Whether something happened to the checkout since the person looked at it.
    if is_in_doubt && resolve.seen.is_some_and(|seen| seen != book.head.version) {
        return Ok(Resolved::Moved(kept.payment.clone().into()));
    }
    let why = Why { reason: Some(&resolve.reason), by: Some(&resolve.by) };
    if !is_in_doubt || !happen(changes, book, at, happened, why)? {
        return Ok(Resolved::NotInDoubt(before));
    }
    let kept = &mut book.payments[at];
    kept.is_resolved = true;
    kept.touched.rest = true;
    if kept.payment.state == PaymentState::Charged {
        // What was claimed for this one, and not for another one, pays for nothing else.
        for number in numbers_to_resolve(kept) {
            changes.numbers.take(&number, &kept.payment.id);
        }
        changes.due.push(DueChange::Forget { payment: kept.payment.id.clone() });
    } else {
        keep_asking(changes, kept);
    }
    Ok(Resolved::Done(kept.payment.clone().into()))
}

/// A person can be wrong: the gateway is asked on for a while, and a charge that it reports is told.
fn keep_asking(changes: &mut Changes, kept: &Kept) {
    let payment = &kept.payment;
    if payment.method != Method::PayForm && !payment.reference.can_be_asked_about() {
        return;
    }
    let age = changes.now - payment.begun_at;
    changes.due.push(DueChange::PutUnlessThere {
        payment: payment.id.clone(),
        at: changes.now.saturating_add(interval_at(age)),
        class: Class::at_age(age),
        since: payment.begun_at,
    });
}
