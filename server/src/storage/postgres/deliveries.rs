//! Transactions about the streams that deliver events, in their order.

use std::collections::BTreeMap;

use super::{
    books::NOW,
    horizon::{Found, Look},
    problem::Problem,
    rows,
    session::{NOT_ON_DISK, Param, Session, first},
};
use crate::{
    pace::pauses::{GIVEN_UP_AFTER, pause_after},
    storage::{
        inputs::{ClaimDeliveries, Delivered, DeliveryResult},
        outputs::{Deliveries, Delivery, SteppedOver},
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
/// The shop does not miss what is stepped over here: whatever failed so far failed with one of these.
const STEP_OVER_OTHER_KINDS: &str =
    "UPDATE streams SET delivered = n.version, failures = 0, failing_since = NULL, refusals = 0
    FROM unnest($1::text[], $2::bigint[]) AS n (checkout_id, version)
    WHERE streams.checkout_id = n.checkout_id AND streams.delivered < n.version";
/// Nothing of the kinds that are delivered. Whoever writes an event meanwhile waits for the stream's row, and makes it due again.
const NOTHING_LEFT: &str =
    "UPDATE streams SET due_at = NULL, failures = 0, failing_since = NULL, refusals = 0, delivered = GREATEST(
        delivered, (SELECT MAX(version) FROM events WHERE events.checkout_id = streams.checkout_id))
    WHERE checkout_id = ANY($1)
    AND NOT EXISTS (SELECT 1 FROM events WHERE events.checkout_id = streams.checkout_id AND version > streams.delivered
        AND ($2::text[] IS NULL OR kind = ANY($2)))";

/// The lease is the schedule: what its taker does not record is due again. A lease that a power cut takes away is taken again,
/// and the event comes twice, as any may.
pub(super) async fn claim(
    db: &Session,
    look: &Look<1>,
    claim: &ClaimDeliveries,
) -> Result<(Deliveries, Found<1>), Problem> {
    let kinds: Option<Vec<&'static str>> =
        claim.kinds.as_ref().map(|kinds| kinds.iter().map(|kind| kind.name()).collect());
    let found = db.together(vec![(NOT_ON_DISK, vec![]), (NOW, vec![])]).await?;
    let now: Millis = first(found.get(1))?;
    let (since, leased_until) = (look.since[0], now.saturating_add(claim.lease_ms));
    let leased = db.rows(LEASE, &[&now, &since, &i64::from(claim.most), &leased_until]).await?;
    let checkouts = leased.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>()?;
    let last = leased.last().map(|row| row.try_get(1)).transpose()?;
    let come_to = Found { now, last: [last], is_full: [leased.len() >= claim.most as usize] };
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
        // Versions have no gap.
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

/// In the order of the checkouts, so that nobody waits for one another.
const LOCK: &str = "SELECT 1 FROM streams WHERE checkout_id = ANY($1) ORDER BY checkout_id FOR UPDATE";
/// After the locks, so that an event that was written meanwhile is seen. One that is not the stream's next was recorded before by
/// somebody, or the stream was put back.
const TAKEN: &str =
    "UPDATE streams SET delivered = n.version, failures = 0, failing_since = NULL, refusals = 0, is_given_up = FALSE,
        due_at = CASE WHEN EXISTS (SELECT 1 FROM events
            WHERE events.checkout_id = streams.checkout_id AND events.version > n.version) THEN $3::bigint END
    FROM unnest($1::text[], $2::bigint[]) AS n (checkout_id, version)
    WHERE streams.checkout_id = n.checkout_id AND streams.delivered = n.version - 1";
/// Of two who delivered at once, one alone makes the pause.
const FAILED: &str = "UPDATE streams SET failures = failures + 1, failing_since = COALESCE(failing_since, $5),
        refusals = refusals + CASE WHEN n.is_refusal THEN 1 ELSE 0 END
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::boolean[]) WITH ORDINALITY
        AS n (checkout_id, version, leased_until, is_refusal, place)
    WHERE streams.checkout_id = n.checkout_id AND streams.delivered = n.version - 1 AND streams.due_at = n.leased_until
    RETURNING n.place, failures, failing_since, refusals";
const PAUSE: &str = "UPDATE streams SET due_at = n.due_at, is_given_up = n.due_at IS NULL
    FROM unnest($1::text[], $2::bigint[]) AS n (checkout_id, due_at) WHERE streams.checkout_id = n.checkout_id";
const REFUSED: &str = "INSERT INTO refused_events (checkout_id, version, at, reason)
    SELECT checkout_id, version, $4::bigint, reason
    FROM unnest($1::text[], $2::bigint[], $3::text[]) AS n (checkout_id, version, reason)
    ON CONFLICT (checkout_id, version) DO UPDATE SET at = excluded.at, reason = excluded.reason";
const FIRST_REFUSED: &str = "UPDATE streams SET first_refused = LEAST(first_refused, n.version)
    FROM unnest($1::text[], $2::bigint[]) AS n (checkout_id, version) WHERE streams.checkout_id = n.checkout_id";

/// The events that are stepped over from now on.
pub(super) async fn record(db: &Session, delivered: &[Delivered]) -> Result<Vec<SteppedOver>, Problem> {
    let all: Vec<&str> = delivered.iter().map(|one| one.checkout.as_str()).collect();
    let found = db.together(vec![(LOCK, vec![&all]), (NOW, vec![])]).await?;
    let now: Millis = first(found.get(1))?;
    let (taken, failed): (Vec<_>, Vec<_>) = delivered.iter().partition(|one| one.result == DeliveryResult::Taken);
    let stepped_over = if failed.is_empty() { Vec::new() } else { pause(db, now, &failed).await? };
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
    Ok(stepped_over)
}

async fn pause(db: &Session, now: Millis, failed: &[&Delivered]) -> Result<Vec<SteppedOver>, Problem> {
    let checkouts: Vec<&str> = failed.iter().map(|one| one.checkout.as_str()).collect();
    let places: Vec<i64> = failed.iter().map(|one| one.seq).collect();
    let leases: Vec<Millis> = failed.iter().map(|one| one.leased_until).collect();
    let are_refusals: Vec<bool> = failed.iter().map(|one| one.is_refusal()).collect();
    let rows = db.rows(FAILED, &[&checkouts, &places, &leases, &are_refusals, &now]).await?;
    let (mut checkouts, mut due): (Vec<String>, Vec<Option<Millis>>) = (Vec::new(), Vec::new());
    let mut stepped_over = Vec::new();
    for row in &rows {
        // Counted from 1.
        let place = usize::try_from(row.try_get::<_, i64>(0)?.saturating_sub(1)).unwrap_or(usize::MAX);
        let Some(one) = failed.get(place) else { continue };
        let (failures, since, refusals): (i64, Millis, i64) = (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
        if let Some(refused) = one.stepped_over(u32::try_from(refusals).unwrap_or(u32::MAX)) {
            stepped_over.push(refused);
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
    if !stepped_over.is_empty() {
        step_over(db, now, &stepped_over);
    }
    Ok(stepped_over)
}

fn step_over(db: &Session, now: Millis, refused: &[SteppedOver]) {
    let checkouts: Vec<String> = refused.iter().map(|one| one.checkout.as_str().to_owned()).collect();
    let places: Vec<i64> = refused.iter().map(|one| one.seq).collect();
    let reasons: Vec<String> = refused.iter().map(|one| one.why.clone()).collect();
    let with = |others: Vec<Param>| -> Vec<Param> {
        let mut values: Vec<Param> = vec![Box::new(checkouts.clone()), Box::new(places.clone())];
        values.extend(others);
        values
    };
    db.later(REFUSED, with(vec![Box::new(reasons), Box::new(now)]));
    db.later(FIRST_REFUSED, with(vec![]));
    db.later(TAKEN, with(vec![Box::new(now)]));
}
