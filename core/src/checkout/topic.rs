//! What there is to say to a payer.

use strum::Display;

/// What a message is about.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(test, derive(strum::EnumIter))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum MessageTopic {
    /// The server is not reached. It is tried again by itself, and nothing is lost.
    NoNetwork,
    /// The server asked to wait, or failed. It is tried again by itself.
    ServerBusy,
    /// What answered is not the merchant's server: the page of a network that wants a login, a wrong address, a certificate
    /// that fails. It is tried again by itself.
    NotTheServer,
    /// The certificate of the server is not valid yet by this device's clock: the payer checks its date and time. It is tried again by
    /// itself.
    WrongClock,
    /// The app's own function gave no new client token. It is asked again by itself.
    TokenNotRenewed,
    /// Nobody knows yet what became of the payment: the gateway is asked all the time. **The payer must not pay again.**
    OutcomeUnknown,
    /// The gateway did not take the one-time password.
    CodeRefused,
    /// The one-time password did not reach the gateway: the payer enters it again.
    CodeNotSent,
    /// The gateway refused to make the payment: no money moved.
    Refused,
    /// The payment was not made: no money moved, and the payer can try again.
    NotMade,
    /// The gateway reported that the payment was rejected: no money moved.
    Rejected,
    /// The server refused what was typed; the reason says which rule it breaks.
    InputRefused,
    /// So many tries are not allowed.
    TooManyTries,
    /// The server began no other payment instead of the one that was open: that one has gone on, was replaced elsewhere already, or
    /// too many were replaced. The state shows how it stands now.
    ChangeRefused,
    /// The gateway reports something else than was asked for: a person of the merchant's finds out.
    Mismatch,
    /// The shop cancelled it.
    Cancelled,
}
