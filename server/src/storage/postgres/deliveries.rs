//! Transactions about the streams that deliver events, in their order.

use super::{
    books::NOW,
    horizon::{Horizons, Queue},
    problem::Problem,
    rows,
    session::{NOT_ON_DISK, Session, first},
};
use crate::{
    pace::pauses::{GIVEN_UP_AFTER, pause_after},
    storage::{
        inputs::Delivered,
        outputs::{Deliveries, Delivery},
    },
    values::Millis,
};

const LEASE: &str = "WITH taken AS MATERIALIZED (
        SELECT checkout_id, delivered, due_at FROM streams WHERE due_at <= $1 AND due_at >= $2
        ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
    ), leased AS (
        UPDATE streams SET due_at = $4 FROM taken WHERE streams.checkout_id = taken.checkout_id
    )
    SELECT checkout_id, due_at FROM taken ORDER BY due_at";
/// Its own statement, which sees what was committed while the locks were waited for.
const FIRSTS: &str = "SELECT streams.checkout_id, next.id, next.event_id, next.body
    FROM unnest($1::text[]) WITH ORDINALITY AS n (checkout_id, place)
    JOIN streams ON streams.checkout_id = n.checkout_id
    LEFT JOIN LATERAL (
        SELECT id, event_id, body FROM events
        WHERE events.checkout_id = streams.checkout_id AND events.id > streams.delivered ORDER BY id LIMIT 1
    ) AS next ON TRUE
    ORDER BY place";
const NEXT: &str = "SELECT due_at FROM streams WHERE due_at >= $1 ORDER BY due_at LIMIT 1";
/// Whoever writes an event meanwhile waits for the stream's row, and makes it due again.
const NOTHING_LEFT: &str = "UPDATE streams SET due_at = NULL WHERE checkout_id = ANY($1)
    AND NOT EXISTS (SELECT 1 FROM events WHERE events.checkout_id = streams.checkout_id AND id > streams.delivered)";

/// The lease is the schedule: what its taker does not settle is due again. A lease that a power cut takes away is taken again,
/// and the event comes twice, as any may.
pub(super) async fn claim(
    db: &Session,
    horizons: &Horizons,
    most: u32,
    lease_ms: Millis,
) -> Result<Deliveries, Problem> {
    let found = db.together(vec![(NOT_ON_DISK, vec![]), (NOW, vec![])]).await?;
    let now: Millis = first(found.get(1))?;
    let (since, leased_until) = (horizons.since(now).streams(), now.saturating_add(lease_ms));
    let leased = db.rows(LEASE, &[&now, &since, &i64::from(most), &leased_until]).await?;
    let mut checkouts: Vec<String> = Vec::with_capacity(leased.len());
    for row in &leased {
        horizons.taken(Queue::Streams, row.try_get(1)?);
        checkouts.push(row.try_get(0)?);
    }
    let found = match checkouts.is_empty() {
        true => db.together(vec![(NEXT, vec![&since])]).await?,
        false => db.together(vec![(NEXT, vec![&since]), (FIRSTS, vec![&checkouts])]).await?,
    };
    let next: Option<Millis> = found[0].first().map(|row| row.try_get(0)).transpose()?;
    let (mut deliveries, mut nothing_left) = (Vec::new(), Vec::new());
    for row in found.iter().skip(1).flatten() {
        match row.try_get(1)? {
            Some(seq) => deliveries.push(Delivery {
                checkout: rows::id(row, "checkout")?,
                seq,
                id: row.try_get(2)?,
                body: row.try_get(3)?,
                leased_until,
            }),
            None => nothing_left.push(row.try_get::<_, String>(0)?),
        }
    }
    if !nothing_left.is_empty() {
        db.later(NOTHING_LEFT, vec![Box::new(nothing_left)]);
    }
    Ok(Deliveries { deliveries, now, next_in_ms: next.map(|at| (at - now).max(0)) })
}

/// In the order of the checkouts, so that nobody waits for one another.
const LOCK: &str = "SELECT 1 FROM streams WHERE checkout_id = ANY($1) ORDER BY checkout_id FOR UPDATE";
/// After the locks, so that an event that was written meanwhile is seen.
const TAKEN: &str = "UPDATE streams SET delivered = n.id, failures = 0, failing_since = NULL, is_given_up = FALSE,
        due_at = CASE WHEN EXISTS (SELECT 1 FROM events
            WHERE events.checkout_id = streams.checkout_id AND events.id > n.id) THEN $3::bigint END
    FROM unnest($1::text[], $2::bigint[]) AS n (checkout_id, id)
    WHERE streams.checkout_id = n.checkout_id AND streams.delivered < n.id";
/// Of two who delivered at once, one alone makes the pause.
const FAILED: &str = "UPDATE streams SET failures = failures + 1, failing_since = COALESCE(failing_since, $4)
    WHERE checkout_id = $1 AND delivered < $2 AND due_at = $3 RETURNING failures, failing_since";
const PAUSE: &str = "UPDATE streams SET due_at = $2, is_given_up = $3 WHERE checkout_id = $1";

pub(super) async fn settle(db: &Session, delivered: &[Delivered]) -> Result<(), Problem> {
    let all: Vec<&str> = delivered.iter().map(|one| one.checkout.as_str()).collect();
    let found = db.together(vec![(LOCK, vec![&all]), (NOW, vec![])]).await?;
    let now: Millis = first(found.get(1))?;
    for one in delivered.iter().filter(|one| !one.is_taken) {
        failed(db, now, one).await?;
    }
    let (mut checkouts, mut places): (Vec<String>, Vec<i64>) = (Vec::new(), Vec::new());
    for one in delivered.iter().filter(|one| one.is_taken) {
        // One that was delivered twice is noted by its last event.
        match checkouts.iter().position(|checkout| checkout == one.checkout.as_str()) {
            Some(at) => places[at] = places[at].max(one.seq),
            None => {
                checkouts.push(one.checkout.as_str().to_owned());
                places.push(one.seq);
            }
        }
    }
    if !checkouts.is_empty() {
        db.later(TAKEN, vec![Box::new(checkouts), Box::new(places), Box::new(now)]);
    }
    Ok(())
}

async fn failed(db: &Session, now: Millis, one: &Delivered) -> Result<(), Problem> {
    let checkout = one.checkout.as_str();
    let Some(row) = db.row(FAILED, &[&checkout, &one.seq, &one.leased_until, &now]).await? else { return Ok(()) };
    let (failures, since): (i64, Millis) = (row.try_get(0)?, row.try_get(1)?);
    let is_given_up = now - since >= GIVEN_UP_AFTER;
    let failures = u32::try_from(failures).unwrap_or(u32::MAX);
    let due_at = (!is_given_up).then(|| now.saturating_add(pause_after(failures)));
    db.later(PAUSE, vec![Box::new(checkout.to_owned()), Box::new(due_at), Box::new(is_given_up)]);
    Ok(())
}
