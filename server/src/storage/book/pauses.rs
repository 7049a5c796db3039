//! Pauses of sending: the gateway took no payment of one method, and asked to wait. Payments of that method wait, a minute at most;
//! other methods, and questions, do not. Then one payment tries whether the gateway takes them again (half-open circuit breaker).

use std::time::Duration;

use crate::{
    pace::limit::LONGEST_STOP,
    values::{Millis, method::Method, millis},
};

/// So long after one that tries another one does, where nothing was heard of the first one.
const TRIES_EVERY: Millis = 5_000;

/// Until when the payments of each method wait, and what this transaction changes of it.
#[derive(Clone, Debug, Default)]
pub(in crate::storage) struct Pauses {
    known: Vec<(Method, Millis)>,
    changed: Vec<(Method, Option<Millis>)>,
}

impl Pauses {
    /// Those that the database has.
    pub(in crate::storage) fn known(known: Vec<(Method, Millis)>) -> Self {
        Self { known, changed: Vec::new() }
    }

    /// How long payments of a method wait still. Where it is longer than any wait can be, the clock was put back: then one tries.
    pub(super) fn wait(&self, method: Method, now: Millis) -> Option<Millis> {
        let until = self.until(method)?;
        Some(until - now).filter(|wait| (1..=LONGEST_STOP).contains(wait))
    }

    /// The longest of all methods.
    pub(in crate::storage) fn longest_wait(&self, now: Millis) -> Millis {
        self.known.iter().filter_map(|(method, _)| self.wait(*method, now)).max().unwrap_or(0)
    }

    /// A payment is sent. After a pause it is the one that tries.
    pub(super) fn sent(&mut self, method: Method, now: Millis) {
        if self.until(method).is_some() {
            self.changed.push((method, Some(now.saturating_add(TRIES_EVERY))));
        }
    }

    /// The gateway took no payment of this method, and asked to wait. Told once, when a pause begins.
    pub(super) fn refused(&mut self, method: Method, wait: Duration, now: Millis) {
        let wait = millis(wait).min(LONGEST_STOP);
        if self.until(method).is_none() {
            tracing::warn!(target: "kassa_server", %method, wait_ms = wait, "the gateway takes no payments, and asks to wait");
        }
        self.changed.push((method, Some(now.saturating_add(wait))));
    }

    /// The gateway took one, or said no to it alone.
    pub(super) fn answered(&mut self, method: Method) {
        if self.until(method).is_some() {
            tracing::info!(target: "kassa_server", %method, "the gateway takes payments again");
            self.changed.push((method, None));
        }
    }

    /// What is to be written: until when each method waits, or that it does no longer.
    pub(in crate::storage) fn changed(&self) -> &[(Method, Option<Millis>)] {
        &self.changed
    }

    fn until(&self, method: Method) -> Option<Millis> {
        self.known.iter().find(|(of, _)| *of == method).map(|(_, until)| *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the database has after a change.
    fn after(pauses: &Pauses) -> Pauses {
        Pauses::known(pauses.changed().iter().filter_map(|(method, until)| Some((*method, (*until)?))).collect())
    }

    #[test]
    fn one_method_waits_a_minute_at_most_and_then_one_payment_tries() {
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
