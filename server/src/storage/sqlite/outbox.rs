//! Outbox: events, written in the transaction of their change, and the streams that deliver them.

use rusqlite::{Connection, OptionalExtension, Row, Rows};

use super::rows::read;
use crate::{
    events::{Event, EventKind},
    pace::{GIVEN_UP_AFTER, pause_after},
    storage::{
        StorageError,
        aggregate::changes::NewEvent,
        inputs::{ClaimDeliveries, DeliveryOutcome, DeliveryResult},
        outputs::{Deliveries, Delivery, SkippedEvent},
        staff::RefusedEvent,
    },
    values::{CheckoutId, Cursor, Millis, PaymentId, error::ServerError},
};

const EVENT: &str = "SELECT seq, event_id, checkout_id, payment_id, number, kind, body, at FROM events";

/// Writes events, which wakes the streams that deliver them.
pub(super) fn write(db: &Connection, now: Millis, events: &[NewEvent]) -> Result<(), StorageError> {
    for event in events {
        db.prepare_cached(
            "INSERT INTO events (event_id, checkout_id, payment_id, number, version, kind, body, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute((
            &event.id,
            event.checkout.as_str(),
            event.payment.as_ref().map(PaymentId::as_str),
            event.number,
            event.version,
            event.kind.name(),
            &event.body,
            now,
        ))?;
    }
    // All events of a transaction are of one checkout.
    events.first().map_or(Ok(()), |event| wake(db, now, &event.checkout))
}

/// Wakes a stream. A given-up one is tried again, in order.
fn wake(db: &Connection, now: Millis, checkout: &CheckoutId) -> Result<(), StorageError> {
    db.prepare_cached(
        "INSERT INTO streams (checkout_id, due_at) VALUES (?1, ?2)
         ON CONFLICT (checkout_id) DO UPDATE SET
            due_at = COALESCE(due_at, excluded.due_at),
            failures = CASE is_given_up WHEN 1 THEN 0 ELSE failures END,
            refusals = CASE is_given_up WHEN 1 THEN 0 ELSE refusals END,
            failing_since = CASE is_given_up WHEN 1 THEN NULL ELSE failing_since END,
            is_given_up = 0",
    )?
    .execute((checkout.as_str(), now))?;
    Ok(())
}

pub(super) fn events_after(db: &Connection, cursor: &Cursor, most: u32) -> Result<Vec<Event>, StorageError> {
    if !cursor.is_start() && !is_known(db, cursor)? {
        return Err(ServerError::HistoryGone { resume: resume(db, cursor)? }.into());
    }
    let mut statement = db.prepare_cached(&format!("{EVENT} WHERE seq > ?1 ORDER BY seq LIMIT ?2"))?;
    all_of(statement.query((cursor.seq, most))?)
}

fn is_known(db: &Connection, cursor: &Cursor) -> Result<bool, StorageError> {
    let mut statement = db.prepare_cached("SELECT event_id FROM events WHERE seq = ?1 AND at = ?2")?;
    let id: Option<String> = statement.query_row((cursor.seq, cursor.at), |row| row.get(0)).optional()?;
    Ok(id.is_some_and(|id| cursor.is_of(&id)))
}

/// The last event that was certainly written before the cursor's history ended.
fn resume(db: &Connection, cursor: &Cursor) -> Result<Cursor, StorageError> {
    let last = "SELECT seq, at, event_id FROM events WHERE seq < ?1 AND at <= ?2 ORDER BY seq DESC LIMIT 1";
    let mut statement = db.prepare_cached(last)?;
    let read = |row: &Row<'_>| Ok(Cursor::at(row.get(0)?, row.get(1)?, &row.get::<_, String>(2)?));
    let found = statement.query_row((cursor.seq, cursor.shared_until()), read).optional()?;
    Ok(found.unwrap_or_default())
}

/// All events of a checkout, in order.
pub(super) fn events_of(db: &Connection, checkout: &CheckoutId) -> Result<Vec<Event>, StorageError> {
    let mut statement = db.prepare_cached(&format!("{EVENT} WHERE checkout_id = ?1 ORDER BY seq"))?;
    all_of(statement.query([checkout.as_str()])?)
}

fn all_of(mut rows: Rows<'_>) -> Result<Vec<Event>, StorageError> {
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let payment: Option<String> = row.get(3)?;
        let payment = payment.map(|id| read(&id, "payment")).transpose()?;
        let checkout = read(&row.get::<_, String>(2)?, "checkout")?;
        let kind = row.get::<_, String>(5)?.parse().ok();
        let (number, body, at) = (row.get(4)?, row.get(6)?, row.get(7)?);
        events.push(Event { number, kind, body, at, ..Event::new(row.get(0)?, row.get(1)?, checkout, payment) });
    }
    Ok(events)
}

/// The lease is the schedule: an unrecorded delivery becomes due again.
pub(super) fn claim(db: &Connection, now: Millis, claim: &ClaimDeliveries) -> Result<Deliveries, StorageError> {
    let leased_until = now.saturating_add(claim.lease_ms);
    let streams = db
        .prepare_cached("SELECT checkout_id, delivered FROM streams WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2")?
        .query_map((now, claim.most), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<(String, i64)>, _>>()?;
    let mut deliveries = Vec::new();
    for (checkout, delivered) in streams {
        let Next { delivery, skipped } = next(db, &checkout, delivered, claim, leased_until)?;
        let due_at = delivery.as_ref().map(|_| leased_until);
        db.prepare_cached("UPDATE streams SET due_at = ?2 WHERE checkout_id = ?1")?.execute((&checkout, due_at))?;
        if let Some(seq) = skipped {
            // The shop misses nothing by these skips; earlier failures were failures of these events.
            db.prepare_cached(
                "UPDATE streams SET delivered = ?2, failures = 0, failing_since = NULL, refusals = 0
                 WHERE checkout_id = ?1",
            )?
            .execute((&checkout, seq))?;
        }
        deliveries.extend(delivery);
    }
    let next: Option<Millis> = db
        .prepare_cached("SELECT MIN(due_at) FROM streams WHERE due_at IS NOT NULL")?
        .query_row([], |row| row.get(0))?;
    Ok(Deliveries { deliveries, now, next_in_ms: next.map(|at| (at - now).max(0)) })
}

/// The next event of a stream.
struct Next {
    /// The next event whose kind is delivered.
    delivery: Option<Delivery>,
    /// The last event before it whose kind is not delivered.
    skipped: Option<i64>,
}

fn next(
    db: &Connection,
    checkout: &str,
    delivered: i64,
    claim: &ClaimDeliveries,
    leased_until: Millis,
) -> Result<Next, StorageError> {
    let mut statement = db.prepare_cached(
        "SELECT seq, event_id, kind, body FROM events WHERE checkout_id = ?1 AND seq > ?2 ORDER BY seq",
    )?;
    let mut rows = statement.query((checkout, delivered))?;
    let mut skipped = None;
    while let Some(row) = rows.next()? {
        let seq = row.get(0)?;
        let kind = row.get::<_, String>(2)?.parse::<EventKind>().ok();
        if claim.kinds.as_ref().is_none_or(|kinds| kind.is_some_and(|kind| kinds.contains(&kind))) {
            let (checkout, id, body) = (read(checkout, "checkout")?, row.get(1)?, row.get(3)?);
            let delivery = Some(Delivery { checkout, seq, id, kind, body, leased_until });
            return Ok(Next { delivery, skipped });
        }
        skipped = Some(seq);
    }
    Ok(Next { delivery: None, skipped })
}

/// Whether the stream's next event is the one of these parameters. It is not if it was already
/// recorded, or the stream was restarted.
macro_rules! is_next {
    () => {
        "checkout_id = ?1 AND delivered < ?2
            AND NOT EXISTS (SELECT 1 FROM events WHERE checkout_id = ?1 AND seq > streams.delivered AND seq < ?2)"
    };
}
const TAKEN: &str = concat!(
    "UPDATE streams SET delivered = ?2, failures = 0, failing_since = NULL, refusals = 0, is_given_up = 0, due_at =
        CASE WHEN EXISTS (SELECT 1 FROM events WHERE checkout_id = ?1 AND seq > ?2) THEN ?3 END
     WHERE ",
    is_next!()
);
/// Of two concurrent deliveries, only one sets the pause.
const FAILED: &str = concat!(
    "UPDATE streams SET failures = failures + 1, failing_since = COALESCE(failing_since, ?4), refusals = refusals + ?5
     WHERE due_at = ?3 AND ",
    is_next!(),
    " RETURNING failures, failing_since, refusals"
);

/// Records an outcome. Returns the event if its stream skips it from now on.
pub(super) fn record(
    db: &Connection,
    now: Millis,
    delivered: &DeliveryOutcome,
) -> Result<Option<SkippedEvent>, StorageError> {
    if delivered.result != DeliveryResult::Taken {
        return failed(db, now, delivered);
    }
    db.prepare_cached(TAKEN)?.execute((delivered.checkout.as_str(), delivered.seq, now))?;
    Ok(None)
}

fn failed(db: &Connection, now: Millis, delivered: &DeliveryOutcome) -> Result<Option<SkippedEvent>, StorageError> {
    let (checkout, lease) = (delivered.checkout.as_str(), delivered.leased_until);
    let counted = db
        .prepare_cached(FAILED)?
        .query_row((checkout, delivered.seq, lease, now, delivered.is_refusal()), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((failures, since, refusals)): Option<(u32, Millis, u32)> = counted else { return Ok(None) };
    if let Some(refused) = delivered.skipped(refusals) {
        step_over(db, now, &refused)?;
        return Ok(Some(refused));
    }
    let is_given_up = now - since >= GIVEN_UP_AFTER;
    let due_at = (!is_given_up).then(|| now.saturating_add(pause_after(failures)));
    db.prepare_cached("UPDATE streams SET due_at = ?2, is_given_up = ?3 WHERE checkout_id = ?1")?.execute((
        checkout,
        due_at,
        is_given_up,
    ))?;
    Ok(None)
}

fn step_over(db: &Connection, now: Millis, refused: &SkippedEvent) -> Result<(), StorageError> {
    let checkout = refused.checkout.as_str();
    db.prepare_cached("INSERT OR REPLACE INTO refused_events (seq, checkout_id, at, reason) VALUES (?1, ?2, ?3, ?4)")?
        .execute((refused.seq, checkout, now, &refused.why))?;
    db.prepare_cached(
        "UPDATE streams SET first_refused = MIN(COALESCE(first_refused, ?2), ?2) WHERE checkout_id = ?1",
    )?
    .execute((checkout, refused.seq))?;
    db.prepare_cached(TAKEN)?.execute((checkout, refused.seq, now))?;
    Ok(())
}

/// The skipped events of a checkout, in order.
pub(super) fn refused(db: &Connection, checkout: &CheckoutId) -> Result<Vec<RefusedEvent>, StorageError> {
    let mut statement =
        db.prepare_cached("SELECT seq, at, reason FROM refused_events WHERE checkout_id = ?1 ORDER BY seq")?;
    let rows = statement.query_map([checkout.as_str()], |row| {
        Ok(RefusedEvent { seq: row.get(0)?, at: row.get(1)?, reason: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn replay(db: &Connection, now: Millis, checkout: Option<&CheckoutId>) -> Result<u64, StorageError> {
    let checkout = checkout.map(CheckoutId::as_str);
    let started = db
        .prepare_cached(
            "UPDATE streams SET due_at = ?1, failures = 0, failing_since = NULL, refusals = 0, is_given_up = 0,
                delivered = MIN(delivered, COALESCE(first_refused - 1, delivered)), first_refused = NULL
             WHERE checkout_id IN (SELECT checkout_id FROM streams WHERE is_given_up = 1
                    UNION SELECT checkout_id FROM streams WHERE first_refused IS NOT NULL)
                AND (?2 IS NULL OR checkout_id = ?2)",
        )?
        .execute((now, checkout))?;
    db.prepare_cached("DELETE FROM refused_events WHERE ?1 IS NULL OR checkout_id = ?1")?.execute([checkout])?;
    Ok(started as u64)
}
