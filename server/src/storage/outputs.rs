//! What a storage tells: plain values.

use kassa::PaymentRef;

use crate::{
    checkouts::CheckoutView,
    events::{Event, EventKind},
    payments::Payment,
    tokens::{KeyRole, Permission, TokenHash},
    values::{ApiKeyId, CheckoutId, CheckoutState, Cursor, Method, Millis, PaymentId, PaymentState},
};

/// What became of opening a checkout.
#[derive(Clone, Debug)]
pub enum Opened {
    /// It is new.
    New(Box<CheckoutView>),
    /// It was opened before, with the same content.
    Again(Box<CheckoutView>),
    /// The reference was used for something else.
    ReferenceUsed,
}

/// An API key, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyRow {
    /// Its identifier.
    pub id: ApiKeyId,
    /// Who calls with it.
    pub role: KeyRole,
    /// What a person may do with it on the staff's pages.
    pub may: Permission,
    /// What people call it.
    pub name: String,
    /// Its hash.
    pub hash: TokenHash,
    /// When it was made.
    pub created_at: Millis,
    /// Since when it is good for nothing.
    pub revoked_at: Option<Millis>,
}

/// What became of cancelling a checkout.
#[derive(Clone, Debug)]
pub enum Cancelled {
    /// It is cancelled now, or was before.
    Done(Box<CheckoutView>),
    /// It is not open.
    NotOpen(CheckoutState),
    /// One of its payments is under way.
    UnderWay(PaymentState),
    /// There is none.
    Nowhere,
}

/// What became of writing a payment down.
#[derive(Clone, Debug)]
pub enum Begun {
    /// It is written down, sending or prepared.
    New(Box<Payment>),
    /// The same was begun before: this is it.
    Again(Box<Payment>),
    /// The key was used with another body.
    KeyReused,
    /// The checkout is not open.
    NotOpen(CheckoutState),
    /// Another payment may still take money.
    UnderWay(PaymentState),
    /// Too many cards, or too many payments, were tried.
    NoAttemptsLeft,
    /// There is no such checkout.
    Nowhere,
}

/// What became of taking a payment that waited.
#[derive(Clone, Debug)]
pub enum SendTurn {
    /// Send it now.
    Send,
    /// The gateway asked to wait so long.
    Wait(Millis),
    /// It is not waiting any more.
    Gone,
}

/// What became of writing a confirmation down.
#[derive(Clone, Debug)]
pub enum ConfirmationBegun {
    /// It is written down: send it, to this payment.
    New(Box<Payment>),
    /// The same was begun before: this is the payment.
    Again(Box<Payment>),
    /// The key was used for something else.
    KeyReused,
    /// The checkout is not open.
    NotOpen(CheckoutState),
    /// A charge of another payment is in doubt.
    UnderWay(PaymentState),
    /// The payment awaits none.
    NotAwaited(PaymentState),
    /// Too many wrong ones.
    NoAttemptsLeft,
    /// There is no such payment.
    Nowhere,
}

/// What became of a person's decision.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// It is so from now on.
    Done(Box<Payment>),
    /// It was so before.
    Again(Box<Payment>),
    /// Nothing was decided, as something happened since the person looked.
    Moved(Box<Payment>),
    /// There is nothing to decide.
    NotInDoubt(PaymentState),
    /// There is no such payment.
    Nowhere,
}

/// A payment as it stands now, whether what was told changed it or came too late.
#[derive(Clone, Debug)]
pub struct RecordedPayment {
    /// The payment.
    pub payment: Payment,
    /// Whether anything changed.
    pub is_changed: bool,
}

/// Which checkouts changed.
#[derive(Clone, Debug, Default)]
pub struct ChangedCheckouts {
    /// Those.
    pub changed: Vec<CheckoutId>,
}

/// What time did.
#[derive(Clone, Debug, Default)]
pub struct SweepOutcome {
    /// Which checkouts changed.
    pub changed: Vec<CheckoutId>,
    /// There may be more to do than was asked for.
    pub is_more: bool,
}

/// What became of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintOutcome {
    /// So many payments are due at once.
    Due(u32),
    /// The same callback came before.
    SeenBefore,
    /// More numbers are claimed for the payment than can be kept: nothing was written.
    TooManyClaims,
    /// It is about nothing that is known.
    Nowhere,
}

/// A payment to ask about.
#[derive(Clone, Debug)]
pub struct DuePoll {
    /// Which.
    pub payment: PaymentId,
    /// What it pays for.
    pub checkout: CheckoutId,
    /// How it is paid.
    pub method: Method,
    /// Nobody else asks before.
    pub leased_until: Millis,
    /// What to ask with: the payment's own reference, or what callbacks claimed.
    pub ask: Vec<StatusQuery>,
}

/// One question.
#[derive(Clone, Debug)]
pub struct StatusQuery {
    /// The claimed number that is asked by.
    pub claim: Option<String>,
    /// What to ask with.
    pub reference: PaymentRef,
}

/// Payments to ask about.
#[derive(Clone, Debug)]
pub struct ClaimedPolls {
    /// Them.
    pub questions: Vec<DuePoll>,
    /// The time until the next question may be asked, where one waits.
    pub next_in_ms: Option<Millis>,
}

/// What the feed has after a cursor.
#[derive(Clone, Debug)]
pub enum EventPage {
    /// The next events.
    Events(Vec<Event>),
    /// The cursor's event is not in this database, which was restored from a backup.
    HistoryGone {
        /// Where to read on.
        resume: Cursor,
    },
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
    /// What the shop said, such as `it answered 400`.
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

/// What there is now. Large numbers are counted up to a limit, which the storage says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Payments that may take money, by state; every such state is there.
    pub open_payments: Vec<(PaymentState, u64)>,
    /// Those of them that are flagged for a person, as they have been open for days.
    pub stuck_payments: u64,
    /// For how long that one of them has been unknown which has been so for the longest.
    pub oldest_unknown_ms: Millis,
    /// How long the gateway asked to wait still.
    pub gateway_wait_ms: Millis,
    /// How many should have been asked about by now.
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
