//! Transactions about polling: sweeps, claims of due polls, and their results.

use rusqlite::Connection;

use super::{
    aggregates,
    checkouts::{expire, expiring},
    connection::now,
    maintenance::{self, prune},
    rows::{self, read},
    schedule::{forget_due, read_limit, record_feedback, write_limit},
};
use crate::{
    pace::{
        queues::{QUEUES, Queue},
        rate_limit::PollLimit,
    },
    storage::{
        StorageError,
        aggregate::polls,
        inputs::{ClaimPolls, PollResult, Sweep},
        outputs::{ChangedCheckouts, ClaimedPolls, DuePoll, StatusQuery, SweepOutcome},
    },
    values::{CheckoutId, Method, Millis, PaymentId},
};

pub(super) fn sweep(db: &Connection, sweep: Sweep) -> Result<SweepOutcome, StorageError> {
    let (now, most) = (now(db)?, sweep.most);
    maintenance::compensate(db, now)?;
    let mut changed = Vec::new();
    let overdue = overdue(db, now, most)?;
    for id in &overdue {
        changed.extend(unless_damaged(id.as_str(), give_up_sending(db, id))?.flatten());
    }
    let expiring = expiring(db, now, most)?;
    let pruned = prune(db, now, now.saturating_sub(sweep.keep_for_ms), most)?;
    let is_more = overdue.len().max(expiring.len()).max(pruned) >= most as usize;
    for checkout in expiring {
        if unless_damaged(checkout.as_str(), expire(db, &checkout))? == Some(true) {
            changed.push(checkout);
        }
    }
    Ok(SweepOutcome { changed, is_more })
}

/// Returns the checkout, if anything changed.
fn give_up_sending(db: &Connection, id: &PaymentId) -> Result<Option<CheckoutId>, StorageError> {
    let mut aggregate = aggregates::open_known(db, id)?;
    let mut changes = aggregates::begin(db, &[])?;
    let is_changed = polls::give_up_sending(&mut changes, &mut aggregate, 0)?;
    aggregates::save(db, &changes, &aggregate)?;
    Ok(is_changed.then_some(aggregate.root.id))
}

/// A row that cannot be read must not block the others.
fn unless_damaged<T>(id: &str, result: Result<T, StorageError>) -> Result<Option<T>, StorageError> {
    match result {
        Err(StorageError::Damaged { what }) => {
            tracing::error!(target: "kassa_server", id, what, "a row cannot be read: a person must review it");
            Ok(None)
        }
        other => other.map(Some),
    }
}

fn overdue(db: &Connection, now: Millis, most: u32) -> Result<Vec<PaymentId>, StorageError> {
    let mut statement = db.prepare_cached(
        "SELECT id FROM payments WHERE state IN ('prepared', 'sending') AND until <= ?1 ORDER BY until LIMIT ?2",
    )?;
    let ids = statement.query_map((now, most), |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    ids.iter().map(|id| read(id, "payment")).collect()
}

/// The lease is the schedule: a poll whose result nobody records is due again at its end. If none is claimed, nothing is written,
/// so that checking costs no disk write: the limit fills from its last write.
pub(super) fn claim(db: &Connection, claim: &ClaimPolls) -> Result<ClaimedPolls, StorageError> {
    let now = now(db)?;
    let leased_until = now.saturating_add(claim.lease_ms);
    let due = due(db, now, claim.places.free())?;
    let before = read_limit(db)?;
    let full = || PollLimit::full(claim.per_second, now);
    let (limit, granted) = before.unwrap_or_else(full).grant(&due, claim.places, claim.per_second, now);
    let (mut polls_due, mut places) = (Vec::new(), claim.places);
    for queue in Queue::all() {
        for payment in lease(db, queue, now, leased_until, granted[queue.index()])? {
            let Some(found) = unless_damaged(payment.as_str(), queries_of(db, &payment))? else { continue };
            let Some((checkout, queries)) = found else {
                forget_due(db, &payment)?;
                continue;
            };
            places.take(queue.method);
            polls_due.push(DuePoll { payment, checkout, method: queue.method, leased_until, queries });
        }
    }
    let limit = limit.corrected(&polls::unused(&granted, &polls_due), &limit);
    // A clock that was set back is recorded.
    let may_stay = polls_due.is_empty() && before.is_some_and(|before| !before.is_ahead(now));
    if !may_stay {
        write_limit(db, before.as_ref(), &limit)?;
    }
    let next_in_ms = limit.next_in(&next_due(db)?, places, now);
    Ok(ClaimedPolls { questions: polls_due, next_in_ms })
}

/// Counts the due polls of each queue, up to the wanted number.
fn due(db: &Connection, now: Millis, most: u32) -> Result<[u32; QUEUES], StorageError> {
    let mut statement =
        db.prepare_cached("SELECT COUNT(*) FROM (SELECT 1 FROM due WHERE queue = ?1 AND at <= ?2 LIMIT ?3)")?;
    let mut due = [0; QUEUES];
    for queue in Queue::all() {
        due[queue.index()] = statement.query_row((queue.number(), now, most), |row| row.get(0))?;
    }
    Ok(due)
}

/// Uses the index for each queue separately: no index covers all of them.
fn next_due(db: &Connection) -> Result<[Option<Millis>; QUEUES], StorageError> {
    let mut statement = db.prepare_cached("SELECT MIN(at) FROM due WHERE queue = ?1")?;
    let mut next = [None; QUEUES];
    for queue in Queue::all() {
        next[queue.index()] = statement.query_row([queue.number()], |row| row.get(0))?;
    }
    Ok(next)
}

fn lease(
    db: &Connection,
    queue: Queue,
    now: Millis,
    leased_until: Millis,
    most: u32,
) -> Result<Vec<PaymentId>, StorageError> {
    if most == 0 {
        return Ok(Vec::new());
    }
    // One statement for both would build two temporary tables each time.
    let mut statement =
        db.prepare_cached("SELECT payment_id FROM due WHERE queue = ?1 AND at <= ?2 ORDER BY at LIMIT ?3")?;
    let ids =
        statement.query_map((queue.number(), now, most), |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    let mut update = db.prepare_cached("UPDATE due SET at = ?2, queried_at = ?3 WHERE payment_id = ?1")?;
    for id in &ids {
        update.execute((id, leased_until, now))?;
    }
    ids.iter().map(|id| read(id, "payment")).collect()
}

/// `None` if there is nothing to query.
fn queries_of(db: &Connection, id: &PaymentId) -> Result<Option<(CheckoutId, Vec<StatusQuery>)>, StorageError> {
    let Some(mut row) = rows::payment(db, id)? else { return Ok(None) };
    if row.payment.method == Method::PayForm {
        row.claims = aggregates::claims(db, id)?;
    }
    let checkout = row.payment.checkout.clone();
    let queries = polls::queries_of(row);
    Ok((!queries.is_empty()).then_some((checkout, queries)))
}

pub(super) fn record(db: &Connection, answers: &[PollResult]) -> Result<ChangedCheckouts, StorageError> {
    let mut changed = Vec::new();
    for answered in answers {
        let recorded = unless_damaged(answered.payment.as_str(), record_one(db, answered))?;
        changed.extend(recorded.flatten());
    }
    record_feedback(db, &polls::heard_of(answers), now(db)?)?;
    Ok(ChangedCheckouts { changed })
}

/// Returns the checkout, if anything changed.
fn record_one(db: &Connection, answered: &PollResult) -> Result<Option<CheckoutId>, StorageError> {
    let mut aggregate = aggregates::open_known(db, &answered.payment)?;
    let row = &mut aggregate.payments[0];
    row.due_since = aggregates::due_since(db, &answered.payment)?;
    if row.payment.method == Method::PayForm {
        row.claims = aggregates::claims(db, &answered.payment)?;
    }
    let mut changes = aggregates::begin(db, &polls::numbers_of_answered(answered))?;
    let is_changed = polls::record(&mut changes, &mut aggregate, 0, answered)?;
    aggregates::save(db, &changes, &aggregate)?;
    Ok(is_changed.then_some(aggregate.root.id))
}
