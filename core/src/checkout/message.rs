//! What a payer reads beside a state.

use strum::Display;

use crate::{checkout::texts, values::language::Language};

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
    /// The gateway reports something else than was asked for: a person of the merchant's finds out.
    Contradicted,
    /// The shop cancelled it.
    Cancelled,
}

/// What a payer reads beside a state, in their language.
///
/// ```
/// use kassa::{CheckoutMessage, Language, MessageTopic};
///
/// let message = CheckoutMessage::new(MessageTopic::CodeRefused);
/// assert_eq!(message.text_in(Language::English), "This code was not accepted. Enter it again.");
/// assert_eq!(message.text_in(Language::Russian), "Этот код не подошёл. Введите его ещё раз.");
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CheckoutMessage {
    /// What it is about.
    pub topic: MessageTopic,
    /// More words, as they came, in any language: of the gateway, which refused; of the server, which says what is wrong.
    pub reason: Option<String>,
}

impl CheckoutMessage {
    /// A message without more words.
    pub fn new(topic: MessageTopic) -> Self {
        Self { topic, reason: None }
    }

    pub(crate) fn with_reason(self, reason: Option<String>) -> Self {
        Self { reason, ..self }
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl CheckoutMessage {
    /// What it says to the payer, in a language. The reason is not part of it.
    pub fn text_in(&self, language: Language) -> String {
        texts::text(language, self.topic).to_owned()
    }
}
