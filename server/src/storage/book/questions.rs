//! Following: what became of sending that took too long, what to ask, what was answered.

use kassa::{PaymentRef, Provider};

use super::{
    Book, Kept,
    changes::{Changes, ClaimSaid, DueChange, Troubles},
    happening::{Why, happen},
    payments::ask_from_now_on,
    telling::{Told, tell},
};
use crate::{
    events::kind::EventKind,
    pace::limit::is_overload,
    pace::schedule::{Class, FORGOTTEN_AFTER, STUCK_AFTER, interval_at, jittered},
    payments::{machine::Happened, payment::Payment},
    storage::{
        error::StorageError,
        inputs::{Answered, Report, Reported},
        outputs::Ask,
    },
    values::{method::Method, states::PaymentState},
};

/// One odd report is none: so many contradictions in a row are one.
const CONTRADICTIONS_IN_A_ROW: u32 = 3;

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
        _ => (Happened::SendingTooLong, "NoAnswer"),
    };
    let is_changed = happen(changes, book, at, happened, Why::of(reason))?;
    if is_changed {
        ask_from_now_on(changes, &book.payments[at]);
    }
    Ok(is_changed)
}

/// What to ask the gateway about a payment: its own reference, or what callbacks claimed of a pay-form, the newest first.
pub(in crate::storage) fn what_to_ask(payment: Payment, claims: Vec<(String, Option<String>)>) -> Vec<Ask> {
    let reference = payment.reference;
    if payment.state == PaymentState::Charged {
        return Vec::new();
    }
    if payment.method != Method::PayForm {
        let can_be_asked = reference.can_be_asked_about();
        return if can_be_asked { vec![Ask { claim: None, reference }] } else { Vec::new() };
    }
    claims.into_iter().map(|(number, provider)| asked_by(&reference, number, provider.as_deref())).collect()
}

fn asked_by(reference: &PaymentRef, number: String, provider: Option<&str>) -> Ask {
    let reference = reference.clone().with_claimed_number(&number, provider.map(Provider::from_name));
    Ask { claim: Some(number), reference }
}

/// The numbers that the gateway's answers may take.
pub(in crate::storage) fn numbers_of_answered(answered: &Answered) -> Vec<String> {
    let mut numbers = Vec::new();
    for reported in &answered.reports {
        if let Report::Charged(found) | Report::Open(found) = &reported.report {
            let own = [&found.order_number, &found.transaction_id, &found.gateway_number];
            numbers.extend(own.into_iter().flatten().chain(&reported.claim).cloned());
        }
    }
    numbers
}

/// What answers that came together say of the gateway.
#[derive(Debug, Default)]
pub(in crate::storage) struct Heard {
    /// It is overloaded, and asked to wait so long.
    pub(in crate::storage) troubles: Troubles,
    /// It answers.
    pub(in crate::storage) is_well: bool,
}

/// Its own word on how long to wait counts however few say it.
pub(in crate::storage) fn heard_of(answers: &[Answered]) -> Heard {
    let reports = || answers.iter().flat_map(|answered| &answered.reports);
    let trouble = |reported: &Reported| match reported.report {
        Report::Trouble { is_overload: true, retry_after } => Some(retry_after),
        _ => None,
    };
    let mut troubles: Troubles = reports().filter_map(trouble).collect();
    if !is_overload(troubles.len(), reports().count()) {
        troubles.retain(Option::is_some);
    }
    let is_well = reports().any(|reported| !matches!(reported.report, Report::Trouble { .. }));
    Heard { troubles, is_well }
}

/// Notes what the gateway answered about a payment. True where that changed it.
pub(in crate::storage) fn settle(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    answered: &Answered,
) -> Result<bool, StorageError> {
    let mut is_changed = false;
    for reported in &answered.reports {
        changes.note_exchange(&answered.payment, &reported.exchange, None);
        is_changed |= match &reported.claim {
            None => take_report(changes, book, at, &reported.report)?,
            Some(number) => take_claimed(changes, book, at, number, &reported.report)?,
        };
    }
    is_changed |= flag_stuck(changes, book, at)?;
    schedule(changes, &book.payments[at], answered);
    Ok(is_changed)
}

/// What the gateway says of a payment by a number of the merchant's own.
fn take_report(changes: &mut Changes, book: &mut Book, at: usize, report: &Report) -> Result<bool, StorageError> {
    let contradictions = count_contradictions(&mut book.payments[at], report);
    match report {
        Report::Charged(found) => {
            let is_own = take_all_numbers(changes, found, &book.payments[at]);
            let (happened, why) = match is_own {
                true => (Happened::ReportedCharged, Why::default()),
                false => (Happened::ReportedContradicted, Why::of("NumberTaken")),
            };
            let is_changed = happen(changes, book, at, happened, why)?;
            if is_changed && is_own {
                book.payments[at].note_reference(changes, found);
            }
            Ok(is_changed)
        }
        Report::Rejected => happen(changes, book, at, Happened::ReportedRejected, Why::default()),
        Report::Open(found) => {
            if !book.payments[at].payment.state.is_final() {
                book.payments[at].note_reference(changes, found);
            }
            happen(changes, book, at, Happened::ReportedOpen, Why::default())
        }
        Report::Contradicted(fields) if contradictions >= CONTRADICTIONS_IN_A_ROW => {
            happen(changes, book, at, Happened::ReportedContradicted, Why::of(&fields.join(", ")))
        }
        Report::Contradicted(_) | Report::Nothing | Report::Trouble { .. } => Ok(false),
    }
}

/// How many there were in a row by now.
fn count_contradictions(kept: &mut Kept, report: &Report) -> u32 {
    let contradictions = match report {
        Report::Contradicted(_) => kept.contradictions.saturating_add(1),
        Report::Trouble { .. } | Report::Nothing => kept.contradictions,
        Report::Charged(_) | Report::Rejected | Report::Open(_) => 0,
    };
    kept.touched.rest |= contradictions != kept.contradictions;
    kept.contradictions = contradictions;
    contradictions
}

/// One payment at the gateway pays for one checkout.
fn take_all_numbers(changes: &mut Changes, found: &PaymentRef, kept: &Kept) -> bool {
    let numbers = [&found.order_number, &found.transaction_id];
    numbers.into_iter().flatten().all(|number| changes.numbers.take(number, &kept.payment.id))
}

/// What the gateway says of a number that was only claimed. Anybody can claim one, and a payer may try again after a
/// rejection: so only a charge says anything of the payment itself, and only where it paid for nothing else.
fn take_claimed(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    number: &str,
    report: &Report,
) -> Result<bool, StorageError> {
    let kept = &mut book.payments[at];
    let said = match report {
        Report::Charged(found) => {
            if kept.payment.state == PaymentState::Charged {
                return Ok(false);
            }
            if changes.numbers.take(number, &kept.payment.id) {
                let is_changed = happen(changes, book, at, Happened::ReportedCharged, Why::default())?;
                if is_changed {
                    book.payments[at].note_reference(changes, found);
                }
                return Ok(is_changed);
            }
            "taken"
        }
        Report::Rejected => "rejected",
        Report::Open(_) => "open",
        Report::Contradicted(_) => "contradicted",
        Report::Nothing => "nothing",
        Report::Trouble { .. } => return Ok(false),
    };
    kept.say_of_claim(changes, number, said);
    Ok(false)
}

impl Kept {
    fn say_of_claim(&mut self, changes: &mut Changes, number: &str, state: &'static str) {
        for claim in self.claims.iter_mut().filter(|claim| claim.number == number) {
            state.clone_into(&mut claim.state);
        }
        changes.claims.push(ClaimSaid { payment: self.payment.id.clone(), number: number.to_owned(), state });
    }
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

/// When it is asked about again.
fn schedule(changes: &mut Changes, kept: &Kept, answered: &Answered) {
    let (payment, leased_until) = (kept.payment.id.clone(), answered.leased_until);
    changes.due.push(if kept.payment.state == PaymentState::Charged {
        DueChange::Forget { payment }
    } else if is_done_with(changes, kept, answered) {
        DueChange::AskNoMore { payment, leased_until }
    } else {
        let age = changes.now - kept.age_counts_from();
        let at = changes.now.saturating_add(jittered(interval_at(age), answered.random));
        DueChange::AskAgain { payment, leased_until, at, class: Class::at_age(age) }
    });
}

fn is_done_with(changes: &Changes, kept: &Kept, answered: &Answered) -> bool {
    let could_not_ask = |reported: &Reported| matches!(reported.report, Report::Trouble { .. });
    let has_ended = kept.payment.state.is_final() && !answered.reports.iter().any(could_not_ask);
    let age = changes.now - kept.age_counts_from();
    let is_pay_form = kept.payment.method == Method::PayForm;
    let is_forgotten = is_pay_form && age >= FORGOTTEN_AFTER && !kept.has_open_claim();
    let said_so = answered.reports.iter().any(|reported| reported.report == Report::Rejected);
    let is_doubted = kept.is_resolved && !said_so && age < FORGOTTEN_AFTER;
    (has_ended && !is_pay_form && !is_doubted) || is_forgotten
}

impl Kept {
    fn age_counts_from(&self) -> i64 {
        self.due_since.unwrap_or(self.payment.begun_at)
    }
}
