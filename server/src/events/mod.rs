//! Events: what happened, never changed afterwards. Which kinds there are, and the text that a shop gets.

pub mod body;
pub mod kind;

use crate::values::{Millis, cursor::Cursor, ids::CheckoutId, ids::PaymentId};
use kind::EventKind;

/// An event, as it is kept and delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Its place among all events of this database's history.
    pub seq: i64,
    /// Its identifier, which is the same however often it is delivered.
    pub id: String,
    /// Its checkout.
    pub checkout: CheckoutId,
    /// Its payment, where it is about one.
    pub payment: Option<PaymentId>,
    /// Its number among its payment's events, or among those of the checkout alone: 1, 2, 3, without a gap.
    pub number: i64,
    /// What happened; nothing where a later version of the server wrote it: the body's `type` has its name.
    pub kind: Option<EventKind>,
    /// The JSON that is delivered.
    pub body: String,
    /// When it was written.
    pub at: Millis,
}

impl Event {
    /// Where to read on after this event.
    pub fn cursor(&self) -> Cursor {
        Cursor::at(self.seq, self.at, &self.id)
    }

    pub(crate) fn new(seq: i64, id: String, checkout: CheckoutId, payment: Option<PaymentId>) -> Self {
        let (number, kind, body, at) = (0, None, String::new(), 0);
        Self { seq, id, checkout, payment, number, kind, body, at }
    }
}
