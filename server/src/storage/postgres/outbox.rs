//! Reading events: the feed of all of them, and those of one checkout. Saving writes them, deliveries carry them to the shop.

use tokio_postgres::Row;

use super::{
    problem::Problem,
    rows,
    session::{Query, Session},
};
use crate::{
    events::Event,
    storage::outputs::EventPage,
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
    let kind = rows::read(row.try_get(5)?, "event")?;
    let (number, body, at) = (row.try_get(4)?, row.try_get(6)?, row.try_get(7)?);
    Ok(Event { number, kind, body, at, ..Event::new(row.try_get(0)?, row.try_get(1)?, checkout, payment) })
}

const REPLAY: &str = "UPDATE streams SET due_at = now_ms(), failures = 0, failing_since = NULL, is_given_up = FALSE
    WHERE is_given_up AND ($1::text IS NULL OR checkout_id = $1)";

pub(super) async fn replay(db: &Session, checkout: Option<&CheckoutId>) -> Result<u64, Problem> {
    db.execute(REPLAY, &[&checkout.map(CheckoutId::as_str)]).await
}
