//! The outbox: reading events for the feed and for one checkout, and the streams that deliver them to the shop.

use std::collections::BTreeMap;

use tokio_postgres::Row;

use super::{
    aggregates::NOW,
    horizon::{Scan, ScanResult},
    rows,
    session::{NOT_ON_DISK, Param, Problem, Query, Session, first},
};
use crate::{
    events::Event,
    pace::{GIVEN_UP_AFTER, pause_after},
    storage::{
        StorageError,
        inputs::{ClaimDeliveries, DeliveryOutcome, DeliveryResult},
        outputs::{Deliveries, Delivery, SkippedEvent},
        staff::RefusedEvent,
    },
    values::{CheckoutId, Cursor, Millis, error::ServerError},
};

const AFTER: &str = "SELECT seq, event_id, checkout_id, payment_id, number, kind, body, at FROM events
    WHERE seq > $1 ORDER BY seq LIMIT $2";
const AT: &str = "SELECT event_id FROM events WHERE seq = $1 AND at = $2";
const LAST_SHARED: &str = "SELECT seq, at, event_id FROM events WHERE seq < $1 AND at <= $2 ORDER BY seq DESC LIMIT 1";
const OF_CHECKOUT: &str = "SELECT version, event_id, checkout_id, payment_id, number, kind, body, at FROM events
    WHERE checkout_id = $1 ORDER BY version";
const IS_NEW_THERE: &str = "SELECT 1 FROM events WHERE seq IS NULL LIMIT 1";
/// Only one transaction at a time assigns places. The lock is released at the commit, when the places are visible.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('kassa feed', 0))";
/// Assigns places to committed events, after all places that were read.
const GIVE_PLACES: &str = "UPDATE events SET seq = placed.seq FROM (
        SELECT id, (SELECT COALESCE(MAX(seq), 0) FROM events WHERE seq IS NOT NULL) + row_number() OVER (ORDER BY id) AS seq
        FROM (SELECT id FROM events WHERE seq IS NULL ORDER BY id LIMIT $1) AS unplaced
    ) AS placed WHERE events.id = placed.id";
const MOST_PLACED: i64 = 2_000;

/// The feed. The order of identifiers is not the order of commits, so the feed has its own places, which readers assign to
/// committed events: a late commit gets a late place, which no reader has passed.
pub(super) async fn events_after(db: &Session, cursor: &Cursor, most: u32) -> Result<Vec<Event>, Problem> {
    let (seq, limit) = (cursor.seq, i64::from(most));
    let after = || -> Query<'_> { (AFTER, vec![&seq, &limit]) };
    let mut found = db.together(vec![(IS_NEW_THERE, vec![]), (AT, vec![&seq, &cursor.at]), after()]).await?;
    let is_known = match found[1].first() {
        Some(row) => cursor.is_of(row.try_get(0)?),
        None => false,
    };
    if !cursor.is_start() && !is_known {
        return Err(StorageError::from(ServerError::HistoryGone { resume: resume(db, cursor).await? }).into());
    }
    let is_more = !found[0].is_empty();
    // A reader of old events need not wait for others.
    if is_more && found[2].len() < most as usize {
        // A new statement after the lock sees the last holder's writes.
        found = db.together(vec![(LOCK, vec![]), (GIVE_PLACES, vec![&MOST_PLACED]), after()]).await?;
    }
    found.pop().unwrap_or_default().iter().map(read).collect()
}

/// The last event that was certainly written before the cursor's history ended. Places follow the order of commits except for
/// short moments, far shorter than the margin of the cursor's time.
async fn resume(db: &Session, cursor: &Cursor) -> Result<Cursor, Problem> {
    let row = db.row(LAST_SHARED, &[&cursor.seq, &cursor.shared_until()]).await?;
    let read = |row: Row| Ok(Cursor::at(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
    row.map_or(Ok(Cursor::default()), read)
}

/// All events of a checkout, in order, with their places in its stream.
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

/// The skipped events of a checkout, in order.
pub(super) async fn refused(db: &Session, checkout: &CheckoutId) -> Result<Vec<RefusedEvent>, Problem> {
    let rows = db.rows(REFUSED, &[&checkout.as_str()]).await?;
    let one = |row: &Row| Ok(RefusedEvent { seq: row.try_get(0)?, at: row.try_get(1)?, reason: row.try_get(2)? });
    rows.iter().map(one).collect()
}

const REFUSED: &str = "SELECT version, at, reason FROM refused_events WHERE checkout_id = $1 ORDER BY version";

/// In the order of the checkouts, like the locks for recording deliveries.
const LOCK_TO_REPLAY: &str = "SELECT checkout_id FROM streams
    WHERE (is_given_up OR first_refused IS NOT NULL) AND ($1::text IS NULL OR checkout_id = $1) ORDER BY checkout_id FOR UPDATE";
/// A separate statement, which sees what was recorded during the wait for the locks.
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

// Transactions about the streams that deliver events, in their order.

const LEASE: &str = "WITH taken AS MATERIALIZED (
        SELECT checkout_id, delivered, due_at FROM streams WHERE due_at <= $1 AND due_at >= $2
        ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
    ), leased AS (
        UPDATE streams SET due_at = $4 FROM taken WHERE streams.checkout_id = taken.checkout_id
    )
    SELECT checkout_id, due_at FROM taken ORDER BY due_at";
/// A separate statement, which sees what was committed during the wait for the locks.
const FIRSTS: &str = "SELECT streams.checkout_id, streams.delivered, next.version, next.event_id, next.kind, next.body
    FROM unnest($1::text[]) WITH ORDINALITY AS n (checkout_id, place)
    JOIN streams ON streams.checkout_id = n.checkout_id
    LEFT JOIN LATERAL (
        SELECT version, event_id, kind, body FROM events
        WHERE events.checkout_id = streams.checkout_id AND events.version > streams.delivered
            AND ($2::text[] IS NULL OR kind = ANY($2))
        ORDER BY version LIMIT 1
    ) AS next ON TRUE
    ORDER BY place";
const NEXT: &str = "SELECT due_at FROM streams WHERE due_at >= $1 ORDER BY due_at LIMIT 1";
/// The shop misses nothing by these skips; earlier failures were failures of these events.
const STEP_OVER_OTHER_KINDS: &str =
    "UPDATE streams SET delivered = n.version, failures = 0, failing_since = NULL, refusals = 0
    FROM unnest($1::text[], $2::bigint[]) AS n (checkout_id, version)
    WHERE streams.checkout_id = n.checkout_id AND streams.delivered < n.version";
/// No event of a delivered kind is left. A concurrent writer of an event waits for the stream's row, and makes it due again.
const NOTHING_LEFT: &str =
    "UPDATE streams SET due_at = NULL, failures = 0, failing_since = NULL, refusals = 0, delivered = GREATEST(
        delivered, (SELECT MAX(version) FROM events WHERE events.checkout_id = streams.checkout_id))
    WHERE checkout_id = ANY($1)
    AND NOT EXISTS (SELECT 1 FROM events WHERE events.checkout_id = streams.checkout_id AND version > streams.delivered
        AND ($2::text[] IS NULL OR kind = ANY($2)))";

/// The lease is the schedule: an unrecorded delivery becomes due again. A lease lost in a power cut is taken again, and the event
/// is delivered twice, as any event may be.
pub(super) async fn claim(
    db: &Session,
    scan: &Scan<1>,
    claim: &ClaimDeliveries,
) -> Result<(Deliveries, ScanResult<1>), Problem> {
    let kinds: Option<Vec<&'static str>> =
        claim.kinds.as_ref().map(|kinds| kinds.iter().map(|kind| kind.name()).collect());
    let found = db.together(vec![(NOT_ON_DISK, vec![]), (NOW, vec![])]).await?;
    let now: Millis = first(found.get(1))?;
    let (since, leased_until) = (scan.since[0], now.saturating_add(claim.lease_ms));
    let leased = db.rows(LEASE, &[&now, &since, &i64::from(claim.most), &leased_until]).await?;
    let checkouts = leased.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>()?;
    let last = leased.last().map(|row| row.try_get(1)).transpose()?;
    let come_to = ScanResult { now, last: [last], is_full: [leased.len() >= claim.most as usize] };
    let found = match checkouts.is_empty() {
        true => db.together(vec![(NEXT, vec![&since])]).await?,
        false => db.together(vec![(NEXT, vec![&since]), (FIRSTS, vec![&checkouts, &kinds])]).await?,
    };
    let next: Option<Millis> = found[0].first().map(|row| row.try_get(0)).transpose()?;
    let (mut deliveries, mut nothing_left) = (Vec::new(), Vec::new());
    let (mut stepping, mut places): (Vec<String>, Vec<i64>) = (Vec::new(), Vec::new());
    for row in found.iter().skip(1).flatten() {
        let (delivered, next): (i64, Option<i64>) = (row.try_get(1)?, row.try_get(2)?);
        let Some(seq) = next else {
            nothing_left.push(row.try_get::<_, String>(0)?);
            continue;
        };
        // Versions have no gaps.
        if seq > delivered + 1 {
            stepping.push(row.try_get(0)?);
            places.push(seq - 1);
        }
        deliveries.push(Delivery {
            checkout: rows::id(row, "checkout")?,
            seq,
            id: row.try_get(3)?,
            kind: row.try_get::<_, &str>(4)?.parse().ok(),
            body: row.try_get(5)?,
            leased_until,
        });
    }
    if !stepping.is_empty() {
        db.later(STEP_OVER_OTHER_KINDS, vec![Box::new(stepping), Box::new(places)]);
    }
    if !nothing_left.is_empty() {
        db.later(NOTHING_LEFT, vec![Box::new(nothing_left), Box::new(kinds)]);
    }
    Ok((Deliveries { deliveries, now, next_in_ms: next.map(|at| (at - now).max(0)) }, come_to))
}

/// In the order of the checkouts, to avoid deadlocks.
const LOCK_DELIVERED: &str = "SELECT 1 FROM streams WHERE checkout_id = ANY($1) ORDER BY checkout_id FOR UPDATE";
/// After the locks, to see events written in the meantime. An event that is not the stream's next was already
/// recorded, or the stream was restarted.
const TAKEN: &str =
    "UPDATE streams SET delivered = n.version, failures = 0, failing_since = NULL, refusals = 0, is_given_up = FALSE,
        due_at = CASE WHEN EXISTS (SELECT 1 FROM events
            WHERE events.checkout_id = streams.checkout_id AND events.version > n.version) THEN $3::bigint END
    FROM unnest($1::text[], $2::bigint[]) AS n (checkout_id, version)
    WHERE streams.checkout_id = n.checkout_id AND streams.delivered = n.version - 1";
/// Of two concurrent deliveries, only one sets the pause.
const FAILED: &str = "UPDATE streams SET failures = failures + 1, failing_since = COALESCE(failing_since, $5),
        refusals = refusals + CASE WHEN n.is_refusal THEN 1 ELSE 0 END
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::boolean[]) WITH ORDINALITY
        AS n (checkout_id, version, leased_until, is_refusal, place)
    WHERE streams.checkout_id = n.checkout_id AND streams.delivered = n.version - 1 AND streams.due_at = n.leased_until
    RETURNING n.place, failures, failing_since, refusals";
const PAUSE: &str = "UPDATE streams SET due_at = n.due_at, is_given_up = n.due_at IS NULL
    FROM unnest($1::text[], $2::bigint[]) AS n (checkout_id, due_at) WHERE streams.checkout_id = n.checkout_id";
const RECORD_REFUSED: &str = "INSERT INTO refused_events (checkout_id, version, at, reason)
    SELECT checkout_id, version, $4::bigint, reason
    FROM unnest($1::text[], $2::bigint[], $3::text[]) AS n (checkout_id, version, reason)
    ON CONFLICT (checkout_id, version) DO UPDATE SET at = excluded.at, reason = excluded.reason";
const FIRST_REFUSED: &str = "UPDATE streams SET first_refused = LEAST(first_refused, n.version)
    FROM unnest($1::text[], $2::bigint[]) AS n (checkout_id, version) WHERE streams.checkout_id = n.checkout_id";

/// Records outcomes. Returns the events that are skipped from now on.
pub(super) async fn record(db: &Session, delivered: &[DeliveryOutcome]) -> Result<Vec<SkippedEvent>, Problem> {
    let all: Vec<&str> = delivered.iter().map(|one| one.checkout.as_str()).collect();
    let found = db.together(vec![(LOCK_DELIVERED, vec![&all]), (NOW, vec![])]).await?;
    let now: Millis = first(found.get(1))?;
    let (taken, failed): (Vec<_>, Vec<_>) = delivered.iter().partition(|one| one.result == DeliveryResult::Taken);
    let skipped = if failed.is_empty() { Vec::new() } else { pause(db, now, &failed).await? };
    // If a stream was delivered twice, its last event is recorded.
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
    Ok(skipped)
}

async fn pause(db: &Session, now: Millis, failed: &[&DeliveryOutcome]) -> Result<Vec<SkippedEvent>, Problem> {
    let checkouts: Vec<&str> = failed.iter().map(|one| one.checkout.as_str()).collect();
    let places: Vec<i64> = failed.iter().map(|one| one.seq).collect();
    let leases: Vec<Millis> = failed.iter().map(|one| one.leased_until).collect();
    let are_refusals: Vec<bool> = failed.iter().map(|one| one.is_refusal()).collect();
    let rows = db.rows(FAILED, &[&checkouts, &places, &leases, &are_refusals, &now]).await?;
    let (mut checkouts, mut due): (Vec<String>, Vec<Option<Millis>>) = (Vec::new(), Vec::new());
    let mut skipped = Vec::new();
    for row in &rows {
        // Counted from 1.
        let place = usize::try_from(row.try_get::<_, i64>(0)?.saturating_sub(1)).unwrap_or(usize::MAX);
        let Some(one) = failed.get(place) else { continue };
        let (failures, since, refusals): (i64, Millis, i64) = (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
        if let Some(refused) = one.skipped(u32::try_from(refusals).unwrap_or(u32::MAX)) {
            skipped.push(refused);
            continue;
        }
        let is_given_up = now - since >= GIVEN_UP_AFTER;
        let failures = u32::try_from(failures).unwrap_or(u32::MAX);
        checkouts.push(one.checkout.as_str().to_owned());
        due.push((!is_given_up).then(|| now.saturating_add(pause_after(failures))));
    }
    if !checkouts.is_empty() {
        db.later(PAUSE, vec![Box::new(checkouts), Box::new(due)]);
    }
    if !skipped.is_empty() {
        step_over(db, now, &skipped);
    }
    Ok(skipped)
}

fn step_over(db: &Session, now: Millis, refused: &[SkippedEvent]) {
    let checkouts: Vec<String> = refused.iter().map(|one| one.checkout.as_str().to_owned()).collect();
    let places: Vec<i64> = refused.iter().map(|one| one.seq).collect();
    let reasons: Vec<String> = refused.iter().map(|one| one.why.clone()).collect();
    let with = |others: Vec<Param>| -> Vec<Param> {
        let mut values: Vec<Param> = vec![Box::new(checkouts.clone()), Box::new(places.clone())];
        values.extend(others);
        values
    };
    db.later(RECORD_REFUSED, with(vec![Box::new(reasons), Box::new(now)]));
    db.later(FIRST_REFUSED, with(vec![]));
    db.later(TAKEN, with(vec![Box::new(now)]));
}
