//! How a simulated payment ends, by the gateway's books.

/// A final status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Charged,
    Rejected,
}
