//! The outputs of the storage: plain values.

use kassa::PaymentRef;

use crate::{
    events::EventKind,
    payments::Payment,
    tokens::{KeyRole, Permission, TokenHash},
    values::{ApiKeyId, CheckoutId, Method, Millis, PaymentId, PaymentState},
};

/// An API key, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyRow {
    /// Its identifier.
    pub id: ApiKeyId,
    /// The role of its owner.
    pub role: KeyRole,
    /// The person's permission on the staff's pages.
    pub may: Permission,
    /// Its display name.
    pub name: String,
    /// Its hash.
    pub hash: TokenHash,
    /// When it was made.
    pub created_at: Millis,
    /// Since when it is good for nothing.
    pub revoked_at: Option<Millis>,
}

/// The result of taking a payment that waited.
#[derive(Clone, Debug)]
pub enum SendTurn {
    /// Send it now.
    Send,
    /// Wait for the gateway's `Retry-After`.
    Wait(Millis),
    /// It is not waiting any more.
    Gone,
}

/// The result of a person's decision about a payment, with the payment as it is now.
#[derive(Clone, Debug)]
pub enum Decision {
    /// The decision is recorded.
    Recorded(Box<Payment>),
    /// The payment was in this state before: nothing is recorded.
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
    /// Whether the transaction changed its state. What it begins is to be sent; what was begun before is not sent again.
    pub is_changed: bool,
}

impl RecordedPayment {
    /// The transaction changed it.
    pub(super) fn changed(payment: &Payment) -> Self {
        Self { payment: payment.clone(), is_changed: true }
    }

    /// It is as it was before.
    pub(super) fn unchanged(payment: &Payment) -> Self {
        Self { payment: payment.clone(), is_changed: false }
    }
}

/// Which checkouts changed.
#[derive(Clone, Debug, Default)]
pub struct ChangedCheckouts {
    /// Those.
    pub changed: Vec<CheckoutId>,
}

/// The outcome of a sweep.
#[derive(Clone, Debug, Default)]
pub struct SweepOutcome {
    /// Which checkouts changed.
    pub changed: Vec<CheckoutId>,
    /// There may be more to sweep.
    pub is_more: bool,
}

/// The outcome of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintOutcome {
    /// So many payments are due at once.
    Due(u32),
    /// The same callback came before.
    SeenBefore,
    /// More numbers are claimed for the payment than can be kept: nothing was written.
    TooManyClaims,
}

/// A payment to query.
#[derive(Clone, Debug)]
pub struct DuePoll {
    /// Which.
    pub payment: PaymentId,
    /// Its checkout.
    pub checkout: CheckoutId,
    /// Its method.
    pub method: Method,
    /// Nobody else queries it before.
    pub leased_until: Millis,
    /// The status queries: by the payment's own reference, or by claims.
    pub ask: Vec<StatusQuery>,
}

/// One question.
#[derive(Clone, Debug)]
pub struct StatusQuery {
    /// The claimed number of the query.
    pub claim: Option<String>,
    /// The reference of the query.
    pub reference: PaymentRef,
}

/// Payments to query.
#[derive(Clone, Debug)]
pub struct ClaimedPolls {
    /// Them.
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
    /// Its kind; nothing where a newer server wrote it. It is delivered all the same.
    pub kind: Option<EventKind>,
    /// Its text.
    pub body: String,
    /// Nobody else delivers it before.
    pub leased_until: Millis,
}

/// An event that the shop refused again and again, and that its stream stepped over.
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
    /// Them, one a stream.
    pub deliveries: Vec<Delivery>,
    /// The moment, by the database's clock.
    pub now: Millis,
    /// The time until the next one is due, where one waits.
    pub next_in_ms: Option<Millis>,
}

/// The present figures. Large numbers are counted up to a limit, which the storage names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Payments that may take money, by state; every such state is there.
    pub open_payments: Vec<(PaymentState, u64)>,
    /// Those of them that are flagged for a person, as they have been open for days.
    pub stuck_payments: u64,
    /// For how long that one of them has been unknown which has been so for the longest.
    pub oldest_unknown_ms: Millis,
    /// The rest of the gateway's `Retry-After`.
    pub gateway_wait_ms: Millis,
    /// The number of overdue polls.
    pub due_payments: u64,
    /// For how long the first of those has been due.
    pub oldest_due_ms: Millis,
    /// Streams of events that were given up.
    pub streams_given_up: u64,
    /// Events that the shop refused, and that were stepped over.
    pub refused_events: u64,
    /// For how long the other one has been waiting, or failing, that does so for the longest.
    pub oldest_undelivered_ms: Millis,
    /// The size of the database.
    pub database_bytes: u64,
    /// Old versions of rows that nobody has cleaned away yet, by table, where the database keeps such.
    pub dead_rows: Vec<(String, u64)>,
}
