//! Following: what became of sending that took too long, what to ask, what was answered.

use kassa::PaymentRef;

use super::{
    Book, Kept,
    changes::{Changes, DueChange, Number},
    claims,
    happening::{Why, happen},
    payments::ask_from_now_on,
    telling::{Told, tell},
};
use crate::{
    events::kind::EventKind,
    pace::limit::{Heard, is_overload},
    pace::queues::{METHODS, QUEUES, Queue, requests_of},
    pace::schedule::{Class, FORGOTTEN_AFTER, STUCK_AFTER, interval_after_end, interval_at, jittered},
    payments::machine::Happened,
    storage::{
        error::StorageError,
        inputs::{Answered, Report, Reported},
        outputs::{Ask, Question},
    },
    values::{Millis, method::Method, states::PaymentState},
};

/// One odd report is none: so many mismatches in a row are one.
const CONTRADICTIONS_IN_A_ROW: u32 = 3;
/// How far apart in time two of them are.
const APART_MS: Millis = 5_000;

/// One that was not sent in time, or whose sender has no answer. True where that changed it.
pub(in crate::storage) fn give_up_sending(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
) -> Result<bool, StorageError> {
    let kept = &book.payments[at];
    if kept.until > changes.now {
        return Ok(false);
    }
    let (happened, reason) = match kept.payment.state {
        PaymentState::Prepared => (Happened::PreparedTooLong, "NeverSent"),
        _ => (Happened::SendingTooLong, "NoResponse"),
    };
    let is_changed = happen(changes, book, at, happened, Why::of(reason))?;
    if is_changed {
        ask_from_now_on(changes, book, at)?;
    }
    Ok(is_changed)
}

/// What to ask the gateway about a payment: its own reference, or what callbacks claimed of a pay-form.
pub(in crate::storage) fn what_to_ask(kept: Kept) -> Vec<Ask> {
    if kept.payment.method == Method::PayForm {
        return kept.claims_to_ask();
    }
    let can_be_asked = kept.payment.state != PaymentState::Charged && kept.payment.reference.can_be_checked();
    if can_be_asked { vec![Ask { claim: None, reference: kept.payment.reference }] } else { Vec::new() }
}

/// The numbers that the gateway's answers may take.
pub(in crate::storage) fn numbers_of_answered(answered: &Answered) -> Vec<Number> {
    let mut numbers = Vec::new();
    for reported in &answered.reports {
        if let Report::Charged(found) | Report::Pending(found) = &reported.report {
            numbers.extend(Number::all_of(found));
            numbers.extend(reported.claim.as_deref().map(Number::order));
        }
    }
    numbers
}

/// What answers that came together say of the gateway, by method. Trouble of a few answers among many that are good is nobody
/// else's, whatever it says of waiting.
pub(in crate::storage) fn heard_of(answers: &[Answered]) -> Vec<(Method, Heard)> {
    let of = |method: Method| {
        let reports = || answers.iter().filter(|one| one.method == method).flat_map(|answered| &answered.reports);
        let trouble = |reported: &Reported| match reported.report {
            Report::Trouble { is_overload: true, retry_after } => Some(retry_after),
            _ => None,
        };
        let mut troubles: Vec<_> = reports().filter_map(trouble).collect();
        if !is_overload(troubles.len(), reports().count()) {
            troubles.clear();
        }
        let is_well = reports().any(|reported| !matches!(reported.report, Report::Trouble { .. }));
        (method, Heard { troubles, is_well })
    };
    Method::ALL.map(of).into_iter().filter(|(_, heard)| *heard != Heard::default()).collect()
}

/// How many requests each method's questions take, beyond what was granted or less.
pub(in crate::storage) fn unused(granted: &[u32; QUEUES], questions: &[Question]) -> [i64; METHODS] {
    let mut unused = [0; METHODS];
    for queue in Queue::all() {
        let requests = granted[queue.index()].saturating_mul(requests_of(queue.method));
        unused[queue.method as usize] += i64::from(requests);
    }
    for question in questions {
        let asks = i64::try_from(question.ask.len()).unwrap_or(i64::MAX);
        unused[question.method as usize] -= asks.saturating_mul(i64::from(requests_of(question.method)));
    }
    unused
}

/// Notes what the gateway answered about a payment. True where that changed it.
pub(in crate::storage) fn record(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    answered: &Answered,
) -> Result<bool, StorageError> {
    let mut is_changed = false;
    let had_ended = book.payments[at].payment.state.is_final();
    for reported in &answered.reports {
        changes.note_exchange(&answered.payment, &reported.exchange, None);
        is_changed |= match &reported.claim {
            None => take_report(changes, book, at, &reported.report)?,
            Some(number) => claims::record(changes, book, at, number, &reported.report)?,
        };
    }
    is_changed |= flag_stuck(changes, book, at)?;
    schedule(changes, &book.payments[at], had_ended, answered);
    Ok(is_changed)
}

/// What the gateway says of a payment by a number of the merchant's own.
fn take_report(changes: &mut Changes, book: &mut Book, at: usize, report: &Report) -> Result<bool, StorageError> {
    let is_odd_enough = count_mismatches(&mut book.payments[at], report, changes.now) >= CONTRADICTIONS_IN_A_ROW;
    match report {
        Report::Charged(found) => {
            let is_own = take_all_numbers(changes, found, &book.payments[at]);
            let (happened, why) = match is_own {
                true => (Happened::ReportedCharged, Why::default()),
                false => (Happened::ReportedMismatch, Why::of("NumberTaken")),
            };
            let is_changed = happen(changes, book, at, happened, why)?;
            if is_changed && is_own {
                book.payments[at].set_doubt(false);
                book.payments[at].note_reference(changes, found);
            }
            Ok(is_changed)
        }
        Report::Rejected => happen(changes, book, at, Happened::ReportedRejected, Why::default()),
        Report::Pending(found) => {
            if !book.payments[at].payment.state.is_final() {
                book.payments[at].note_reference(changes, found);
            }
            happen(changes, book, at, Happened::ReportedOpen, Why::default())
        }
        // After an end without a charge, only a charge is news.
        Report::Mismatch { fields, is_charge }
            if is_odd_enough && (*is_charge || !book.payments[at].payment.state.is_final()) =>
        {
            happen(changes, book, at, Happened::ReportedMismatch, Why::of(&fields.join(", ")))
        }
        Report::Unverifiable { why } if is_odd_enough => {
            happen(changes, book, at, Happened::ReportedUnverifiable, Why::of(why))
        }
        Report::Mismatch { .. } | Report::Unverifiable { .. } | Report::Nothing | Report::Trouble { .. } => Ok(false),
    }
}

/// How many there were in a row by now. Those that come at once, as where somebody presses a button three times, are one.
fn count_mismatches(kept: &mut Kept, report: &Report, now: Millis) -> u32 {
    let mismatches = match report {
        Report::Mismatch { .. } | Report::Unverifiable { .. } if kept.mismatches == 0 => 1,
        Report::Mismatch { .. } | Report::Unverifiable { .. } => {
            let is_another = now.saturating_sub(kept.mismatch_at) >= APART_MS;
            kept.mismatches.saturating_add(u32::from(is_another))
        }
        Report::Trouble { .. } | Report::Nothing => kept.mismatches,
        Report::Charged(_) | Report::Rejected | Report::Pending(_) => 0,
    };
    if mismatches != kept.mismatches {
        (kept.mismatches, kept.mismatch_at) = (mismatches, now);
        kept.touched.rest = true;
    }
    mismatches
}

/// One payment at the gateway pays for one checkout.
fn take_all_numbers(changes: &mut Changes, found: &PaymentRef, kept: &Kept) -> bool {
    let order = found.order_number.as_deref().map(Number::order);
    let transaction = found.transaction_id.as_deref().map(Number::transaction);
    order.into_iter().chain(transaction).all(|number| changes.numbers.take(&number, &kept.payment.id))
}

/// After three days a person should look. Told once.
fn flag_stuck(changes: &mut Changes, book: &mut Book, at: usize) -> Result<bool, StorageError> {
    let kept = &mut book.payments[at];
    let payment = &kept.payment;
    let is_old = changes.now - payment.begun_at >= STUCK_AFTER;
    let is_worth_it = payment.method != Method::PayForm || kept.has_open_claim();
    if payment.is_stuck || payment.state.is_final() || !is_old || !is_worth_it {
        return Ok(false);
    }
    kept.touch_state();
    kept.payment.is_stuck = true;
    tell(changes, book, EventKind::PaymentStuck, &Told { payment: Some(at), ..Told::default() })?;
    Ok(true)
}

/// When it is asked about again. **One report ends no questions**: what ended without a charge is asked about for some days, at
/// growing distance, and a charge that is reported then is told.
fn schedule(changes: &mut Changes, kept: &Kept, had_ended: bool, answered: &Answered) {
    let (payment, leased_until) = (kept.payment.id.clone(), answered.leased_until);
    let ends_now = kept.payment.state.is_final() && !had_ended;
    let age = if ends_now { 0 } else { changes.now - kept.age_counts_from() };
    changes.due.push(match interval(kept, answered, age) {
        Interval::Never => DueChange::Forget { payment },
        Interval::NoMore => DueChange::AskNoMore { payment, leased_until },
        Interval::After(time) => DueChange::AskAgain {
            payment,
            leased_until,
            at: changes.now.saturating_add(jittered(time, answered.random)),
            queue: Queue { class: Class::at_age(age), method: kept.payment.method },
            since: ends_now.then_some(changes.now),
        },
    });
}

/// After which time a payment is asked about again.
enum Interval {
    After(Millis),
    /// Unless somebody hints at something new.
    NoMore,
    Never,
}

fn interval(kept: &Kept, answered: &Answered, age: Millis) -> Interval {
    let could_not_ask = answered.reports.iter().any(|reported| matches!(reported.report, Report::Trouble { .. }));
    let state = kept.payment.state;
    if kept.payment.method == Method::PayForm {
        let is_forgotten = age >= FORGOTTEN_AFTER && !kept.has_open_claim() && !kept.payment.is_in_doubt;
        return match () {
            () if state == PaymentState::Charged && !kept.has_claim_to_ask() => Interval::Never,
            // More is claimed than one question asks about.
            () if kept.has_unanswered_claim() && !could_not_ask => Interval::After(0),
            () if is_forgotten => Interval::NoMore,
            () => Interval::After(interval_at(age)),
        };
    }
    match state {
        PaymentState::Charged => Interval::Never,
        // A person can be wrong for longer than a gateway.
        _ if kept.is_resolved && age < FORGOTTEN_AFTER => Interval::After(interval_at(age)),
        state if state.is_final() && !could_not_ask => {
            interval_after_end(age).map_or(Interval::NoMore, Interval::After)
        }
        _ => Interval::After(interval_at(age)),
    }
}

impl Kept {
    fn age_counts_from(&self) -> i64 {
        self.due_since.unwrap_or(self.payment.begun_at)
    }
}
