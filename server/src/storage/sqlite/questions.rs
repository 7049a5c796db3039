//! Transactions about following: what time does, what is asked, what was answered.

use kassa::{PaymentRef, Provider};
use rusqlite::Connection;

use super::{
    changes::{happen, happen_to_checkout, take_number},
    checkouts::expiring,
    connection::now,
    due,
    exchanges::Noted,
    limit,
    outbox::{self, Told},
    payments::{ask_from_now_on, note_reference},
    pruning::prune,
    rows::{self, Kept, kept_payment, read},
};
use crate::{
    checkouts::machine::Happened as CheckoutHappened,
    events::kind::EventKind,
    pace::schedule::{Class, FORGOTTEN_AFTER, STUCK_AFTER, interval_at, jittered},
    payments::machine::Happened,
    storage::{
        error::StorageError,
        inputs::{Answered, ClaimQuestions, Report, Reported, Sweep},
        outputs::{Ask, Question, Questions, SettledMany, Swept},
    },
    values::{
        Millis,
        ids::{CheckoutId, PaymentId},
        method::Method,
        states::PaymentState,
    },
};

/// One odd report is none: so many contradictions in a row are one.
const CONTRADICTIONS_IN_A_ROW: u32 = 3;

pub(super) fn sweep(db: &Connection, sweep: Sweep) -> Result<Swept, StorageError> {
    let (now, most) = (now(db)?, sweep.most);
    let mut changed = Vec::new();
    let overdue = overdue(db, now, most)?;
    let looked_at = overdue.len();
    for id in overdue {
        let Some(mut kept) = unless_damaged(id.as_str(), kept_payment(db, &id))? else { continue };
        let (happened, reason) = match kept.payment.state {
            PaymentState::Prepared => (Happened::PreparedTooLong, "NeverSent"),
            _ => (Happened::SendingTooLong, "NoAnswer"),
        };
        if happen(db, now, &mut kept, happened, Some(reason))? {
            ask_from_now_on(db, now, &kept)?;
            changed.push(kept.payment.checkout);
        }
    }
    let (expiring, waiting) = expiring(db, now, most)?;
    let pruned = prune(db, now, now.saturating_sub(sweep.keep_for_ms), most)?;
    let is_more = looked_at.max(expiring.len() + waiting).max(pruned) >= most as usize;
    for checkout in expiring {
        if happen_to_checkout(db, now, &checkout, CheckoutHappened::TimePassed, None)? {
            changed.push(checkout);
        }
    }
    Ok(Swept { changed, is_more })
}

/// One row that cannot be read must not hold up the others.
fn unless_damaged<T>(id: &str, result: Result<T, StorageError>) -> Result<Option<T>, StorageError> {
    match result {
        Err(StorageError::Damaged { what }) => {
            tracing::error!(target: "kassa_server", payment = id, what, "a row cannot be read: a person has to look");
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
                let Some(ask) = unless_damaged(payment.as_str(), what_to_ask(db, &payment))? else { continue };
                if ask.is_empty() {
                    due::forget(db, &payment)?;
                    continue;
                }
                used = used.saturating_add(u32::try_from(ask.len()).unwrap_or(u32::MAX));
                questions.push(Question { payment, leased_until, ask });
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

/// The payment's own reference, or what callbacks claimed of a pay-form.
fn what_to_ask(db: &Connection, id: &PaymentId) -> Result<Vec<Ask>, StorageError> {
    let Some(kept) = rows::payment(db, id)? else { return Ok(Vec::new()) };
    let reference = kept.payment.reference;
    if kept.payment.method != Method::PayForm {
        let can_be_asked = reference.can_be_asked_about() && kept.payment.state != PaymentState::Charged;
        return Ok(if can_be_asked { vec![Ask { claim: None, reference }] } else { Vec::new() });
    }
    if kept.payment.state == PaymentState::Charged {
        return Ok(Vec::new());
    }
    let mut statement = db.prepare_cached(
        "SELECT number, provider FROM claims WHERE payment_id = ?1 AND state <> 'taken' ORDER BY at DESC",
    )?;
    let rows = statement.query_map([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let claims = rows.collect::<Result<Vec<(String, Option<String>)>, _>>()?;
    Ok(claims.into_iter().map(|(number, provider)| asked_by(&reference, number, provider.as_deref())).collect())
}

fn asked_by(reference: &PaymentRef, number: String, provider: Option<&str>) -> Ask {
    let reference = reference.clone().with_claimed_number(&number, provider.map(Provider::from_name));
    Ask { claim: Some(number), reference }
}

pub(super) fn settle(db: &Connection, answers: &[Answered]) -> Result<SettledMany, StorageError> {
    let now = now(db)?;
    let mut changed = Vec::new();
    for answered in answers {
        let settled = unless_damaged(answered.payment.as_str(), settle_one(db, now, answered))?;
        changed.extend(settled.flatten());
    }
    Ok(SettledMany { changed })
}

/// The checkout, where anything changed.
fn settle_one(db: &Connection, now: Millis, answered: &Answered) -> Result<Option<CheckoutId>, StorageError> {
    let mut kept = kept_payment(db, &answered.payment)?;
    let mut is_changed = false;
    for reported in &answered.reports {
        Noted { now, of: &answered.payment, exchange: &reported.exchange, sender: None }.note(db)?;
        if let Report::Trouble { is_overload: true, retry_after } = reported.report {
            limit::trouble(db, retry_after, now)?;
        }
        is_changed |= match &reported.claim {
            None => take_report(db, now, &mut kept, &reported.report)?,
            Some(number) => take_claimed(db, now, &mut kept, number, &reported.report)?,
        };
    }
    is_changed |= flag_stuck(db, now, &mut kept)?;
    schedule(db, now, &kept, answered)?;
    Ok(is_changed.then_some(kept.payment.checkout))
}

/// What the gateway says of a payment by a number of the merchant's own.
fn take_report(db: &Connection, now: Millis, kept: &mut Kept, report: &Report) -> Result<bool, StorageError> {
    let contradictions = match report {
        Report::Contradicted(_) => kept.contradictions.saturating_add(1),
        Report::Trouble { .. } | Report::Nothing => kept.contradictions,
        Report::Charged(_) | Report::Rejected | Report::Open(_) => 0,
    };
    if contradictions != kept.contradictions {
        kept.contradictions = contradictions;
        db.prepare_cached("UPDATE payments SET contradictions = ?2 WHERE id = ?1")?
            .execute((kept.payment.id.as_str(), contradictions))?;
    }
    match report {
        Report::Charged(found) => {
            let is_own = take_all_numbers(db, found, &kept.payment.id)?;
            let happened = if is_own { Happened::ReportedCharged } else { Happened::ReportedContradicted };
            let changed = happen(db, now, kept, happened, (!is_own).then_some("NumberTaken"))?;
            if changed && is_own {
                note_reference(db, kept, found)?;
            }
            Ok(changed)
        }
        Report::Rejected => happen(db, now, kept, Happened::ReportedRejected, None),
        Report::Open(found) => {
            if !kept.payment.state.is_final() {
                note_reference(db, kept, found)?;
            }
            happen(db, now, kept, Happened::ReportedOpen, None)
        }
        Report::Contradicted(fields) if contradictions >= CONTRADICTIONS_IN_A_ROW => {
            happen(db, now, kept, Happened::ReportedContradicted, Some(&fields.join(", ")))
        }
        Report::Contradicted(_) | Report::Nothing | Report::Trouble { .. } => Ok(false),
    }
}

/// One payment at the gateway pays for one checkout.
fn take_all_numbers(db: &Connection, found: &PaymentRef, payment: &PaymentId) -> Result<bool, StorageError> {
    for number in [&found.order_number, &found.transaction_id].into_iter().flatten() {
        if !take_number(db, number, payment)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What the gateway says of a number that was only claimed. Anybody can claim one, and a payer may try again after a
/// rejection: so only a charge says anything of the payment itself, and only where it paid for nothing else.
fn take_claimed(
    db: &Connection,
    now: Millis,
    kept: &mut Kept,
    number: &str,
    report: &Report,
) -> Result<bool, StorageError> {
    let said = match report {
        Report::Charged(found) => {
            if kept.payment.state == PaymentState::Charged {
                return Ok(false);
            }
            if take_number(db, number, &kept.payment.id)? {
                let changed = happen(db, now, kept, Happened::ReportedCharged, None)?;
                if changed {
                    note_reference(db, kept, found)?;
                }
                return Ok(changed);
            }
            "taken"
        }
        Report::Rejected => "rejected",
        Report::Open(_) => "open",
        Report::Contradicted(_) => "contradicted",
        Report::Nothing => "nothing",
        Report::Trouble { .. } => return Ok(false),
    };
    db.prepare_cached("UPDATE claims SET state = ?3 WHERE payment_id = ?1 AND number = ?2")?.execute((
        kept.payment.id.as_str(),
        number,
        said,
    ))?;
    Ok(false)
}

/// After three days a person should look. Told once.
fn flag_stuck(db: &Connection, now: Millis, kept: &mut Kept) -> Result<bool, StorageError> {
    let payment = &kept.payment;
    let is_old = now - payment.begun_at >= STUCK_AFTER;
    if payment.is_stuck || payment.state.is_final() || !is_old || !has_open_claim(db, payment.method, &payment.id)? {
        return Ok(false);
    }
    db.prepare_cached("UPDATE payments SET is_stuck = 1 WHERE id = ?1")?.execute([payment.id.as_str()])?;
    kept.payment.is_stuck = true;
    let told = Told { payment: Some(&kept.payment), ..Told::default() };
    outbox::write(db, now, &kept.payment.checkout, EventKind::PaymentStuck, &told)?;
    Ok(true)
}

/// A page that nobody paid on is nothing to look at.
fn has_open_claim(db: &Connection, method: Method, id: &PaymentId) -> Result<bool, StorageError> {
    if method != Method::PayForm {
        return Ok(true);
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM claims WHERE payment_id = ?1 AND state = 'open')";
    Ok(db.prepare_cached(sql)?.query_row([id.as_str()], |row| row.get(0))?)
}

fn schedule(db: &Connection, now: Millis, kept: &Kept, answered: &Answered) -> Result<(), StorageError> {
    let id = &kept.payment.id;
    if kept.payment.state == PaymentState::Charged {
        return due::forget(db, id);
    }
    let could_not_ask = |reported: &Reported| matches!(reported.report, Report::Trouble { .. });
    let has_ended = kept.payment.state.is_final() && !answered.reports.iter().any(could_not_ask);
    let since: Millis = db
        .prepare_cached("SELECT COALESCE((SELECT since FROM due WHERE payment_id = ?1), ?2)")?
        .query_row((id.as_str(), kept.payment.begun_at), |row| row.get(0))?;
    let age = now - since;
    let is_forgotten = kept.payment.method == Method::PayForm
        && age >= FORGOTTEN_AFTER
        && !has_open_claim(db, kept.payment.method, id)?;
    let said_so = answered.reports.iter().any(|reported| reported.report == Report::Rejected);
    let is_doubted = kept.is_resolved && !said_so && age < FORGOTTEN_AFTER;
    if has_ended && kept.payment.method != Method::PayForm && !is_doubted || is_forgotten {
        return due::ask_no_more(db, id, answered.leased_until);
    }
    let at = now.saturating_add(jittered(interval_at(age), answered.random));
    due::ask_again(db, id, answered.leased_until, at, Class::at_age(age))
}
