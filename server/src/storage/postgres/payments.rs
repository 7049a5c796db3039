//! Transactions about payments that are begun, sent, confirmed, and decided by a person.

use std::slice;

use super::{
    books::{self, Of, With},
    problem::Problem,
    saving::save,
    session::Session,
};
use crate::storage::{
    book::{payments, resolving},
    inputs::{BeginConfirmation, BeginPayment, Confirmed, Resolve, Sent, TakePrepared},
    outputs::{Begun, ConfirmationBegun, Recorded, Resolved, Taken},
};

pub(super) async fn begin(db: &Session, begin: &BeginPayment) -> Result<Begun, Problem> {
    let with = With { numbers: payments::numbers_of_begun(begin), key: begin.key.as_ref(), ..With::default() };
    let mut opened = books::open(db, Of::Checkouts(slice::from_ref(&begin.checkout)), with).await?;
    let known = opened.known.take();
    let Some((changes, book)) = opened.book() else { return Ok(Begun::Nowhere) };
    let begun = payments::begin(changes, book, known, begin)?;
    save(db, &opened.changes, &opened.books);
    Ok(begun)
}

pub(super) async fn take_prepared(db: &Session, take: &TakePrepared) -> Result<Taken, Problem> {
    let mut opened = books::open(db, Of::Checkouts(slice::from_ref(&take.checkout)), With::default()).await?;
    let Some((changes, book)) = opened.book() else { return Ok(Taken::Gone) };
    let taken = payments::take_prepared(changes, book, take)?;
    save(db, &opened.changes, &opened.books);
    Ok(taken)
}

/// By its checkout, whose row is locked as long as the commit is on its way that writes the payment down.
pub(super) async fn record_send_outcome(db: &Session, sent: &Sent) -> Result<Recorded, Problem> {
    let with = With { numbers: payments::numbers_of_sent(sent), ..With::default() };
    let mut opened = books::open(db, Of::Checkouts(slice::from_ref(&sent.checkout)), with).await?;
    let (changes, book, at) = opened.at(&sent.payment)?;
    let recorded = payments::record_send_outcome(changes, book, at, sent)?;
    save(db, &opened.changes, &opened.books);
    Ok(recorded)
}

pub(super) async fn begin_confirmation(db: &Session, begin: &BeginConfirmation) -> Result<ConfirmationBegun, Problem> {
    let with = With { key: begin.key.as_ref(), ..With::default() };
    let mut opened = books::open(db, Of::Checkouts(slice::from_ref(&begin.checkout)), with).await?;
    let known = opened.known.take();
    let Some((changes, book)) = opened.book() else { return Ok(ConfirmationBegun::Nowhere) };
    let begun = payments::begin_confirmation(changes, book, known, begin)?;
    save(db, &opened.changes, &opened.books);
    Ok(begun)
}

pub(super) async fn record_confirmation(db: &Session, confirmed: &Confirmed) -> Result<Recorded, Problem> {
    let with = With { numbers: payments::numbers_of_confirmed(confirmed), ..With::default() };
    let mut opened = books::open(db, Of::Checkouts(slice::from_ref(&confirmed.checkout)), with).await?;
    let (changes, book, at) = opened.at(&confirmed.payment)?;
    let recorded = payments::record_confirmation(changes, book, at, confirmed)?;
    save(db, &opened.changes, &opened.books);
    Ok(recorded)
}

/// What was claimed is read before it is known which numbers may be taken.
pub(super) async fn resolve(db: &Session, resolve: &Resolve) -> Result<Resolved, Problem> {
    let payment = slice::from_ref(&resolve.payment);
    let mut opened = books::open(db, Of::Payments(payment), With { due: payment, ..With::default() }).await?;
    if opened.books.is_empty() {
        return Ok(Resolved::Nowhere);
    }
    let (_, book, at) = opened.at(&resolve.payment)?;
    let numbers = resolving::numbers_to_resolve(&book.payments[at]);
    opened.changes.numbers = books::owners(db, &numbers).await?;
    let (changes, book, at) = opened.at(&resolve.payment)?;
    let resolved = resolving::resolve(changes, book, at, resolve)?;
    save(db, &opened.changes, &opened.books);
    Ok(resolved)
}
