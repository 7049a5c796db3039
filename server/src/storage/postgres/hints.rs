//! Transactions about hints: callbacks, returns, apps that look.

use std::slice;

use super::{
    books::{self, Of, With},
    problem::Problem,
    saving::save,
    session::Session,
};
use crate::{
    storage::{
        book::hints::{self, Called},
        inputs::Hint,
        outputs::HintNoted,
    },
    values::ids::PaymentId,
};

/// How many callbacks of a payment are known again.
const MOST_CALLBACKS: i64 = 32;

pub(super) async fn note(db: &Session, hint: &Hint) -> Result<HintNoted, Problem> {
    match hint {
        Hint::Checkout { id } => {
            let mut opened = books::open(db, Of::Checkouts(slice::from_ref(id)), With::default()).await?;
            let Some((changes, book)) = opened.book() else { return Ok(HintNoted::Due(0)) };
            let noted = hints::look(changes, book);
            save(db, &opened.changes, &opened.books);
            Ok(noted)
        }
        Hint::Callback { secret, payment, claim, status, same, exchange, is_whole } => {
            let known = db.row(IS_KNOWN, &[&payment.as_str(), secret]).await?;
            // Whoever guesses addresses locks nothing.
            if known.is_none() {
                return Ok(HintNoted::Nowhere);
            }
            let (claim, status) = (claim.as_ref(), status.as_ref());
            let called = Called { claim, status, exchange: exchange.as_deref(), is_whole: *is_whole };
            call_back(db, payment, same.as_ref(), called).await
        }
    }
}

const IS_KNOWN: &str = "SELECT 1 FROM payments JOIN checkouts ON checkouts.id = payments.checkout_id
    WHERE payments.id = $1 AND checkouts.callback_secret = $2";
const WAS_SEEN: &str = "SELECT 1 FROM callbacks WHERE payment_id = $1 AND same = $2";
const REMEMBER: &str = "INSERT INTO callbacks (payment_id, same, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
const FORGET: &str = "DELETE FROM callbacks WHERE payment_id = $1 AND same IN
    (SELECT same FROM callbacks WHERE payment_id = $1 ORDER BY at DESC, same OFFSET $2)";

async fn call_back(
    db: &Session,
    payment: &PaymentId,
    same: Option<&[u8; 32]>,
    called: Called<'_>,
) -> Result<HintNoted, Problem> {
    let due = slice::from_ref(payment);
    let mut opened = books::open(db, Of::Payments(due), With { due, ..With::default() }).await?;
    if let Some(same) = same
        && db.row(WAS_SEEN, &[&payment.as_str(), &&same[..]]).await?.is_some()
    {
        return Ok(HintNoted::SeenBefore);
    }
    let (changes, book, at) = opened.at(payment)?;
    let noted = hints::call_back(changes, book, at, called)?;
    if noted == HintNoted::TooManyClaims {
        return Ok(noted);
    }
    save(db, &opened.changes, &opened.books);
    // Only now: what is remembered is dealt with.
    if let Some(same) = same {
        let id = payment.as_str().to_owned();
        db.later(REMEMBER, vec![Box::new(id.clone()), Box::new(same.to_vec()), Box::new(opened.changes.now)]);
        db.later(FORGET, vec![Box::new(id), Box::new(MOST_CALLBACKS)]);
    }
    Ok(noted)
}
