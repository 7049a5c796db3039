//! Status: verdicts, polling, recovery, callbacks (webhooks) and returns of sent payments, and signed URLs that
//! identify a payment.

use std::sync::{Mutex, PoisonError};

pub(crate) mod callback;
pub(crate) mod callback_key;
pub(crate) mod check;
pub(crate) mod delivery;
pub(crate) mod local_date_time;
pub(crate) mod recorded;
pub(crate) mod recovery;
pub(crate) mod redirect;
mod source;
pub(crate) mod verdict;
pub(crate) mod verify;
pub(crate) mod watch;

/// Results, such as reports, that were returned to a caller that no longer waited. The oldest is returned again first.
pub(crate) struct GivenBack<T>(Mutex<Vec<T>>);

impl<T> Default for GivenBack<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> GivenBack<T> {
    #[cfg(feature = "uniffi")]
    pub(crate) fn push(&self, given_back: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(given_back);
    }

    pub(crate) fn pop(&self) -> Option<T> {
        let mut given_back = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (!given_back.is_empty()).then(|| given_back.remove(0))
    }
}
