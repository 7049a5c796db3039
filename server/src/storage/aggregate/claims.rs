//! Claims: the numbers that callbacks name for a pay-form. A pay-form has no number of the merchant, so only claims allow polling
//! it. **Every claim is stored and polled, and has a state that a person can see.**

use kassa::Provider;

use super::{
    Cause, CheckoutAggregate, EventDetails, PaymentRow, apply, apply_to_checkout,
    changes::{Changes, Number},
    record_event,
};
use crate::{
    checkouts::Trigger as CheckoutTrigger,
    events::EventKind,
    payments::{Failure, machine::Trigger},
    storage::{
        StorageError,
        inputs::{Claim, Report, StatusReport},
        outputs::StatusQuery,
        staff::ListedClaim,
    },
    values::{ClaimState, Millis, PaymentState},
};

/// The number of claims from which rejected and unknown ones give way, the oldest first.
const MANY_CLAIMS: usize = 32;
/// The most claims of a payment. Beyond that, the gateway gets an error, and retries the callback.
const MOST_CLAIMS: usize = 1_000;
/// The most claims in one poll.
const MOST_CLAIMS_AT_ONCE: usize = 8;
/// The reason for doubt if the number has already paid for another payment.
const NUMBER_TAKEN: &str = "NumberTaken";

/// A claim, as it is stored.
#[derive(Clone, Debug)]
pub(in crate::storage) struct ClaimRow {
    pub(in crate::storage) number: String,
    pub(in crate::storage) provider: Option<String>,
    pub(in crate::storage) state: ClaimState,
    /// Why a charge is in doubt.
    pub(in crate::storage) reason: Option<String>,
    /// When a callback last named it.
    pub(in crate::storage) at: Millis,
    /// When the gateway last answered about it.
    pub(in crate::storage) queried_at: Option<Millis>,
    /// Whether it was changed, and must be saved.
    pub(in crate::storage) is_dirty: bool,
}

impl From<ClaimRow> for ListedClaim {
    fn from(claim: ClaimRow) -> Self {
        let ClaimRow { number, provider, state, reason, at, .. } = claim;
        Self { number, provider, state, reason, at }
    }
}

impl ClaimRow {
    fn new(number: String, provider: Option<String>, at: Millis) -> Self {
        let (state, reason, queried_at) = (ClaimState::Querying, None, None);
        Self { number, provider, state, reason, at, queried_at, is_dirty: true }
    }

    /// Whether it is polled.
    fn needs_poll(&self, payment: PaymentState) -> bool {
        match self.state {
            ClaimState::Charged | ClaimState::OtherPayment => false,
            ClaimState::Rejected => payment != PaymentState::Charged,
            _ => true,
        }
    }
}

impl PaymentRow {
    /// Whether the gateway knows a number that was claimed for it. A page without payments needs no review.
    pub(super) fn has_open_claim(&self) -> bool {
        self.claims.iter().any(|claim| claim.state == ClaimState::Pending)
    }

    /// Whether there is a claim left to query.
    pub(super) fn has_claim_to_poll(&self) -> bool {
        self.claims.iter().any(|claim| claim.needs_poll(self.payment.state))
    }

    /// Whether there is a claim that the gateway has never answered about.
    pub(super) fn has_unanswered_claim(&self) -> bool {
        self.claims.iter().any(|claim| claim.needs_poll(self.payment.state) && claim.queried_at.is_none())
    }

    /// The claims to query: first those without a response, then those with the oldest response.
    pub(super) fn claims_to_poll(&self) -> Vec<StatusQuery> {
        let mut claims: Vec<_> = self.claims.iter().filter(|claim| claim.needs_poll(self.payment.state)).collect();
        claims.sort_by_key(|claim| (claim.queried_at, std::cmp::Reverse(claim.at)));
        let query = |claim: &ClaimRow| {
            let provider = claim.provider.as_deref().map(Provider::from_name);
            let reference = self.payment.reference.clone().with_claimed_number(&claim.number, provider);
            StatusQuery { claim: Some(claim.number.clone()), reference }
        };
        claims.into_iter().take(MOST_CLAIMS_AT_ONCE).map(query).collect()
    }

    /// Whether the gateway declined every number that was claimed for it: no known attempt on the gateway's page was charged.
    fn is_declined(&self) -> bool {
        let state = self.payment.state;
        state == PaymentState::Awaiting
            && !self.claims.is_empty()
            && self.claims.iter().all(|claim| claim.state == ClaimState::Rejected)
    }

    /// Records why the newest attempt on the gateway's page was declined, until another one is claimed or pending. It ends
    /// nothing: the page can still be paid. True if this changed it.
    fn record_decline(&mut self, why: Option<Failure>) -> bool {
        let was_declined = self.payment.is_declined_on_page();
        let failure = match why {
            Some(why) if self.is_declined() => Some(why),
            _ if was_declined && !self.is_declined() => None,
            _ => return false,
        };
        let is_changed = self.payment.failure != failure;
        self.payment.failure = failure;
        self.dirty.rest |= is_changed;
        is_changed
    }

    /// Counts the charges in doubt as made, after a person's decision: if the gateway's report can be verified
    /// later, they are not counted again.
    pub(super) fn count_claims_in_doubt(&mut self) {
        for claim in self.claims.iter_mut().filter(|claim| claim.state.is_in_doubt()) {
            (claim.state, claim.is_dirty) = (ClaimState::Charged, true);
        }
    }

    /// Sets whether a charge is in doubt: no longer after a person's decision, or when it is verified.
    pub(super) fn set_doubt(&mut self, is_in_doubt: bool) {
        self.dirty.rest |= self.payment.is_in_doubt != is_in_doubt;
        self.payment.is_in_doubt = is_in_doubt;
    }
}

/// Stores the claim of a callback before the gateway is queried, because the callback may not be repeated. False if there are too
/// many claims and none gives way.
pub(in crate::storage) fn keep(changes: &Changes, row: &mut PaymentRow, new: &Claim) -> bool {
    let provider = new.provider.as_ref().map(|provider| provider.name().to_owned());
    if let Some(known) = row.claims.iter_mut().find(|claim| claim.number == new.number) {
        known.at = changes.now;
        known.provider = provider.or(known.provider.take());
        known.is_dirty = true;
        return true;
    }
    while row.claims.len() >= MANY_CLAIMS {
        let giving_way = row.claims.iter().enumerate().filter(|(_, claim)| claim.state.gives_way());
        let Some((oldest, _)) = giving_way.min_by_key(|(_, claim)| claim.at) else { break };
        row.dropped_claims.push(row.claims.remove(oldest).number);
    }
    if row.claims.len() >= MOST_CLAIMS {
        return false;
    }
    row.claims.push(ClaimRow::new(new.number.clone(), provider, changes.now));
    row.record_decline(None);
    true
}

/// Records the gateway's report on a claimed number. Anyone can claim one, and a payer may try again after a rejection, so only a
/// charge affects the payment itself. True if this changed it.
pub(super) fn record(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    number: &str,
    reported: &StatusReport,
) -> Result<bool, StorageError> {
    let report = &reported.report;
    if let Report::Failed { .. } = report {
        return Ok(false);
    }
    let row = &mut aggregate.payments[at];
    let Some(place) = row.claims.iter().position(|claim| claim.number == number) else {
        // It gave way during the query. A charge is still stored.
        if !report.is_charge() {
            return Ok(false);
        }
        row.claims.push(ClaimRow::new(number.to_owned(), None, changes.now));
        return record(changes, aggregate, at, number, reported);
    };
    let before = row.claims[place].state;
    row.claims[place].queried_at = Some(changes.now);
    row.claims[place].is_dirty = true;
    let (state, reason) = match report {
        Report::Charged(found) => {
            if before == ClaimState::Charged {
                return Ok(false);
            }
            if changes.numbers.take(&Number::order(number), &row.payment.id) {
                return charged(changes, aggregate, at, place, found);
            }
            (ClaimState::OtherPayment, Some(NUMBER_TAKEN.to_owned()))
        }
        Report::Mismatch { fields, is_charge: true } => (ClaimState::Mismatch, Some(fields.join(", "))),
        Report::Unverifiable { why } => (ClaimState::Unverifiable, Some(why.clone())),
        Report::Rejected => (ClaimState::Rejected, None),
        Report::Pending(_) => (ClaimState::Pending, None),
        _ => (ClaimState::Unknown, None),
    };
    // A reported charge stays, even if a later report differs.
    if before == ClaimState::Charged || before.is_in_doubt() && !state.is_in_doubt() {
        return Ok(false);
    }
    let row = &mut aggregate.payments[at];
    (row.claims[place].state, row.claims[place].reason) = (state, reason.clone());
    let is_newest = row.claims.iter().all(|claim| claim.at <= row.claims[place].at);
    let why = (is_newest && state == ClaimState::Rejected).then(|| Failure::rejected(&reported.exchange));
    let is_decline_changed = row.record_decline(why);
    // Only one event, even if the reason changes.
    if before.is_in_doubt() || !state.is_in_doubt() {
        return Ok(is_decline_changed);
    }
    doubt(changes, aggregate, at, state, &reason.unwrap_or_default())?;
    Ok(true)
}

/// The requested charge: the first one pays, and each further number is overpaid.
fn charged(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    place: usize,
    found: &kassa::PaymentRef,
) -> Result<bool, StorageError> {
    let row = &mut aggregate.payments[at];
    let is_first = !row.claims.iter().any(|claim| claim.state == ClaimState::Charged);
    (row.claims[place].state, row.claims[place].reason) = (ClaimState::Charged, None);
    row.record_decline(None);
    let stays_in_doubt = row.payment.is_in_doubt && row.claims.iter().any(|claim| claim.state.is_in_doubt());
    row.set_doubt(stays_in_doubt);
    if apply(changes, aggregate, at, Trigger::ReportedCharged, Cause::default())? {
        aggregate.payments[at].update_reference(changes, found);
        return Ok(true);
    }
    // The charge that a person decided on is the one reported now.
    if is_first && aggregate.payments[at].is_resolved {
        return Ok(false);
    }
    apply_to_checkout(changes, aggregate, CheckoutTrigger::PaymentCharged, Some(at), None)
}

/// A charge in doubt always has an event, also if it does not change the payment.
fn doubt(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    state: ClaimState,
    reason: &str,
) -> Result<(), StorageError> {
    let (trigger, event) = match state {
        ClaimState::Unverifiable => (Trigger::ReportedUnverifiable, EventKind::PaymentUnverifiable),
        _ => (Trigger::ReportedMismatch, EventKind::PaymentMismatch),
    };
    if !apply(changes, aggregate, at, trigger, Cause::of(reason))? {
        aggregate.payments[at].set_doubt(true);
        record_event(
            changes,
            aggregate,
            event,
            &EventDetails { payment: Some(at), reason: Some(reason), ..EventDetails::default() },
        )?;
    }
    Ok(())
}
