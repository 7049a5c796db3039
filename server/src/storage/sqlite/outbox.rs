//! Outbox: events, written in the transaction of the change that they tell of, and the streams that deliver them.

use rusqlite::{Connection, OptionalExtension, Row, Rows};

use super::rows::read;
use crate::{
    events::Event,
    pace::pauses::{GIVEN_UP_AFTER, pause_after},
    storage::{
        book::changes::NewEvent,
        error::StorageError,
        inputs::Delivered,
        outputs::{Deliveries, Delivery, EventPage},
    },
    values::{
        Millis,
        cursor::Cursor,
        ids::{CheckoutId, PaymentId},
    },
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

/// One that was given up is tried again, in its order.
fn wake(db: &Connection, now: Millis, checkout: &CheckoutId) -> Result<(), StorageError> {
    db.prepare_cached(
        "INSERT INTO streams (checkout_id, due_at) VALUES (?1, ?2)
         ON CONFLICT (checkout_id) DO UPDATE SET
            due_at = COALESCE(due_at, excluded.due_at),
            failures = CASE is_given_up WHEN 1 THEN 0 ELSE failures END,
            failing_since = CASE is_given_up WHEN 1 THEN NULL ELSE failing_since END,
            is_given_up = 0",
    )?
    .execute((checkout.as_str(), now))?;
    Ok(())
}

pub(super) fn events_after(db: &Connection, cursor: &Cursor, most: u32) -> Result<EventPage, StorageError> {
    if !cursor.is_start() && !is_known(db, cursor)? {
        return Ok(EventPage::HistoryGone { resume: resume(db, cursor)? });
    }
    let mut statement = db.prepare_cached(&format!("{EVENT} WHERE seq > ?1 ORDER BY seq LIMIT ?2"))?;
    Ok(EventPage::Events(all_of(statement.query((cursor.seq, most))?)?))
}

fn is_known(db: &Connection, cursor: &Cursor) -> Result<bool, StorageError> {
    let mut statement = db.prepare_cached("SELECT event_id FROM events WHERE seq = ?1 AND at = ?2")?;
    let id: Option<String> = statement.query_row((cursor.seq, cursor.at), |row| row.get(0)).optional()?;
    Ok(id.is_some_and(|id| cursor.is_of(&id)))
}

/// The last event that was surely written before the history ended that the cursor is of.
fn resume(db: &Connection, cursor: &Cursor) -> Result<Cursor, StorageError> {
    let last = "SELECT seq, at, event_id FROM events WHERE seq < ?1 AND at <= ?2 ORDER BY seq DESC LIMIT 1";
    let mut statement = db.prepare_cached(last)?;
    let read = |row: &Row<'_>| Ok(Cursor::at(row.get(0)?, row.get(1)?, &row.get::<_, String>(2)?));
    let found = statement.query_row((cursor.seq, cursor.shared_until()), read).optional()?;
    Ok(found.unwrap_or_default())
}

/// All events of a checkout, in their order.
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
        let kind = read(&row.get::<_, String>(5)?, "event")?;
        let (number, body, at) = (row.get(4)?, row.get(6)?, row.get(7)?);
        events.push(Event { number, kind, body, at, ..Event::new(row.get(0)?, row.get(1)?, checkout, payment) });
    }
    Ok(events)
}

/// The lease is the schedule: what its taker does not settle is due again.
pub(super) fn claim(db: &Connection, now: Millis, most: u32, lease_ms: Millis) -> Result<Deliveries, StorageError> {
    let leased_until = now.saturating_add(lease_ms);
    let streams = db
        .prepare_cached("SELECT checkout_id, delivered FROM streams WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2")?
        .query_map((now, most), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<(String, i64)>, _>>()?;
    let mut deliveries = Vec::new();
    for (checkout, delivered) in streams {
        let next = db
            .prepare_cached(
                "SELECT seq, event_id, body FROM events WHERE checkout_id = ?1 AND seq > ?2 ORDER BY seq LIMIT 1",
            )?
            .query_row((&checkout, delivered), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let due_at = next.as_ref().map(|_| leased_until);
        db.prepare_cached("UPDATE streams SET due_at = ?2 WHERE checkout_id = ?1")?.execute((&checkout, due_at))?;
        if let Some((seq, id, body)) = next {
            deliveries.push(Delivery { checkout: read(&checkout, "checkout")?, seq, id, body, leased_until });
        }
    }
    let next: Option<Millis> = db
        .prepare_cached("SELECT MIN(due_at) FROM streams WHERE due_at IS NOT NULL")?
        .query_row([], |row| row.get(0))?;
    Ok(Deliveries { deliveries, now, next_in_ms: next.map(|at| (at - now).max(0)) })
}

pub(super) fn settle(db: &Connection, now: Millis, delivered: &Delivered) -> Result<(), StorageError> {
    if delivered.is_taken { taken(db, now, delivered) } else { failed(db, now, delivered) }
}

fn taken(db: &Connection, now: Millis, delivered: &Delivered) -> Result<(), StorageError> {
    db.prepare_cached(
        "UPDATE streams SET delivered = ?2, failures = 0, failing_since = NULL, is_given_up = 0, due_at =
            CASE WHEN EXISTS (SELECT 1 FROM events WHERE checkout_id = ?1 AND seq > ?2) THEN ?3 END
         WHERE checkout_id = ?1 AND delivered < ?2",
    )?
    .execute((delivered.checkout.as_str(), delivered.seq, now))?;
    Ok(())
}

/// Of two who delivered at once, one alone makes the pause.
fn failed(db: &Connection, now: Millis, delivered: &Delivered) -> Result<(), StorageError> {
    let (checkout, lease) = (delivered.checkout.as_str(), delivered.leased_until);
    let counted = db
        .prepare_cached(
            "UPDATE streams SET failures = failures + 1, failing_since = COALESCE(failing_since, ?4)
             WHERE checkout_id = ?1 AND delivered < ?2 AND due_at = ?3 RETURNING failures, failing_since",
        )?
        .query_row((checkout, delivered.seq, lease, now), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((failures, since)): Option<(u32, Millis)> = counted else { return Ok(()) };
    let is_given_up = now - since >= GIVEN_UP_AFTER;
    let due_at = (!is_given_up).then(|| now.saturating_add(pause_after(failures)));
    db.prepare_cached("UPDATE streams SET due_at = ?2, is_given_up = ?3 WHERE checkout_id = ?1")?.execute((
        checkout,
        due_at,
        is_given_up,
    ))?;
    Ok(())
}

pub(super) fn replay(db: &Connection, now: Millis, checkout: Option<&CheckoutId>) -> Result<u64, StorageError> {
    let started = db
        .prepare_cached(
            "UPDATE streams SET due_at = ?1, failures = 0, failing_since = NULL, is_given_up = 0
             WHERE is_given_up = 1 AND (?2 IS NULL OR checkout_id = ?2)",
        )?
        .execute((now, checkout.map(CheckoutId::as_str)))?;
    Ok(started as u64)
}
