//! Results of input validation: violations, which are errors, and advice, which is not.

use std::fmt;

use crate::i18n::{self, Language};

pub use crate::rule::{AdviceTopic, Rule};

/// One rule that one field of an input breaks. An error carries all of them at once.
///
/// The value itself is never part of it, so it is safe to log.
///
/// ```
/// use kassa::{CardInput, Language, PaymentError};
/// let Err(PaymentError::Invalid { violations, .. }) = CardInput::new().card() else { panic!() };
/// assert_eq!(violations[0].text, "pan must be given");
/// assert_eq!(violations[0].text_in(Language::from_tag("en-GB")), "Card number must be given");
/// assert_eq!(violations[0].text_in(Language::Russian), "Номер карты: обязательно для заполнения");
/// assert_eq!(violations[0].text_in(Language::Kyrgyz), "Картанын номери: толтуруу керек");
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The field, spelled as the gateway's interface spells it, such as `callbackURL` of a pay-form.
    pub field: String,
    /// The rule that is broken.
    pub rule: Rule,
    /// The limit of the rule, if it has one, such as `3` or `13 to 20`.
    pub limit: Option<String>,
    /// One sentence that names the field and the rule, in English; [`text_in`](Self::text_in) has other languages.
    pub text: String,
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Violation {
    /// The sentence in a language, for the payer to read. Fields that a payer types have names in that language (card
    /// number, expiry, CVC, holder's name, phone, code from the SMS); other fields keep their names.
    pub fn text_in(&self, language: Language) -> String {
        i18n::violation(language, &self.field, self.rule, self.limit.as_deref(), &self.text)
    }
}

impl Violation {
    /// The violation of a rule by a field, with the rule's limit if it has one.
    pub fn of(field: &str, rule: Rule, limit: Option<&str>) -> Self {
        Self::new(field, rule, limit, &i18n::sentence(field, rule, limit))
    }

    /// A violation with a more specific English text, for developers. The sentence says what the field must be; the
    /// field's name is put before it.
    pub(crate) fn new(field: &str, rule: Rule, limit: Option<&str>, sentence: &str) -> Self {
        Self { field: field.to_owned(), rule, limit: limit.map(str::to_owned), text: format!("{field} {sentence}") }
    }
}

impl std::error::Error for Violation {}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Something the interface only recommends, or that will probably be declined. It blocks nothing.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Advice {
    /// The field, spelled as the gateway's interface spells it.
    pub field: String,
    /// The topic of the advice.
    pub topic: AdviceTopic,
    /// One sentence, in English; [`text_in`](Self::text_in) has other languages.
    pub text: String,
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Advice {
    /// The sentence in a language, for the payer to read. Fields are named as in [`Violation::text_in`].
    pub fn text_in(&self, language: Language) -> String {
        i18n::advice(language, &self.field, self.topic, &self.text)
    }
}

impl Advice {
    /// Advice on what a dialect does not name, by the key of its JSON form.
    pub(crate) fn on_dialect(key: &str, sentence: &str) -> Self {
        let field = format!("dialect.{key}");
        Self { text: format!("{field} {sentence}"), field, topic: AdviceTopic::Dialect }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
