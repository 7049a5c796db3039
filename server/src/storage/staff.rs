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
/// The longest that somebody stays logged in.
pub const LONGEST_SESSION: Millis = 12 * 3600 * 1000;
/// The idle time.
pub const LONGEST_IDLE: Millis = 3600 * 1000;

/// Somebody who logs in.
#[derive(Clone, Debug)]
pub struct NewStaffSession {
    /// The hash of the session's token.
    pub hash: TokenHash,
    /// The key that it is for.
    pub key: ApiKeyId,
}

/// Somebody who is logged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaffSession {
    /// The key that was given.
    pub key: ApiKeyId,
    /// The key's name, which is the person's.
    pub name: String,
    /// The person's permission.
    pub may: Permission,
    /// The time since its last recorded use.
    pub unused_for: Millis,
}

/// Why a person has to look at a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Need {
    /// Nobody has known for two minutes what became of a payment.
    Unknown,
    /// The gateway reports another order, amount or currency than requested.
    Mismatch,
    /// The gateway reports a charge that cannot be verified, or one more of a payment that is charged.
    Unverifiable,
    /// A payment has been open for three days, or its checkout ended and its code cannot be queried.
    Stuck,
    /// Paid twice or more often, and nobody has said that all that was too much was given back.
    Overpaid,
    /// The shop takes no events.
    Undelivered,
    /// The shop refused events, which were stepped over.
    Refused,
}

/// The most unknown callbacks that are stored.
pub const MOST_UNKNOWN_CALLBACKS: u32 = 200;

/// A callback to an address that no payment of this database has: a database that was restored from a backup has forgotten payments
/// that the gateway has not. It proves nothing, as anybody can send one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCallback {
    /// The payment that the address names.
    pub payment: PaymentId,
    /// The order number that it names.
    pub number: Option<String>,
    /// The amount as it was written; of a QR payment perhaps in tyiyn.
    pub amount: Option<Decimal>,
    /// The status that it claims.
    pub status: Option<String>,
}

/// An unknown callback, and how often one came to the same address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredUnknownCallback {
    /// The last one.
    pub callback: UnknownCallback,
    /// When the first one came.
    pub first_at: Millis,
    /// When the last one came.
    pub last_at: Millis,
    /// How many came.
    pub times: u64,
}

/// A checkout of the list.
#[derive(Clone, Debug)]
pub struct ListedCheckout {
    /// The checkout with its payments.
    pub view: CheckoutView,
    /// Why a person has to look at it.
    pub needs: Vec<Need>,
}

/// A question to the gateway with an answer that came once or more often in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredExchange {
    /// Both.
    pub exchange: Exchange,
    /// When it was answered so first.
    pub first_at: Millis,
    /// When last.
    pub last_at: Millis,
    /// The count.
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
    /// Where it stands.
    pub state: ClaimState,
    /// Why a charge is in doubt.
    pub reason: Option<String>,
    /// When a callback named it last.
    pub at: Millis,
}

/// The history of a checkout, with what was delivered to its shop.
#[derive(Clone, Debug)]
pub struct History {
    /// The checkout, and why a person has to look at it.
    pub listed: ListedCheckout,
    /// All that happened, in order.
    pub events: Vec<Event>,
    /// The exchanges about each of its payments, in their order.
    pub exchanges: Vec<Vec<StoredExchange>>,
    /// The numbers that callbacks claimed for each of its payments, in their order.
    pub claims: Vec<Vec<ListedClaim>>,
    /// The place of the last event that the shop took; 0 where it took none.
    pub delivered: i64,
    /// The number of failed deliveries of the next event.
    pub failures: u32,
    /// Nobody tries any more.
    pub is_given_up: bool,
    /// The events that the shop refused, and that were stepped over.
    pub refused: Vec<RefusedEvent>,
}

/// An event that the shop refused again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedEvent {
    /// Its place in its stream.
    pub seq: i64,
    /// When it was stepped over.
    pub at: Millis,
    /// The shop's last response, such as `it answered 400`.
    pub reason: String,
}

/// Somebody gave the money of one payment of an overpaid checkout back.
#[derive(Clone, Debug)]
pub struct RecordRefund {
    /// Which checkout.
    pub checkout: CheckoutId,
    /// Its version, as that person saw it.
    pub version: i64,
    /// What was done.
    pub reason: String,
    /// By whom, and through which key.
    pub by: DecidedBy,
}

/// The result of recording a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefundOutcome {
    /// It is recorded.
    Recorded,
    /// Nothing is to be given back, or it was recorded before.
    NotDue,
    /// The checkout changed after the person saw it, perhaps because another one recorded the same refund.
    Outdated,
}

/// A time, from its first moment to before its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The first moment.
    pub from: Millis,
    /// The first moment after it.
    pub until: Millis,
}

/// A payment that was charged.
#[derive(Clone, Debug)]
pub struct Charge {
    /// When that was written down.
    pub at: Millis,
    /// A person decided it; the gateway did not report it.
    pub is_resolved: bool,
    /// Its checkout was paid more than once.
    pub is_overpaid: bool,
    /// The payment.
    pub payment: PaymentId,
    /// Its checkout.
    pub checkout: CheckoutId,
    /// The shop's own reference.
    pub shop_reference: String,
    /// The way to pay.
    pub method: Method,
    /// With the numbers that the gateway knows it by.
    pub reference: PaymentRef,
    /// All numbers that pay for nothing else any more: where a person decided of a pay-form, those that were claimed for it,
    /// which its reference has not.
    pub taken_numbers: Vec<String>,
    /// The amount.
    pub amount: Decimal,
    /// The currency's three letters.
    pub currency: String,
}

/// Payments that came to the same end, or became unknown, in an hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndCount {
    /// The hour's first moment.
    pub hour: Millis,
    /// Where they stood then.
    pub state: PaymentState,
    /// The way to pay.
    pub method: Method,
    /// The currency's three letters.
    pub currency: String,
    /// The count.
    pub count: u64,
    /// The sum; nothing if it overflows.
    pub sum: Option<Decimal>,
}

/// The ends of payments in a period.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// The first hour first.
    pub alike: Vec<EndCount>,
    /// There were more than the limit.
    pub is_more: bool,
}

/// The charges of a period.
#[derive(Clone, Debug, Default)]
pub struct Charges {
    /// The first one first.
    pub charges: Vec<Charge>,
    /// There were more than the limit.
    pub is_more: bool,
}

// Adds up how payments ended, by what is alike. Sums are exact, so they are not the database's to make.

const HOUR: Millis = 3600 * 1000;

/// Hour, state, method and currency.
type Alike = (Millis, String, String, String);

/// The sums so far.
#[derive(Debug, Default)]
pub(super) struct Adding(BTreeMap<Alike, (u64, Option<Decimal>)>);

/// An end, as it stands in the database.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<'a> {
    pub(super) at: Millis,
    /// Where the payment stood then.
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

    /// The sums; whether there was more than was added.
    pub(super) fn ends(self, is_more: bool) -> Result<Ends, StorageError> {
        let one = |((hour, state, method, currency), (count, sum)): (Alike, _)| {
            let state = state.parse().map_err(|_| StorageError::Damaged { what: "state" })?;
            let method = method.parse().map_err(|_| StorageError::Damaged { what: "method" })?;
            Ok(EndCount { hour, state, method, currency, count, sum })
        };
        Ok(Ends { alike: self.0.into_iter().map(one).collect::<Result<_, StorageError>>()?, is_more })
    }
}
