//! Checkouts that need a person, with the reason, by small partial indexes.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::session::{Problem, Session};
use crate::{
    checkouts::CheckoutView,
    storage::{StorageError, staff::Need},
    values::Millis,
};

/// The limit of counting: more detail helps nobody.
const MOST_COUNTED: i64 = 10_000;

/// All that need a person, with a limit for each reason; `$10` is the time before which an unknown payment counts.
macro_rules! all {
    () => {
        "(SELECT checkout_id AS id FROM payments WHERE unknown_since <= $10 LIMIT 10000)
        UNION (SELECT checkout_id FROM payments WHERE state = 'mismatch' LIMIT 10000)
        UNION (SELECT checkout_id FROM payments WHERE is_in_doubt AND state <> 'mismatch' LIMIT 10000)
        UNION (SELECT checkout_id FROM payments WHERE is_stuck AND state IN ('awaiting', 'confirming') LIMIT 10000)
        UNION (SELECT id FROM checkouts WHERE refunds_due > 0 LIMIT 10000)
        UNION (SELECT checkout_id FROM streams WHERE is_given_up LIMIT 10000)
        UNION (SELECT checkout_id FROM streams WHERE first_refused IS NOT NULL LIMIT 10000)"
    };
}
pub(super) use all;

/// In the order of [`NEEDS`].
const COUNT: &str = "SELECT
    (SELECT COUNT(*) FROM (SELECT DISTINCT checkout_id FROM payments WHERE unknown_since <= $1 LIMIT $2) AS n),
    (SELECT COUNT(*) FROM (SELECT DISTINCT checkout_id FROM payments WHERE state = 'mismatch' LIMIT $2) AS n),
    (SELECT COUNT(*) FROM (SELECT DISTINCT checkout_id FROM payments
        WHERE is_in_doubt AND state <> 'mismatch' LIMIT $2) AS n),
    (SELECT COUNT(*) FROM (SELECT DISTINCT checkout_id FROM payments
        WHERE is_stuck AND state IN ('awaiting', 'confirming') LIMIT $2) AS n),
    (SELECT COUNT(*) FROM (SELECT 1 FROM checkouts WHERE refunds_due > 0 LIMIT $2) AS n),
    (SELECT COUNT(*) FROM (SELECT 1 FROM streams WHERE is_given_up LIMIT $2) AS n),
    (SELECT COUNT(*) FROM (SELECT 1 FROM streams WHERE first_refused IS NOT NULL LIMIT $2) AS n)";
const OF: &str =
    "SELECT id, COALESCE(bool_or(unknown_since <= $1), FALSE), COALESCE(bool_or(state = 'mismatch'), FALSE),
        COALESCE(bool_or(is_in_doubt AND state <> 'mismatch'), FALSE),
        COALESCE(bool_or(is_stuck AND state IN ('awaiting', 'confirming')), FALSE),
        (SELECT refunds_due > 0 FROM checkouts WHERE checkouts.id = n.id),
        EXISTS (SELECT 1 FROM streams WHERE streams.checkout_id = n.id AND is_given_up),
        EXISTS (SELECT 1 FROM streams WHERE streams.checkout_id = n.id AND first_refused IS NOT NULL)
    FROM unnest($2::text[]) AS n (id) LEFT JOIN (SELECT checkout_id, unknown_since, state, is_stuck, is_in_doubt FROM payments) AS p
        ON p.checkout_id = n.id
    GROUP BY n.id";
const NEEDS: [Need; 7] =
    [Need::Unknown, Need::Mismatch, Need::Unverifiable, Need::Stuck, Need::Overpaid, Need::Undelivered, Need::Refused];

/// Counts the checkouts that need a person, by reason; each up to a limit.
pub(super) async fn count(db: &Session, unknown_since: Millis) -> Result<Vec<(Need, u64)>, Problem> {
    let row = db.row(COUNT, &[&unknown_since, &MOST_COUNTED]).await?;
    let row = row.ok_or_else(|| StorageError::failed("nothing was counted"))?;
    let one = |(at, need): (usize, &Need)| Ok((*need, row.try_get::<_, i64>(at)?.unsigned_abs()));
    NEEDS.iter().enumerate().map(one).collect()
}

/// The reasons why each of these checkouts needs a person.
pub(super) async fn of(
    db: &Session,
    views: &[CheckoutView],
    unknown_since: Millis,
) -> Result<HashMap<String, Vec<Need>>, Problem> {
    let ids: Vec<&str> = views.iter().map(|view| view.checkout.id.as_str()).collect();
    db.rows(OF, &[&unknown_since, &ids]).await?.iter().map(needs_of).collect()
}

fn needs_of(row: &Row) -> Result<(String, Vec<Need>), Problem> {
    let mut needs = Vec::new();
    for (at, need) in NEEDS.iter().enumerate() {
        if row.try_get(at + 1)? {
            needs.push(*need);
        }
    }
    Ok((row.try_get(0)?, needs))
}
