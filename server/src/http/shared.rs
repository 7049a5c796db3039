//! What all requests share.

use super::{access::Gate, settings::HttpSettings};
use crate::server::Server;

/// What all requests share.
pub(super) struct Http {
    pub(super) server: Server,
    pub(super) settings: HttpSettings,
    pub(super) gate: Gate,
    /// The description of the interface, which is the same each time.
    pub(super) description: String,
}

impl Http {
    pub(super) fn new(server: Server, settings: HttpSettings, description: String) -> Self {
        let gate = Gate::new(&settings);
        Self { server, settings, gate, description }
    }
}
