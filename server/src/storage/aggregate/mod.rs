//! A checkout's aggregate (domain-driven design): a checkout and its payments, read from the database into memory, and a
//! transaction's changes to them (unit of work). **All consequences of a change are decided here, once, for every database**: a
//! storage reads an aggregate, lets these functions change it, and saves the changes, all in one transaction.
//!
//! A storage ensures that nobody else changes an open aggregate: SQLite has one writer, PostgreSQL locks the checkout's row. If
//! that ever fails, the database itself refuses the second of two writers: each change has an event, and no two events of a
//! checkout have the same version (unique index).

pub(super) mod changes;
pub(super) mod claims;
pub(super) mod confirmation;
pub(super) mod hints;
pub(super) mod payments;
pub(super) mod polls;
pub(super) mod resolution;
pub(super) mod sending;

use changes::{Changes, DirtyFields, NewEvent, Number};
use claims::ClaimRow;
use ring::rand::{SecureRandom, SystemRandom};

use super::StorageError;
use crate::{
    checkouts as checkout_machine,
    events::{Body, Data, EventKind, PaymentData, ViaData},
    payments::{
        Failure, Payment,
        machine::{self, Trigger},
    },
    tokens::DecidedBy,
    values::{CheckoutId, CheckoutState, Hidden, Millis, PaymentId, PaymentState, hex},
};

/// A checkout and its loaded payments.
#[derive(Clone, Debug)]
pub(super) struct CheckoutAggregate {
    pub(super) root: AggregateRoot,
    pub(super) payments: Vec<PaymentRow>,
    /// Whether a payment cannot be read: it is missing here, and may have taken money.
    pub(super) is_damaged: bool,
}

/// The mutable state of a checkout, with the fields of its events.
#[derive(Clone, Debug)]
pub(super) struct AggregateRoot {
    pub(super) id: CheckoutId,
    pub(super) reference: String,
    pub(super) amount: String,
    pub(super) currency: String,
    pub(super) state: CheckoutState,
    pub(super) version: i64,
    /// The number of events about the checkout itself.
    pub(super) events: i64,
    pub(super) expires_at: Millis,
    /// When to check whether it expires.
    pub(super) expiry_due_at: Millis,
    pub(super) keys_kept_since: Option<Millis>,
    pub(super) paid_by: Option<PaymentId>,
    pub(super) is_overpaid: bool,
    pub(super) refunds_due: u32,
    pub(super) dirty: DirtyRootFields,
}

/// The changed fields of a checkout's row, so that only they are written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DirtyRootFields {
    /// Whether its version grew, with a new event.
    pub(super) version: bool,
    /// Whether its state or dependent fields changed.
    pub(super) state: bool,
    /// When to check whether it expires.
    pub(super) expiry: bool,
}

/// A payment with the fields that only the storage needs.
#[derive(Clone, Debug)]
pub(super) struct PaymentRow {
    pub(super) payment: Payment,
    pub(super) sender: String,
    /// When it is no longer sent (prepared), or its sender has no response (sending).
    pub(super) until: Millis,
    pub(super) unknown_since: Option<Millis>,
    pub(super) is_hinted: bool,
    /// The number of consecutive reports that do not match the request, or cannot be verified, and when the last one was counted.
    pub(super) mismatches: u32,
    pub(super) mismatch_at: Millis,
    /// Whether a person decided its outcome.
    pub(super) is_resolved: bool,
    /// The number of events about it.
    pub(super) events: i64,
    /// The start of its age if it is scheduled; loaded only for recording a result.
    pub(super) due_since: Option<Millis>,
    /// The claims of a pay-form; loaded only if needed.
    pub(super) claims: Vec<ClaimRow>,
    /// The numbers of claims that gave way.
    pub(super) dropped_claims: Vec<String>,
    pub(super) dirty: DirtyFields,
}

impl PaymentRow {
    /// The stored phone. `None` if the payer's code can no longer be sent: then the phone is wiped.
    pub(super) fn payer_phone(&self) -> Option<&str> {
        self.payment.payer_phone.as_ref().filter(|_| self.payment.may_be_confirmed()).map(Hidden::expose)
    }
}

impl CheckoutAggregate {
    /// The index of a payment.
    pub(super) fn place(&self, id: &PaymentId) -> Option<usize> {
        self.payments.iter().position(|row| row.payment.id == *id)
    }

    /// Fails if a payment cannot be read: then nothing is begun or ended.
    pub(super) fn check(&self) -> Result<(), StorageError> {
        if self.is_damaged { Err(StorageError::Damaged { what: "payment" }) } else { Ok(()) }
    }

    /// The state by the clock: the sweep may not have expired it yet.
    pub(super) fn state_by_now(&self, now: Millis) -> CheckoutState {
        let has_expired = self.root.state == CheckoutState::Open && self.root.expires_at <= now;
        if has_expired { CheckoutState::Expired } else { self.root.state }
    }
}

/// Why a payment needs a person if it ended before the gateway gave a number for queries.
const UNKNOWN_STATUS_OF_NOT_MADE: &str = "a callback about its QR code has no status that the dialect knows, and came before the payment ended: \
    the payment was not made as far as this server knows, and the code may have been paid";

// Changes of states, each with its event. The pure state machines decide the consequences.

/// The cause of a change, with the person if a person decided.
#[derive(Clone, Copy, Default)]
struct Cause<'a> {
    reason: Option<&'a str>,
    by: Option<&'a DecidedBy>,
}

impl<'a> Cause<'a> {
    /// A cause without a person.
    fn of(reason: &'a str) -> Self {
        Self { reason: Some(reason), by: None }
    }
}

/// Applies a trigger to a payment. True if its state changed.
fn apply(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    trigger: Trigger,
    why: Cause<'_>,
) -> Result<bool, StorageError> {
    let row = &mut aggregate.payments[at];
    let Some(change) = machine::next(row.payment.state, row.payment.method, trigger) else { return Ok(false) };
    let was_under_way = row.payment.is_under_way();
    // A payment that is being sent is stuck only if a callback had a status that the dialect does not know.
    let has_unknown_status = change.to == PaymentState::NotMade && row.payment.is_stuck;
    row.mark_state_dirty();
    row.payment.state = change.to;
    if change.to == PaymentState::Charged {
        row.payment.charged_at = Some(changes.now);
        row.dirty.rest = true;
    }
    if matches!(trigger, Trigger::ResolvedCharged | Trigger::ResolvedNotCharged) || change.to.is_in_doubt() {
        row.set_doubt(change.to.is_in_doubt());
    }
    row.payment.is_stuck &= !change.to.is_final();
    row.unknown_since = (change.to == PaymentState::Unknown).then_some(changes.now);
    if was_under_way && !row.payment.is_under_way() {
        aggregate.root.reconsider_expiry(changes.now);
    }
    let after = change.after.map(|state| state.to_string());
    record_event(
        changes,
        aggregate,
        change.event,
        &EventDetails { payment: Some(at), after, reason: why.reason, by: why.by },
    )?;
    if has_unknown_status {
        warn_of_unknown_status(&aggregate.payments[at].payment);
        let details =
            EventDetails { payment: Some(at), reason: Some(UNKNOWN_STATUS_OF_NOT_MADE), ..EventDetails::default() };
        record_event(changes, aggregate, EventKind::PaymentStuck, &details)?;
    }
    if change.to == PaymentState::Charged {
        apply_to_checkout(changes, aggregate, checkout_machine::Trigger::PaymentCharged, Some(at), None)?;
    }
    Ok(true)
}

/// Logs a status that the dialect does not know, of a payment that can no longer be polled.
fn warn_of_unknown_status(payment: &Payment) {
    let (payment, state) = (&payment.id, payment.state);
    tracing::warn!(
        target: "kassa_server", %payment, %state, "a callback about a payment that has ended has a status that the dialect does not \
        know, and the payment has no number to query by"
    );
}

/// Applies a trigger to a checkout. True if it changed.
fn apply_to_checkout(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    trigger: checkout_machine::Trigger,
    paid_by: Option<usize>,
    by: Option<&DecidedBy>,
) -> Result<bool, StorageError> {
    let CheckoutAggregate { root, payments, .. } = &mut *aggregate;
    let Some(change) = checkout_machine::next(root.state, trigger) else { return Ok(false) };
    if change.to == root.state {
        root.is_overpaid = true;
        root.refunds_due = root.refunds_due.saturating_add(1);
    }
    root.state = change.to;
    root.keys_kept_since = Some(changes.now);
    if root.paid_by.is_none() {
        root.paid_by = paid_by.map(|at| payments[at].payment.id.clone());
    }
    root.dirty.state = true;
    let after = change.after.map(|state| state.to_string());
    record_event(changes, aggregate, change.event, &EventDetails { after, by, ..EventDetails::default() })?;
    Ok(true)
}

impl AggregateRoot {
    /// Reschedules the check for expiry after a payment ended, at the time of expiry, or now. Never before now, because
    /// sweeps may have passed that time.
    fn reconsider_expiry(&mut self, now: Millis) {
        let at = self.expires_at.max(now);
        if self.expiry_due_at > at {
            self.expiry_due_at = at;
            self.dirty.expiry = true;
        }
    }
}

impl PaymentRow {
    /// Why it was not made, or the last confirmation was not.
    fn record_failure(&mut self, failure: &Failure) {
        self.payment.failure = Some(failure.clone());
        self.dirty.rest = true;
    }

    /// Sets the reference for status queries. The gateway may also know the payment by its own number: no other payment's claim
    /// pays with that number. A number of another payment is not adopted: the gateway would report the other payment.
    fn update_reference(&mut self, changes: &mut Changes, to: &kassa::PaymentRef) {
        let mut to = to.clone();
        let number = to.gateway_number.as_deref().map(Number::order);
        if number.is_some_and(|number| !changes.numbers.take(&number, &self.payment.id)) {
            let (payment, number) = (&self.payment.id, &to.gateway_number);
            tracing::warn!(target: "kassa_server", %payment, ?number, "the gateway gave a number that another payment has");
            to.gateway_number = None;
        }
        if self.payment.reference != to {
            self.payment.reference = to;
            self.dirty.reference = true;
        }
    }
}

// Events: every change of a state has exactly one event, with the states of the aggregate after it.

/// The details of an event, without its kind.
#[derive(Default)]
struct EventDetails<'a> {
    /// The index of the payment in the aggregate, if the event is about one.
    payment: Option<usize>,
    after: Option<String>,
    reason: Option<&'a str>,
    by: Option<&'a DecidedBy>,
}

/// Writes an event.
fn record_event(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    kind: EventKind,
    details: &EventDetails<'_>,
) -> Result<(), StorageError> {
    let CheckoutAggregate { root, payments, .. } = aggregate;
    root.version += 1;
    root.dirty.version = true;
    let row = details.payment.map(|at| &mut payments[at]);
    let counted = match row {
        Some(row) => {
            // The number of its events is saved with its state, even if the state is unchanged.
            row.mark_state_dirty();
            (&mut row.events, Some(&row.payment))
        }
        None => (&mut root.events, None),
    };
    let (events, payment) = counted;
    *events += 1;
    let number = *events;
    let id = new_event_id()?;
    let via = details.by.and_then(|by| by.via.as_ref());
    let data = Data {
        checkout: root.id.as_str(),
        reference: &root.reference,
        amount: &root.amount,
        currency: &root.currency,
        checkout_state: root.state.into(),
        version: root.version,
        payment: payment.map(|payment| PaymentData {
            id: payment.id.as_str(),
            method: payment.method.into(),
            state: payment.state.into(),
            commission: payment.commission.map(|amount| amount.to_string()),
            total: payment.total.map(|amount| amount.to_string()),
            code_expires_at_ms: payment.code_expires_at,
        }),
        number,
        after: details.after.as_deref(),
        reason: details.reason,
        by: details.by.map(|by| by.name.as_str()),
        via: via.map(|via| ViaData { role: via.role.into(), key: via.key.as_str() }),
    };
    let body = Body { id: &id, kind, timestamp_ms: changes.now, data }.json();
    let body = body.map_err(|problem| StorageError::failed(problem.to_string()))?;
    let payment = payment.map(|payment| payment.id.clone());
    changes.events.push(NewEvent { id, checkout: root.id.clone(), payment, number, version: root.version, kind, body });
    Ok(())
}

/// Only random bits: a database restored from a backup must not reuse an identifier.
fn new_event_id() -> Result<String, StorageError> {
    let mut bytes = [0; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| StorageError::failed("the system has no random numbers for an event's identifier"))?;
    Ok(format!("evt_{}", hex(&bytes)))
}
