//! The outputs of the storage: plain values.

use kassa::PaymentRef;

use crate::{
    events::EventKind,
    payments::Payment,
    tokens::{KeyRole, Permission, TokenHash},
    values::{ApiKeyId, CheckoutId, Method, Millis, PaymentId, PaymentState},
};

/// An API key, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyRow {
    /// Its identifier.
    pub id: ApiKeyId,
    /// The role of its owner.
    pub role: KeyRole,
    /// The person's permission on the staff's pages.
    pub permission: Permission,
    /// Its display name.
    pub name: String,
    /// Its hash.
    pub hash: TokenHash,
    /// When it was created.
    pub created_at: Millis,
    /// When it was revoked.
    pub revoked_at: Option<Millis>,
}

/// The result of taking a waiting payment.
#[derive(Clone, Debug)]
pub enum SendTurn {
    /// Send it now.
    Send,
    /// Wait for this long, because of the gateway's `Retry-After`.
    Wait(Millis),
    /// It is not waiting any more.
    Gone,
}

/// The result of a person's decision about a payment, with the payment as it is now.
#[derive(Clone, Debug)]
pub enum Decision {
    /// The decision is recorded.
    Recorded(Box<Payment>),
    /// The payment already had this state: nothing is recorded.
    Unchanged(Box<Payment>),
    /// The checkout changed after the person saw it: nothing is recorded.
    Outdated(Box<Payment>),
}

impl Decision {
    /// The payment as it is now.
    pub fn into_payment(self) -> Payment {
        let (Self::Recorded(payment) | Self::Unchanged(payment) | Self::Outdated(payment)) = self;
        *payment
    }
}

/// A payment as it is after a transaction, whether the transaction changed it or not.
#[derive(Clone, Debug)]
pub struct RecordedPayment {
    /// The payment.
    pub payment: Payment,
    /// Whether the transaction changed its state. A newly begun payment must be sent; an earlier one is not sent again.
    pub is_changed: bool,
}

impl RecordedPayment {
    /// A payment that the transaction changed.
    pub(super) fn changed(payment: &Payment) -> Self {
        Self { payment: payment.clone(), is_changed: true }
    }

    /// An unchanged payment.
    pub(super) fn unchanged(payment: &Payment) -> Self {
        Self { payment: payment.clone(), is_changed: false }
    }
}

/// The changed checkouts.
#[derive(Clone, Debug, Default)]
pub struct ChangedCheckouts {
    /// Their identifiers.
    pub changed: Vec<CheckoutId>,
}

/// The outcome of a sweep.
#[derive(Clone, Debug, Default)]
pub struct SweepOutcome {
    /// The changed checkouts.
    pub changed: Vec<CheckoutId>,
    /// Whether there may be more to sweep.
    pub is_more: bool,
}

/// The outcome of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintOutcome {
    /// This many payments are due at once.
    Due(u32),
    /// The same callback came before.
    SeenBefore,
    /// Too many numbers are claimed for the payment: nothing was written.
    TooManyClaims,
}

/// A payment to query.
#[derive(Clone, Debug)]
pub struct DuePoll {
    /// The payment.
    pub payment: PaymentId,
    /// Its checkout.
    pub checkout: CheckoutId,
    /// Its method.
    pub method: Method,
    /// The end of the lease: nobody else queries it before.
    pub leased_until: Millis,
    /// The status queries: by the payment's own reference, or by claims.
    pub queries: Vec<StatusQuery>,
}

/// One status query.
#[derive(Clone, Debug)]
pub struct StatusQuery {
    /// The claimed number of the query.
    pub claim: Option<String>,
    /// The reference of the query.
    pub reference: PaymentRef,
}

/// Claimed polls.
#[derive(Clone, Debug)]
pub struct ClaimedPolls {
    /// The due polls.
    pub questions: Vec<DuePoll>,
    /// The time until the next poll may start, if one waits.
    pub next_in_ms: Option<Millis>,
}

/// An event to deliver.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Its stream.
    pub checkout: CheckoutId,
    /// Its place in it: a number that grows, and means nothing else.
    pub seq: i64,
    /// Its identifier.
    pub id: String,
    /// Its kind; `None` if a newer server wrote it. It is still delivered.
    pub kind: Option<EventKind>,
    /// Its JSON body.
    pub body: String,
    /// The end of the lease: nobody else delivers it before.
    pub leased_until: Millis,
}

/// An event that the shop refused repeatedly, and that its stream skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedEvent {
    /// Its stream.
    pub checkout: CheckoutId,
    /// Its place in it.
    pub seq: i64,
    /// Its identifier.
    pub event: String,
    /// Its kind.
    pub kind: EventKind,
    /// The shop's response, such as `it answered 400`.
    pub why: String,
}

/// Events to deliver.
#[derive(Clone, Debug)]
pub struct Deliveries {
    /// At most one delivery for each stream.
    pub deliveries: Vec<Delivery>,
    /// The time, by the database's clock.
    pub now: Millis,
    /// The time until the next delivery is due, if one waits.
    pub next_in_ms: Option<Millis>,
}

/// The present figures. Large numbers are counted up to a limit of the storage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Payments that may take money, by state, including states without any.
    pub open_payments: Vec<(PaymentState, u64)>,
    /// Payments flagged for a person, because they have been open for days or cannot be polled.
    pub stuck_payments: u64,
    /// Age of the oldest unknown payment.
    pub oldest_unknown_ms: Millis,
    /// The rest of the gateway's `Retry-After`.
    pub gateway_wait_ms: Millis,
    /// The number of overdue polls.
    pub due_payments: u64,
    /// How long the most overdue poll has been waiting.
    pub oldest_due_ms: Millis,
    /// Streams of events that were given up.
    pub streams_given_up: u64,
    /// Events that the shop refused, and that were skipped.
    pub refused_events: u64,
    /// Age of the oldest undelivered event, without given-up streams.
    pub oldest_undelivered_ms: Millis,
    /// The size of the database.
    pub database_bytes: u64,
    /// Dead rows that were not removed yet, by table, if the database has them.
    pub dead_rows: Vec<(String, u64)>,
}
