//! What all requests share.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{access::Gate, settings::HttpSettings};
use crate::server::Server;

/// What all requests share.
pub(super) struct Http {
    pub(super) server: Server,
    pub(super) settings: HttpSettings,
    pub(super) gate: Gate,
    /// The description of the interface, which is the same each time.
    pub(super) description: String,
    waiting: AtomicUsize,
}

/// Somebody who waits by a long poll.
pub(super) struct Waiting<'a>(&'a Http);

impl Http {
    pub(super) fn new(server: Server, settings: HttpSettings, description: String) -> Self {
        let gate = Gate::new(&settings);
        Self { server, settings, gate, description, waiting: AtomicUsize::new(0) }
    }

    /// Counts somebody who waits, as long as what is returned lives.
    pub(super) fn waiting(&self) -> Waiting<'_> {
        self.server.metrics().waiting(self.waiting.fetch_add(1, Ordering::AcqRel) + 1);
        Waiting(self)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let before = self.0.waiting.fetch_sub(1, Ordering::AcqRel);
        self.0.server.metrics().waiting(before.saturating_sub(1));
    }
}
