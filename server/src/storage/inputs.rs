//! What a storage is told: plain values.

use std::time::Duration;

use kassa::{PaymentRef, PaymentStatus, Provider};

use super::outputs::{Delivery, SkippedEvent};
use crate::{
    checkouts::{CheckoutView, new_checkout::NewCheckout},
    events::EventKind,
    pace::SKIP_AFTER,
    payments::{Failure, exchange::Exchange},
    tokens::{DecidedBy, KeyRole, Permission, TokenHash},
    values::{ApiKeyId, CheckoutId, Hidden, Method, Millis, PaymentId, Resolution, error::ServerError},
};

pub use crate::pace::queues::Slots;

/// A checkout to open, whose rules were checked.
#[derive(Clone, Debug)]
pub struct OpenCheckout {
    /// Its identifier, if it is new.
    pub id: CheckoutId,
    /// What is wanted.
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
    /// What it opens.
    pub checkout: CheckoutId,
    /// Its hash.
    pub hash: TokenHash,
    /// How long it is good.
    pub lifetime_ms: Millis,
}

/// An API key to keep.
#[derive(Clone, Debug)]
pub struct NewApiKey {
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
}

/// An idempotency key with a fingerprint of what came with it.
#[derive(Clone, Debug)]
pub struct Key {
    /// The key.
    pub text: String,
    /// The fingerprint.
    pub fingerprint: Vec<u8>,
}

/// A payment that is about to be sent.
#[derive(Clone, Debug)]
pub struct BeginPayment {
    /// Its checkout.
    pub checkout: CheckoutId,
    /// Its identifier.
    pub id: PaymentId,
    /// The way to pay.
    pub method: Method,
    /// What the gateway will be asked with.
    pub reference: PaymentRef,
    /// The caller's idempotency key.
    pub key: Option<Key>,
    /// Who sends it, and nobody else (fencing).
    pub sender: String,
    /// Whether it is sent at once; else it waits, prepared.
    pub is_sent_at_once: bool,
    /// After which time its sender has no answer.
    pub send_for_ms: Millis,
    /// After which time it is no longer sent where it waits.
    pub wait_for_ms: Millis,
    /// How many one-time passwords may be tried.
    pub attempts: u32,
    /// How many cards may be tried for its checkout.
    pub card_attempts: u32,
    /// The last four digits of the card, where it is paid by one.
    pub card_last4: Option<String>,
    /// The last two digits of the phone, where it is paid by mobile bank.
    pub phone_last2: Option<String>,
    /// The payment that its payer leaves for it, if that can be left still: it is never confirmed any more.
    pub instead_of: Option<PaymentId>,
}

/// A payment that waited, to be sent now.
#[derive(Clone, Debug)]
pub struct TakePrepared {
    /// The payment's checkout.
    pub checkout: CheckoutId,
    /// Which.
    pub payment: PaymentId,
    /// Who sends it.
    pub sender: String,
    /// After which time its sender has no answer.
    pub send_for_ms: Millis,
}

/// What sending a payment brought.
#[derive(Clone, Debug)]
pub struct SendOutcome {
    /// The payment's checkout.
    pub checkout: CheckoutId,
    /// Which.
    pub payment: PaymentId,
    /// Who sent it.
    pub sender: String,
    /// What came back.
    pub result: SendResult,
    /// What was said, where it was sent at all.
    pub exchange: Option<Exchange>,
}

/// What came back.
#[derive(Clone, Debug)]
pub enum SendResult {
    /// The gateway has it.
    Accepted {
        /// What it is asked with from now on.
        reference: PaymentRef,
        /// The page to open.
        page_url: Option<String>,
        /// The code to show.
        qr_text: Option<String>,
    },
    /// Certainly nothing happened.
    NothingHappened {
        /// Why.
        failure: Failure,
        /// How long the gateway asked to wait.
        retry_after: Option<Duration>,
    },
    /// It may have happened.
    Unknown {
        /// What it is asked with from now on.
        reference: PaymentRef,
    },
}

/// A one-time password that is about to be sent.
#[derive(Clone, Debug)]
pub struct BeginConfirmation {
    /// The payment's checkout.
    pub checkout: CheckoutId,
    /// The payment.
    pub payment: PaymentId,
    /// The caller's idempotency key. Its fingerprint holds nothing of the password.
    pub key: Option<Key>,
    /// Who sends it, and nobody else.
    pub sender: String,
}

/// What sending a one-time password brought.
#[derive(Clone, Debug)]
pub struct ConfirmationOutcome {
    /// The payment's checkout.
    pub checkout: CheckoutId,
    /// Of which payment.
    pub payment: PaymentId,
    /// Who sent it.
    pub sender: String,
    /// What came back.
    pub result: ConfirmResult,
    /// What was said, where it was sent at all.
    pub exchange: Option<Exchange>,
}

/// What came back.
#[derive(Clone, Debug)]
pub enum ConfirmResult {
    /// The gateway took it, or may have: the payment is asked about.
    Sent {
        /// What it is asked with from now on, where more is known.
        reference: Option<PaymentRef>,
    },
    /// It was wrong.
    Refused {
        /// What the gateway said.
        failure: Failure,
    },
    /// Certainly nothing happened.
    NothingHappened {
        /// Why.
        failure: Failure,
    },
}

/// What a person decides of a payment of which nobody knows.
#[derive(Clone, Debug)]
pub struct Resolve {
    /// Which.
    pub payment: PaymentId,
    /// What became of it.
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
        /// What came, for people.
        exchange: Option<Box<Exchange>>,
        /// It was read in full, and is kept only where the payment has no number to ask the gateway by.
        is_whole: bool,
    },
    /// A payer came back, an app looks, a person asks.
    Checkout {
        /// Of which checkout.
        id: CheckoutId,
    },
}

/// A number that a callback claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The number.
    pub number: String,
    /// Who carried it out.
    pub provider: Option<Provider>,
}

/// What time does.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// So much of each kind at most.
    pub most: u32,
    /// How long is kept what nobody needs after the end.
    pub keep_for_ms: Millis,
}

/// How many questions are wanted.
#[derive(Clone, Copy, Debug)]
pub struct ClaimPolls {
    /// The places for those that are under way at once: no more than there is room for.
    pub places: Slots,
    /// For how long nobody else asks them.
    pub lease_ms: Millis,
    /// The limit of HTTP requests for the whole fleet.
    pub per_second: u32,
}

/// What the gateway answered about a payment.
#[derive(Clone, Debug)]
pub struct PollResult {
    /// Which.
    pub payment: PaymentId,
    /// What it pays for.
    pub checkout: CheckoutId,
    /// How it is paid.
    pub method: Method,
    /// The lease under which it was asked.
    pub leased_until: Millis,
    /// Its answers.
    pub reports: Vec<StatusReport>,
    /// For the jitter.
    pub random: u32,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct StatusReport {
    /// The claimed number that was asked by.
    pub claim: Option<String>,
    /// What it says.
    pub report: Report,
    /// Question and answer, for people.
    pub exchange: Exchange,
}

/// What the gateway says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// Charged, by the core's verdict.
    Charged(Box<PaymentRef>),
    /// Rejected.
    Rejected,
    /// Pending.
    Pending(Box<PaymentRef>),
    /// Something else than was asked for.
    Mismatch {
        /// What differs.
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
    /// It could not be asked now.
    Trouble {
        /// Whether the whole fleet should ask less: a rate limit, or a gateway that fails.
        is_overload: bool,
        /// How long it asked to wait.
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

/// How many events are wanted.
#[derive(Clone, Debug)]
pub struct ClaimDeliveries {
    /// So many at most, one a stream.
    pub most: u32,
    /// For how long nobody else delivers them.
    pub lease_ms: Millis,
    /// The kinds that are delivered, and all where there is nothing. Streams step over the others, for good.
    pub kinds: Option<Vec<EventKind>>,
}

/// What became of a delivery.
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
    /// What the shop said.
    pub result: DeliveryResult,
}

/// What the shop said to an event.
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
        // Nobody knows what one of an unknown kind asks for.
        let kind = self.kind.filter(|kind| !kind.requires_action())?;
        if refusals < SKIP_AFTER {
            return None;
        }
        let (checkout, event, why) = (self.checkout.clone(), self.id.clone(), why.clone());
        Some(SkippedEvent { checkout, seq: self.seq, event, kind, why })
    }
}
