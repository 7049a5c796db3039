//! Endpoints: where a request goes, and what is looked for in its response. Each operation has one of its own, in its own
//! file.

use std::fmt;

use http::Method;

use crate::config::response_field::{ResponseField, STATUS_FIELDS};

/// One endpoint of the gateway.
pub(crate) struct Endpoint {
    /// The name in a dialect, in logs and in errors.
    pub(crate) name: &'static str,
    pub(crate) method: Method,
    /// Relative to the base address.
    pub(crate) path: &'static str,
    /// The fields that mean something in its response.
    pub(crate) response_fields: &'static [ResponseField],
    /// The success codes that the interface shows (`docs/interface.md#status-values-and-codes`). Where it shows none,
    /// any code will do that is not a refusal.
    pub(crate) success_codes: &'static [&'static str],
}

impl Endpoint {
    /// Whether its response is a report on a payment's status.
    pub(crate) fn is_status_query(&self) -> bool {
        self.response_fields == STATUS_FIELDS
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
