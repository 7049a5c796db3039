//! Transactions about hints: callbacks, returns, apps that look. A hint makes a payment due, and proves nothing.

use rusqlite::Connection;

use super::{books, rows};
use crate::{
    storage::{
        book::hints::{self, Called},
        error::StorageError,
        inputs::Hint,
        outputs::HintNoted,
    },
    values::{Millis, ids::PaymentId},
};

/// How many callbacks of a payment are known again.
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
        Hint::Callback { secret, payment, claim, status, same, exchange, is_whole } => {
            let Some(checkout) = rows::checkout_where(db, "callback_secret", secret)? else {
                return Ok(HintNoted::Nowhere);
            };
            let book = books::open_at(db, payment)?.filter(|book| book.head.id == checkout.id);
            let Some(mut book) = book else { return Ok(HintNoted::Nowhere) };
            let mut changes = books::begin(db, &[])?;
            if let Some(same) = same
                && was_seen(db, payment, same)?
            {
                return Ok(HintNoted::SeenBefore);
            }
            book.payments[0].claims = books::claims(db, payment)?;
            let (claim, status) = (claim.as_ref(), status.as_ref());
            let called = Called { claim, status, exchange: exchange.as_deref(), is_whole: *is_whole };
            let noted = hints::call_back(&mut changes, &mut book, 0, called)?;
            if noted == HintNoted::TooManyClaims {
                return Ok(noted);
            }
            books::save(db, &changes, &book)?;
            // Only now: what is remembered is dealt with.
            if let Some(same) = same {
                remember(db, payment, same, changes.now)?;
            }
            Ok(noted)
        }
    }
}

fn was_seen(db: &Connection, payment: &PaymentId, same: &[u8; 32]) -> Result<bool, StorageError> {
    let mut statement = db.prepare_cached("SELECT 1 FROM callbacks WHERE payment_id = ?1 AND same = ?2")?;
    Ok(statement.exists((payment.as_str(), &same[..]))?)
}

fn remember(db: &Connection, payment: &PaymentId, same: &[u8; 32], now: Millis) -> Result<(), StorageError> {
    db.prepare_cached("INSERT OR IGNORE INTO callbacks (payment_id, same, at) VALUES (?1, ?2, ?3)")?.execute((
        payment.as_str(),
        &same[..],
        now,
    ))?;
    db.prepare_cached(
        "DELETE FROM callbacks WHERE payment_id = ?1 AND same IN
            (SELECT same FROM callbacks WHERE payment_id = ?1 ORDER BY at DESC, same LIMIT -1 OFFSET ?2)",
    )?
    .execute((payment.as_str(), MOST_CALLBACKS))?;
    Ok(())
}
