//! Transactions about hints: callbacks, returns, apps that look. A hint makes a payment due, and settles nothing.

use rusqlite::Connection;

use super::{
    connection::now,
    due,
    rows::{self, Kept},
};
use crate::{
    pace::schedule::Class,
    storage::{
        error::StorageError,
        inputs::{Claim, Hint},
        outputs::HintNoted,
    },
    values::{Millis, ids::PaymentId, method::Method, states::PaymentState},
};

/// How many claimed numbers are kept of a payment, and how many callbacks are known again.
const MOST_CLAIMS: u32 = 8;
const MOST_CALLBACKS: u32 = 32;

pub(super) fn note(db: &Connection, hint: &Hint) -> Result<HintNoted, StorageError> {
    let now = now(db)?;
    match hint {
        Hint::Checkout { id } => {
            let payments = rows::payments_of(db, id)?;
            make_due(db, now, payments.iter().filter(|kept| is_open(kept)))
        }
        Hint::Callback { secret, payment, claim, same } => {
            let Some(checkout) = rows::checkout_where(db, "callback_secret", secret)? else {
                return Ok(HintNoted::Nowhere);
            };
            let kept = rows::payment(db, payment)?.filter(|kept| kept.payment.checkout == checkout.id);
            let Some(kept) = kept else { return Ok(HintNoted::Nowhere) };
            if let Some(same) = same
                && !is_new(db, payment, same, now)?
            {
                return Ok(HintNoted::SeenBefore);
            }
            if let Some(claim) = claim.as_ref().filter(|_| kept.payment.method == Method::PayForm) {
                note_claim(db, payment, claim, now)?;
            }
            // Also about what has ended: money may come after a rejection.
            make_due(db, now, Some(&kept).filter(|kept| kept.payment.state != PaymentState::Charged).into_iter())
        }
    }
}

/// Who only looks has no news of what has ended; but a contradiction is nobody's last word: the gateway may have put it right.
fn is_open(kept: &Kept) -> bool {
    let may_be_asked_about = kept.payment.method == Method::PayForm || kept.payment.reference.can_be_asked_about();
    let has_ended = kept.payment.state.is_final() && kept.payment.state != PaymentState::Contradicted;
    may_be_asked_about && !has_ended
}

fn make_due<'a>(
    db: &Connection,
    now: Millis,
    payments: impl Iterator<Item = &'a Kept>,
) -> Result<HintNoted, StorageError> {
    let mut made_due = 0;
    for kept in payments {
        let id = &kept.payment.id;
        if matches!(kept.payment.state, PaymentState::Prepared | PaymentState::Sending) {
            // A callback can come before the create call returned. Nobody is asked about what may not be there yet.
            db.prepare_cached("UPDATE payments SET is_hinted = 1 WHERE id = ?1")?.execute([id.as_str()])?;
        } else {
            due::put(db, id, now, Class::Hinted, now)?;
        }
        made_due += 1;
    }
    Ok(HintNoted::Due(made_due))
}

fn is_new(db: &Connection, payment: &PaymentId, same: &[u8; 32], now: Millis) -> Result<bool, StorageError> {
    let inserted = db
        .prepare_cached("INSERT OR IGNORE INTO callbacks (payment_id, same, at) VALUES (?1, ?2, ?3)")?
        .execute((payment.as_str(), &same[..], now))?;
    db.prepare_cached(
        "DELETE FROM callbacks WHERE payment_id = ?1 AND same IN
            (SELECT same FROM callbacks WHERE payment_id = ?1 ORDER BY at DESC, same LIMIT -1 OFFSET ?2)",
    )?
    .execute((payment.as_str(), MOST_CALLBACKS))?;
    Ok(inserted > 0)
}

/// Written down before the gateway is asked: whoever claimed may not come again. Where there are too many, the oldest that
/// the gateway did not know gives way.
fn note_claim(db: &Connection, payment: &PaymentId, claim: &Claim, now: Millis) -> Result<(), StorageError> {
    db.prepare_cached(
        "DELETE FROM claims WHERE payment_id = ?1 AND number <> ?2 AND number IN
            (SELECT number FROM claims WHERE payment_id = ?1 AND state IN ('nothing', 'contradicted', 'rejected', 'taken')
                ORDER BY at LIMIT MAX(0, (SELECT COUNT(*) FROM claims WHERE payment_id = ?1) - ?3))",
    )?
    .execute((payment.as_str(), &claim.number, MOST_CLAIMS - 1))?;
    db.prepare_cached(
        "INSERT INTO claims (payment_id, number, provider, state, at)
         SELECT ?1, ?2, ?3, 'new', ?4
         WHERE (SELECT COUNT(*) FROM claims WHERE payment_id = ?1) < ?5
            OR EXISTS (SELECT 1 FROM claims WHERE payment_id = ?1 AND number = ?2)
         ON CONFLICT (payment_id, number) DO UPDATE SET at = excluded.at, provider = excluded.provider",
    )?
    .execute((
        payment.as_str(),
        &claim.number,
        claim.provider.as_ref().map(kassa::Provider::name),
        now,
        MOST_CLAIMS,
    ))?;
    Ok(())
}
