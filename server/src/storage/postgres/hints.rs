//! Transactions about hints: callbacks, returns, apps that look.

use std::slice;

use kassa::Provider;

use super::{
    books::{self, Of, With},
    problem::Problem,
    saving::save,
    session::Session,
};
use crate::{
    storage::{
        book::hints,
        inputs::{Claim, Hint},
        outputs::HintNoted,
    },
    values::{Millis, ids::PaymentId, method::Method},
};

/// How many claimed numbers are kept of a payment, and how many callbacks are known again.
const MOST_CLAIMS: i64 = 8;
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
        Hint::Callback { secret, payment, claim, same } => {
            call_back(db, (secret, payment), claim.as_ref(), same.as_ref()).await
        }
    }
}

async fn call_back(
    db: &Session,
    (secret, payment): (&str, &PaymentId),
    claim: Option<&Claim>,
    same: Option<&[u8; 32]>,
) -> Result<HintNoted, Problem> {
    let known = "SELECT 1 FROM payments JOIN checkouts ON checkouts.id = payments.checkout_id
        WHERE payments.id = $1 AND checkouts.callback_secret = $2";
    // Whoever guesses addresses locks nothing.
    if db.row(known, &[&payment.as_str(), &secret]).await?.is_none() {
        return Ok(HintNoted::Nowhere);
    }
    let mut opened = books::open(db, Of::Payments(slice::from_ref(payment)), With::default()).await?;
    let now = opened.changes.now;
    let (_, book, at) = opened.at(payment)?;
    let is_pay_form = book.payments[at].payment.method == Method::PayForm;
    if let Some(same) = same
        && !is_new(db, payment, same, now).await?
    {
        return Ok(HintNoted::SeenBefore);
    }
    if let Some(claim) = claim.filter(|_| is_pay_form) {
        note_claim(db, payment, claim, now).await?;
    }
    let (changes, book, at) = opened.at(payment)?;
    let noted = hints::call_back(changes, book, at);
    save(db, &opened.changes, &opened.books);
    Ok(noted)
}

async fn is_new(db: &Session, payment: &PaymentId, same: &[u8; 32], now: Millis) -> Result<bool, Problem> {
    let insert = "INSERT INTO callbacks (payment_id, same, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    let inserted = db.execute(insert, &[&payment.as_str(), &&same[..], &now]).await?;
    db.later(
        "DELETE FROM callbacks WHERE payment_id = $1 AND same IN
            (SELECT same FROM callbacks WHERE payment_id = $1 ORDER BY at DESC, same OFFSET $2)",
        vec![Box::new(payment.as_str().to_owned()), Box::new(MOST_CALLBACKS)],
    );
    Ok(inserted > 0)
}

/// Written down before the gateway is asked: whoever claimed may not come again. Where there are too many, the oldest that
/// the gateway did not know gives way.
async fn note_claim(db: &Session, payment: &PaymentId, claim: &Claim, now: Millis) -> Result<(), Problem> {
    let make_room = "DELETE FROM claims WHERE payment_id = $1 AND number <> $2 AND number IN
        (SELECT number FROM claims WHERE payment_id = $1 AND state IN ('nothing', 'contradicted', 'rejected', 'taken')
            ORDER BY at LIMIT GREATEST(0, (SELECT COUNT(*) FROM claims WHERE payment_id = $1) - $3))";
    db.execute(make_room, &[&payment.as_str(), &claim.number, &(MOST_CLAIMS - 1)]).await?;
    let insert = "INSERT INTO claims (payment_id, number, provider, state, at)
        SELECT $1, $2, $3, 'new', $4
        WHERE (SELECT COUNT(*) FROM claims WHERE payment_id = $1) < $5
            OR EXISTS (SELECT 1 FROM claims WHERE payment_id = $1 AND number = $2)
        ON CONFLICT (payment_id, number) DO UPDATE SET at = excluded.at, provider = excluded.provider";
    let provider = claim.provider.as_ref().map(Provider::name);
    db.execute(insert, &[&payment.as_str(), &claim.number, &provider, &now, &MOST_CLAIMS]).await?;
    Ok(())
}
