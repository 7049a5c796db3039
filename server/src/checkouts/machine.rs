//! The states of a checkout (state machine), as one pure function.

use strum::EnumIter;

use crate::{events::kind::EventKind, values::states::CheckoutState};

/// What can happen to a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub enum Happened {
    /// One of its payments became charged.
    PaymentCharged,
    /// Its time passed.
    TimePassed,
    /// The shop cancels it.
    Cancelled,
}

/// A change, with the one event that tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The state from now on.
    pub to: CheckoutState,
    /// What is told of it.
    pub event: EventKind,
    /// The state before, where money came late.
    pub after: Option<CheckoutState>,
}

/// What changes. Paid is absorbing: a second charge is told as overpaid.
pub fn next(state: CheckoutState, happened: Happened) -> Option<Change> {
    use CheckoutState as S;
    match (state, happened) {
        (S::Paid, Happened::PaymentCharged) => {
            Some(Change { to: S::Paid, event: EventKind::CheckoutOverpaid, after: None })
        }
        (_, Happened::PaymentCharged) => {
            let after = (state != S::Open).then_some(state);
            Some(Change { to: S::Paid, event: EventKind::CheckoutPaid, after })
        }
        (S::Open, Happened::TimePassed) => {
            Some(Change { to: S::Expired, event: EventKind::CheckoutExpired, after: None })
        }
        (S::Open, Happened::Cancelled) => {
            Some(Change { to: S::Cancelled, event: EventKind::CheckoutCancelled, after: None })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator;

    use super::*;

    #[test]
    fn every_state_and_everything_that_happens_is_in_the_table() {
        use CheckoutState::*;
        for state in CheckoutState::iter() {
            let paid = next(state, Happened::PaymentCharged).unwrap();
            let event = if state == Paid { EventKind::CheckoutOverpaid } else { EventKind::CheckoutPaid };
            assert_eq!((paid.to, paid.event), (Paid, event), "{state}");
            assert_eq!(paid.after, Some(state).filter(|state| matches!(state, Expired | Cancelled)));
            let to = |happened| next(state, happened).map(|change| change.to);
            assert_eq!(to(Happened::TimePassed), (state == Open).then_some(Expired), "{state}");
            assert_eq!(to(Happened::Cancelled), (state == Open).then_some(Cancelled), "{state}");
        }
    }
}
