//! Transactions about hints: callbacks, returns, apps that look. A hint makes a payment due, and settles nothing.

use rusqlite::Connection;

use super::{books, rows};
use crate::{
    storage::{
        book::hints,
        error::StorageError,
        inputs::{Claim, Hint},
        outputs::HintNoted,
    },
    values::{Millis, ids::PaymentId, method::Method},
};

/// How many claimed numbers are kept of a payment, and how many callbacks are known again.
const MOST_CLAIMS: u32 = 8;
const MOST_CALLBACKS: u32 = 32;

pub(super) fn note(db: &Connection, hint: &Hint) -> Result<HintNoted, StorageError> {
    match hint {
        Hint::Checkout { id } => {
            let Some(mut book) = books::open(db, id)? else { return Ok(HintNoted::Due(0)) };
            let mut changes = books::begin(db, &[])?;
            let noted = hints::look(&mut changes, &mut book);
            books::save(db, &changes, &book)?;
            Ok(noted)
        }
        Hint::Callback { secret, payment, claim, same } => {
            let Some(checkout) = rows::checkout_where(db, "callback_secret", secret)? else {
                return Ok(HintNoted::Nowhere);
            };
            let book = books::open_at(db, payment)?.filter(|book| book.head.id == checkout.id);
            let Some(mut book) = book else { return Ok(HintNoted::Nowhere) };
            let mut changes = books::begin(db, &[])?;
            if let Some(same) = same
                && !is_new(db, payment, same, changes.now)?
            {
                return Ok(HintNoted::SeenBefore);
            }
            if let Some(claim) = claim.as_ref().filter(|_| book.payments[0].payment.method == Method::PayForm) {
                note_claim(db, payment, claim, changes.now)?;
            }
            let noted = hints::call_back(&mut changes, &mut book, 0);
            books::save(db, &changes, &book)?;
            Ok(noted)
        }
    }
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
