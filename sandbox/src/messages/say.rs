//! A message or a problem in words.

use crate::{
    domain::Language,
    messages::{Message, en, ky, ru},
    rules::Problem,
};

impl Language {
    /// The message in this language.
    pub(crate) fn say(self, message: Message) -> String {
        match self {
            Self::English => en::say(message),
            Self::Russian => ru::say(message),
            Self::Kyrgyz => ky::say(message),
        }
    }

    /// What is wrong with a field, in this language.
    pub(crate) fn explain(self, problem: Problem) -> String {
        match self {
            Self::English => en::explain(problem),
            Self::Russian => ru::explain(problem),
            Self::Kyrgyz => ky::explain(problem),
        }
    }
}
