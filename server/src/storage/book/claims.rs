//! Claims: the numbers that callbacks name for a pay-form. A pay-form has no number of the merchant's own, so these are all
//! that it can be asked about by. **Every claim is kept, asked about, and has a state that a person can see.**

use kassa::Provider;

use super::{
    Book, Kept,
    changes::{Changes, Number},
    happening::{Why, happen, happen_to_checkout},
    telling::{Told, tell},
};
use crate::{
    checkouts::machine::Happened as CheckoutHappened,
    events::kind::EventKind,
    payments::machine::Happened,
    storage::{
        error::StorageError,
        inputs::{Claim, Report},
        outputs::Ask,
        staff::ListedClaim,
    },
    values::{
        Millis,
        states::{ClaimState, PaymentState},
    },
};

/// From how many claims on those that were rejected, or that the gateway does not know, give way: the oldest first.
const MANY_CLAIMS: usize = 32;
/// A gateway that claims more numbers for one payment is answered with an error, and calls back again.
const MOST_CLAIMS: usize = 1_000;
/// How many claims one question asks about.
const MOST_ASKED_AT_ONCE: usize = 8;
/// Why a charge is in doubt whose number has paid for another payment.
const NUMBER_TAKEN: &str = "NumberTaken";

/// A claim, as it is kept.
#[derive(Clone, Debug)]
pub(in crate::storage) struct KeptClaim {
    pub(in crate::storage) number: String,
    pub(in crate::storage) provider: Option<String>,
    pub(in crate::storage) state: ClaimState,
    /// Why a charge is in doubt.
    pub(in crate::storage) reason: Option<String>,
    /// When a callback named it last.
    pub(in crate::storage) at: Millis,
    /// When the gateway answered about it last.
    pub(in crate::storage) asked_at: Option<Millis>,
    /// It was changed, and has to be saved.
    pub(in crate::storage) is_touched: bool,
}

impl From<KeptClaim> for ListedClaim {
    fn from(claim: KeptClaim) -> Self {
        let KeptClaim { number, provider, state, reason, at, .. } = claim;
        Self { number, provider, state, reason, at }
    }
}

impl KeptClaim {
    fn new(number: String, provider: Option<String>, at: Millis) -> Self {
        let (state, reason, asked_at) = (ClaimState::Asked, None, None);
        Self { number, provider, state, reason, at, asked_at, is_touched: true }
    }

    /// Whether the gateway is to be asked about it.
    fn is_to_ask(&self, payment: PaymentState) -> bool {
        match self.state {
            ClaimState::Charged | ClaimState::OtherPayment => false,
            ClaimState::Rejected => payment != PaymentState::Charged,
            _ => true,
        }
    }
}

impl Kept {
    /// Whether the gateway knows a number that was claimed for it. A page that nobody paid on is nothing to look at.
    pub(super) fn has_open_claim(&self) -> bool {
        self.claims.iter().any(|claim| claim.state == ClaimState::Pending)
    }

    /// Whether there is a claim left to ask about.
    pub(super) fn has_claim_to_ask(&self) -> bool {
        self.claims.iter().any(|claim| claim.is_to_ask(self.payment.state))
    }

    /// Whether there is one that the gateway has never answered about.
    pub(super) fn has_unanswered_claim(&self) -> bool {
        self.claims.iter().any(|claim| claim.is_to_ask(self.payment.state) && claim.asked_at.is_none())
    }

    /// What to ask the gateway by: those claims first that it never answered about, then those whose answer is the oldest.
    pub(super) fn claims_to_ask(&self) -> Vec<Ask> {
        let mut claims: Vec<_> = self.claims.iter().filter(|claim| claim.is_to_ask(self.payment.state)).collect();
        claims.sort_by_key(|claim| (claim.asked_at, std::cmp::Reverse(claim.at)));
        let ask = |claim: &KeptClaim| {
            let provider = claim.provider.as_deref().map(Provider::from_name);
            let reference = self.payment.reference.clone().with_claimed_number(&claim.number, provider);
            Ask { claim: Some(claim.number.clone()), reference }
        };
        claims.into_iter().take(MOST_ASKED_AT_ONCE).map(ask).collect()
    }

    /// A person found that the charges in doubt were made: if the gateway's report can be verified later, they are not counted
    /// again.
    pub(super) fn count_claims_in_doubt(&mut self) {
        for claim in self.claims.iter_mut().filter(|claim| claim.state.is_in_doubt()) {
            (claim.state, claim.is_touched) = (ClaimState::Charged, true);
        }
    }

    /// A person has decided, or the charge that was in doubt is verified by now.
    pub(super) fn set_doubt(&mut self, is_in_doubt: bool) {
        self.touched.rest |= self.payment.is_in_doubt != is_in_doubt;
        self.payment.is_in_doubt = is_in_doubt;
    }
}

/// Keeps what a callback claims, before the gateway is asked: whoever claimed may not come again. False where there are so many
/// that nothing gives way.
pub(in crate::storage) fn keep(changes: &Changes, kept: &mut Kept, new: &Claim) -> bool {
    let provider = new.provider.as_ref().map(|provider| provider.name().to_owned());
    if let Some(known) = kept.claims.iter_mut().find(|claim| claim.number == new.number) {
        known.at = changes.now;
        known.provider = provider.or(known.provider.take());
        known.is_touched = true;
        return true;
    }
    while kept.claims.len() >= MANY_CLAIMS {
        let giving_way = kept.claims.iter().enumerate().filter(|(_, claim)| claim.state.gives_way());
        let Some((oldest, _)) = giving_way.min_by_key(|(_, claim)| claim.at) else { break };
        kept.dropped_claims.push(kept.claims.remove(oldest).number);
    }
    if kept.claims.len() >= MOST_CLAIMS {
        return false;
    }
    kept.claims.push(KeptClaim::new(new.number.clone(), provider, changes.now));
    true
}

/// Notes what the gateway says of a number that was claimed. Anybody can claim one, and a payer may try again after a
/// rejection, so only a charge says anything of the payment itself. True where that changed it.
pub(super) fn record(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    number: &str,
    report: &Report,
) -> Result<bool, StorageError> {
    if let Report::Trouble { .. } = report {
        return Ok(false);
    }
    let kept = &mut book.payments[at];
    let Some(place) = kept.claims.iter().position(|claim| claim.number == number) else {
        // It gave way while the gateway was asked. A charge is kept all the same.
        if !report.is_charge() {
            return Ok(false);
        }
        kept.claims.push(KeptClaim::new(number.to_owned(), None, changes.now));
        return record(changes, book, at, number, report);
    };
    let before = kept.claims[place].state;
    kept.claims[place].asked_at = Some(changes.now);
    kept.claims[place].is_touched = true;
    let (state, reason) = match report {
        Report::Charged(found) => {
            if before == ClaimState::Charged {
                return Ok(false);
            }
            if changes.numbers.take(&Number::order(number), &kept.payment.id) {
                return charged(changes, book, at, place, found);
            }
            (ClaimState::OtherPayment, Some(NUMBER_TAKEN.to_owned()))
        }
        Report::Mismatch { fields, is_charge: true } => (ClaimState::Mismatch, Some(fields.join(", "))),
        Report::Unverifiable { why } => (ClaimState::Unverifiable, Some(why.clone())),
        Report::Rejected => (ClaimState::Rejected, None),
        Report::Pending(_) => (ClaimState::Pending, None),
        _ => (ClaimState::Unknown, None),
    };
    // A charge that was reported once stays reported, whatever the gateway says afterwards.
    if before == ClaimState::Charged || before.is_in_doubt() && !state.is_in_doubt() {
        return Ok(false);
    }
    let claim = &mut book.payments[at].claims[place];
    (claim.state, claim.reason) = (state, reason.clone());
    // Told once, however the reason changes.
    if before.is_in_doubt() || !state.is_in_doubt() {
        return Ok(false);
    }
    doubt(changes, book, at, state, &reason.unwrap_or_default())?;
    Ok(true)
}

/// The charge that was asked for: the first one pays, and each further number is money too much.
fn charged(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    place: usize,
    found: &kassa::PaymentRef,
) -> Result<bool, StorageError> {
    let kept = &mut book.payments[at];
    let is_first = !kept.claims.iter().any(|claim| claim.state == ClaimState::Charged);
    (kept.claims[place].state, kept.claims[place].reason) = (ClaimState::Charged, None);
    let stays_in_doubt = kept.payment.is_in_doubt && kept.claims.iter().any(|claim| claim.state.is_in_doubt());
    kept.set_doubt(stays_in_doubt);
    if happen(changes, book, at, Happened::ReportedCharged, Why::default())? {
        book.payments[at].note_reference(changes, found);
        return Ok(true);
    }
    // What a person found charged is the charge that is reported now.
    if is_first && book.payments[at].is_resolved {
        return Ok(false);
    }
    happen_to_checkout(changes, book, CheckoutHappened::PaymentCharged, Some(at), None)
}

/// A charge that cannot be believed is always told, also of a payment that it does not change.
fn doubt(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    state: ClaimState,
    reason: &str,
) -> Result<(), StorageError> {
    let (happened, event) = match state {
        ClaimState::Unverifiable => (Happened::ReportedUnverifiable, EventKind::PaymentUnverifiable),
        _ => (Happened::ReportedMismatch, EventKind::PaymentMismatch),
    };
    if !happen(changes, book, at, happened, Why::of(reason))? {
        book.payments[at].set_doubt(true);
        tell(changes, book, event, &Told { payment: Some(at), reason: Some(reason), ..Told::default() })?;
    }
    Ok(())
}
