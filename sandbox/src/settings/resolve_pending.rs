//! When pending payments become final by themselves.

use std::time::Duration;

/// When a pending payment becomes final by itself: charged, or rejected where a fault had kept it from that.
/// Where neither is set it stays pending until it is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResolvePending {
    /// Once its status was asked for so often; at least 1. Each of these questions is still answered with `PENDING`.
    pub after_queries: Option<u32>,
    /// Once it has been pending for so long, by the gateway's clock.
    pub after: Option<Duration>,
}
