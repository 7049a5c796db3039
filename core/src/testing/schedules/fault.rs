//! What can go wrong with one exchange.

use strum::VariantArray;

/// One way for an exchange to go wrong. `Answers` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, VariantArray)]
pub(super) enum Fault {
    Answers,
    NoConnection,
    SlowConnection,
    RequestLost,
    ResponseLost,
    SlowResponse,
    NeverResponses,
    Html502,
    Busy503,
    Busy429,
    Unauthorized401,
    NotTheGateway404,
    Timeout408,
    Conflict409,
    Redirect,
    NotJson,
    CutJson,
    TooLong,
    UnknownStatus,
    UnknownCode,
    OtherDialect,
}

impl Fault {
    /// Whether the gateway carries the request out all the same. Where it says that it did not, it did not.
    pub(super) fn takes_effect(self) -> bool {
        !matches!(
            self,
            Self::NoConnection
                | Self::RequestLost
                | Self::Busy503
                | Self::Busy429
                | Self::Unauthorized401
                | Self::NotTheGateway404
                | Self::Redirect
        )
    }
}
