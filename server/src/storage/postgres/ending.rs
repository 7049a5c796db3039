//! Transactions about checkouts that end without being paid, and about money that was given back.

use std::slice;

use super::{
    books::{self, Of, With},
    checkouts,
    problem::Problem,
    saving::save,
    session::Session,
};
use crate::{
    storage::{
        book::ending,
        inputs::Whose,
        outputs::Cancelled,
        staff::{NoteRefund, RefundNoted},
    },
    tokens::decided_by::DecidedBy,
    values::ids::CheckoutId,
};

pub(super) async fn cancel(db: &Session, id: &CheckoutId, by: Option<&DecidedBy>) -> Result<Cancelled, Problem> {
    let mut opened = books::open(db, Of::Checkouts(slice::from_ref(id)), With::default()).await?;
    let Some((changes, book)) = opened.book() else { return Ok(Cancelled::Nowhere) };
    if let Some(refused) = ending::cancel(changes, book, by)? {
        return Ok(refused);
    }
    save(db, &opened.changes, &opened.books);
    db.flush().await?;
    let view = checkouts::find(db, &Whose::Id(id.clone())).await?;
    Ok(view.map_or(Cancelled::Nowhere, |view| Cancelled::Done(view.into())))
}

pub(super) async fn note_refund(db: &Session, note: &NoteRefund) -> Result<RefundNoted, Problem> {
    let mut opened = books::open(db, Of::Checkouts(slice::from_ref(&note.checkout)), With::default()).await?;
    let Some((changes, book)) = opened.book() else { return Ok(RefundNoted::Nowhere) };
    let noted = ending::note_refund(changes, book, note)?;
    save(db, &opened.changes, &opened.books);
    Ok(noted)
}
