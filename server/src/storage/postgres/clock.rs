//! Moves stored times where the database's clock was set back: `crate::pace::clock`.

use super::{problem::Problem, session::Session};
use crate::{
    pace::clock::{ClockChange, clock_change},
    values::Millis,
};

/// Moves times ahead back by the first parameter. Times in the past are never after the second one, the present.
const MOVE_BACK: [&str; 3] = [
    "UPDATE due SET at = CASE WHEN at > $2 THEN at - $1 ELSE at END, since = LEAST(since, $2) WHERE at > $2 OR since > $2",
    "UPDATE streams SET due_at = CASE WHEN due_at > $2 THEN due_at - $1 ELSE due_at END,
        failing_since = LEAST(failing_since, $2) WHERE due_at > $2 OR failing_since > $2",
    "UPDATE payments SET until = until - $1 WHERE state IN ('prepared', 'sending') AND until > $2",
];

/// By whoever sweeps, one server at a time.
pub(super) async fn compensate(db: &Session, now: Millis) -> Result<(), Problem> {
    let seen: Option<Millis> = db.row("SELECT seen_at FROM clock", &[]).await?.map(|row| row.try_get(0)).transpose()?;
    match clock_change(seen.unwrap_or_default(), now) {
        ClockChange::Small => return Ok(()),
        ClockChange::Forward => {}
        ClockChange::SetBack(by) => {
            tracing::warn!(target: "kassa_server", back_ms = by, "the database clock was set back: stored times are moved back by as much");
            for sql in MOVE_BACK {
                db.later(sql, vec![Box::new(by), Box::new(now)]);
            }
        }
    }
    db.later(
        "INSERT INTO clock (single, seen_at) VALUES (1, $1) ON CONFLICT (single) DO UPDATE SET seen_at = excluded.seen_at",
        vec![Box::new(now)],
    );
    Ok(())
}
