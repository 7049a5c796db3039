//! JSON Schema of the rules, for readers of the OpenAPI description.

use serde_json::{Value, json};
use time::{Date, Month};
use url::Url;

use crate::domain::{Provider, clock, test_data};

const EXPIRY: &str = "The last day of the card's month is later than today.";
/// The first number that a decimal cannot hold: 2 to the 96.
const DECIMAL_END: f64 = 79_228_162_514_264_337_593_543_950_336.0;

/// The values that a field's rule accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    Decimal { minimum: u32 },
    Integer { minimum: u32, maximum: i64 },
    TestCard,
    Month,
    Year,
    Cvc,
    Currency,
    LanguageCode,
    WebUrl,
    ReturnUrl,
    IpAddress,
    Email,
    TestPhone(Provider),
    Provider,
}

/// A rule about several fields at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spanning {
    /// The last day of a card's month must be later than today.
    CardExpiry,
}

impl Shape {
    /// The JSON Schema.
    pub(crate) fn schema(self) -> Value {
        match self {
            Self::Text => with_description(non_blank(), "A non-blank string."),
            Self::Decimal { minimum } => json!({
                "type": "number", "minimum": minimum, "exclusiveMaximum": DECIMAL_END,
                "description": "Stored with exact digits; at most 28 digits.",
            }),
            Self::Integer { minimum, maximum } => json!({
                "type": "integer", "minimum": minimum, "maximum": maximum,
                "description": "Without a decimal point or an exponent.",
            }),
            Self::TestCard => json!({
                "type": "string", "enum": test_data::cards().map(|card| card.pan).collect::<Vec<_>>(),
                "description": "Number of a test card, 13 to 20 digits. The sandbox accepts only test cards.",
            }),
            Self::Month => json!({
                "type": "string", "enum": (1..=12).map(|month| format!("{month:02}")).collect::<Vec<_>>(),
                "description": EXPIRY,
            }),
            Self::Year => json!({ "type": "integer", "minimum": 1000, "maximum": 9999, "description": EXPIRY }),
            Self::Cvc => json!({
                "type": "string", "minLength": 3, "maxLength": 3,
                "description": "Test cards accept any three characters.", "examples": ["123"],
            }),
            Self::Currency => letters(3, "A currency code.", "KGS"),
            Self::LanguageCode => {
                letters(2, "A language code. The sandbox supports en, ru and ky and accepts any other.", "en")
            }
            Self::WebUrl => json!({
                "type": "string", "format": "url", "pattern": format!("^[Hh][Tt][Tt][Pp][Ss]?:{}$", url_rest()),
                "description": "An absolute http or https URL.", "examples": ["http://127.0.0.1:9000/callback"],
            }),
            Self::ReturnUrl => return_url(),
            Self::IpAddress => json!({
                "type": "string", "anyOf": [{ "format": "ipv4" }, { "format": "ipv6" }],
                "description": "An IP address, version 4 or 6.", "examples": ["203.0.113.7"],
            }),
            Self::Email => email(),
            Self::TestPhone(provider) => test_phone(provider),
            Self::Provider => json!({ "type": "string", "enum": Provider::ALL.map(Provider::as_str) }),
        }
    }
}

impl Spanning {
    /// The JSON Schema, of the object with the fields.
    pub(crate) fn schema(self, today: Date) -> Value {
        match self {
            Self::CardExpiry => card_expiry(today),
        }
    }
}

/// A schema with a description.
fn with_description(mut schema: Value, description: &str) -> Value {
    schema["description"] = json!(description);
    schema
}

/// A string that is not only white space.
pub(crate) fn non_blank() -> Value {
    let is_space = white_space();
    json!({ "type": "string", "pattern": format!("[^{is_space}]") })
}

fn letters(count: usize, description: &str, example: &str) -> Value {
    let pattern = format!("^[A-Za-z]{{{count}}}$");
    json!({
        "type": "string", "pattern": pattern, "minLength": count, "maxLength": count,
        "description": description, "examples": [example],
    })
}

fn return_url() -> Value {
    let forbidden = FORBIDDEN_RETURN_SCHEMES.map(in_any_case).join("|");
    json!({
        "type": "string", "format": "url",
        "pattern": format!("^(?!(?:{forbidden}):)[A-Za-z][A-Za-z0-9+.-]*:{}$", url_rest()),
        "description": format!(
            "URL to which the payer's browser is sent: any absolute URL, including deep links of apps, except with the schemes {}.",
            FORBIDDEN_RETURN_SCHEMES.join(", "),
        ),
        "examples": ["https://shop.example/done?cart=7"],
    })
}

fn in_any_case(word: &str) -> String {
    let in_both_cases = |letter: char| match letter.to_ascii_uppercase() {
        upper if upper == letter => letter.to_string(),
        upper => format!("[{upper}{letter}]"),
    };
    word.chars().map(in_both_cases).collect()
}

fn email() -> Value {
    let is_space = white_space();
    json!({
        "type": "string", "pattern": format!("^[^{is_space}]+@[^{is_space}@]+$"), "description": "An e-mail address.",
        "examples": ["payer@example.com"],
    })
}

/// The provider's test phones in their accepted notations.
fn test_phone(provider: Provider) -> Value {
    let phones = || test_data::phones().filter(move |phone| phone.provider == provider).map(|phone| phone.phone);
    let numbers: Vec<_> = phones().collect();
    let written: Vec<_> = phones().map(as_written).collect();
    json!({
        "type": "string",
        "description": format!("Number of a test phone of {provider}. The sandbox accepts only test phones."),
        "anyOf": [
            { "enum": numbers },
            {
                "pattern": format!("^(?:{})$", written.join("|")),
                "description": "The same numbers with +, spaces, hyphens and parentheses, or in national \
                    format.",
            },
        ],
        "examples": [numbers.first()],
    })
}

/// A domestic number, its digits possibly separated, with either prefix.
fn as_written(number: &str) -> String {
    const BETWEEN: &str = "[ ()-]*";
    let apart = |digits: &str| digits.chars().map(|digit| format!("{digit}{BETWEEN}")).collect::<String>();
    let local = number.strip_prefix("996").unwrap_or(number);
    format!("{BETWEEN}\\+?{BETWEEN}(?:{}|{}){}", apart("996"), apart("0"), apart(local))
}

/// Any month of a later year, or a remaining month of the first year.
fn card_expiry(today: Date) -> Value {
    let is_good = |month: &Month| clock::ends_after(today.year(), *month, today);
    let good: Vec<_> = (1..=12).filter_map(|month| Month::try_from(month).ok()).filter(is_good).collect();
    let later = json!({ "properties": { "expiryYear": { "minimum": today.year() + 1 } } });
    if good.is_empty() {
        return later;
    }
    let months: Vec<_> = good.into_iter().map(|month| format!("{:02}", u8::from(month))).collect();
    let this_year = json!({
        "properties": { "expiryYear": { "const": today.year() }, "expiryMonth": { "enum": months } },
    });
    json!({ "description": EXPIRY, "anyOf": [later, this_year] })
}

/// The text after a URL's scheme.
fn url_rest() -> String {
    format!("[^{}]*", class(is_no_part_of_a_url))
}

/// White space for a character class: dialects of regular expressions differ about it.
fn white_space() -> String {
    class(char::is_whitespace)
}

/// The inside of a character class, as ranges; it never contains a character outside the first plane.
fn class(is_in: impl Fn(char) -> bool) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for code in ('\0'..='\u{ffff}').filter(|character| is_in(*character)).map(u32::from) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == code => *last = code,
            _ => ranges.push((code, code)),
        }
    }
    let written = |(first, last): (u32, u32)| {
        if first == last { format!("\\u{first:04x}") } else { format!("\\u{first:04x}-\\u{last:04x}") }
    };
    ranges.into_iter().map(written).collect()
}

/// Schemes that would run or read something on the payer's machine instead of returning to the merchant.
pub(crate) const FORBIDDEN_RETURN_SCHEMES: [&str; 17] = [
    "javascript",
    "vbscript",
    "data",
    "file",
    "blob",
    "about",
    "filesystem",
    "view-source",
    "content",
    "jar",
    "mhtml",
    "ms-appdata",
    "ms-appx",
    "ms-appx-web",
    "ms-its",
    "ms-msdt",
    "search-ms",
];

/// An absolute URL without blanks and line breaks, which a browser would drop and so open another URL.
pub(super) fn absolute(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|_| !text.contains(is_no_part_of_a_url))
}

/// White space and control characters.
fn is_no_part_of_a_url(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    #[test]
    fn past_expiry_months_are_excluded() {
        let months = |today| card_expiry(today)["anyOf"][1]["properties"]["expiryMonth"]["enum"].clone();
        assert_eq!(months(date!(2026 - 11 - 21)), json!(["11", "12"]));
        assert_eq!(months(date!(2026 - 11 - 30)), json!(["12"]));
        assert_eq!(card_expiry(date!(2026 - 12 - 31))["properties"]["expiryYear"]["minimum"], json!(2027));
    }

    #[test]
    fn white_space_is_what_the_rules_trim() {
        assert!(
            white_space().starts_with("\\u0009-\\u000d\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a"),
            "{}",
            white_space()
        );
    }
}
