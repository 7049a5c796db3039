//! Pruning (retention): what only answers those who ask again goes some time after the end. What says what became of money
//! stays for ever: checkouts, payments, events, and numbers that were taken, as each pays once.

use super::{problem::Problem, session::Session};
use crate::values::Millis;

/// The idempotency keys of checkouts that ended, of which nothing can be begun any more, and what the gateway said of them.
const KEYS: &str = "WITH ended AS MATERIALIZED (
        SELECT id FROM checkouts WHERE keys_kept_since <= $1 ORDER BY keys_kept_since LIMIT $2
        FOR NO KEY UPDATE SKIP LOCKED
    ), keys AS (
        DELETE FROM idempotency USING ended WHERE idempotency.checkout_id = ended.id
    ), said AS (
        DELETE FROM exchanges USING ended, payments
        WHERE payments.checkout_id = ended.id AND exchanges.payment_id = payments.id
    )
    UPDATE checkouts SET keys_kept_since = NULL FROM ended WHERE checkouts.id = ended.id";
/// Hashes of callbacks: one that comes again is a hint again.
const CALLBACKS: &str = "DELETE FROM callbacks WHERE (payment_id, same) IN
    (SELECT payment_id, same FROM callbacks WHERE at <= $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)";
/// Hashes of client tokens, and of the staff's sessions, that opened nothing any more.
const TOKENS: &str = "DELETE FROM tokens WHERE hash IN
    (SELECT hash FROM tokens WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)";
const SESSIONS: &str = "DELETE FROM staff_sessions WHERE hash IN
    (SELECT hash FROM staff_sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)";

/// Removes what is from before, and sessions that are over now; so many of each kind at most. The most that was found of one
/// kind.
pub(super) async fn prune(db: &Session, now: Millis, before: Millis, most: u32) -> Result<usize, Problem> {
    let (mut found, most) = (0, i64::from(most));
    for (sql, until) in [(KEYS, before), (CALLBACKS, before), (TOKENS, before), (SESSIONS, now)] {
        found = found.max(db.execute(sql, &[&until, &most]).await?);
    }
    Ok(usize::try_from(found).unwrap_or(usize::MAX))
}
