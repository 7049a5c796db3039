//! The storage's inputs and outputs for the staff's pages: plain values.

use std::collections::BTreeMap;

use kassa::{Decimal, PaymentRef};
use strum::{EnumIter, IntoStaticStr};

use super::StorageError;
use crate::{
    checkouts::CheckoutView,
    events::Event,
    payments::exchange::Exchange,
    tokens::{DecidedBy, Permission, TokenHash},
    values::{ApiKeyId, CheckoutId, ClaimState, Method, Millis, PaymentId, PaymentState},
};

/// The time after which an unknown payment needs a person: most end at the next poll.
pub const UNKNOWN_FOR: Millis = 2 * 60 * 1000;
/// The longest session.
pub const LONGEST_SESSION: Millis = 12 * 3600 * 1000;
/// The longest idle time of a session.
pub const LONGEST_IDLE: Millis = 3600 * 1000;

/// A new staff session.
#[derive(Clone, Debug)]
pub struct NewStaffSession {
    /// The hash of the session's token.
    pub hash: TokenHash,
    /// The key that it is for.
    pub key: ApiKeyId,
}

/// A session of a logged-in person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaffSession {
    /// The key of the login.
    pub key: ApiKeyId,
    /// The key's name, which is the person's.
    pub name: String,
    /// The person's permission.
    pub permission: Permission,
    /// The time since its last recorded use.
    pub unused_for: Millis,
}

/// Why a checkout needs a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Need {
    /// The outcome of a payment has been unknown for two minutes.
    Unknown,
    /// The gateway reports another order, amount or currency than requested.
    Mismatch,
    /// The gateway reports a charge that cannot be verified, or one more of a payment that is charged.
    Unverifiable,
    /// A payment has been open for three days, or its checkout ended and its code cannot be queried.
    Stuck,
    /// More than one payment was charged, and not all of the surplus is recorded as refunded.
    Overpaid,
    /// Deliveries to the shop were given up, after three days of failures.
    Undelivered,
    /// The shop refused events, which were skipped.
    Refused,
}

/// The most unknown callbacks that are stored.
pub const MOST_UNKNOWN_CALLBACKS: u32 = 200;

/// A callback to an address that no payment of this database has: a database restored from a backup has lost payments that the
/// gateway still has. It proves nothing, because anyone can send one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCallback {
    /// The payment that the address names.
    pub payment: PaymentId,
    /// The order number that it names.
    pub number: Option<String>,
    /// The amount as written; for a QR payment perhaps in tyiyn.
    pub amount: Option<Decimal>,
    /// The status that it claims.
    pub status: Option<String>,
}

/// An unknown callback, with the number of callbacks to its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredUnknownCallback {
    /// The last callback.
    pub callback: UnknownCallback,
    /// The time of the first callback.
    pub first_at: Millis,
    /// The time of the last callback.
    pub last_at: Millis,
    /// The number of callbacks.
    pub times: u64,
}

/// A checkout of the list.
#[derive(Clone, Debug)]
pub struct ListedCheckout {
    /// The checkout with its payments.
    pub view: CheckoutView,
    /// Why it needs a person.
    pub needs: Vec<Need>,
}

/// A request to the gateway with its response, which may have been repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredExchange {
    /// The request and its response.
    pub exchange: Exchange,
    /// The time of the first such response.
    pub first_at: Millis,
    /// The time of the last one.
    pub last_at: Millis,
    /// The number of such responses in a row.
    pub times: u64,
}

/// The responses that are read at once.
pub(super) const REPLIES_PAGE: i64 = 2000;

/// A stored exchange with its payment, for judging its response again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReply {
    /// The payment's identifier.
    pub payment_id: String,
    /// Its number among the exchanges of the payment.
    pub number: u64,
    /// The payment.
    pub reference: PaymentRef,
    /// The exchange.
    pub stored: StoredExchange,
}

/// A number that callbacks claimed for a pay-form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedClaim {
    /// The number.
    pub number: String,
    /// The provider, as the callback names it.
    pub provider: Option<String>,
    /// Its state.
    pub state: ClaimState,
    /// Why a charge is in doubt.
    pub reason: Option<String>,
    /// When a callback last named it.
    pub at: Millis,
}

/// The history of a checkout, with the state of its deliveries.
#[derive(Clone, Debug)]
pub struct History {
    /// The checkout, and why it needs a person.
    pub listed: ListedCheckout,
    /// All events, in order.
    pub events: Vec<Event>,
    /// The exchanges about each of its payments, in their order.
    pub exchanges: Vec<Vec<StoredExchange>>,
    /// The numbers that callbacks claimed for each of its payments, in their order.
    pub claims: Vec<Vec<ListedClaim>>,
    /// The place of the last delivered event; 0 if there is none.
    pub delivered: i64,
    /// The number of failed deliveries of the next event.
    pub failures: u32,
    /// Whether delivery was given up.
    pub is_given_up: bool,
    /// The events that the shop refused, and that were skipped.
    pub refused: Vec<RefusedEvent>,
}

/// An event that the shop refused repeatedly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedEvent {
    /// Its place in its stream.
    pub seq: i64,
    /// When it was skipped.
    pub at: Millis,
    /// The shop's last response, such as `it answered 400`.
    pub reason: String,
}

/// A refund of one payment of an overpaid checkout.
#[derive(Clone, Debug)]
pub struct RecordRefund {
    /// The checkout.
    pub checkout: CheckoutId,
    /// Its version that the person saw.
    pub version: i64,
    /// The reason.
    pub reason: String,
    /// The person, and the key.
    pub by: DecidedBy,
}

/// The result of recording a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefundOutcome {
    /// It is recorded.
    Recorded,
    /// No refund is due, or it was already recorded.
    NotDue,
    /// The checkout changed after the person saw it, perhaps because another one recorded the same refund.
    Outdated,
}

/// A period, from its first moment to before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The first moment.
    pub from: Millis,
    /// The first moment after it.
    pub until: Millis,
}

/// A charged payment.
#[derive(Clone, Debug)]
pub struct Charge {
    /// When the charge was recorded.
    pub at: Millis,
    /// Whether a person decided it; the gateway did not report it.
    pub is_resolved: bool,
    /// Whether its checkout was paid more than once.
    pub is_overpaid: bool,
    /// The payment.
    pub payment: PaymentId,
    /// Its checkout.
    pub checkout: CheckoutId,
    /// The shop's own reference.
    pub shop_reference: String,
    /// The payment method.
    pub method: Method,
    /// The reference, with the numbers by which the gateway knows it.
    pub reference: PaymentRef,
    /// All taken numbers. If a person decided about a pay-form, they include its claimed numbers, which its reference lacks.
    pub taken_numbers: Vec<String>,
    /// The amount.
    pub amount: Decimal,
    /// The currency's three letters.
    pub currency: String,
}

/// Payments with the same end, or that became unknown, in an hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndCount {
    /// The hour's first moment.
    pub hour: Millis,
    /// Their state then.
    pub state: PaymentState,
    /// The payment method.
    pub method: Method,
    /// The currency's three letters.
    pub currency: String,
    /// The count.
    pub count: u64,
    /// The sum; `None` if it overflows.
    pub sum: Option<Decimal>,
}

/// The ends of payments in a period.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// The counts, the oldest hour first.
    pub alike: Vec<EndCount>,
    /// Whether there were more than the limit.
    pub is_more: bool,
}

/// The charges of a period.
#[derive(Clone, Debug, Default)]
pub struct Charges {
    /// The charges, the oldest first.
    pub charges: Vec<Charge>,
    /// Whether there were more than the limit.
    pub is_more: bool,
}

// Adds up the ends of payments by hour, state, method and currency. Sums must be exact, so the database does not make them.

const HOUR: Millis = 3600 * 1000;

/// Hour, state, method and currency.
type Alike = (Millis, String, String, String);

/// The sums so far.
#[derive(Debug, Default)]
pub(super) struct Adding(BTreeMap<Alike, (u64, Option<Decimal>)>);

/// An end, as stored in the database.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<'a> {
    pub(super) at: Millis,
    /// The payment's state then.
    pub(super) state: &'a str,
    pub(super) method: &'a str,
    pub(super) amount: &'a str,
    pub(super) currency: &'a str,
}

impl Adding {
    pub(super) fn add(&mut self, end: End<'_>) {
        let hour = end.at - end.at.rem_euclid(HOUR);
        let alike = (hour, end.state.to_owned(), end.method.to_owned(), end.currency.to_owned());
        let (count, sum) = self.0.entry(alike).or_insert((0, Some(Decimal::ZERO)));
        *count += 1;
        *sum = sum.and_then(|sum| sum.checked_add(end.amount.parse().ok()?));
    }

    /// The sums, and whether there were more.
    pub(super) fn ends(self, is_more: bool) -> Result<Ends, StorageError> {
        let one = |((hour, state, method, currency), (count, sum)): (Alike, _)| {
            let state = state.parse().map_err(|_| StorageError::Damaged { what: "state" })?;
            let method = method.parse().map_err(|_| StorageError::Damaged { what: "method" })?;
            Ok(EndCount { hour, state, method, currency, count, sum })
        };
        Ok(Ends { alike: self.0.into_iter().map(one).collect::<Result<_, StorageError>>()?, is_more })
    }
}
