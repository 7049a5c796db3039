//! Checkouts: a shop's requests to be paid, and their states (state machine).

pub mod new_checkout;

use std::collections::BTreeMap;

use kassa::Decimal;
use strum::EnumIter;

use crate::{
    events::EventKind,
    payments::Payment,
    values::{CheckoutId, CheckoutState, Hidden, Method, Millis, PaymentId},
};

// A checkout, as it is stored.

/// A checkout: a shop's request to be paid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkout {
    /// Its identifier.
    pub id: CheckoutId,
    /// The shop's own reference, such as the number of the order. No two checkouts have the same one.
    pub reference: String,
    /// The amount, in units of the currency.
    pub amount: Decimal,
    /// The currency's three letters.
    pub currency: String,
    /// The description.
    pub description: String,
    /// The allowed payment methods.
    pub methods: Vec<Method>,
    /// The address to which the payer returns.
    pub return_url: String,
    /// The shop's own key-value pairs, which every response returns.
    pub metadata: BTreeMap<String, String>,
    /// Its state.
    pub state: CheckoutState,
    /// Grows with everything that happens to it or to its payments.
    pub version: i64,
    /// When it was opened.
    pub opened_at: Millis,
    /// When it expires.
    pub expires_at: Millis,
    /// The payment that paid it.
    pub paid_by: Option<PaymentId>,
    /// Whether more than one of its payments was charged.
    pub is_overpaid: bool,
    /// The number of surplus payments without a recorded refund.
    pub refunds_due: u32,
    /// The secret part of the callback address, which only the gateway knows.
    pub(crate) callback_secret: Hidden,
    /// The end of its hosted page's address: anyone who has it can pay, and sees the state.
    pub(crate) page_secret: Hidden,
}

/// A checkout with its payments, the first one first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckoutView {
    /// The checkout.
    pub checkout: Checkout,
    /// Its payments.
    pub payments: Vec<Payment>,
}

impl CheckoutView {
    pub(crate) fn new(checkout: Checkout, payments: Vec<Payment>) -> Self {
        Self { checkout, payments }
    }

    /// One of its payments.
    pub fn payment(&self, id: &PaymentId) -> Option<&Payment> {
        self.payments.iter().find(|payment| payment.id == *id)
    }
}

// The states of a checkout (state machine), as one pure function.

/// The triggers of a checkout's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub enum Trigger {
    /// One of its payments became charged.
    PaymentCharged,
    /// Its time passed.
    TimePassed,
    /// The shop cancels it.
    Cancelled,
}

/// A change, with its one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The state from now on.
    pub to: CheckoutState,
    /// The event to record.
    pub event: EventKind,
    /// The previous state, if money came late.
    pub after: Option<CheckoutState>,
}

/// The transition. Paid is absorbing: a second charge is reported as overpaid.
pub fn next(state: CheckoutState, trigger: Trigger) -> Option<Transition> {
    use CheckoutState as S;
    match (state, trigger) {
        (S::Paid, Trigger::PaymentCharged) => {
            Some(Transition { to: S::Paid, event: EventKind::CheckoutOverpaid, after: None })
        }
        (_, Trigger::PaymentCharged) => {
            let after = (state != S::Open).then_some(state);
            Some(Transition { to: S::Paid, event: EventKind::CheckoutPaid, after })
        }
        (S::Open, Trigger::TimePassed) => {
            Some(Transition { to: S::Expired, event: EventKind::CheckoutExpired, after: None })
        }
        (S::Open, Trigger::Cancelled) => {
            Some(Transition { to: S::Cancelled, event: EventKind::CheckoutCancelled, after: None })
        }
        _ => None,
    }
}

#[cfg(test)]
mod machine_tests {
    use strum::IntoEnumIterator;

    use super::*;

    #[test]
    fn transition_table_covers_states_and_triggers() {
        use CheckoutState::*;
        for state in CheckoutState::iter() {
            let paid = next(state, Trigger::PaymentCharged).unwrap();
            let event = if state == Paid { EventKind::CheckoutOverpaid } else { EventKind::CheckoutPaid };
            assert_eq!((paid.to, paid.event), (Paid, event), "{state}");
            assert_eq!(paid.after, Some(state).filter(|state| matches!(state, Expired | Cancelled)));
            let to = |trigger| next(state, trigger).map(|change| change.to);
            assert_eq!(to(Trigger::TimePassed), (state == Open).then_some(Expired), "{state}");
            assert_eq!(to(Trigger::Cancelled), (state == Open).then_some(Cancelled), "{state}");
        }
    }
}
