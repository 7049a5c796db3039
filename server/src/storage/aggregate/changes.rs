//! The writes of a transaction in addition to the rows that it read: events, taken numbers, due polls.

use std::{collections::HashMap, time::Duration};

use kassa::PaymentRef;
use ring::digest::{SHA256, digest};
use strum::{EnumString, IntoStaticStr};

use super::{CheckoutAggregate, PaymentRow};
use crate::{
    events::EventKind,
    pace::{Class, bucket::LONGEST_STOP, queues::Queue},
    payments::{Payment, exchange::Exchange},
    storage::inputs::Key,
    values::{CheckoutId, Method, Millis, PaymentId, PaymentState, hex, millis},
};

/// The changed fields of a payment's row, so that only they are written.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::storage) struct DirtyFields {
    /// Whether it is new.
    pub(in crate::storage) is_new: bool,
    /// The state in the database, if the state or its dependent fields changed.
    pub(in crate::storage) state: Option<PaymentState>,
    /// Values from the gateway: its numbers, a page, a code.
    pub(in crate::storage) reference: bool,
    /// All other fields that can change.
    pub(in crate::storage) rest: bool,
}

impl DirtyFields {
    /// Whether anything is to be written.
    pub(in crate::storage) fn is_any(self) -> bool {
        self.is_new || self.state.is_some() || self.reference || self.rest
    }
}

impl PaymentRow {
    /// Marks its state, or its dependent fields, before a change.
    pub(super) fn mark_state_dirty(&mut self) {
        self.dirty.state.get_or_insert(self.payment.state);
    }
}

/// All writes of a transaction other than the aggregates.
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
    /// No changes yet.
    pub(in crate::storage) fn at(now: Millis, numbers: Numbers) -> Self {
        let (events, due, exchanges, keys) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { now, numbers, events, due, exchanges, keys, pauses: Pauses::default() }
    }

    /// Makes a payment due, at once or later; never later than it was.
    pub(super) fn make_due(&mut self, payment: &Payment, at: Millis, class: Class, since: Millis) {
        let queue = Queue { class, method: payment.method };
        self.due.push(DueChange::Put { payment: payment.id.clone(), at, queue, since });
    }

    /// Records an exchange; with its sender if it is a request that is sent once.
    pub(super) fn record_exchange(&mut self, payment: &PaymentId, exchange: &Exchange, sender: Option<&str>) {
        let (payment, exchange, sender) = (payment.clone(), exchange.clone(), sender.map(str::to_owned));
        self.exchanges.push(NewExchange { payment, exchange, sender });
    }

    /// Records the use of an idempotency key. A use that only shows a payment again is recorded while the checkout has fewer than
    /// [`MOST_KEYS`]: without it, the same payment is shown again.
    pub(super) fn use_key(
        &mut self,
        aggregate: &CheckoutAggregate,
        key: Option<&Key>,
        payment: &PaymentId,
        use_of: KeyUse,
    ) {
        if let Some(key) = key {
            let (checkout, payment, key) = (aggregate.root.id.clone(), payment.clone(), key.clone());
            self.keys.push(NewKey { checkout, key, payment, use_of });
        }
    }
}

/// A number by which the gateway knows a payment. Numbers of different kinds are different, even with the same digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::storage) struct Number {
    pub(in crate::storage) kind: NumberKind,
    pub(in crate::storage) text: String,
}

/// The kind of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(in crate::storage) enum NumberKind {
    /// The merchant's order number, or the gateway's own number.
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

/// The owners of the numbers that this transaction may take: one payment at the gateway pays for one checkout.
#[derive(Clone, Debug, Default)]
pub(in crate::storage) struct Numbers {
    owners: HashMap<Number, PaymentId>,
    taken: Vec<(Number, PaymentId)>,
}

impl Numbers {
    /// The owned numbers, of all that the transaction may take.
    pub(in crate::storage) fn owned_by(owners: impl IntoIterator<Item = (Number, PaymentId)>) -> Self {
        Self { owners: owners.into_iter().collect(), taken: Vec::new() }
    }

    /// Takes a number for a payment, permanently. False if another payment has it.
    pub(super) fn take(&mut self, number: &Number, payment: &PaymentId) -> bool {
        if let Some(owner) = self.owners.get(number) {
            return owner == payment;
        }
        self.owners.insert(number.clone(), payment.clone());
        self.taken.push((number.clone(), payment.clone()));
        true
    }

    /// The numbers taken in this transaction.
    pub(in crate::storage) fn taken(&self) -> &[(Number, PaymentId)] {
        &self.taken
    }
}

/// An event, written in the transaction of its change (outbox).
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

/// A change of a payment's poll schedule.
#[derive(Clone, Debug)]
pub(in crate::storage) enum DueChange {
    /// Due at a time, never later than it was, but not sooner than
    /// [`LEAST_DISTANCE`](crate::pace::LEAST_DISTANCE) after the last query.
    Put { payment: PaymentId, at: Millis, queue: Queue, since: Millis },
    /// Due at a time, unless it is already scheduled.
    PutUnlessThere { payment: PaymentId, at: Millis, queue: Queue, since: Millis },
    /// Queried again at a time, unless a hint made it due during the query: the hint may be newer than the response. With a new
    /// start of its age, if it has just ended.
    PollAgain { payment: PaymentId, leased_until: Millis, at: Millis, queue: Queue, since: Option<Millis> },
    /// No longer polled, unless a hint made it due during the query.
    StopPolling { payment: PaymentId, leased_until: Millis },
    /// No longer polled, despite any hints.
    Forget { payment: PaymentId },
}

/// The most exchanges of a payment: of more, the first and the last ones are stored.
pub(in crate::storage) const MOST_EXCHANGES: i64 = 50;
pub(in crate::storage) const FIRST_EXCHANGES: i64 = 10;

/// An exchange with the gateway about a payment.
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

/// The use of an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::storage) enum KeyUse {
    /// To send something once.
    ToSend,
    /// To show what was sent before.
    ToShowAgain,
}

/// The most stored keys of a checkout that only show a payment again: a payer can create any number of them.
pub(in crate::storage) const MOST_KEYS: i64 = 100;

// Pauses of sending: the gateway refused a payment of one method, and sent `Retry-After`. Payments of that method
// wait, a minute at most; other methods, and polls, do not. Then one payment tests whether the gateway accepts them
// again (half-open circuit breaker).

/// The time after which another payment tests the gateway, if the first one got no response.
const TRIES_EVERY: Millis = 5_000;

/// The time until which each method's payments wait, and this transaction's changes to it.
#[derive(Clone, Debug, Default)]
pub(in crate::storage) struct Pauses {
    known: Vec<(Method, Millis)>,
    changed: Vec<(Method, Option<Millis>)>,
}

impl Pauses {
    /// The pauses in the database.
    pub(in crate::storage) fn known(known: Vec<(Method, Millis)>) -> Self {
        Self { known, changed: Vec::new() }
    }

    /// The rest of a method's pause. If it is longer than any pause can be, the clock was set back: then
    /// one payment tests the gateway.
    pub(super) fn wait(&self, method: Method, now: Millis) -> Option<Millis> {
        let until = self.until(method)?;
        Some(until - now).filter(|wait| (1..=LONGEST_STOP).contains(wait))
    }

    /// The longest pause of all methods.
    pub(in crate::storage) fn longest_wait(&self, now: Millis) -> Millis {
        self.known.iter().filter_map(|(method, _)| self.wait(*method, now)).max().unwrap_or(0)
    }

    /// A payment is sent. After a pause it is the one that tests the gateway.
    pub(super) fn sent(&mut self, method: Method, now: Millis) {
        if self.until(method).is_some() {
            self.changed.push((method, Some(now.saturating_add(TRIES_EVERY))));
        }
    }

    /// The gateway refused a payment of this method, and sent `Retry-After`. Logged once, when a pause begins.
    pub(super) fn refused(&mut self, method: Method, wait: Duration, now: Millis) {
        let wait = millis(wait).min(LONGEST_STOP);
        if self.until(method).is_none() {
            tracing::warn!(target: "kassa_server", %method, wait_ms = wait, "the gateway sent Retry-After: sending of this method pauses");
        }
        self.changed.push((method, Some(now.saturating_add(wait))));
    }

    /// The gateway accepted a payment, or refused only that one.
    pub(super) fn answered(&mut self, method: Method) {
        if self.until(method).is_some() {
            tracing::info!(target: "kassa_server", %method, "the gateway takes payments again");
            self.changed.push((method, None));
        }
    }

    /// The changes to save: until when each method waits, or that it waits no longer.
    pub(in crate::storage) fn changed(&self) -> &[(Method, Option<Millis>)] {
        &self.changed
    }

    fn until(&self, method: Method) -> Option<Millis> {
        self.known.iter().find(|(of, _)| *of == method).map(|(_, until)| *until)
    }
}

#[cfg(test)]
mod pauses_tests {
    use super::*;

    /// The pauses as the database has them after a change.
    fn after(pauses: &Pauses) -> Pauses {
        Pauses::known(pauses.changed().iter().filter_map(|(method, until)| Some((*method, (*until)?))).collect())
    }

    #[test]
    fn paused_method_retries_one_payment() {
        let mut pauses = Pauses::default();
        pauses.refused(Method::Mbank, Duration::from_secs(3_600), 1_000);
        let mut stopped = after(&pauses);
        assert_eq!((stopped.wait(Method::Mbank, 1_000), stopped.wait(Method::Qr, 1_000)), (Some(60_000), None));
        assert_eq!(stopped.wait(Method::Mbank, 61_000), None);
        stopped.sent(Method::Mbank, 61_000);
        let mut trying = after(&stopped);
        assert_eq!((trying.wait(Method::Mbank, 61_000), trying.wait(Method::Mbank, 66_000)), (Some(5_000), None));
        trying.answered(Method::Mbank);
        assert!(after(&trying).wait(Method::Mbank, 61_000).is_none());
        // The database's clock was hours ahead: one tries.
        assert_eq!(Pauses::known(vec![(Method::Mbank, 21_600_000)]).wait(Method::Mbank, 0), None);
    }
}
