//! Polling: gives up sending that took too long, chooses the status queries of a poll, and applies their results.

use kassa::PaymentRef;

use super::{
    Cause, CheckoutAggregate, EventDetails, PaymentRow, apply,
    changes::{Changes, DueChange, Number},
    claims, record_event,
    sending::schedule_first_poll,
};
use crate::{
    events::EventKind,
    pace::{
        Class, FORGOTTEN_AFTER, STUCK_AFTER, interval_after_end, interval_at, jittered,
        queues::{METHODS, QUEUES, Queue, requests_of},
        rate_limit::{GatewayFeedback, is_overload},
    },
    payments::{Failure, machine::Trigger},
    storage::{
        StorageError,
        inputs::{PollResult, Report, StatusReport},
        outputs::{DuePoll, StatusQuery},
    },
    values::{Method, Millis, PaymentState},
};

/// The number of consecutive mismatches that count: a single odd report does not.
const CONTRADICTIONS_IN_A_ROW: u32 = 3;
/// The least time between two counted mismatches.
const APART_MS: Millis = 5_000;

/// Gives up a payment that was not sent in time, or whose sender has no response. True if this changed it.
pub(in crate::storage) fn give_up_sending(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
) -> Result<bool, StorageError> {
    let row = &aggregate.payments[at];
    if row.until > changes.now {
        return Ok(false);
    }
    let (trigger, reason) = match row.payment.state {
        PaymentState::Prepared => (Trigger::PreparedTooLong, "NeverSent"),
        _ => (Trigger::SendingTooLong, "NoResponse"),
    };
    let is_changed = apply(changes, aggregate, at, trigger, Cause::of(reason))?;
    if is_changed {
        schedule_first_poll(changes, aggregate, at)?;
    }
    Ok(is_changed)
}

/// The status queries of a poll: by the payment's own reference, or by the claims of a pay-form.
pub(in crate::storage) fn queries_of(row: PaymentRow) -> Vec<StatusQuery> {
    if row.payment.method == Method::PayForm {
        return row.claims_to_poll();
    }
    let can_be_queried = row.payment.state != PaymentState::Charged && row.payment.reference.can_be_checked();
    if can_be_queried { vec![StatusQuery { claim: None, reference: row.payment.reference }] } else { Vec::new() }
}

/// The numbers that the gateway's responses may take.
pub(in crate::storage) fn numbers_of_answered(answered: &PollResult) -> Vec<Number> {
    let mut numbers = Vec::new();
    for reported in &answered.reports {
        if let Report::Charged(found) | Report::Pending(found) = &reported.report {
            numbers.extend(Number::all_of(found));
            numbers.extend(reported.claim.as_deref().map(Number::order));
        }
    }
    numbers
}

/// The feedback of one batch of results about the gateway, by method. A few overloads among many good responses do not slow
/// polling down, even with a `Retry-After`.
pub(in crate::storage) fn heard_of(answers: &[PollResult]) -> Vec<(Method, GatewayFeedback)> {
    let of = |method: Method| {
        let reports = || answers.iter().filter(|one| one.method == method).flat_map(|answered| &answered.reports);
        let overload = |reported: &StatusReport| match reported.report {
            Report::Failed { is_overload: true, retry_after } => Some(retry_after),
            _ => None,
        };
        let mut overloads: Vec<_> = reports().filter_map(overload).collect();
        if !is_overload(overloads.len(), reports().count()) {
            overloads.clear();
        }
        let is_well = reports().any(|reported| !matches!(reported.report, Report::Failed { .. }));
        (method, GatewayFeedback { overloads, is_well })
    };
    Method::ALL.map(of).into_iter().filter(|(_, heard)| *heard != GatewayFeedback::default()).collect()
}

/// The granted requests of each method, minus those that its polls take.
pub(in crate::storage) fn unused(granted: &[u32; QUEUES], polls: &[DuePoll]) -> [i64; METHODS] {
    let mut unused = [0; METHODS];
    for queue in Queue::all() {
        let requests = granted[queue.index()].saturating_mul(requests_of(queue.method));
        unused[queue.method as usize] += i64::from(requests);
    }
    for question in polls {
        let queries = i64::try_from(question.queries.len()).unwrap_or(i64::MAX);
        unused[question.method as usize] -= queries.saturating_mul(i64::from(requests_of(question.method)));
    }
    unused
}

/// Records the gateway's answers about a payment. True if they changed it.
pub(in crate::storage) fn record(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    answered: &PollResult,
) -> Result<bool, StorageError> {
    let mut is_changed = false;
    let had_ended = aggregate.payments[at].payment.state.is_final();
    for reported in &answered.reports {
        changes.record_exchange(&answered.payment, &reported.exchange, None);
        is_changed |= match &reported.claim {
            None => take_report(changes, aggregate, at, reported)?,
            Some(number) => claims::record(changes, aggregate, at, number, reported)?,
        };
    }
    is_changed |= flag_stuck(changes, aggregate, at)?;
    schedule(changes, &aggregate.payments[at], had_ended, answered);
    Ok(is_changed)
}

/// Applies a report on a payment by the merchant's own number.
fn take_report(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    reported: &StatusReport,
) -> Result<bool, StorageError> {
    let StatusReport { report, exchange, .. } = reported;
    let is_odd_enough = count_mismatches(&mut aggregate.payments[at], report, changes.now) >= CONTRADICTIONS_IN_A_ROW;
    match report {
        Report::Charged(found) => {
            let is_own = take_all_numbers(changes, found, &aggregate.payments[at]);
            let (trigger, why) = match is_own {
                true => (Trigger::ReportedCharged, Cause::default()),
                false => (Trigger::ReportedMismatch, Cause::of("NumberTaken")),
            };
            let is_changed = apply(changes, aggregate, at, trigger, why)?;
            if is_changed && is_own {
                aggregate.payments[at].set_doubt(false);
                aggregate.payments[at].update_reference(changes, found);
            }
            Ok(is_changed)
        }
        Report::Rejected => {
            let is_changed = apply(changes, aggregate, at, Trigger::ReportedRejected, Cause::default())?;
            if is_changed && (exchange.code.is_some() || exchange.words.is_some()) {
                aggregate.payments[at].record_failure(&Failure::rejected(exchange));
            }
            Ok(is_changed)
        }
        Report::Pending(found) => {
            if !aggregate.payments[at].payment.state.is_final() {
                aggregate.payments[at].update_reference(changes, found);
            }
            apply(changes, aggregate, at, Trigger::ReportedOpen, Cause::default())
        }
        // After an end without a charge, only a charge is news.
        Report::Mismatch { fields, is_charge }
            if is_odd_enough && (*is_charge || !aggregate.payments[at].payment.state.is_final()) =>
        {
            apply(changes, aggregate, at, Trigger::ReportedMismatch, Cause::of(&fields.join(", ")))
        }
        Report::Unverifiable { why } if is_odd_enough => {
            apply(changes, aggregate, at, Trigger::ReportedUnverifiable, Cause::of(why))
        }
        Report::Mismatch { .. } | Report::Unverifiable { .. } | Report::Nothing | Report::Failed { .. } => Ok(false),
    }
}

/// Counts mismatches in a row. Those at almost the same time, for example after three presses of a button, count as one.
fn count_mismatches(row: &mut PaymentRow, report: &Report, now: Millis) -> u32 {
    let mismatches = match report {
        Report::Mismatch { .. } | Report::Unverifiable { .. } if row.mismatches == 0 => 1,
        Report::Mismatch { .. } | Report::Unverifiable { .. } => {
            let is_another = now.saturating_sub(row.mismatch_at) >= APART_MS;
            row.mismatches.saturating_add(u32::from(is_another))
        }
        Report::Failed { .. } | Report::Nothing => row.mismatches,
        Report::Charged(_) | Report::Rejected | Report::Pending(_) => 0,
    };
    if mismatches != row.mismatches {
        (row.mismatches, row.mismatch_at) = (mismatches, now);
        row.dirty.rest = true;
    }
    mismatches
}

/// One payment at the gateway pays for one checkout.
fn take_all_numbers(changes: &mut Changes, found: &PaymentRef, row: &PaymentRow) -> bool {
    let order = found.order_number.as_deref().map(Number::order);
    let transaction = found.transaction_id.as_deref().map(Number::transaction);
    order.into_iter().chain(transaction).all(|number| changes.numbers.take(&number, &row.payment.id))
}

/// Flags a payment for a person after three days, once.
fn flag_stuck(changes: &mut Changes, aggregate: &mut CheckoutAggregate, at: usize) -> Result<bool, StorageError> {
    let row = &mut aggregate.payments[at];
    let payment = &row.payment;
    let is_old = changes.now - payment.begun_at >= STUCK_AFTER;
    let is_worth_it = payment.method != Method::PayForm || row.has_open_claim();
    if payment.is_stuck || payment.state.is_final() || !is_old || !is_worth_it {
        return Ok(false);
    }
    row.mark_state_dirty();
    row.payment.is_stuck = true;
    record_event(
        changes,
        aggregate,
        EventKind::PaymentStuck,
        &EventDetails { payment: Some(at), ..EventDetails::default() },
    )?;
    Ok(true)
}

/// Schedules the next poll. **One report does not end polling**: a payment that ended without a charge is polled for some days, at
/// growing intervals, and a charge that is reported then has an event.
fn schedule(changes: &mut Changes, row: &PaymentRow, had_ended: bool, answered: &PollResult) {
    let (payment, leased_until) = (row.payment.id.clone(), answered.leased_until);
    let ends_now = row.payment.state.is_final() && !had_ended;
    let age = if ends_now { 0 } else { changes.now - row.age_counts_from() };
    changes.due.push(match interval(row, answered, age) {
        Interval::Never => DueChange::Forget { payment },
        Interval::NoMore => DueChange::StopPolling { payment, leased_until },
        Interval::After(time) => DueChange::PollAgain {
            payment,
            leased_until,
            at: changes.now.saturating_add(jittered(time, answered.random)),
            queue: Queue { class: Class::at_age(age), method: row.payment.method },
            since: ends_now.then_some(changes.now),
        },
    });
}

/// The time until the next poll of a payment.
enum Interval {
    After(Millis),
    /// No more polls, unless there is a hint.
    NoMore,
    Never,
}

fn interval(row: &PaymentRow, answered: &PollResult, age: Millis) -> Interval {
    let query_failed = answered.reports.iter().any(|reported| matches!(reported.report, Report::Failed { .. }));
    let state = row.payment.state;
    if row.payment.method == Method::PayForm {
        let is_forgotten = age >= FORGOTTEN_AFTER && !row.has_open_claim() && !row.payment.is_in_doubt;
        return match () {
            () if state == PaymentState::Charged && !row.has_claim_to_poll() => Interval::Never,
            // There are more claims than one poll queries.
            () if row.has_unanswered_claim() && !query_failed => Interval::After(0),
            () if is_forgotten => Interval::NoMore,
            () => Interval::After(interval_at(age)),
        };
    }
    match state {
        PaymentState::Charged => Interval::Never,
        // A person can be wrong for longer than a gateway.
        _ if row.is_resolved && age < FORGOTTEN_AFTER => Interval::After(interval_at(age)),
        state if state.is_final() && !query_failed => interval_after_end(age).map_or(Interval::NoMore, Interval::After),
        _ => Interval::After(interval_at(age)),
    }
}

impl PaymentRow {
    fn age_counts_from(&self) -> i64 {
        self.due_since.unwrap_or(self.payment.begun_at)
    }
}
