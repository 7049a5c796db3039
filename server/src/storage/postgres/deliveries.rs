//! Transactions about the streams that deliver events, in their order.

use std::collections::BTreeMap;

use super::{
    books::NOW,
    horizon::{Found, Look},
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
const FIRSTS: &str = "SELECT streams.checkout_id, next.version, next.event_id, next.body
    FROM unnest($1::text[]) WITH ORDINALITY AS n (checkout_id, place)
    JOIN streams ON streams.checkout_id = n.checkout_id
    LEFT JOIN LATERAL (
        SELECT version, event_id, body FROM events
        WHERE events.checkout_id = streams.checkout_id AND events.version > streams.delivered ORDER BY version LIMIT 1
    ) AS next ON TRUE
    ORDER BY place";
const NEXT: &str = "SELECT due_at FROM streams WHERE due_at >= $1 ORDER BY due_at LIMIT 1";
/// Whoever writes an event meanwhile waits for the stream's row, and makes it due again.
const NOTHING_LEFT: &str = "UPDATE streams SET due_at = NULL WHERE checkout_id = ANY($1)
    AND NOT EXISTS (SELECT 1 FROM events WHERE events.checkout_id = streams.checkout_id AND version > streams.delivered)";

/// The lease is the schedule: what its taker does not settle is due again. A lease that a power cut takes away is taken again,
/// and the event comes twice, as any may.
pub(super) async fn claim(
    db: &Session,
    look: &Look<1>,
    most: u32,
    lease_ms: Millis,
) -> Result<(Deliveries, Found<1>), Problem> {
    let found = db.together(vec![(NOT_ON_DISK, vec![]), (NOW, vec![])]).await?;
    let now: Millis = first(found.get(1))?;
    let (since, leased_until) = (look.since[0], now.saturating_add(lease_ms));
    let leased = db.rows(LEASE, &[&now, &since, &i64::from(most), &leased_until]).await?;
    let checkouts = leased.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>()?;
    let last = leased.last().map(|row| row.try_get(1)).transpose()?;
    let come_to = Found { now, last: [last], is_full: [leased.len() >= most as usize] };
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
    Ok((Deliveries { deliveries, now, next_in_ms: next.map(|at| (at - now).max(0)) }, come_to))
}

/// In the order of the checkouts, so that nobody waits for one another.
const LOCK: &str = "SELECT 1 FROM streams WHERE checkout_id = ANY($1) ORDER BY checkout_id FOR UPDATE";
/// After the locks, so that an event that was written meanwhile is seen.
const TAKEN: &str = "UPDATE streams SET delivered = n.version, failures = 0, failing_since = NULL, is_given_up = FALSE,
        due_at = CASE WHEN EXISTS (SELECT 1 FROM events
            WHERE events.checkout_id = streams.checkout_id AND events.version > n.version) THEN $3::bigint END
    FROM unnest($1::text[], $2::bigint[]) AS n (checkout_id, version)
    WHERE streams.checkout_id = n.checkout_id AND streams.delivered < n.version";
/// Of two who delivered at once, one alone makes the pause.
const FAILED: &str = "UPDATE streams SET failures = failures + 1, failing_since = COALESCE(failing_since, $4)
    FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS n (checkout_id, version, leased_until)
    WHERE streams.checkout_id = n.checkout_id AND streams.delivered < n.version AND streams.due_at = n.leased_until
    RETURNING streams.checkout_id, failures, failing_since";
const PAUSE: &str = "UPDATE streams SET due_at = n.due_at, is_given_up = n.due_at IS NULL
    FROM unnest($1::text[], $2::bigint[]) AS n (checkout_id, due_at) WHERE streams.checkout_id = n.checkout_id";

pub(super) async fn settle(db: &Session, delivered: &[Delivered]) -> Result<(), Problem> {
    let all: Vec<&str> = delivered.iter().map(|one| one.checkout.as_str()).collect();
    let found = db.together(vec![(LOCK, vec![&all]), (NOW, vec![])]).await?;
    let now: Millis = first(found.get(1))?;
    let (taken, failed): (Vec<_>, Vec<_>) = delivered.iter().partition(|one| one.is_taken);
    if !failed.is_empty() {
        pause(db, now, &failed).await?;
    }
    // One that was delivered twice is noted by its last event.
    let mut places: BTreeMap<&str, i64> = BTreeMap::new();
    for one in taken {
        let place = places.entry(one.checkout.as_str()).or_insert(one.seq);
        *place = one.seq.max(*place);
    }
    if !places.is_empty() {
        let (checkouts, places): (Vec<String>, Vec<i64>) =
            places.into_iter().map(|(checkout, place)| (checkout.to_owned(), place)).unzip();
        db.later(TAKEN, vec![Box::new(checkouts), Box::new(places), Box::new(now)]);
    }
    Ok(())
}

async fn pause(db: &Session, now: Millis, failed: &[&Delivered]) -> Result<(), Problem> {
    let checkouts: Vec<&str> = failed.iter().map(|one| one.checkout.as_str()).collect();
    let places: Vec<i64> = failed.iter().map(|one| one.seq).collect();
    let leases: Vec<Millis> = failed.iter().map(|one| one.leased_until).collect();
    let rows = db.rows(FAILED, &[&checkouts, &places, &leases, &now]).await?;
    let (mut checkouts, mut due): (Vec<String>, Vec<Option<Millis>>) = (Vec::new(), Vec::new());
    for row in &rows {
        let (failures, since): (i64, Millis) = (row.try_get(1)?, row.try_get(2)?);
        let is_given_up = now - since >= GIVEN_UP_AFTER;
        let failures = u32::try_from(failures).unwrap_or(u32::MAX);
        checkouts.push(row.try_get(0)?);
        due.push((!is_given_up).then(|| now.saturating_add(pause_after(failures))));
    }
    if !checkouts.is_empty() {
        db.later(PAUSE, vec![Box::new(checkouts), Box::new(due)]);
    }
    Ok(())
}
