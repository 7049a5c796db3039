//! Localization: the languages, and the texts of violations and advice in each. Rule, limit and field determine the sentence.

mod english;
mod kyrgyz;
mod russian;

use strum::{Display, EnumString};

use crate::rule::{AdviceTopic, Rule};

/// A language of [`Violation::text_in`](crate::Violation::text_in) and [`Advice::text_in`](crate::Advice::text_in). Its
/// text form is its tag: `en`, `ru` or `ky`.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(test, derive(strum::EnumIter))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Display, EnumString)]
#[strum(ascii_case_insensitive)]
#[non_exhaustive]
pub enum Language {
    /// English.
    #[default]
    #[strum(to_string = "en", serialize = "eng")]
    #[cfg_attr(feature = "serde", serde(rename = "en"))]
    English,
    /// Russian.
    #[strum(to_string = "ru", serialize = "rus")]
    #[cfg_attr(feature = "serde", serde(rename = "ru"))]
    Russian,
    /// Kyrgyz.
    #[strum(to_string = "ky", serialize = "kir")]
    #[cfg_attr(feature = "serde", serde(rename = "ky"))]
    Kyrgyz,
}

impl Language {
    /// The language of a tag, as devices and browsers name it (BCP 47): `ru-KG`, `ky_KG`, `kir`. Any other is English.
    ///
    /// ```
    /// use kassa::Language;
    /// assert_eq!(Language::from_tag("ru-KG"), Language::Russian);
    /// assert_eq!(Language::from_tag("ky"), Language::Kyrgyz);
    /// assert_eq!(Language::from_tag("fr"), Language::English);
    /// ```
    pub fn from_tag(tag: &str) -> Self {
        let language = tag.trim().split(['-', '_', '.']).next().unwrap_or_default();
        language.parse().unwrap_or_default()
    }
}

/// The fields that a payer types, and so knows by other words than the interface's.
#[cfg_attr(test, derive(strum::EnumIter))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Typed {
    CardNumber,
    ExpiryMonth,
    ExpiryYear,
    Cvc,
    HolderName,
    Phone,
    /// The phone of a wallet.
    WalletPhone,
    Otp,
    Pin,
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
            "user" => Self::WalletPhone,
            "otp" => Self::Otp,
            "pinCode" => Self::Pin,
            _ => return None,
        })
    }

    fn is_phone(self) -> bool {
        matches!(self, Self::Phone | Self::WalletPhone)
    }

    /// True if its length counts digits.
    fn has_digits(self) -> bool {
        matches!(self, Self::CardNumber | Self::ExpiryYear | Self::Cvc | Self::Phone | Self::WalletPhone)
    }
}

/// The sentence of a rule in English, which follows the field's name.
pub(crate) fn sentence(field: &str, rule: Rule, limit: Option<&str>) -> String {
    english::sentence(Typed::by_name(field), rule, limit)
}

/// A violation in a language. `text` is its English text, which may be more specific about a field that no payer types.
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

/// A limit as in violations: `16`, `13 to 20`, `13, 16 or 19`, or anything else.
pub(super) enum Limit<'a> {
    Range(&'a str, &'a str),
    /// All but the last one, unchanged, and the last one.
    Choice(&'a str, &'a str),
    One(&'a str),
}

impl<'a> Limit<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        if let Some((least, most)) = text.split_once(" to ") {
            Self::Range(least, most)
        } else if let Some((others, last)) = text.rsplit_once(" or ") {
            Self::Choice(others, last)
        } else {
            Self::One(text)
        }
    }

    /// The last number, which determines the inflection of the following noun.
    pub(super) fn last(&self) -> &'a str {
        match self {
            Self::Range(_, last) | Self::Choice(_, last) | Self::One(last) => last,
        }
    }
}

#[cfg(test)]
mod tests;
