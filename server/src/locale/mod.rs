//! The language of a page: the one that was picked on it, else the best one that the browser requests (content negotiation). Also
//! amounts and times in each language, in Bishkek's time zone.

use axum::http::{HeaderMap, header};
use kassa::{Decimal, Language};
use time::{OffsetDateTime, UtcOffset, format_description::FormatItem, macros::format_description};

use crate::values::Millis;

/// The languages, as their speakers call them.
pub(crate) const LANGUAGES: [(Language, &str); 3] =
    [(Language::Kyrgyz, "Кыргызча"), (Language::Russian, "Русский"), (Language::English, "English")];

/// The language in which a page is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Locale {
    pub(crate) language: Language,
    /// Whether the payer picked it, so that the page's own links keep it.
    pub(crate) is_picked: bool,
}

impl Locale {
    /// By the query's `lang`, or else by the browser; English if neither names a supported language.
    pub(crate) fn of(picked: &str, headers: &HeaderMap) -> Self {
        match picked.parse() {
            Ok(language) => Self { language, is_picked: true },
            Err(_) => Self { language: asked_for(headers).unwrap_or_default(), is_picked: false },
        }
    }
}

/// The first supported language among those with the highest weight.
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

/// Parses a range such as `ru-KG;q=0.8`.
fn weighed(range: &str) -> Option<(Language, f32)> {
    let (tag, parameters) = range.split_once(';').unwrap_or((range, ""));
    let language = tag.trim().split('-').next()?.parse().ok()?;
    let weight = parameters.split(';').find_map(|parameter| parameter.trim().strip_prefix("q="));
    Some((language, weight.map_or(Some(1.0), |weight| weight.trim().parse().ok())?))
}

const ENGLISH: &[FormatItem<'_>] = format_description!("[day padding:none] [month repr:long] [year], [hour]:[minute]");
const OTHERS: &[FormatItem<'_>] = format_description!("[day].[month].[year], [hour]:[minute]");
/// Bishkek: UTC+6 all year round.
const HOURS: i8 = 6;
/// Keeps numbers and amounts on one line.
const NO_BREAK: char = '\u{a0}';

/// An amount with its currency: `390,50 сом`, `1,000 som`.
pub(crate) fn money(amount: Decimal, currency: &str, language: Language) -> String {
    let digits = if amount.fract().is_zero() { format!("{:.0}", amount.trunc()) } else { format!("{amount:.2}") };
    written(&digits, currency, language)
}

/// An amount with at least two decimals, so that amounts in a column are aligned.
pub(crate) fn full_money(amount: Decimal, currency: &str, language: Language) -> String {
    let decimals = amount.normalize().scale().max(2) as usize;
    written(&format!("{amount:.decimals$}"), currency, language)
}

fn written(digits: &str, currency: &str, language: Language) -> String {
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("\u{2212}", whole));
    let is_english = language == Language::English;
    let (group, point) = if is_english { (',', '.') } else { (NO_BREAK, ',') };
    let mut text = format!("{sign}{}", grouped(whole, group));
    if !rest.is_empty() {
        text.push(point);
        text.push_str(rest);
    }
    let currency = match currency {
        "KGS" if is_english => "som",
        "KGS" => "сом",
        other => other,
    };
    format!("{text}{NO_BREAK}{currency}")
}

fn grouped(digits: &str, group: char) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(group);
        }
        text.push(digit);
    }
    text
}

/// A time in Bishkek.
pub(crate) fn moment(at: Millis, language: Language) -> String {
    let format = if language == Language::English { ENGLISH } else { OTHERS };
    in_bishkek(at).and_then(|at| at.format(format).ok()).unwrap_or_default()
}

const TIME_OF_DAY: &[FormatItem<'_>] = format_description!("[hour]:[minute]");

/// The time of day in Bishkek.
pub(crate) fn time_of_day(at: Millis) -> String {
    in_bishkek(at).and_then(|at| at.format(TIME_OF_DAY).ok()).unwrap_or_default()
}

/// The number of days until a time, by the calendar in Bishkek: 0 for the same day.
pub(crate) fn days_until(at: Millis, now: Millis) -> Option<i32> {
    Some(in_bishkek(at)?.date().to_julian_day() - in_bishkek(now)?.date().to_julian_day())
}

fn in_bishkek(at: Millis) -> Option<OffsetDateTime> {
    let offset = UtcOffset::from_hms(HOURS, 0, 0).unwrap_or(UtcOffset::UTC);
    OffsetDateTime::from_unix_timestamp(at.div_euclid(1000)).ok().map(|at| at.to_offset(offset))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn language_prefers_selection_over_accept_header() {
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

    #[test]
    fn amount_is_formatted_for_language() {
        for (amount, english, russian) in [
            ("390", "390 som", "390 сом"),
            ("390.00", "390 som", "390 сом"),
            ("390.5", "390.50 som", "390,50 сом"),
            ("1000", "1,000 som", "1 000 сом"),
            ("12345678.09", "12,345,678.09 som", "12 345 678,09 сом"),
        ] {
            let text = |language| money(amount.parse().unwrap(), "KGS", language).replace(NO_BREAK, " ");
            assert_eq!(text(Language::English), english);
            assert_eq!((text(Language::Russian), text(Language::Kyrgyz)), (russian.to_owned(), russian.to_owned()));
        }
        assert_eq!(money(7.into(), "USD", Language::Russian).replace(NO_BREAK, " "), "7 USD");
        for (amount, expected) in [("390", "390,00 сом"), ("-1234.5", "\u{2212}1 234,50 сом"), ("0.125", "0,125 сом")]
        {
            let text = full_money(amount.parse().unwrap(), "KGS", Language::Kyrgyz).replace(NO_BREAK, " ");
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn timestamp_is_shown_in_bishkek_time() {
        let at = 1_795_444_200_000; // 2026-11-23 14:30 UTC
        assert_eq!(moment(at, Language::English), "23 November 2026, 20:30");
        assert_eq!(moment(at, Language::Kyrgyz), "23.11.2026, 20:30");
        assert_eq!(time_of_day(at), "20:30");
        let hour = 3_600_000;
        // Midnight in Bishkek is 18:00 UTC.
        assert_eq!([0, 3, 4, 27, 28].map(|hours| days_until(at + hours * hour, at)), [0, 0, 1, 1, 2].map(Some));
    }
}
