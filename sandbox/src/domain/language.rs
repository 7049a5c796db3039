//! Localization: the three languages of the merchant's country, and language negotiation by `Accept-Language`.

use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::domain::all;

/// A language of messages and pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumCount, IntoStaticStr, VariantArray)]
pub enum Language {
    /// `en`.
    #[strum(serialize = "en")]
    English,
    /// `ru`.
    #[strum(serialize = "ru")]
    Russian,
    /// `ky`.
    #[strum(serialize = "ky")]
    Kyrgyz,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; Self::COUNT] = all();

    /// The ISO 639-1 code.
    pub fn code(self) -> &'static str {
        self.into()
    }

    /// The language of an ISO 639-1 code, in any letter case.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code().eq_ignore_ascii_case(code))
    }

    /// The most preferred supported language of an `Accept-Language` header.
    pub(crate) fn accepted(header: &str) -> Option<Self> {
        let mut best: Option<(f32, Self)> = None;
        for wish in header.split(',') {
            let mut parts = wish.split(';').map(str::trim);
            let tag = parts.next().unwrap_or_default();
            let primary = tag.split('-').next().unwrap_or_default();
            let quality =
                parts.find_map(|part| part.strip_prefix("q=")).map_or(1.0, |text| text.parse().unwrap_or(0.0));
            if let Some(language) = Self::from_code(primary)
                && quality > best.map_or(0.0, |(quality, _)| quality)
            {
                best = Some((quality, language));
            }
        }
        best.map(|(_, language)| language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_language_has_the_highest_quality() {
        for (header, language) in [
            ("ru-RU,ru;q=0.9,en;q=0.8", Some(Language::Russian)),
            ("de, en;q=0.2, ky;q=0.7", Some(Language::Kyrgyz)),
            ("KY", Some(Language::Kyrgyz)),
            ("fr, de", None),
            ("en;q=0", None),
            ("en;q=x,;;,", None),
        ] {
            assert_eq!(Language::accepted(header), language, "{header}");
        }
    }
}
