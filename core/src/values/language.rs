//! The languages that payers are told in what is wrong.

use strum::{Display, EnumString};

/// A language in which [`Violation::text_in`](crate::Violation::text_in) and [`Advice::text_in`](crate::Advice::text_in)
/// speak. As text it is its tag: `en`, `ru` or `ky`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_name_languages_in_many_ways() {
        for (tag, language) in [
            ("ru", Language::Russian),
            ("RU-kg", Language::Russian),
            ("ru_RU.UTF-8", Language::Russian),
            ("ky-Cyrl-KG", Language::Kyrgyz),
            ("kir", Language::Kyrgyz),
            ("en-GB", Language::English),
            ("", Language::English),
            ("kyx", Language::English),
            ("Russian", Language::English),
        ] {
            assert_eq!(Language::from_tag(tag), language, "{tag}");
        }
    }
}
