//! Reading events: the feed of all of them, and those of one checkout. Saving writes them, deliveries carry them to the shop.

use tokio_postgres::Row;

use super::{
    problem::Problem,
    rows,
    session::{Query, Session},
};
use crate::{
    events::Event,
    storage::{outputs::EventPage, staff::RefusedEvent},
    values::{cursor::Cursor, ids::CheckoutId},
};

const AFTER: &str = "SELECT seq, event_id, checkout_id, payment_id, number, kind, body, at FROM events
    WHERE seq > $1 ORDER BY seq LIMIT $2";
const AT: &str = "SELECT event_id FROM events WHERE seq = $1 AND at = $2";
const LAST_SHARED: &str = "SELECT seq, at, event_id FROM events WHERE seq < $1 AND at <= $2 ORDER BY seq DESC LIMIT 1";
const OF_CHECKOUT: &str = "SELECT version, event_id, checkout_id, payment_id, number, kind, body, at FROM events
    WHERE checkout_id = $1 ORDER BY version";
const IS_NEW_THERE: &str = "SELECT 1 FROM events WHERE seq IS NULL LIMIT 1";
/// One at a time gives places. It goes with the transaction, after what that wrote is visible.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('kassa feed', 0))";
/// What is committed by now goes behind all that anybody has read.
const GIVE_PLACES: &str = "UPDATE events SET seq = placed.seq FROM (
        SELECT id, (SELECT COALESCE(MAX(seq), 0) FROM events WHERE seq IS NOT NULL) + row_number() OVER (ORDER BY id) AS seq
        FROM (SELECT id FROM events WHERE seq IS NULL ORDER BY id LIMIT $1) AS unplaced
    ) AS placed WHERE events.id = placed.id";
const MOST_PLACED: i64 = 2_000;

/// The feed. The order of identifiers is not the order of commits, so the feed has places of its own, given by its readers to
/// what is committed: a transaction that commits late comes late in it, and is never behind a reader.
pub(super) async fn events_after(db: &Session, cursor: &Cursor, most: u32) -> Result<EventPage, Problem> {
    let (seq, limit) = (cursor.seq, i64::from(most));
    let after = || -> Query<'_> { (AFTER, vec![&seq, &limit]) };
    let mut found = db.together(vec![(IS_NEW_THERE, vec![]), (AT, vec![&seq, &cursor.at]), after()]).await?;
    let is_known = match found[1].first() {
        Some(row) => cursor.is_of(row.try_get(0)?),
        None => false,
    };
    if !cursor.is_start() && !is_known {
        return Ok(EventPage::HistoryGone { resume: resume(db, cursor).await? });
    }
    let is_more = !found[0].is_empty();
    // Who still reads what is old need not wait for others.
    if is_more && found[2].len() < most as usize {
        // A new statement after the lock sees what its last holder wrote.
        found = db.together(vec![(LOCK, vec![]), (GIVE_PLACES, vec![&MOST_PLACED]), after()]).await?;
    }
    let events = found.pop().unwrap_or_default().iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(EventPage::Events(events))
}

/// The last event that was surely written before the history ended that the cursor is of. Places are given in the order of
/// commits but for moments, which the margin of the cursor's time is far longer than.
async fn resume(db: &Session, cursor: &Cursor) -> Result<Cursor, Problem> {
    let row = db.row(LAST_SHARED, &[&cursor.seq, &cursor.shared_until()]).await?;
    let read = |row: Row| Ok(Cursor::at(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
    row.map_or(Ok(Cursor::default()), read)
}

/// All events of a checkout, in their order. Their places are those in its stream.
pub(super) async fn events_of(db: &Session, checkout: &CheckoutId) -> Result<Vec<Event>, Problem> {
    db.rows(OF_CHECKOUT, &[&checkout.as_str()]).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Event, Problem> {
    let payment: Option<&str> = row.try_get(3)?;
    let payment = payment.map(|id| rows::read(id, "payment")).transpose()?;
    let checkout = rows::read(row.try_get(2)?, "checkout")?;
    let kind = row.try_get::<_, &str>(5)?.parse().ok();
    let (number, body, at) = (row.try_get(4)?, row.try_get(6)?, row.try_get(7)?);
    Ok(Event { number, kind, body, at, ..Event::new(row.try_get(0)?, row.try_get(1)?, checkout, payment) })
}

/// The events of a checkout that were stepped over, in their order.
pub(super) async fn refused(db: &Session, checkout: &CheckoutId) -> Result<Vec<RefusedEvent>, Problem> {
    let rows = db.rows(REFUSED, &[&checkout.as_str()]).await?;
    let one = |row: &Row| Ok(RefusedEvent { seq: row.try_get(0)?, at: row.try_get(1)?, reason: row.try_get(2)? });
    rows.iter().map(one).collect()
}

const REFUSED: &str = "SELECT version, at, reason FROM refused_events WHERE checkout_id = $1 ORDER BY version";

/// In the order of the checkouts, as whoever records deliveries locks them.
const LOCK_TO_REPLAY: &str = "SELECT checkout_id FROM streams
    WHERE (is_given_up OR first_refused IS NOT NULL) AND ($1::text IS NULL OR checkout_id = $1) ORDER BY checkout_id FOR UPDATE";
/// Statements of their own, which see what was recorded while the locks were waited for.
const REPLAY: &str =
    "UPDATE streams SET due_at = now_ms(), failures = 0, failing_since = NULL, refusals = 0, is_given_up = FALSE,
        delivered = LEAST(delivered, first_refused - 1), first_refused = NULL
    WHERE checkout_id = ANY($1)";
const FORGET_REFUSED: &str = "DELETE FROM refused_events WHERE checkout_id = ANY($1)";

pub(super) async fn replay(db: &Session, checkout: Option<&CheckoutId>) -> Result<u64, Problem> {
    let locked = db.rows(LOCK_TO_REPLAY, &[&checkout.map(CheckoutId::as_str)]).await?;
    let checkouts = locked.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>()?;
    if checkouts.is_empty() {
        return Ok(0);
    }
    let started = db.execute(REPLAY, &[&checkouts]).await?;
    db.later(FORGET_REFUSED, vec![Box::new(checkouts)]);
    Ok(started)
}
