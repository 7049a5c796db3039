//! Transactions about following: what time does, what is asked, what was answered.

use rusqlite::Connection;

use super::{
    books,
    checkouts::{expire, expiring},
    clock,
    connection::now,
    due, limit,
    pruning::prune,
    rows::{self, read},
};
use crate::{
    pace::schedule::Class,
    storage::{
        book::questions,
        error::StorageError,
        inputs::{Answered, ClaimQuestions, Sweep},
        outputs::{Ask, Question, Questions, SettledMany, Swept},
    },
    values::{
        Millis,
        ids::{CheckoutId, PaymentId},
        method::Method,
    },
};

pub(super) fn sweep(db: &Connection, sweep: Sweep) -> Result<Swept, StorageError> {
    let (now, most) = (now(db)?, sweep.most);
    clock::compensate(db, now)?;
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
    Ok(Swept { changed, is_more })
}

/// The checkout, where anything changed.
fn give_up_sending(db: &Connection, id: &PaymentId) -> Result<Option<CheckoutId>, StorageError> {
    let mut book = books::open_known(db, id)?;
    let mut changes = books::begin(db, &[])?;
    let is_changed = questions::give_up_sending(&mut changes, &mut book, 0)?;
    books::save(db, &changes, &book)?;
    Ok(is_changed.then_some(book.head.id))
}

/// One row that cannot be read must not hold up the others.
fn unless_damaged<T>(id: &str, result: Result<T, StorageError>) -> Result<Option<T>, StorageError> {
    match result {
        Err(StorageError::Damaged { what }) => {
            tracing::error!(target: "kassa_server", id, what, "a row cannot be read: a person has to look");
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

/// The lease is the schedule: a question that nobody settles is asked again at its end.
pub(super) fn claim(db: &Connection, claim: &ClaimQuestions) -> Result<Questions, StorageError> {
    let now = now(db)?;
    let leased_until = now.saturating_add(claim.lease_ms);
    let mut questions = Vec::new();
    let limited = limit::within(db, claim.most, claim.per_second, now, |granted| {
        let mut used = 0;
        for class in Class::ALL {
            for payment in lease(db, class, now, leased_until, granted.saturating_sub(used))? {
                let Some(found) = unless_damaged(payment.as_str(), what_to_ask(db, &payment))? else { continue };
                let Some((checkout, ask)) = found else {
                    due::forget(db, &payment)?;
                    continue;
                };
                used = used.saturating_add(u32::try_from(ask.len()).unwrap_or(u32::MAX));
                questions.push(Question { payment, checkout, leased_until, ask });
            }
        }
        Ok(used)
    })?;
    let next = next_due(db)?;
    let next_in_ms = next.map(|at| (at - now).max(limited.unwrap_or(0)).max(0));
    Ok(Questions { questions, next_in_ms })
}

/// By the index of each class: none is for all of them.
fn next_due(db: &Connection) -> Result<Option<Millis>, StorageError> {
    let mut statement = db.prepare_cached("SELECT MIN(at) FROM due WHERE class = ?1")?;
    let mut next: Option<Millis> = None;
    for class in Class::ALL {
        let at: Option<Millis> = statement.query_row([class as u8], |row| row.get(0))?;
        next = next.into_iter().chain(at).min();
    }
    Ok(next)
}

fn lease(
    db: &Connection,
    class: Class,
    now: Millis,
    leased_until: Millis,
    most: u32,
) -> Result<Vec<PaymentId>, StorageError> {
    if most == 0 {
        return Ok(Vec::new());
    }
    // One statement for both would build two tables of its own each time.
    let mut statement =
        db.prepare_cached("SELECT payment_id FROM due WHERE class = ?1 AND at <= ?2 ORDER BY at LIMIT ?3")?;
    let ids = statement.query_map((class as u8, now, most), |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    let mut update = db.prepare_cached("UPDATE due SET at = ?2 WHERE payment_id = ?1")?;
    for id in &ids {
        update.execute((id, leased_until))?;
    }
    ids.iter().map(|id| read(id, "payment")).collect()
}

/// Nothing where there is nothing to ask.
fn what_to_ask(db: &Connection, id: &PaymentId) -> Result<Option<(CheckoutId, Vec<Ask>)>, StorageError> {
    let Some(mut kept) = rows::payment(db, id)? else { return Ok(None) };
    if kept.payment.method == Method::PayForm {
        kept.claims = books::claims(db, id)?;
    }
    let checkout = kept.payment.checkout.clone();
    let ask = questions::what_to_ask(kept);
    Ok((!ask.is_empty()).then_some((checkout, ask)))
}

pub(super) fn settle(db: &Connection, answers: &[Answered]) -> Result<SettledMany, StorageError> {
    let mut changed = Vec::new();
    for answered in answers {
        let settled = unless_damaged(answered.payment.as_str(), settle_one(db, answered))?;
        changed.extend(settled.flatten());
    }
    let now = now(db)?;
    let heard = questions::heard_of(answers);
    heard.troubles.into_iter().try_for_each(|wait| limit::trouble(db, wait, now))?;
    if heard.is_well {
        limit::heard(db, now)?;
    }
    Ok(SettledMany { changed })
}

/// The checkout, where anything changed.
fn settle_one(db: &Connection, answered: &Answered) -> Result<Option<CheckoutId>, StorageError> {
    let mut book = books::open_known(db, &answered.payment)?;
    let kept = &mut book.payments[0];
    kept.due_since = books::due_since(db, &answered.payment)?;
    if kept.payment.method == Method::PayForm {
        kept.claims = books::claims(db, &answered.payment)?;
    }
    let mut changes = books::begin(db, &questions::numbers_of_answered(answered))?;
    let is_changed = questions::settle(&mut changes, &mut book, 0, answered)?;
    books::save(db, &changes, &book)?;
    Ok(is_changed.then_some(book.head.id))
}
