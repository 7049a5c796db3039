//! Transactions of the staff's pages: sessions, checkouts that need a person, histories, refunds and charges.

use rusqlite::{Connection, OptionalExtension, Row};

use super::{
    aggregates,
    connection::now,
    outbox,
    rows::{self, existing_view, read},
};
use crate::{
    events::EventKind,
    payments::{Payment, exchange::PENDING},
    storage::{
        StorageError,
        aggregate::resolution,
        staff::{
            Adding, Charge, Charges, End, Ends, History, LONGEST_IDLE, LONGEST_SESSION, ListedCheckout, ListedClaim,
            MOST_UNKNOWN_CALLBACKS, Need, NewStaffSession, Period, RecordRefund, RefundOutcome, StaffSession,
            StoredUnknownCallback, UNKNOWN_FOR, UnknownCallback,
        },
    },
    tokens::TokenHash,
    values::{CheckoutId, Millis, PaymentId},
};

/// The limit of counting: more detail helps nobody.
const MOST_COUNTED: u32 = 10_000;

/// The source of checkouts that need a person for one reason: a small partial index. It is named, because for `DISTINCT` the
/// planner would read the whole table in order.
pub(super) struct Needing {
    need: Need,
    table: &'static str,
    index: &'static str,
    /// The checkout's identifier.
    id: &'static str,
    condition: &'static str,
}

pub(super) const NEEDS: [Needing; 7] = [
    Needing {
        need: Need::Unknown,
        table: "payments",
        index: "payments_unknown",
        id: "checkout_id",
        condition: "unknown_since <= ?1",
    },
    Needing {
        need: Need::Mismatch,
        table: "payments",
        index: "payments_mismatch",
        id: "checkout_id",
        condition: "state = 'mismatch'",
    },
    Needing {
        need: Need::Unverifiable,
        table: "payments",
        index: "payments_in_doubt",
        id: "checkout_id",
        condition: "is_in_doubt = 1 AND state <> 'mismatch'",
    },
    Needing {
        need: Need::Stuck,
        table: "payments",
        index: "payments_that_are_stuck",
        id: "checkout_id",
        condition: "is_stuck = 1 AND state IN ('awaiting', 'confirming')",
    },
    Needing {
        need: Need::Overpaid,
        table: "checkouts",
        index: "checkouts_to_refund",
        id: "id",
        condition: "refunds_due > 0",
    },
    Needing {
        need: Need::Undelivered,
        table: "streams",
        index: "streams_given_up",
        id: "checkout_id",
        condition: "is_given_up = 1",
    },
    Needing {
        need: Need::Refused,
        table: "streams",
        index: "streams_refused",
        id: "checkout_id",
        condition: "first_refused IS NOT NULL",
    },
];

impl Needing {
    /// All of them.
    pub(super) fn all(&self) -> String {
        let Self { table, index, id, condition, .. } = self;
        format!("SELECT {id} AS id FROM {table} INDEXED BY {index} WHERE {condition}")
    }

    /// At most a limited number of them, each once.
    pub(super) fn counted(&self) -> String {
        format!("SELECT COUNT(*) FROM (SELECT DISTINCT id FROM ({}) LIMIT ?2)", self.all())
    }

    /// Whether one checkout is among them.
    pub(super) fn is_one(&self) -> String {
        let Self { table, id, condition, .. } = self;
        format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE {condition} AND {id} = ?2)")
    }
}

pub(super) fn statement_mapping(db: &Connection) -> Result<Option<String>, StorageError> {
    let mut statement = db.prepare_cached("SELECT mapping FROM statement_mapping")?;
    Ok(statement.query_row([], |row| row.get(0)).optional()?)
}

pub(super) fn set_statement_mapping(db: &Connection, mapping: &str) -> Result<(), StorageError> {
    let sql = "INSERT INTO statement_mapping (id, mapping) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET mapping = excluded.mapping";
    db.prepare_cached(sql)?.execute([mapping])?;
    Ok(())
}

pub(super) fn record_unknown_callback(db: &Connection, callback: &UnknownCallback) -> Result<(), StorageError> {
    let at = now(db)?;
    db.prepare_cached(
        "INSERT INTO unknown_callbacks (payment_id, number, amount, status, first_at, last_at, times) VALUES (?1, ?2, ?3, ?4, ?5, ?5, 1)
         ON CONFLICT (payment_id) DO UPDATE SET number = excluded.number, amount = excluded.amount, status = excluded.status,
            last_at = excluded.last_at, times = times + 1",
    )?
    .execute((
        callback.payment.as_str(),
        &callback.number,
        callback.amount.map(|amount| amount.to_string()),
        &callback.status,
        at,
    ))?;
    db.prepare_cached(
        "DELETE FROM unknown_callbacks WHERE payment_id IN
            (SELECT payment_id FROM unknown_callbacks ORDER BY last_at DESC, payment_id LIMIT -1 OFFSET ?1)",
    )?
    .execute([MOST_UNKNOWN_CALLBACKS])?;
    Ok(())
}

pub(super) fn unknown_callbacks(db: &Connection) -> Result<Vec<StoredUnknownCallback>, StorageError> {
    let sql = "SELECT payment_id, number, amount, status, first_at, last_at, times FROM unknown_callbacks
        ORDER BY last_at DESC, payment_id";
    let mut statement = db.prepare_cached(sql)?;
    let (mut rows, mut found) = (statement.query([])?, Vec::new());
    while let Some(row) = rows.next()? {
        let payment: String = row.get(0)?;
        let amount: Option<String> = row.get(2)?;
        let callback = UnknownCallback {
            payment: read(&payment, "payment")?,
            number: row.get(1)?,
            amount: amount.and_then(|amount| amount.parse().ok()),
            status: row.get(3)?,
        };
        found.push(StoredUnknownCallback {
            callback,
            first_at: row.get(4)?,
            last_at: row.get(5)?,
            times: row.get::<_, i64>(6)?.unsigned_abs(),
        });
    }
    Ok(found)
}

pub(super) fn count_unknown_callbacks(db: &Connection) -> Result<u64, StorageError> {
    let count: i64 = db.prepare_cached("SELECT COUNT(*) FROM unknown_callbacks")?.query_row([], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

pub(super) fn remove_unknown_callbacks(db: &Connection, until: Millis) -> Result<u64, StorageError> {
    let removed = db.prepare_cached("DELETE FROM unknown_callbacks WHERE last_at <= ?1")?.execute([until])?;
    Ok(removed as u64)
}

/// All that need a person, with a limit for each reason; `?10` is the time before which an unknown payment counts.
pub(super) fn need_person() -> String {
    let most = |need: Needing| format!("SELECT id FROM ({} LIMIT {MOST_COUNTED})", need.all().replace("?1", "?10"));
    NEEDS.map(most).join(" UNION ")
}

/// The condition repeats that of the index exactly: only then is the index used.
macro_rules! ends {
    () => {
        "events.kind IN ('payment.charged', 'payment.resolved', 'payment.rejected', 'payment.not_made', 'payment.unknown')
        AND events.at >= ?1 AND events.at < ?2"
    };
}

pub(super) const CHARGES: &str = concat!(
    "SELECT events.at, events.kind, payments.id, payments.checkout_id, checkouts.reference,
        payments.method, payments.reference, checkouts.amount, checkouts.currency,
        (SELECT json_group_array(number) FROM taken_numbers WHERE payment_id = payments.id AND kind <> 'page'), checkouts.is_overpaid
    FROM events
    JOIN payments ON payments.id = events.payment_id
    JOIN checkouts ON checkouts.id = payments.checkout_id
    WHERE ",
    ends!(),
    " AND events.kind IN ('payment.charged', 'payment.resolved')
        AND json_extract(events.body, '$.data.payment.state') = 'charged'
    ORDER BY events.at, events.seq LIMIT ?3"
);

/// The state after the event, because a person's decision can have either result.
pub(super) const ENDS: &str = concat!(
    "SELECT events.at, json_extract(events.body, '$.data.payment.state'), payments.method, checkouts.amount,
        checkouts.currency
    FROM events
    JOIN payments ON payments.id = events.payment_id
    JOIN checkouts ON checkouts.id = payments.checkout_id
    WHERE ",
    ends!(),
    " ORDER BY events.at, events.seq LIMIT ?3"
);

/// Adds a session. False if the key is not a valid staff key.
pub(super) fn add_session(db: &Connection, new: &NewStaffSession) -> Result<bool, StorageError> {
    let now = now(db)?;
    let added = db
        .prepare_cached(
            "INSERT INTO staff_sessions (hash, key_id, made_at, used_at, expires_at)
             SELECT ?1, id, ?3, ?3, ?4 FROM api_keys WHERE id = ?2 AND role = 'staff' AND revoked_at IS NULL",
        )?
        .execute((&new.hash.0[..], new.key.as_str(), now, now.saturating_add(LONGEST_IDLE.min(LONGEST_SESSION))))?;
    Ok(added == 1)
}

pub(super) fn session(db: &Connection, hash: &TokenHash) -> Result<Option<StaffSession>, StorageError> {
    let row: Option<(String, String, String, Millis)> = db
        .prepare_cached(
            "SELECT api_keys.id, api_keys.name, api_keys.permission, now_ms() - used_at FROM staff_sessions
             JOIN api_keys ON api_keys.id = staff_sessions.key_id
             WHERE staff_sessions.hash = ?1 AND expires_at > now_ms() AND role = 'staff' AND revoked_at IS NULL",
        )?
        .query_row([&hash.0[..]], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?;
    row.map(|(key, name, permission, unused_for)| {
        Ok(StaffSession { key: read(&key, "key")?, name, permission: read(&permission, "permission")?, unused_for })
    })
    .transpose()
}

/// An ended session stays ended.
pub(super) fn use_session(db: &Connection, hash: &TokenHash) -> Result<(), StorageError> {
    db.prepare_cached(
        "UPDATE staff_sessions SET used_at = ?2, expires_at = MIN(made_at + ?3, ?2 + ?4)
         WHERE hash = ?1 AND expires_at > ?2",
    )?
    .execute((&hash.0[..], now(db)?, LONGEST_SESSION, LONGEST_IDLE))?;
    Ok(())
}

pub(super) fn end_session(db: &Connection, hash: &TokenHash) -> Result<(), StorageError> {
    db.prepare_cached("DELETE FROM staff_sessions WHERE hash = ?1")?.execute([&hash.0[..]])?;
    Ok(())
}

/// The time before which an unknown payment counts as unknown for too long.
pub(super) fn unknown_since(db: &Connection) -> Result<Millis, StorageError> {
    Ok(now(db)?.saturating_sub(UNKNOWN_FOR))
}

pub(super) fn listed_one(
    db: &Connection,
    id: &CheckoutId,
    unknown_since: Millis,
) -> Result<ListedCheckout, StorageError> {
    let view = existing_view(db, id)?;
    let mut needs = Vec::new();
    for known in &NEEDS {
        if db.prepare_cached(&known.is_one())?.query_row((unknown_since, id.as_str()), |row| row.get(0))? {
            needs.push(known.need);
        }
    }
    Ok(ListedCheckout { view, needs })
}

/// Counts the checkouts that need a person, by reason; each up to a limit.
pub(super) fn count_needs(db: &Connection) -> Result<Vec<(Need, u64)>, StorageError> {
    let unknown_since = unknown_since(db)?;
    let count = |known: &Needing| {
        let sql = known.counted();
        let count: i64 = db.prepare_cached(&sql)?.query_row((unknown_since, MOST_COUNTED), |row| row.get(0))?;
        Ok((known.need, count.unsigned_abs()))
    };
    NEEDS.iter().map(count).collect()
}

pub(super) fn history(db: &Connection, id: &CheckoutId) -> Result<Option<History>, StorageError> {
    if rows::checkout(db, id)?.is_none() {
        return Ok(None);
    }
    let listed = listed_one(db, id, unknown_since(db)?)?;
    let stream = db
        .prepare_cached("SELECT delivered, failures, is_given_up FROM streams WHERE checkout_id = ?1")?
        .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let (delivered, failures, is_given_up) = stream.unwrap_or_default();
    let of = |payment: &Payment| rows::of_payment(db, &payment.id);
    let exchanges = listed.view.payments.iter().map(of).collect::<Result<_, _>>()?;
    let claims_of = |payment: &Payment| {
        let claims = aggregates::claims(db, &payment.id)?;
        Ok::<_, StorageError>(claims.into_iter().map(ListedClaim::from).collect())
    };
    let claims = listed.view.payments.iter().map(claims_of).collect::<Result<_, _>>()?;
    let (events, refused) = (outbox::events_of(db, id)?, outbox::refused(db, id)?);
    Ok(Some(History { listed, events, exchanges, claims, delivered, failures, is_given_up, refused }))
}

/// Equal answers are counted in the row of the first one, so the last row is not always the last report.
pub(super) const LAST_REPORT: &str = "SELECT outcome, last_at FROM exchanges WHERE payment_id = ?1 AND kind = 'status'
    ORDER BY last_at DESC, number DESC LIMIT 1";

pub(super) fn last_pending_report(db: &Connection, payment: &PaymentId) -> Result<Option<Millis>, StorageError> {
    let mut statement = db.prepare_cached(LAST_REPORT)?;
    let report = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?));
    let last = statement.query_row([payment.as_str()], report).optional()?;
    Ok(last.filter(|(outcome, _)| outcome == PENDING).map(|(_, at)| at))
}

pub(super) fn record_refund(db: &Connection, refund: &RecordRefund) -> Result<RefundOutcome, StorageError> {
    let mut aggregate = aggregates::open(db, &refund.checkout)?.ok_or(StorageError::not_found("checkout"))?;
    let mut changes = aggregates::begin(db, &[])?;
    let outcome = resolution::record_refund(&mut changes, &mut aggregate, refund)?;
    aggregates::save(db, &changes, &aggregate)?;
    Ok(outcome)
}

/// Charged is absorbing: each payment has one event that made it so.
pub(super) fn charges(db: &Connection, period: Period, most: u32) -> Result<Charges, StorageError> {
    let mut statement = db.prepare_cached(CHARGES)?;
    let mut rows = statement.query((period.from, period.until, most.saturating_add(1)))?;
    let mut charges = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |column| row.get::<_, String>(column);
        charges.push(Charge {
            at: row.get(0)?,
            is_resolved: text(1)? == EventKind::PaymentResolved.name(),
            is_overpaid: row.get(10)?,
            payment: read(&text(2)?, "payment")?,
            checkout: read(&text(3)?, "checkout")?,
            shop_reference: text(4)?,
            method: read(&text(5)?, "method")?,
            reference: read(&text(6)?, "reference")?,
            amount: read(&text(7)?, "amount")?,
            currency: text(8)?,
            taken_numbers: serde_json::from_str(&text(9)?).map_err(|_| StorageError::Damaged { what: "numbers" })?,
        });
    }
    let is_more = charges.len() > most as usize;
    charges.truncate(most as usize);
    Ok(Charges { charges, is_more })
}

/// Adds up the payments that ended in a period.
pub(super) fn ends(db: &Connection, period: Period, most: u32) -> Result<Ends, StorageError> {
    let mut statement = db.prepare_cached(ENDS)?;
    let mut rows = statement.query((period.from, period.until, most.saturating_add(1)))?;
    let (mut adding, mut read_so_far) = (Adding::default(), 0);
    while let Some(row) = rows.next()? {
        read_so_far += 1;
        if read_so_far > most {
            break;
        }
        let text = |column| row.get_ref(column)?.as_str().map_err(|_| StorageError::Damaged { what: "text" });
        adding.add(End { at: row.get(0)?, state: text(1)?, method: text(2)?, amount: text(3)?, currency: text(4)? });
    }
    adding.ends(read_so_far > most)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rusqlite::StatementStatus;

    use super::*;
    use crate::storage::sqlite::connection::open_in_memory;

    /// A payment's page reads its own last report, however many payments and answers there are: counted in the steps that SQLite takes.
    #[test]
    fn last_report_costs_the_same_among_many() {
        let db = open_in_memory(Arc::new(|| 0)).unwrap();
        db.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        let payment = PaymentId::from_random([200; 16]);
        let answer = |of: &PaymentId, number: i64| {
            let sql = "INSERT INTO exchanges (payment_id, number, kind, outcome, first_at, last_at, times)
                VALUES (?1, ?2, 'status', 'pending', ?2, ?2, 1)";
            db.prepare_cached(sql).unwrap().execute((of.as_str(), number)).unwrap();
        };
        let read = || {
            let mut statement = db.prepare(LAST_REPORT).unwrap();
            let mut rows = statement.query([payment.as_str()]).unwrap();
            let mut count = 0;
            while rows.next().unwrap().is_some() {
                count += 1;
            }
            drop(rows);
            assert_eq!(statement.get_status(StatementStatus::FullscanStep), 0);
            (count, statement.get_status(StatementStatus::VmStep))
        };
        (1..=50).for_each(|number| answer(&payment, number));
        let alone = read();
        for other in 0..100 {
            (1..=50).for_each(|number| answer(&PaymentId::from_random([other; 16]), number));
        }
        assert_eq!((alone.0, read()), (1, alone));
        assert_eq!(last_pending_report(&db, &payment), Ok(Some(50)));
    }
}
