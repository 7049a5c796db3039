//! Localization: what violations and advice say, in each language. Rule, limit and field determine the sentence.

mod english;
mod kyrgyz;
mod limit;
mod russian;

use crate::values::{
    language::Language,
    rule::{AdviceTopic, Rule},
};

/// What a payer types, and so knows by other words than the interface's.
#[cfg_attr(test, derive(strum::EnumIter))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Typed {
    CardNumber,
    ExpiryMonth,
    ExpiryYear,
    Cvc,
    HolderName,
    Phone,
    Otp,
}

impl Typed {
    fn by_name(field: &str) -> Option<Self> {
        Some(match field {
            "pan" => Self::CardNumber,
            "expiryMonth" => Self::ExpiryMonth,
            "expiryYear" => Self::ExpiryYear,
            "cvc" => Self::Cvc,
            "name" => Self::HolderName,
            "phone" => Self::Phone,
            "otp" => Self::Otp,
            _ => return None,
        })
    }

    /// True where its length counts digits.
    fn has_digits(self) -> bool {
        matches!(self, Self::CardNumber | Self::ExpiryYear | Self::Cvc | Self::Phone)
    }
}

/// The sentence of a rule in English, to stand behind the field's name.
pub(crate) fn sentence(field: &str, rule: Rule, limit: Option<&str>) -> String {
    english::sentence(Typed::by_name(field), rule, limit)
}

/// A violation in a language. `text` is what it says in English, which may know more of a field that no payer types.
pub(crate) fn violation(language: Language, field: &str, rule: Rule, limit: Option<&str>, text: &str) -> String {
    let (name, typed) = (shown(language, field), Typed::by_name(field));
    match (language, typed) {
        (Language::English, None) => text.to_owned(),
        (Language::English, Some(typed)) => format!("{name} {}", english::for_payers(typed, rule, limit)),
        (Language::Russian, _) => format!("{name}: {}", russian::sentence(typed, rule, limit)),
        (Language::Kyrgyz, _) => format!("{name}: {}", kyrgyz::sentence(typed, rule, limit)),
    }
}

/// Advice in a language.
pub(crate) fn advice(language: Language, field: &str, topic: AdviceTopic, text: &str) -> String {
    let name = shown(language, field);
    match (language, Typed::by_name(field)) {
        (Language::English, None) => text.to_owned(),
        (Language::English, Some(_)) => format!("{name} {}", english::advice(topic)),
        (Language::Russian, _) => format!("{name}: {}", russian::advice(topic)),
        (Language::Kyrgyz, _) => format!("{name}: {}", kyrgyz::advice(topic)),
    }
}

/// A field's name for those who read a language.
fn shown(language: Language, field: &str) -> &str {
    match (Typed::by_name(field), language) {
        (None, _) => field,
        (Some(typed), Language::English) => english::name(typed),
        (Some(typed), Language::Russian) => russian::name(typed),
        (Some(typed), Language::Kyrgyz) => kyrgyz::name(typed),
    }
}

#[cfg(test)]
mod tests;
