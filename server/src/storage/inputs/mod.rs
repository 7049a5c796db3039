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

/// A checkout to open, whose rules were checked.
#[derive(Clone, Debug)]
pub struct OpenCheckout {
    /// Its identifier, if it is new.
    pub id: CheckoutId,
    /// The requested checkout.
    pub wanted: NewCheckout,
    /// The ways to pay that are offered.
    pub methods: Vec<Method>,
    /// Where the gateway's callbacks come to, if it is new.
    pub callback_secret: Hidden,
    /// Where its hosted page is, if it is new.
    pub page_secret: Hidden,
}

impl OpenCheckout {
    /// Its reference was used for another checkout.
    pub(super) fn reference_used(&self, known: &CheckoutView) -> ServerError {
        ServerError::ReferenceUsed { differs: self.wanted.differs_from(&known.checkout) }
    }
}

/// By what a checkout is looked up.
#[derive(Clone, Debug)]
pub enum CheckoutLookup {
    /// By its identifier.
    Id(CheckoutId),
    /// By the shop's own reference.
    Reference(String),
    /// By a client token that is still good.
    Token(TokenHash),
    /// By the end of its hosted page's address.
    Page(Hidden),
}

/// A client token to keep.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// The checkout that it opens.
    pub checkout: CheckoutId,
    /// Its hash.
    pub hash: TokenHash,
    /// Its lifetime.
    pub lifetime_ms: Millis,
}

/// An API key to keep.
#[derive(Clone, Debug)]
pub struct NewApiKey {
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
}

/// A person's decision on a payment with an unknown outcome.
#[derive(Clone, Debug)]
pub struct Resolve {
    /// Which.
    pub payment: PaymentId,
    /// The outcome.
    pub resolution: Resolution,
    /// Why.
    pub reason: String,
    /// Who, and through which key.
    pub by: DecidedBy,
    /// The checkout's version that the person looked at, where it is known (optimistic locking).
    pub seen: Option<i64>,
}

/// Somebody says that there is something new.
#[derive(Clone, Debug)]
pub enum Hint {
    /// A callback came to the address of one of a checkout's payments.
    Callback {
        /// The address' secret.
        secret: String,
        /// Which payment.
        payment: PaymentId,
        /// The number that it claims, for a pay-form.
        claim: Option<Claim>,
        /// The status that it claims, by the words of the gateway's dialect.
        status: Option<PaymentStatus>,
        /// The hash of what makes it the same callback as another one.
        same: Option<[u8; 32]>,
        /// The callback as an exchange, for staff.
        exchange: Option<Box<Exchange>>,
        /// It was read in full, and is kept only where the payment has no number to query the gateway by.
        is_whole: bool,
    },
    /// A payer came back, an app looks, a person requests a check.
    Checkout {
        /// Of which checkout.
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

/// A sweep: gives up sending that took too long, expires checkouts, deletes what is no longer stored.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// So much of each kind at most.
    pub most: u32,
    /// The retention time after the end of a checkout.
    pub keep_for_ms: Millis,
}

/// A claim of due polls.
#[derive(Clone, Copy, Debug)]
pub struct ClaimPolls {
    /// The places for those that are under way at once: no more than there is room for.
    pub places: Slots,
    /// For how long nobody else queries them.
    pub lease_ms: Millis,
    /// The limit of HTTP requests for the whole fleet.
    pub per_second: u32,
}

/// The result of polling one payment.
#[derive(Clone, Debug)]
pub struct PollResult {
    /// Which.
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
    /// Question and answer, for people.
    pub exchange: Exchange,
}

/// A report of the gateway's.
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
        /// Why.
        why: String,
    },
    /// Nothing that helps: not known there, not understood, not tied to the payment.
    Nothing,
    /// It could not be queried now.
    Trouble {
        /// Whether the whole fleet should query less: a rate limit, or a gateway that fails.
        is_overload: bool,
        /// Its `Retry-After`.
        retry_after: Option<Duration>,
    },
}

impl Report {
    /// Whether it tells of a charge, believed or not.
    pub fn is_charge(&self) -> bool {
        match self {
            Self::Charged(_) | Self::Unverifiable { .. } => true,
            Self::Mismatch { is_charge, .. } => *is_charge,
            Self::Rejected | Self::Pending(_) | Self::Nothing | Self::Trouble { .. } => false,
        }
    }
}

/// A claim of due deliveries.
#[derive(Clone, Debug)]
pub struct ClaimDeliveries {
    /// So many at most, one a stream.
    pub most: u32,
    /// For how long nobody else delivers them.
    pub lease_ms: Millis,
    /// The kinds that are delivered, and all where there is nothing. Streams step over the others, for good.
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
    /// Its kind; nothing where a newer server wrote it.
    pub kind: Option<EventKind>,
    /// The lease under which it was delivered.
    pub leased_until: Millis,
    /// The shop's response.
    pub result: DeliveryResult,
}

/// The shop's response to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryResult {
    /// It took it.
    Taken,
    /// It failed, or was not reached.
    Failed,
    /// It refused this event.
    Refused {
        /// Such as `it answered 400`.
        why: String,
    },
}

impl DeliveryOutcome {
    /// Of this delivery.
    pub fn of(delivery: &Delivery, result: DeliveryResult) -> Self {
        let Delivery { checkout, seq, id, kind, leased_until, .. } = delivery;
        let (checkout, id) = (checkout.clone(), id.clone());
        Self { checkout, seq: *seq, id, kind: *kind, leased_until: *leased_until, result }
    }

    /// Whether the shop refused the event itself.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self.result, DeliveryResult::Refused { .. })
    }

    /// The event, where its stream steps over it after so many refusals, this one among them.
    pub(super) fn skipped(&self, refusals: u32) -> Option<SkippedEvent> {
        let DeliveryResult::Refused { why } = &self.result else { return None };
        // Nobody knows what one of an unknown kind requires.
        let kind = self.kind.filter(|kind| !kind.requires_action())?;
        if refusals < SKIP_AFTER {
            return None;
        }
        let (checkout, event, why) = (self.checkout.clone(), self.id.clone(), why.clone());
        Some(SkippedEvent { checkout, seq: self.seq, event, kind, why })
    }
}
