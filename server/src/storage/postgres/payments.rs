//! Transactions about payments that are begun, sent, confirmed, and decided by a person.

use std::slice;

use super::{
    aggregates::{self, Of, With},
    saving::save,
    session::{Problem, Session},
};
use crate::{
    storage::{
        StorageError,
        aggregate::{
            confirmation,
            hints::{self, CallbackHint},
            payments, resolution, sending,
        },
        inputs::{BeginConfirmation, BeginPayment, ConfirmationOutcome, Hint, Resolve, SendOutcome, TakePrepared},
        outputs::{Decision, HintOutcome, RecordedPayment, SendTurn},
    },
    values::PaymentId,
};

pub(super) async fn begin(db: &Session, begin: &BeginPayment) -> Result<RecordedPayment, Problem> {
    let with = With { numbers: payments::numbers_of_begun(begin), key: begin.key.as_ref(), ..With::default() };
    let mut opened = aggregates::open(db, Of::Checkouts(slice::from_ref(&begin.checkout)), with).await?;
    let known = opened.known.take();
    let (changes, aggregate) = opened.aggregate().ok_or(StorageError::not_found("checkout"))?;
    let begun = payments::begin(changes, aggregate, known, begin)?;
    save(db, &opened.changes, &opened.aggregates);
    Ok(begun)
}

pub(super) async fn take_prepared(db: &Session, take: &TakePrepared) -> Result<SendTurn, Problem> {
    let mut opened = aggregates::open(db, Of::Checkouts(slice::from_ref(&take.checkout)), With::default()).await?;
    let Some((changes, aggregate)) = opened.aggregate() else { return Ok(SendTurn::Gone) };
    let taken = sending::take_prepared(changes, aggregate, take)?;
    save(db, &opened.changes, &opened.aggregates);
    Ok(taken)
}

/// Locked by its checkout, whose row is locked until the commit that records the payment is finished.
pub(super) async fn record_send_outcome(db: &Session, sent: &SendOutcome) -> Result<RecordedPayment, Problem> {
    let with = With { numbers: sending::numbers_of_sent(sent), ..With::default() };
    let mut opened = aggregates::open(db, Of::Checkouts(slice::from_ref(&sent.checkout)), with).await?;
    let (changes, aggregate, at) = opened.at(&sent.payment)?;
    let recorded = sending::record_send_outcome(changes, aggregate, at, sent)?;
    save(db, &opened.changes, &opened.aggregates);
    Ok(recorded)
}

pub(super) async fn begin_confirmation(db: &Session, begin: &BeginConfirmation) -> Result<RecordedPayment, Problem> {
    let with = With { key: begin.key.as_ref(), ..With::default() };
    let mut opened = aggregates::open(db, Of::Checkouts(slice::from_ref(&begin.checkout)), with).await?;
    let known = opened.known.take();
    let (changes, aggregate) = opened.aggregate().ok_or(StorageError::not_found("payment"))?;
    let begun = confirmation::begin_confirmation(changes, aggregate, known, begin)?;
    save(db, &opened.changes, &opened.aggregates);
    Ok(begun)
}

pub(super) async fn record_confirmation(
    db: &Session,
    confirmed: &ConfirmationOutcome,
) -> Result<RecordedPayment, Problem> {
    let with = With { numbers: confirmation::numbers_of_confirmed(confirmed), ..With::default() };
    let mut opened = aggregates::open(db, Of::Checkouts(slice::from_ref(&confirmed.checkout)), with).await?;
    let (changes, aggregate, at) = opened.at(&confirmed.payment)?;
    let recorded = confirmation::record_confirmation(changes, aggregate, at, confirmed)?;
    save(db, &opened.changes, &opened.aggregates);
    Ok(recorded)
}

/// The claims are read first: they determine which numbers may be taken.
pub(super) async fn resolve(db: &Session, resolve: &Resolve) -> Result<Decision, Problem> {
    let payment = slice::from_ref(&resolve.payment);
    let mut opened = aggregates::open(db, Of::Payments(payment), With { due: payment, ..With::default() }).await?;
    if opened.aggregates.is_empty() {
        return Err(StorageError::not_found("payment").into());
    }
    let (_, aggregate, at) = opened.at(&resolve.payment)?;
    let numbers = resolution::numbers_to_resolve(&aggregate.payments[at]);
    opened.changes.numbers = aggregates::owners(db, &numbers).await?;
    let (changes, aggregate, at) = opened.at(&resolve.payment)?;
    let decision = resolution::resolve(changes, aggregate, at, resolve)?;
    save(db, &opened.changes, &opened.aggregates);
    Ok(decision)
}

// Transactions about hints: callbacks, returns, and views by apps.

/// The most callbacks of a payment that are recognized as repeated.
const MOST_CALLBACKS: i64 = 32;

pub(super) async fn record_hint(db: &Session, hint: &Hint) -> Result<HintOutcome, Problem> {
    match hint {
        Hint::Checkout { id, claimed } => {
            let mut opened = aggregates::open(db, Of::Checkouts(slice::from_ref(id)), With::default()).await?;
            let Some((changes, aggregate)) = opened.aggregate() else { return Ok(HintOutcome::Due(0)) };
            let outcome = hints::look(changes, aggregate, claimed.as_ref());
            save(db, &opened.changes, &opened.aggregates);
            Ok(outcome)
        }
        Hint::Callback { secret, payment, claim, status, same, exchange, is_whole } => {
            let known = db.row(IS_KNOWN, &[&payment.as_str(), secret]).await?;
            // A guessed address locks nothing.
            if known.is_none() {
                return Err(StorageError::not_found("callback address").into());
            }
            let (claim, status) = (claim.as_ref(), status.as_ref());
            let callback = CallbackHint { claim, status, exchange: exchange.as_deref(), is_whole: *is_whole };
            call_back(db, payment, same.as_ref(), callback).await
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
    callback: CallbackHint<'_>,
) -> Result<HintOutcome, Problem> {
    let due = slice::from_ref(payment);
    let mut opened = aggregates::open(db, Of::Payments(due), With { due, ..With::default() }).await?;
    if let Some(same) = same
        && db.row(WAS_SEEN, &[&payment.as_str(), &&same[..]]).await?.is_some()
    {
        return Ok(HintOutcome::SeenBefore);
    }
    let (changes, aggregate, at) = opened.at(payment)?;
    let outcome = hints::call_back(changes, aggregate, at, callback)?;
    if outcome == HintOutcome::TooManyClaims {
        return Ok(outcome);
    }
    save(db, &opened.changes, &opened.aggregates);
    // Only now: a remembered callback has been processed.
    if let Some(same) = same {
        let id = payment.as_str().to_owned();
        db.later(REMEMBER, vec![Box::new(id.clone()), Box::new(same.to_vec()), Box::new(opened.changes.now)]);
        db.later(FORGET, vec![Box::new(id), Box::new(MOST_CALLBACKS)]);
    }
    Ok(outcome)
}
