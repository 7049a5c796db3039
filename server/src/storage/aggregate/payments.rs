//! Begins payments: idempotency keys, blocking payments, and replaced payments.

use super::{
    CheckoutAggregate, EventDetails, PaymentRow,
    changes::{Changes, DirtyFields, KeyUse, Number},
    record_event,
    sending::{NEVER_LOOKED_AT, not_made},
};
use crate::{
    events::EventKind,
    payments::{Failure, MOST_REPLACED, Payment},
    storage::{
        StorageError,
        inputs::{BeginPayment, Key},
        outputs::RecordedPayment,
    },
    values::{CheckoutState, Method, Millis, PaymentId, PaymentState, error::ServerError},
};

/// The most payments of a checkout: far more than a payer needs. All of them are read with it.
const MOST_PAYMENTS: usize = 50;
/// The earlier use of an idempotency key.
pub(in crate::storage) struct KnownKey {
    pub(in crate::storage) fingerprint: Vec<u8>,
    pub(in crate::storage) payment: PaymentId,
}

/// A known key compared with the key and the fingerprint of a request.
pub(super) enum KeyMatch {
    Never,
    For(PaymentId),
    ForSomethingElse,
}

pub(super) fn match_key(known: Option<KnownKey>, key: Option<&Key>) -> KeyMatch {
    match (known, key) {
        (Some(known), Some(key)) if known.fingerprint == key.fingerprint => KeyMatch::For(known.payment),
        (Some(_), Some(_)) => KeyMatch::ForSomethingElse,
        _ => KeyMatch::Never,
    }
}

/// The numbers that beginning a payment may take.
pub(in crate::storage) fn numbers_of_begun(begin: &BeginPayment) -> Vec<Number> {
    begin.reference.order_number.iter().map(|number| Number::order(number)).collect()
}

/// Records a payment before it is sent.
pub(in crate::storage) fn begin(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    known: Option<KnownKey>,
    begin: &BeginPayment,
) -> Result<RecordedPayment, StorageError> {
    aggregate.check()?;
    match match_key(known, begin.key.as_ref()) {
        KeyMatch::ForSomethingElse => return Err(ServerError::KeyReused.into()),
        KeyMatch::For(id) => return aggregate.payment(&id).map(RecordedPayment::unchanged),
        KeyMatch::Never => {}
    }
    match aggregate.state_by_now(changes.now) {
        CheckoutState::Open => {}
        state => return Err(ServerError::NotOpen { state }.into()),
    }
    let left = begin.instead_of.as_ref().and_then(|id| aggregate.place(id));
    let left = left.filter(|at| aggregate.payments[*at].payment.can_be_replaced());
    let shown = reusable_payment(&aggregate.payments, begin.method, left);
    if let (Some(same), None) = (&shown, left) {
        changes.use_key(aggregate, begin.key.as_ref(), &same.id, KeyUse::ToShowAgain);
        return Ok(RecordedPayment::unchanged(same));
    }
    // A pay-form or a replaced payment does not block others, unless a charge of it is in doubt:
    // then its payer has probably paid.
    let holds_back = |(at, row): &(usize, &PaymentRow)| {
        let Payment { state, method, is_replaced, .. } = row.payment;
        let is_left = is_replaced || left == Some(*at);
        state.is_in_doubt() || (method != Method::PayForm && !is_left && state.may_take_money())
    };
    if let Some((_, other)) = aggregate.payments.iter().enumerate().find(holds_back) {
        return Err(ServerError::UnderWay { state: other.payment.state }.into());
    }
    if left.is_some() && aggregate.payments.iter().filter(|row| row.payment.is_replaced).count() >= MOST_REPLACED {
        return Err(ServerError::NoAttemptsLeft.into());
    }
    if let (Some(same), Some(at)) = (shown, left) {
        replace(changes, aggregate, at)?;
        changes.use_key(aggregate, begin.key.as_ref(), &same.id, KeyUse::ToShowAgain);
        return Ok(RecordedPayment::unchanged(&same));
    }
    let tried = aggregate.payments.len();
    if tried >= MOST_PAYMENTS
        || (begin.method == Method::Card && tried_cards(&aggregate.payments) >= begin.card_attempts)
    {
        return Err(ServerError::NoAttemptsLeft.into());
    }
    let is_sent_at_once = begin.is_sent_at_once && changes.pauses.wait(begin.method, changes.now).is_none();
    if is_sent_at_once {
        changes.pauses.sent(begin.method, changes.now);
    }
    // A payment that is certainly not sent replaces nothing.
    if let Some(at) = left
        && (is_sent_at_once || begin.method.may_wait())
    {
        replace(changes, aggregate, at)?;
    }
    aggregate.payments.push(new(begin, tried + 1, is_sent_at_once, changes.now));
    // No other payment's claim pays with our own number.
    if let Some(number) = &begin.reference.order_number {
        changes.numbers.take(&Number::order(number), &begin.id);
    }
    changes.use_key(aggregate, begin.key.as_ref(), &begin.id, KeyUse::ToSend);
    record_event(
        changes,
        aggregate,
        EventKind::PaymentCreated,
        &EventDetails { payment: Some(tried), ..EventDetails::default() },
    )?;
    if !is_sent_at_once && !begin.method.may_wait() {
        not_made(changes, aggregate, tried, &Failure::of_kind("Unavailable"))?;
    }
    Ok(RecordedPayment::changed(&aggregate.payments[tried].payment))
}

impl CheckoutAggregate {
    /// The state of another payment with a charge in doubt: its payer has probably paid.
    pub(super) fn in_doubt_beside(&self, at: usize) -> Option<PaymentState> {
        let others = self.payments.iter().enumerate().filter(|(other, _)| *other != at);
        others.map(|(_, row)| row.payment.state).find(|state| state.is_in_doubt())
    }

    /// A payment that must exist.
    fn payment(&self, id: &PaymentId) -> Result<&Payment, StorageError> {
        let found = self.place(id).map(|at| &self.payments[at].payment);
        found.ok_or(StorageError::Damaged { what: "payment's identifier" })
    }
}

/// Marks a payment as replaced. **From now on it is never confirmed**; the gateway's report ends it.
fn replace(changes: &mut Changes, aggregate: &mut CheckoutAggregate, at: usize) -> Result<(), StorageError> {
    let row = &mut aggregate.payments[at];
    row.payment.is_replaced = true;
    row.dirty.rest = true;
    record_event(
        changes,
        aggregate,
        EventKind::PaymentReplaced,
        &EventDetails { payment: Some(at), ..EventDetails::default() },
    )
}

/// A payment whose page or code the payer can open again, instead of a second one; never a replaced one.
fn reusable_payment(others: &[PaymentRow], method: Method, left: Option<usize>) -> Option<Payment> {
    let is_live = |(at, row): &(usize, &PaymentRow)| {
        let Payment { state, is_replaced, .. } = row.payment;
        row.payment.method == method
            && !is_replaced
            && left != Some(*at)
            && matches!(state, PaymentState::Prepared | PaymentState::Sending | PaymentState::Awaiting)
    };
    let live = || others.iter().enumerate().find(is_live).map(|(_, row)| row.payment.clone());
    (!method.moves_money()).then(live).flatten()
}

/// Counts the cards that the gateway may have checked. Many of them are a sign of card testing.
fn tried_cards(others: &[PaymentRow]) -> u32 {
    let was_tried = |payment: &&Payment| {
        let kind = payment.failure.as_ref().map(|failure| failure.kind.as_str());
        let is_unsent =
            payment.state == PaymentState::NotMade && kind.is_some_and(|kind| NEVER_LOOKED_AT.contains(&kind));
        payment.method == Method::Card && !is_unsent
    };
    u32::try_from(others.iter().map(|row| &row.payment).filter(was_tried).count()).unwrap_or(u32::MAX)
}

fn new(begin: &BeginPayment, number: usize, is_sent_at_once: bool, now: Millis) -> PaymentRow {
    let (state, time) = match is_sent_at_once {
        true => (PaymentState::Sending, begin.send_for_ms),
        false => (PaymentState::Prepared, begin.wait_for_ms),
    };
    let payment = Payment {
        number: u32::try_from(number).unwrap_or(u32::MAX),
        state,
        card_last4: begin.card_last4.clone(),
        phone_last2: begin.phone_last2.clone(),
        payer_phone: begin.payer_phone.clone(),
        attempts_left: begin.attempts,
        begun_at: now,
        ..Payment::new(begin.id.clone(), begin.checkout.clone(), begin.method, begin.reference.clone())
    };
    PaymentRow {
        payment,
        sender: begin.sender.clone(),
        until: now.saturating_add(time),
        unknown_since: None,
        is_hinted: false,
        mismatches: 0,
        mismatch_at: 0,
        is_resolved: false,
        events: 0,
        due_since: None,
        claims: Vec::new(),
        dropped_claims: Vec::new(),
        dirty: DirtyFields { is_new: true, ..DirtyFields::default() },
    }
}
