//! Transactions about polling: sweeps, claims of due polls, and their results.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::{
    aggregates::{self, Of, With, unless_damaged},
    horizon::{Scan, ScanResult},
    maintenance::{self, prune},
    rows,
    saving::save,
    schedule::forget_due,
    session::{NOT_ON_DISK, Problem, Session},
};
use crate::{
    pace::{
        queues::{QUEUES, Queue, Slots},
        rate_limit::GatewayFeedback,
    },
    storage::{
        StorageError,
        aggregate::{PaymentRow, polls, resolution},
        inputs::{PollResult, Sweep},
        outputs::{ChangedCheckouts, DuePoll},
    },
    values::{CheckoutId, Method, Millis, PaymentId},
};

/// Only one server sweeps at a time: the others would only wait for it.
const TRY_SWEEP: &str = "SELECT pg_try_advisory_xact_lock(hashtextextended('kassa sweep', 0)), now_ms()";
const OVERDUE: &str = "SELECT id, until FROM payments
    WHERE state IN ('prepared', 'sending') AND until <= $1 AND until >= $2 ORDER BY until LIMIT $3";
const EXPIRING: &str = "SELECT id, expiry_due_at FROM checkouts
    WHERE state = 'open' AND expiry_due_at <= $1 AND expiry_due_at >= $2 ORDER BY expiry_due_at LIMIT $3";

/// The result of a part of a sweep, with the place that it reached; `None` if another server sweeps.
pub(super) type PartSwept = Option<(Vec<CheckoutId>, ScanResult<1>)>;

async fn is_mine(db: &Session) -> Result<Option<Millis>, Problem> {
    Ok(match db.row(TRY_SWEEP, &[]).await? {
        Some(row) if row.try_get(0)? => Some(row.try_get(1)?),
        _ => None,
    })
}

/// Sweeps payments that are being sent. It is a separate transaction, like the next ones: each locks the aggregates of
/// many checkouts, in their order.
pub(super) async fn sweep_sending(db: &Session, scan: &Scan<1>, most: u32) -> Result<PartSwept, Problem> {
    let Some(now) = is_mine(db).await? else { return Ok(None) };
    maintenance::compensate(db, now).await?;
    let rows = db.rows(OVERDUE, &[&now, &scan.since[0], &i64::from(most)]).await?;
    let overdue = rows.iter().map(|row| rows::id(row, "payment")).collect::<Result<Vec<PaymentId>, _>>()?;
    Ok(Some((give_up_sending(db, &overdue).await?, found(now, &rows, most)?)))
}

/// Sweeps checkouts that expire.
pub(super) async fn sweep_checkouts(db: &Session, scan: &Scan<1>, most: u32) -> Result<PartSwept, Problem> {
    let Some(now) = is_mine(db).await? else { return Ok(None) };
    let rows = db.rows(EXPIRING, &[&now, &scan.since[0], &i64::from(most)]).await?;
    let expiring = rows.iter().map(|row| rows::id(row, "checkout")).collect::<Result<Vec<CheckoutId>, _>>()?;
    Ok(Some((expire(db, &expiring).await?, found(now, &rows, most)?)))
}

fn found(now: Millis, rows: &[Row], most: u32) -> Result<ScanResult<1>, Problem> {
    let last = rows.last().map(|row| row.try_get(1)).transpose()?;
    Ok(ScanResult { now, last: [last], is_full: [rows.len() >= most as usize] })
}

/// Deletes data whose retention time has passed. True if there may be more.
pub(super) async fn sweep_kept(db: &Session, sweep: Sweep) -> Result<bool, Problem> {
    let Some(now) = is_mine(db).await? else { return Ok(false) };
    let pruned = prune(db, now, now.saturating_sub(sweep.keep_for_ms), sweep.most).await?;
    Ok(pruned >= sweep.most as usize)
}

/// Gives up overdue sends. Returns the changed checkouts.
async fn give_up_sending(db: &Session, overdue: &[PaymentId]) -> Result<Vec<CheckoutId>, Problem> {
    if overdue.is_empty() {
        return Ok(Vec::new());
    }
    let mut opened = aggregates::open(db, Of::Payments(overdue), With::default()).await?;
    let mut changed = Vec::new();
    for id in overdue {
        // Damaged rows are skipped.
        let Ok((changes, aggregate, at)) = opened.at(id) else { continue };
        if polls::give_up_sending(changes, aggregate, at)? {
            changed.push(aggregate.root.id.clone());
        }
    }
    save(db, &opened.changes, &opened.aggregates);
    Ok(changed)
}

async fn expire(db: &Session, expiring: &[CheckoutId]) -> Result<Vec<CheckoutId>, Problem> {
    if expiring.is_empty() {
        return Ok(Vec::new());
    }
    let mut opened = aggregates::open(db, Of::Checkouts(expiring), With::default()).await?;
    let mut changed = Vec::new();
    for aggregate in &mut opened.aggregates {
        if resolution::expire(&mut opened.changes, aggregate)? {
            changed.push(aggregate.root.id.clone());
        }
    }
    save(db, &opened.changes, &opened.aggregates);
    Ok(changed)
}

/// Counts the due polls of each queue up to the wanted number, and finds when the next one is due.
const DUE: &str = "SELECT queues.queue,
        (SELECT COUNT(*) FROM (
            SELECT 1 FROM due WHERE due.queue = queues.queue AND at <= now AND at >= queues.since LIMIT $3) AS few),
        (SELECT at FROM due WHERE due.queue = queues.queue AND at >= queues.since ORDER BY at LIMIT 1), now
    FROM (SELECT now_ms() AS now OFFSET 0) AS moment, unnest($1::smallint[], $2::bigint[]) AS queues (queue, since)";
/// Leases the most urgent first, and skips rows that another transaction is leasing. The inner query reads each queue by its
/// index, and only the leased part.
const LEASE: &str = "WITH taken AS MATERIALIZED (
        SELECT found.payment_id, queues.queue, found.at
        FROM unnest($2::smallint[], $3::bigint[], $4::bigint[]) AS queues (queue, since, most)
        CROSS JOIN LATERAL (
            SELECT due.payment_id, due.at FROM due
            WHERE due.queue = queues.queue AND due.at <= $1 AND due.at >= queues.since
            ORDER BY due.at LIMIT queues.most FOR UPDATE SKIP LOCKED
        ) AS found
    ), leased AS (
        UPDATE due SET at = $5, queried_at = $1 FROM taken WHERE due.payment_id = taken.payment_id
    )
    SELECT payment_id, queue, at FROM taken ORDER BY queue, at";
const NEXT: &str = "SELECT queues.queue,
        (SELECT at FROM due WHERE due.queue = queues.queue AND at >= queues.since ORDER BY at LIMIT 1)
    FROM unnest($1::smallint[], $2::bigint[]) AS queues (queue, since)";
const LEASED_PAYMENTS: &str = rows::payments!("id = ANY($1)");

/// The due polls.
pub(super) struct Due {
    /// The count of each queue, up to the wanted number.
    pub(super) count: [u32; QUEUES],
    pub(super) now: Millis,
    pub(super) next: Next,
}

/// When the next one of each queue is due.
pub(super) type Next = [Option<Millis>; QUEUES];

impl Due {
    /// The scan's position in queues without a granted poll: the first due row, or else the present.
    pub(super) fn found(&self, granted: [u32; QUEUES], places: Slots) -> ScanResult<QUEUES> {
        let is_left = |queue: usize| self.count[queue] > 0 || granted[queue] > 0 || places.free() == 0;
        let is_full = std::array::from_fn(is_left);
        let last = std::array::from_fn(|queue| self.next[queue].filter(|_| self.count[queue] > 0));
        ScanResult { now: self.now, last, is_full }
    }
}

fn all_queues() -> Vec<i16> {
    Queue::all().map(Queue::number).collect()
}

/// Counts due polls without locks: a server with nothing to query blocks nobody.
pub(super) async fn due(db: &Session, scan: &Scan<QUEUES>, most: u32) -> Result<Due, Problem> {
    let (queues, since, most) = (all_queues(), scan.since.to_vec(), i64::from(most));
    let rows = db.rows(DUE, &[&queues, &since, &most]).await?;
    let mut due = Due { count: [0; QUEUES], now: 0, next: [None; QUEUES] };
    for row in &rows {
        let queue = index(row)?;
        let count: i64 = row.try_get(1)?;
        due.count[queue] = u32::try_from(count).unwrap_or(u32::MAX);
        due.next[queue] = row.try_get(2)?;
        due.now = row.try_get(3)?;
    }
    Ok(due)
}

/// The queue of a row.
fn index(row: &Row) -> Result<usize, Problem> {
    let number: i16 = row.try_get(0)?;
    let index = usize::try_from(number).ok().filter(|index| *index < QUEUES);
    Ok(index.ok_or(StorageError::Damaged { what: "queue of polls" })?)
}

/// The wanted leases: where to scan, and the most of each queue.
pub(super) struct Lease {
    pub(super) scan: Scan<QUEUES>,
    pub(super) now: Millis,
    pub(super) most: [u32; QUEUES],
    pub(super) lease_ms: Millis,
}

/// The leased polls, and the place that the scan reached.
pub(super) struct Leased {
    pub(super) polls: Vec<DuePoll>,
    pub(super) next: Next,
    pub(super) found: ScanResult<QUEUES>,
}

/// The lease is the schedule: a poll whose result nobody records is due again at its end. So the commit need not wait for the
/// disk: a lease lost in a power cut is taken again.
pub(super) async fn lease(db: &Session, lease: &Lease) -> Result<Leased, Problem> {
    let (queues, all_since, now) = (all_queues(), lease.scan.since.to_vec(), lease.now);
    let leased_until = now.saturating_add(lease.lease_ms);
    let wanted = || lease.most.iter().enumerate().filter(|(_, most)| **most > 0);
    let of: Vec<i16> = wanted().map(|(index, _)| queues[index]).collect();
    let since: Vec<Millis> = wanted().map(|(index, _)| lease.scan.since[index]).collect();
    let most: Vec<i64> = wanted().map(|(_, most)| i64::from(*most)).collect();
    let found = db
        .together(vec![
            (NOT_ON_DISK, vec![]),
            (LEASE, vec![&now, &of, &since, &most, &leased_until]),
            (NEXT, vec![&queues, &all_since]),
        ])
        .await?;
    let (mut ids, mut last, mut count): (Vec<&str>, _, _) = (Vec::new(), [None; QUEUES], [0; QUEUES]);
    for row in &found[1] {
        let number: i16 = row.try_get(1)?;
        if let Some(index) = usize::try_from(number).ok().filter(|index| *index < QUEUES) {
            last[index] = Some(row.try_get(2)?);
            count[index] += 1;
        }
        ids.push(row.try_get(0)?);
    }
    let mut next = [None; QUEUES];
    for row in &found[2] {
        next[index(row)?] = row.try_get(1)?;
    }
    let polls = if ids.is_empty() {
        Vec::new()
    } else {
        let found = db.together(vec![(LEASED_PAYMENTS, vec![&ids]), (aggregates::CLAIMS, vec![&ids])]).await?;
        due_polls(db, &ids, leased_until, &found[0], &found[1])?
    };
    let is_full = std::array::from_fn(|index| count[index] >= lease.most[index]);
    Ok(Leased { polls, next, found: ScanResult { now, last, is_full } })
}

/// The polls in the order of the leases. A payment with nothing to query is not polled again.
fn due_polls(
    db: &Session,
    leased: &[&str],
    leased_until: Millis,
    payments: &[Row],
    claims: &[Row],
) -> Result<Vec<DuePoll>, Problem> {
    let mut stored: HashMap<&str, PaymentRow> = HashMap::new();
    for row in payments {
        let id = row.try_get(0)?;
        stored.extend(unless_damaged(id, rows::payment_row(row))?.map(|one| (id, one)));
    }
    for row in claims {
        if let Some(payment) = stored.get_mut(row.try_get::<_, &str>(0)?) {
            payment.claims.push(aggregates::claim(row)?);
        }
    }
    let (mut due, mut nothing) = (Vec::new(), Vec::new());
    for id in leased {
        let Some(row) = stored.remove(id) else { continue };
        let (payment, checkout, method) = (row.payment.id.clone(), row.payment.checkout.clone(), row.payment.method);
        let queries = polls::queries_of(row);
        if queries.is_empty() {
            nothing.push(*id);
        } else {
            due.push(DuePoll { payment, checkout, method, leased_until, queries });
        }
    }
    forget_due(db, &nothing);
    Ok(due)
}

/// Its row cannot be read, which was logged, or is no longer with its checkout. The others are still recorded.
fn not_there(answered: &PollResult) {
    let (payment, checkout) = (answered.payment.as_str(), answered.checkout.as_str());
    tracing::error!(target: "kassa_server", payment, checkout, "a result cannot be recorded: a person must review it");
}

/// Records all results as one batch, with a fixed number of statements.
pub(super) async fn record(
    db: &Session,
    answers: &[PollResult],
) -> Result<(ChangedCheckouts, Vec<(Method, GatewayFeedback)>), Problem> {
    let ids: Vec<PaymentId> = answers.iter().map(|answered| answered.payment.clone()).collect();
    let numbers = answers.iter().flat_map(polls::numbers_of_answered).collect();
    let checkouts: Vec<CheckoutId> = answers.iter().map(|answered| answered.checkout.clone()).collect();
    let mut opened = aggregates::open(db, Of::Checkouts(&checkouts), With { numbers, key: None, due: &ids }).await?;
    let mut changed = Vec::new();
    for answered in answers {
        let Ok((changes, aggregate, at)) = opened.at(&answered.payment) else {
            not_there(answered);
            continue;
        };
        if polls::record(changes, aggregate, at, answered)? {
            changed.push(aggregate.root.id.clone());
        }
    }
    save(db, &opened.changes, &opened.aggregates);
    Ok((ChangedCheckouts { changed }, polls::heard_of(answers)))
}
