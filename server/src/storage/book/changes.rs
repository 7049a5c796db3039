//! What a transaction writes beside the rows that it read: events, numbers that are taken, what is due.

use std::collections::HashMap;

use kassa::PaymentRef;
use ring::digest::{SHA256, digest};
use strum::{EnumString, IntoStaticStr};

use super::{Book, Kept, pauses::Pauses};
use crate::{
    events::kind::EventKind,
    pace::{queues::Queue, schedule::Class},
    payments::{exchange::Exchange, payment::Payment},
    storage::inputs::Key,
    values::{
        Millis,
        ids::{CheckoutId, PaymentId, hex},
        states::PaymentState,
    },
};

/// What was changed of a payment's row, so that no more is written than that.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::storage) struct Touched {
    /// It is a new one.
    pub(in crate::storage) is_new: bool,
    /// Its state, and what goes with it; with the state that stands in the database.
    pub(in crate::storage) state: Option<PaymentState>,
    /// What the gateway gave: its numbers, a page, a code.
    pub(in crate::storage) reference: bool,
    /// Whatever else can change.
    pub(in crate::storage) rest: bool,
}

impl Touched {
    /// Whether anything is to be written.
    pub(in crate::storage) fn is_any(self) -> bool {
        self.is_new || self.state.is_some() || self.reference || self.rest
    }
}

impl Kept {
    /// Its state is about to change, or what goes with it.
    pub(super) fn touch_state(&mut self) {
        self.touched.state.get_or_insert(self.payment.state);
    }
}

/// All that a transaction writes beside the books.
#[derive(Clone, Debug)]
pub(in crate::storage) struct Changes {
    /// The moment of the transaction, by the database's clock.
    pub(in crate::storage) now: Millis,
    pub(in crate::storage) numbers: Numbers,
    pub(in crate::storage) events: Vec<NewEvent>,
    pub(in crate::storage) due: Vec<DueChange>,
    pub(in crate::storage) exchanges: Vec<NewExchange>,
    pub(in crate::storage) keys: Vec<NewKey>,
    pub(in crate::storage) pauses: Pauses,
}

impl Changes {
    /// None yet.
    pub(in crate::storage) fn at(now: Millis, numbers: Numbers) -> Self {
        let (events, due, exchanges, keys) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { now, numbers, events, due, exchanges, keys, pauses: Pauses::default() }
    }

    /// Makes a payment due, at once or later; never later than it was.
    pub(super) fn make_due(&mut self, payment: &Payment, at: Millis, class: Class, since: Millis) {
        let queue = Queue { class, method: payment.method };
        self.due.push(DueChange::Put { payment: payment.id.clone(), at, queue, since });
    }

    /// Writes down what was said; where it was a request that is sent once, by whom.
    pub(super) fn note_exchange(&mut self, payment: &PaymentId, exchange: &Exchange, sender: Option<&str>) {
        let (payment, exchange, sender) = (payment.clone(), exchange.clone(), sender.map(str::to_owned));
        self.exchanges.push(NewExchange { payment, exchange, sender });
    }

    /// Remembers what an idempotency key was used for. One that only shows a payment again is remembered while the checkout has
    /// fewer than [`MOST_KEYS`]: without it, the same is shown again.
    pub(super) fn use_key(&mut self, book: &Book, key: Option<&Key>, payment: &PaymentId, use_of: KeyUse) {
        if let Some(key) = key {
            let (checkout, payment, key) = (book.head.id.clone(), payment.clone(), key.clone());
            self.keys.push(NewKey { checkout, key, payment, use_of });
        }
    }
}

/// A number by which the gateway knows a payment. Numbers of different kinds are different ones, whatever their digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::storage) struct Number {
    pub(in crate::storage) kind: NumberKind,
    pub(in crate::storage) text: String,
}

/// What a number names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(in crate::storage) enum NumberKind {
    /// An order, the merchant's or the gateway's own.
    Order,
    /// The transaction of a QR code.
    Transaction,
    /// The page that a payer opens, by the SHA-256 of its address.
    Page,
}

impl Number {
    pub(in crate::storage) fn order(text: &str) -> Self {
        Self { kind: NumberKind::Order, text: text.to_owned() }
    }

    pub(in crate::storage) fn transaction(text: &str) -> Self {
        Self { kind: NumberKind::Transaction, text: text.to_owned() }
    }

    pub(in crate::storage) fn page(url: &str) -> Self {
        Self { kind: NumberKind::Page, text: hex(digest(&SHA256, url.as_bytes()).as_ref()) }
    }

    /// All numbers of a reference.
    pub(in crate::storage) fn all_of(reference: &PaymentRef) -> Vec<Self> {
        let orders = [&reference.order_number, &reference.gateway_number].into_iter().flatten();
        let transactions = reference.transaction_id.iter();
        orders.map(|text| Self::order(text)).chain(transactions.map(|text| Self::transaction(text))).collect()
    }
}

/// Whose the numbers are that this transaction may take: one payment at the gateway pays for one checkout.
#[derive(Clone, Debug, Default)]
pub(in crate::storage) struct Numbers {
    owners: HashMap<Number, PaymentId>,
    taken: Vec<(Number, PaymentId)>,
}

impl Numbers {
    /// Those that are somebody's, of all that the transaction may take.
    pub(in crate::storage) fn owned_by(owners: impl IntoIterator<Item = (Number, PaymentId)>) -> Self {
        Self { owners: owners.into_iter().collect(), taken: Vec::new() }
    }

    /// Takes a number for a payment, once and for all. False where it is another payment's.
    pub(super) fn take(&mut self, number: &Number, payment: &PaymentId) -> bool {
        if let Some(owner) = self.owners.get(number) {
            return owner == payment;
        }
        self.owners.insert(number.clone(), payment.clone());
        self.taken.push((number.clone(), payment.clone()));
        true
    }

    /// Those that were taken now.
    pub(in crate::storage) fn taken(&self) -> &[(Number, PaymentId)] {
        &self.taken
    }
}

/// An event, written with the change that it tells of (outbox).
#[derive(Clone, Debug)]
pub(in crate::storage) struct NewEvent {
    pub(in crate::storage) id: String,
    pub(in crate::storage) checkout: CheckoutId,
    pub(in crate::storage) payment: Option<PaymentId>,
    pub(in crate::storage) number: i64,
    pub(in crate::storage) version: i64,
    pub(in crate::storage) kind: EventKind,
    pub(in crate::storage) body: String,
}

/// What changes of when a payment is asked about.
#[derive(Clone, Debug)]
pub(in crate::storage) enum DueChange {
    /// Due at a time, never later than it was, but not sooner than [`LEAST_DISTANCE`](crate::pace::schedule::LEAST_DISTANCE)
    /// after the last question.
    Put { payment: PaymentId, at: Millis, queue: Queue, since: Millis },
    /// Due at a time, unless it is due anyway.
    PutUnlessThere { payment: PaymentId, at: Millis, queue: Queue, since: Millis },
    /// Asked again at a time, unless it was made due meanwhile: that hint may know more than the answer.
    /// With another time from which its age counts, where it has just ended.
    AskAgain { payment: PaymentId, leased_until: Millis, at: Millis, queue: Queue, since: Option<Millis> },
    /// Asked no more, unless it was made due meanwhile.
    AskNoMore { payment: PaymentId, leased_until: Millis },
    /// Asked no more, whatever was hinted.
    Forget { payment: PaymentId },
}

/// Of so many answers each payment keeps the first ones and the last ones.
pub(in crate::storage) const MOST_EXCHANGES: i64 = 50;
pub(in crate::storage) const FIRST_EXCHANGES: i64 = 10;

/// What the gateway was asked about a payment, and what it answered.
#[derive(Clone, Debug)]
pub(in crate::storage) struct NewExchange {
    pub(in crate::storage) payment: PaymentId,
    pub(in crate::storage) exchange: Exchange,
    pub(in crate::storage) sender: Option<String>,
}

/// An idempotency key that was used.
#[derive(Clone, Debug)]
pub(in crate::storage) struct NewKey {
    pub(in crate::storage) checkout: CheckoutId,
    pub(in crate::storage) key: Key,
    pub(in crate::storage) payment: PaymentId,
    pub(in crate::storage) use_of: KeyUse,
}

/// What an idempotency key was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::storage) enum KeyUse {
    /// To send something once.
    ToSend,
    /// To show what was sent before.
    ToShowAgain,
}

/// So many keys of a checkout are remembered that only show a payment again: a payer can make any number of them.
pub(in crate::storage) const MOST_KEYS: i64 = 100;
