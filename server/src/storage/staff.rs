//! What the staff's pages tell a storage, and are told: plain values.

use kassa::{Decimal, PaymentRef};
use strum::{EnumIter, IntoStaticStr};

use crate::{
    checkouts::checkout::CheckoutView,
    events::Event,
    payments::exchange::Exchange,
    tokens::{TokenHash, decided_by::DecidedBy, permission::Permission},
    values::{
        Millis,
        ids::{ApiKeyId, CheckoutId, PaymentId},
        method::Method,
        states::{CheckoutState, ClaimState, PaymentState},
    },
};

/// How long a payment may be unknown before a person has to look: most end at the next question.
pub const UNKNOWN_FOR: Millis = 2 * 60 * 1000;
/// The longest that somebody stays logged in.
pub const LONGEST_SESSION: Millis = 12 * 3600 * 1000;
/// How long without calling.
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
    /// What the person may do.
    pub may: Permission,
    /// For how long nobody noted that it is used.
    pub unused_for: Millis,
}

/// Why a person has to look at a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Need {
    /// Nobody has known for two minutes what became of a payment.
    Unknown,
    /// The gateway reports something else than was asked for.
    Mismatch,
    /// The gateway reports a charge that cannot be verified, or one more of a payment that is charged.
    Unverifiable,
    /// A payment has been open for three days, or its checkout ended and nobody can ask about its code.
    Stuck,
    /// Paid twice or more often, and nobody has said that all that was too much was given back.
    Overpaid,
    /// The shop takes no events.
    Undelivered,
    /// The shop refused events, which were stepped over.
    Refused,
}

/// Which checkouts to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// All.
    All,
    /// Those in one state.
    InState(CheckoutState),
    /// Those that a person has to look at.
    NeedPerson,
    /// Those of which exactly this is the reference, an identifier, or a number of a payment.
    Called(String),
}

/// The place of a checkout in the list (keyset pagination): it stays where it is while others come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// When it was opened.
    pub opened_at: Millis,
    /// Which it is.
    pub id: CheckoutId,
}

/// A page of the list, the newest first.
#[derive(Clone, Debug)]
pub struct ListCheckouts {
    /// Which ones.
    pub which: Which,
    /// Those that come after this one, which are older; from the newest on where there is none.
    pub after: Option<Place>,
    /// So many at most.
    pub most: u32,
}

/// A checkout of the list.
#[derive(Clone, Debug)]
pub struct ListedCheckout {
    /// The checkout with its payments.
    pub view: CheckoutView,
    /// Why a person has to look at it.
    pub needs: Vec<Need>,
}

/// A page of the list.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    /// The checkouts.
    pub checkouts: Vec<ListedCheckout>,
    /// There are older ones.
    pub is_more: bool,
}

/// A question to the gateway with an answer that came once or more often in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptExchange {
    /// Both.
    pub exchange: Exchange,
    /// When it was answered so first.
    pub first_at: Millis,
    /// When last.
    pub last_at: Millis,
    /// How often.
    pub times: u64,
}

/// A number that callbacks claimed for a pay-form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedClaim {
    /// The number.
    pub number: String,
    /// Who carried the payment out, as the callback has it.
    pub provider: Option<String>,
    /// Where it stands.
    pub state: ClaimState,
    /// Why a charge is in doubt.
    pub reason: Option<String>,
    /// When a callback named it last.
    pub at: Millis,
}

/// What became of a checkout, and what its shop knows of that.
#[derive(Clone, Debug)]
pub struct History {
    /// The checkout, and why a person has to look at it.
    pub listed: ListedCheckout,
    /// All that happened, in order.
    pub events: Vec<Event>,
    /// What the gateway was asked about each of its payments, in their order.
    pub exchanges: Vec<Vec<KeptExchange>>,
    /// The numbers that callbacks claimed for each of its payments, in their order.
    pub claims: Vec<Vec<ListedClaim>>,
    /// The place of the last event that the shop took; 0 where it took none.
    pub delivered: i64,
    /// How often it did not take the next one.
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
    /// What the shop said last, such as `it answered 400`.
    pub reason: String,
}

/// Somebody gave the money of one payment of an overpaid checkout back.
#[derive(Clone, Debug)]
pub struct NoteRefund {
    /// Which checkout.
    pub checkout: CheckoutId,
    /// Its version, as that person saw it.
    pub version: i64,
    /// What was done.
    pub reason: String,
    /// By whom, and through which key.
    pub by: DecidedBy,
}

/// What became of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefundNoted {
    /// It is noted.
    Done,
    /// Nothing is to be given back, or somebody said so before.
    NotDue,
    /// Something happened to it that this person did not see: perhaps another one noted the same.
    Moved,
    /// There is no such checkout.
    Nowhere,
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
pub struct EndsAlike {
    /// The hour's first moment.
    pub hour: Millis,
    /// Where they stood then.
    pub state: PaymentState,
    /// The way to pay.
    pub method: Method,
    /// The currency's three letters.
    pub currency: String,
    /// How many.
    pub count: u64,
    /// What was asked for; nothing where it is too much to add up.
    pub sum: Option<Decimal>,
}

/// How payments ended in a time.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// The first hour first.
    pub alike: Vec<EndsAlike>,
    /// There were more than were asked for.
    pub is_more: bool,
}

/// What was charged in a time.
#[derive(Clone, Debug, Default)]
pub struct Charges {
    /// The first one first.
    pub charges: Vec<Charge>,
    /// There were more than were asked for.
    pub is_more: bool,
}
