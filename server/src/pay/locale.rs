//! The payer's language: the one that was picked on the page, else the best one that the browser asks for (content negotiation).

use axum::http::{HeaderMap, header};
use kassa::Language;

/// The languages, as their speakers call them.
pub(super) const LANGUAGES: [(Language, &str); 3] =
    [(Language::Kyrgyz, "Кыргызча"), (Language::Russian, "Русский"), (Language::English, "English")];

/// The language in which a page is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Locale {
    pub(super) language: Language,
    /// The payer picked it, so the page's own links keep it.
    pub(super) is_picked: bool,
}

impl Locale {
    /// By the query's `lang`, or else by the browser; English where neither names one of ours.
    pub(super) fn of(picked: &str, headers: &HeaderMap) -> Self {
        match picked.parse() {
            Ok(language) => Self { language, is_picked: true },
            Err(_) => Self { language: asked_for(headers).unwrap_or_default(), is_picked: false },
        }
    }
}

/// The first of ours among those with the highest weight.
fn asked_for(headers: &HeaderMap) -> Option<Language> {
    let lists = headers.get_all(header::ACCEPT_LANGUAGE).iter().filter_map(|value| value.to_str().ok());
    let mut best: Option<(Language, f32)> = None;
    for range in lists.flat_map(|list| list.split(',')) {
        let Some((language, weight)) = weighed(range) else { continue };
        if weight > best.map_or(0.0, |(_, weight)| weight) {
            best = Some((language, weight));
        }
    }
    best.map(|(language, _)| language)
}

/// Such as `ru-KG;q=0.8`.
fn weighed(range: &str) -> Option<(Language, f32)> {
    let (tag, parameters) = range.split_once(';').unwrap_or((range, ""));
    let language = tag.trim().split('-').next()?.parse().ok()?;
    let weight = parameters.split(';').find_map(|parameter| parameter.trim().strip_prefix("q="));
    Some((language, weight.map_or(Some(1.0), |weight| weight.trim().parse().ok())?))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_picked_one_counts_then_the_heaviest_one_of_ours() {
        for (list, expected) in [
            ("ru-KG,ru;q=0.9,en;q=0.8", Language::Russian),
            ("de, en;q=0.5, ky;q=0.7", Language::Kyrgyz),
            ("fr,de", Language::English),
            ("ru;q=0, ky;q=0.1", Language::Kyrgyz),
            ("ru;q=x", Language::English),
            ("", Language::English),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static(list));
            assert_eq!(Locale::of("", &headers), Locale { language: expected, is_picked: false }, "{list}");
            assert_eq!(Locale::of("xx", &headers).language, expected);
            assert_eq!(Locale::of("ky", &headers), Locale { language: Language::Kyrgyz, is_picked: true });
        }
    }
}
