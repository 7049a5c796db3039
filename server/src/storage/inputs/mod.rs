//! The inputs of a storage: plain values. Those of beginning, sending and confirming a payment are in `payments`.

mod payments;

use std::time::Duration;

use kassa::{PaymentRef, PaymentStatus, Provider};
pub use payments::{
    BeginConfirmation, BeginPayment, ConfirmResult, ConfirmationOutcome, Key, SendOutcome, SendResult, TakePrepared,
    WalletTerms,
};

use super::outputs::{Delivery, SkippedEvent};
use crate::{
    checkouts::{CheckoutView, new_checkout::NewCheckout},
    events::EventKind,
    pace::SKIP_AFTER,
    payments::exchange::Exchange,
    tokens::{DecidedBy, KeyRole, Permission, TokenHash},
    values::{ApiKeyId, CheckoutId, Hidden, Method, Millis, PaymentId, Resolution, error::ServerError},
};

pub use crate::pace::queues::Slots;

/// A validated checkout to open.
#[derive(Clone, Debug)]
pub struct OpenCheckout {
    /// Its identifier, if it is new.
    pub id: CheckoutId,
    /// The requested checkout.
    pub wanted: NewCheckout,
    /// The offered payment methods.
    pub methods: Vec<Method>,
    /// The secret of its callback address, if it is new.
    pub callback_secret: Hidden,
    /// The secret of its hosted page, if it is new.
    pub page_secret: Hidden,
}

impl OpenCheckout {
    /// The error that its reference was used for another checkout.
    pub(super) fn reference_used(&self, known: &CheckoutView) -> ServerError {
        ServerError::ReferenceUsed { differs: self.wanted.differs_from(&known.checkout) }
    }
}

/// The key of a checkout's lookup.
#[derive(Clone, Debug)]
pub enum CheckoutLookup {
    /// By its identifier.
    Id(CheckoutId),
    /// By the shop's own reference.
    Reference(String),
    /// By a valid client token.
    Token(TokenHash),
    /// By the end of its hosted page's address.
    Page(Hidden),
}

/// A client token to store.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// The checkout that it opens.
    pub checkout: CheckoutId,
    /// Its hash.
    pub hash: TokenHash,
    /// Its lifetime.
    pub lifetime_ms: Millis,
}

/// An API key to store.
#[derive(Clone, Debug)]
pub struct NewApiKey {
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
}

/// A person's decision on a payment with an unknown outcome.
#[derive(Clone, Debug)]
pub struct Resolve {
    /// The payment.
    pub payment: PaymentId,
    /// The outcome.
    pub resolution: Resolution,
    /// The reason.
    pub reason: String,
    /// The person, and the key.
    pub by: DecidedBy,
    /// The checkout's version that the person saw, if it is known (optimistic locking).
    pub seen: Option<i64>,
}

/// A hint that there may be news.
#[derive(Clone, Debug)]
pub enum Hint {
    /// A callback to the address of a payment.
    Callback {
        /// The address' secret.
        secret: String,
        /// The payment.
        payment: PaymentId,
        /// The number that it claims, for a pay-form.
        claim: Option<Claim>,
        /// The status that it claims, by the words of the gateway's dialect.
        status: Option<PaymentStatus>,
        /// The hash that identifies repeated callbacks.
        same: Option<[u8; 32]>,
        /// The callback as an exchange, for staff.
        exchange: Option<Box<Exchange>>,
        /// Whether it was read in full: then it is stored only if the payment has no number to query by.
        is_whole: bool,
    },
    /// A payer returned, an app viewed it, or a person requested a check.
    Checkout {
        /// The checkout.
        id: CheckoutId,
        /// The payment that its payer says they have paid.
        claimed: Option<PaymentId>,
    },
}

/// A number that a callback claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The number.
    pub number: String,
    /// The provider.
    pub provider: Option<Provider>,
}

/// A sweep: gives up sending that took too long, expires checkouts, deletes expired data.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// The limit of each kind.
    pub most: u32,
    /// The retention time after the end of a checkout.
    pub keep_for_ms: Millis,
}

/// A claim of due polls.
#[derive(Clone, Copy, Debug)]
pub struct ClaimPolls {
    /// The slots for concurrent polls: at most this many are claimed.
    pub places: Slots,
    /// The lease: for this time nobody else queries them.
    pub lease_ms: Millis,
    /// The limit of HTTP requests for the whole fleet.
    pub per_second: u32,
}

/// The result of polling one payment.
#[derive(Clone, Debug)]
pub struct PollResult {
    /// The payment.
    pub payment: PaymentId,
    /// Its checkout.
    pub checkout: CheckoutId,
    /// Its method.
    pub method: Method,
    /// The lease of the poll.
    pub leased_until: Millis,
    /// Its answers.
    pub reports: Vec<StatusReport>,
    /// For the jitter.
    pub random: u32,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct StatusReport {
    /// The claimed number of the query.
    pub claim: Option<String>,
    /// The report.
    pub report: Report,
    /// The request and its response, for people.
    pub exchange: Exchange,
}

/// A report of the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// Charged, by the core's verdict.
    Charged(Box<PaymentRef>),
    /// Rejected.
    Rejected,
    /// Pending.
    Pending(Box<PaymentRef>),
    /// Another order, amount or currency than requested.
    Mismatch {
        /// The fields that differ.
        fields: Vec<String>,
        /// Whether it is a charge.
        is_charge: bool,
    },
    /// A charge that cannot be verified.
    Unverifiable {
        /// The reason.
        why: String,
    },
    /// Nothing useful: unknown to the gateway, not understood, or not tied to the payment.
    Nothing,
    /// It could not be queried now.
    Failed {
        /// Whether the whole fleet should query less: a rate limit, or a gateway that fails.
        is_overload: bool,
        /// Its `Retry-After`.
        retry_after: Option<Duration>,
    },
}

impl Report {
    /// Whether it reports a charge, trusted or not.
    pub fn is_charge(&self) -> bool {
        match self {
            Self::Charged(_) | Self::Unverifiable { .. } => true,
            Self::Mismatch { is_charge, .. } => *is_charge,
            Self::Rejected | Self::Pending(_) | Self::Nothing | Self::Failed { .. } => false,
        }
    }
}

/// A claim of due deliveries.
#[derive(Clone, Debug)]
pub struct ClaimDeliveries {
    /// The most events, one per stream.
    pub most: u32,
    /// The lease: for this time nobody else delivers them.
    pub lease_ms: Millis,
    /// The kinds that are delivered; `None` for all. The others are skipped permanently.
    pub kinds: Option<Vec<EventKind>>,
}

/// The outcome of a delivery.
#[derive(Clone, Debug)]
pub struct DeliveryOutcome {
    /// The stream.
    pub checkout: CheckoutId,
    /// The event's place in it.
    pub seq: i64,
    /// The event's identifier.
    pub id: String,
    /// Its kind; `None` if a newer server wrote it.
    pub kind: Option<EventKind>,
    /// The lease under which it was delivered.
    pub leased_until: Millis,
    /// The shop's response.
    pub result: DeliveryResult,
}

/// The shop's response to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryResult {
    /// It accepted it.
    Taken,
    /// It failed, or was not reached.
    Failed,
    /// It refused this event.
    Refused {
        /// The reason, such as `it answered 400`.
        why: String,
    },
}

impl DeliveryOutcome {
    /// The outcome of this delivery.
    pub fn of(delivery: &Delivery, result: DeliveryResult) -> Self {
        let Delivery { checkout, seq, id, kind, leased_until, .. } = delivery;
        let (checkout, id) = (checkout.clone(), id.clone());
        Self { checkout, seq: *seq, id, kind: *kind, leased_until: *leased_until, result }
    }

    /// Whether the shop refused the event itself.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self.result, DeliveryResult::Refused { .. })
    }

    /// The event, if its stream skips it after this many refusals, including this one.
    pub(super) fn skipped(&self, refusals: u32) -> Option<SkippedEvent> {
        let DeliveryResult::Refused { why } = &self.result else { return None };
        // An event of an unknown kind may require action.
        let kind = self.kind.filter(|kind| !kind.requires_action())?;
        if refusals < SKIP_AFTER {
            return None;
        }
        let (checkout, event, why) = (self.checkout.clone(), self.id.clone(), why.clone());
        Some(SkippedEvent { checkout, seq: self.seq, event, kind, why })
    }
}
