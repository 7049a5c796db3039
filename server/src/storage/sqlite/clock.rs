//! Moves stored times where the clock was set back: `crate::pace::clock`.

use rusqlite::{Connection, OptionalExtension};

use crate::{
    pace::clock::{ClockChange, clock_change},
    storage::error::StorageError,
    values::Millis,
};

/// Moves times ahead back by the first parameter. Times in the past are never after the second one, the present.
const MOVE_BACK: [&str; 3] = [
    "UPDATE due SET at = CASE WHEN at > ?2 THEN at - ?1 ELSE at END, since = MIN(since, ?2) WHERE at > ?2 OR since > ?2",
    "UPDATE streams SET due_at = CASE WHEN due_at > ?2 THEN due_at - ?1 ELSE due_at END,
        failing_since = MIN(failing_since, ?2) WHERE due_at > ?2 OR failing_since > ?2",
    "UPDATE payments SET until = until - ?1 WHERE state IN ('prepared', 'sending') AND until > ?2",
];

pub(super) fn compensate(db: &Connection, now: Millis) -> Result<(), StorageError> {
    let mut statement = db.prepare_cached("SELECT seen_at FROM clock")?;
    let seen: Option<Millis> = statement.query_row([], |row| row.get(0)).optional()?;
    match clock_change(seen.unwrap_or_default(), now) {
        ClockChange::Small => return Ok(()),
        ClockChange::Forward => {}
        ClockChange::SetBack(by) => {
            tracing::warn!(target: "kassa_server", back_ms = by, "the database clock was set back: stored times are moved back by as much");
            for sql in MOVE_BACK {
                db.prepare_cached(sql)?.execute((by, now))?;
            }
        }
    }
    let note =
        "INSERT INTO clock (only, seen_at) VALUES (1, ?1) ON CONFLICT (only) DO UPDATE SET seen_at = excluded.seen_at";
    db.prepare_cached(note)?.execute([now])?;
    Ok(())
}
