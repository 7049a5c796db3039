//! A checkout's aggregate (domain-driven design): what the database has of a checkout and its payments, read into memory, and what a
//! transaction changes of it (unit of work). **What follows from what is decided here, once, for every database**: a storage
//! reads an aggregate, lets these functions write in it, and saves what was written, all in one transaction.
//!
//! A storage sees to it that nobody else writes in an aggregate that is open: SQLite has one writer, PostgreSQL locks the
//! checkout's row. Should that ever fail, the database itself refuses the second of two writers: each change has an event,
//! and no two events of a checkout have the same version (unique index).

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

/// A checkout and those of its payments that were read.
#[derive(Clone, Debug)]
pub(super) struct CheckoutAggregate {
    pub(super) root: AggregateRoot,
    pub(super) payments: Vec<PaymentRow>,
    /// A payment of it cannot be read: it is not among them, and may have taken money.
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
    /// The number of events about the checkout alone.
    pub(super) events: i64,
    pub(super) expires_at: Millis,
    /// When to look whether it expires.
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
    /// It has a new event: its version grew.
    pub(super) version: bool,
    /// Its state, and all that goes with it.
    pub(super) state: bool,
    /// When to look whether it expires.
    pub(super) expiry: bool,
}

/// A payment with what only the storage needs to know.
#[derive(Clone, Debug)]
pub(super) struct PaymentRow {
    pub(super) payment: Payment,
    pub(super) sender: String,
    /// When it is no longer sent (prepared), or its sender has no answer (sending).
    pub(super) until: Millis,
    pub(super) unknown_since: Option<Millis>,
    pub(super) is_hinted: bool,
    /// Reports in a row that contradict what was requested, or cannot be verified, and when the last one was counted.
    pub(super) mismatches: u32,
    pub(super) mismatch_at: Millis,
    /// A person decided what became of it.
    pub(super) is_resolved: bool,
    /// The number of events about it.
    pub(super) events: i64,
    /// From when its age counts where it is due; read where an answer is recorded.
    pub(super) due_since: Option<Millis>,
    /// The claims of a pay-form; read only where they matter.
    pub(super) claims: Vec<ClaimRow>,
    /// The numbers of claims that gave way.
    pub(super) dropped_claims: Vec<String>,
    pub(super) dirty: DirtyFields,
}

impl PaymentRow {
    /// The phone that the row keeps. None where no code of its payer's can be sent any more: whatever ended that wipes it.
    pub(super) fn payer_phone(&self) -> Option<&str> {
        self.payment.payer_phone.as_ref().filter(|_| self.payment.may_be_confirmed()).map(Hidden::expose)
    }
}

impl CheckoutAggregate {
    /// Where a payment stands in it.
    pub(super) fn place(&self, id: &PaymentId) -> Option<usize> {
        self.payments.iter().position(|row| row.payment.id == *id)
    }

    /// Nothing new is begun, and nothing ended, around what cannot be read.
    pub(super) fn check(&self) -> Result<(), StorageError> {
        if self.is_damaged { Err(StorageError::Damaged { what: "payment" }) } else { Ok(()) }
    }

    /// Open also by the clock: who expires it may not have come to it yet.
    pub(super) fn state_by_now(&self, now: Millis) -> CheckoutState {
        let has_expired = self.root.state == CheckoutState::Open && self.root.expires_at <= now;
        if has_expired { CheckoutState::Expired } else { self.root.state }
    }
}

/// Why a payment needs a person if it ended before the gateway gave a number for queries.
const UNKNOWN_STATUS_OF_NOT_MADE: &str = "a callback about its QR code has no status that the dialect knows, and came before the payment ended: \
    the payment was not made as far as this server knows, and the code may have been paid";

// Changes of states, each with its event. What follows from what is decided by the pure state machines.

/// Why something happened, and where a person decided, who.
#[derive(Clone, Copy, Default)]
struct Cause<'a> {
    reason: Option<&'a str>,
    by: Option<&'a DecidedBy>,
}

impl<'a> Cause<'a> {
    /// A reason that no person gave.
    fn of(reason: &'a str) -> Self {
        Self { reason: Some(reason), by: None }
    }
}

/// Something happened to a payment. True where that changed its state.
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
    // What is being sent is stuck only where a callback had a status that the dialect does not know.
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

/// Logs that a payment that nobody may poll any more has a status that the dialect does not know.
fn warn_of_unknown_status(payment: &Payment) {
    let (payment, state) = (&payment.id, payment.state);
    tracing::warn!(
        target: "kassa_server", %payment, %state, "a callback about a payment that has ended has a status that the dialect does not \
        know, and the payment has no number to ask the gateway by"
    );
}

/// Something happened to a checkout. True where that changed it.
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
    /// Something of it is no longer under way: whether it expires is looked at when it should, or now. Never before now, where
    /// nobody may look any more.
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

    /// Sets the reference for status queries. The gateway may know the payment by its own number as well: no other payment's claim
    /// pays with that number. A number that another payment holds is not adopted: the gateway would report the other payment.
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

// Events: every change of a state has exactly one event, which holds the states that stand in the aggregate by then.

/// The details of an event, beside its kind.
#[derive(Default)]
struct EventDetails<'a> {
    /// The place of the payment in the aggregate, where it is about one.
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
            // The count of its events is saved with its state, also where that stays.
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

/// From random bits alone: a database that is restored from a backup must not give an identifier a second time.
fn new_event_id() -> Result<String, StorageError> {
    let mut bytes = [0; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| StorageError::failed("the system has no random numbers for an event's identifier"))?;
    Ok(format!("evt_{}", hex(&bytes)))
}
