//! What a payer reads beside a state.

use crate::{
    checkout::{texts, topic::MessageTopic},
    i18n::Language,
};

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
    /// More words, as they came, in any language: of the gateway, which refused; of the server, which says what is wrong. What is
    /// in the way of reaching the server is told for developers, and is not for a payer to read.
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
