//! Validation rules of the interface's tables, one function per rule.
//! Each reads the JSON text itself, and returns the value or its problem.

use std::net::IpAddr;

use rust_decimal::Decimal;
use serde_json::value::RawValue;
use time::Month;
use url::Url;

use crate::{
    domain::{
        Provider, amount,
        test_data::{self, TestCard, TestPhone},
    },
    rules::{
        Shape,
        shape::{FORBIDDEN_RETURN_SCHEMES, absolute},
    },
};

/// A rule of one field: its accepted values, and how they are read.
pub(crate) struct Rule<T> {
    pub(crate) shape: Shape,
    read: Read<T>,
}

/// How the JSON text of a field is read.
type Read<T> = Box<dyn Fn(&RawValue) -> Result<T, Problem>>;

impl<T> Rule<T> {
    fn new(shape: Shape, read: impl Fn(&RawValue) -> Result<T, Problem> + 'static) -> Self {
        Self { shape, read: Box::new(read) }
    }

    /// The value, or the problem.
    pub(crate) fn read(&self, value: &RawValue) -> Result<T, Problem> {
        (self.read)(value)
    }
}

fn string(value: &RawValue) -> Result<String, Problem> {
    serde_json::from_str(value.get()).map_err(|_| Problem::NotText)
}

/// A string that is not blank.
pub(crate) fn text() -> Rule<String> {
    Rule::new(Shape::Text, |value| {
        let text = string(value)?;
        if text.trim().is_empty() { Err(Problem::Blank) } else { Ok(text) }
    })
}

/// A decimal of at least `minimum`, read exactly from its digits.
pub(crate) fn decimal(minimum: u32) -> Rule<Decimal> {
    Rule::new(Shape::Decimal { minimum }, move |value| {
        number(value)?;
        let amount = amount::exact(value.get()).ok_or(Problem::TooManyDigits)?;
        if amount < Decimal::from(minimum) { Err(Problem::Minimum(minimum)) } else { Ok(amount) }
    })
}

/// Like `decimal`; also accepts a string of digits, as in a query.
pub(crate) fn written_decimal(minimum: u32) -> Rule<Decimal> {
    let number = decimal(minimum);
    Rule::new(Shape::Decimal { minimum }, move |value| match string(value) {
        Ok(text) => RawValue::from_string(text).map_err(|_| Problem::NotNumber).and_then(|value| number.read(&value)),
        Err(_) => number.read(value),
    })
}

/// A whole number without point and exponent, of at least `minimum`.
pub(crate) fn integer(minimum: u32) -> Rule<i64> {
    Rule::new(Shape::Integer { minimum, maximum: i64::MAX }, move |value| whole(value, minimum))
}

/// Like `integer`, of at most `maximum`.
pub(crate) fn integer_up_to(minimum: u32, maximum: i64) -> Rule<i64> {
    Rule::new(Shape::Integer { minimum, maximum }, move |value| {
        let number = whole(value, minimum)?;
        if number > maximum { Err(Problem::Maximum(maximum)) } else { Ok(number) }
    })
}

fn whole(value: &RawValue, minimum: u32) -> Result<i64, Problem> {
    number(value)?;
    let digits = value.get();
    if digits.contains(['.', 'e', 'E']) {
        return Err(Problem::NotInteger);
    }
    let number: i64 = digits
        .parse()
        .map_err(|_| if digits.starts_with('-') { Problem::Minimum(minimum) } else { Problem::TooManyDigits })?;
    if number < i64::from(minimum) {
        return Err(Problem::Minimum(minimum));
    }
    Ok(number)
}

fn number(value: &RawValue) -> Result<(), Problem> {
    if value.get().starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        Ok(())
    } else {
        Err(Problem::NotNumber)
    }
}

/// The full number of a test card: an unknown card is a validation error, not a decline.
pub(crate) fn test_card() -> Rule<Option<&'static TestCard>> {
    Rule::new(Shape::TestCard, |value| {
        let pan = pan_of(string(value)?)?;
        test_data::card_of(&pan).map(Some).ok_or(Problem::UnknownTestCard)
    })
}

/// A string of 13 to 20 digits.
pub(crate) fn pan_of(pan: String) -> Result<String, Problem> {
    if !(13..=20).contains(&pan.chars().count()) {
        return Err(Problem::PanLength);
    }
    digits(pan)
}

fn digits(text: String) -> Result<String, Problem> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { Ok(text) } else { Err(Problem::NotDigits) }
}

/// Exactly two digits that name a month.
pub(crate) fn expiry_month() -> Rule<Option<Month>> {
    Rule::new(Shape::Month, |value| month_of(string(value)?).map(Some))
}

/// Like `expiry_month`, for parsed text.
pub(crate) fn month_of(text: String) -> Result<Month, Problem> {
    let text = digits(exactly(2, text)?)?;
    let number: u8 = text.parse().map_err(|_| Problem::Month)?;
    Month::try_from(number).map_err(|_| Problem::Month)
}

/// A year of four digits.
pub(crate) fn expiry_year() -> Rule<i32> {
    Rule::new(Shape::Year, |value| year_of(whole(value, 0)?))
}

/// Like `expiry_year`, for a parsed number.
pub(crate) fn year_of(year: i64) -> Result<i32, Problem> {
    match i32::try_from(year) {
        Ok(year @ 1000..=9999) => Ok(year),
        _ => Err(Problem::FourDigitYear),
    }
}

/// Any three characters: test cards accept any CVC. It is dropped here.
pub(crate) fn cvc() -> Rule<()> {
    Rule::new(Shape::Cvc, |value| cvc_of(string(value)?))
}

/// Like `cvc`, for parsed text.
pub(crate) fn cvc_of(text: String) -> Result<(), Problem> {
    exactly(3, text).map(drop)
}

fn exactly(length: usize, text: String) -> Result<String, Problem> {
    if text.chars().count() == length { Ok(text) } else { Err(Problem::Length(length)) }
}

/// A currency code of three letters.
pub(crate) fn currency() -> Rule<String> {
    Rule::new(Shape::Currency, |value| letters(3, string(value)?, Problem::Currency))
}

/// A language code of two letters, supported or not.
pub(crate) fn language() -> Rule<String> {
    Rule::new(Shape::LanguageCode, |value| letters(2, string(value)?, Problem::LanguageCode))
}

fn letters(count: usize, code: String, problem: Problem) -> Result<String, Problem> {
    let is_code = code.len() == count && code.bytes().all(|byte| byte.is_ascii_alphabetic());
    if is_code { Ok(code) } else { Err(problem) }
}

/// An absolute http or https URL.
pub(crate) fn web_url() -> Rule<String> {
    Rule::new(Shape::WebUrl, |value| {
        let text = string(value)?;
        let is_web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        if absolute(&text).is_some_and(|url| is_web(&url)) { Ok(text) } else { Err(Problem::WebUrl) }
    })
}

/// An absolute URI that a browser may be redirected to, including deep links of apps.
pub(crate) fn return_url() -> Rule<String> {
    Rule::new(Shape::ReturnUrl, |value| {
        let text = string(value)?;
        let is_forbidden = |url: &Url| FORBIDDEN_RETURN_SCHEMES.contains(&url.scheme());
        if absolute(&text).is_some_and(|url| !is_forbidden(&url)) { Ok(text) } else { Err(Problem::ReturnUrl) }
    })
}

/// An IP address, version 4 or 6.
pub(crate) fn ip_address() -> Rule<()> {
    Rule::new(Shape::IpAddress, |value| {
        let parsed: Result<IpAddr, _> = string(value)?.parse();
        parsed.map(drop).map_err(|_| Problem::IpAddress)
    })
}

/// Text on both sides of an at sign; only the mail server can check more.
pub(crate) fn email() -> Rule<()> {
    Rule::new(Shape::Email, |value| {
        let text = string(value)?;
        match text.rsplit_once('@') {
            Some((name, host)) if !name.is_empty() && !host.is_empty() && !text.contains(char::is_whitespace) => Ok(()),
            _ => Err(Problem::Email),
        }
    })
}

/// The phone number of a test phone of this provider.
pub(crate) fn test_phone(provider: Provider) -> Rule<Option<&'static TestPhone>> {
    Rule::new(Shape::TestPhone(provider), move |value| {
        let digits = phone_of(&string(value)?)?;
        test_data::phone_of(provider, &digits).map(Some).ok_or(Problem::UnknownTestPhone)
    })
}

/// A phone number as its digits with the country code.
pub(crate) fn phone_of(text: &str) -> Result<String, Problem> {
    let compact: String = text.chars().filter(|character| !matches!(character, ' ' | '-' | '(' | ')')).collect();
    let digits = compact.strip_prefix('+').unwrap_or(&compact);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Problem::Phone);
    }
    match (digits.len(), digits.strip_prefix('0')) {
        // The domestic form of a number.
        (10, Some(local)) => Ok(format!("996{local}")),
        (9..=15, None) => Ok(digits.to_owned()),
        _ => Err(Problem::Phone),
    }
}

/// One of the three providers.
pub(crate) fn provider() -> Rule<Option<Provider>> {
    Rule::new(Shape::Provider, |value| Provider::parse(&string(value)?).map(Some).ok_or(Problem::Provider))
}

/// A problem with a field. Its texts are in `messages`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    Missing,
    Unknown,
    Repeated,
    NotText,
    Blank,
    NotNumber,
    NotInteger,
    TooManyDigits,
    Minimum(u32),
    Maximum(i64),
    Length(usize),
    PanLength,
    NotDigits,
    Month,
    FourDigitYear,
    Expired,
    Currency,
    LanguageCode,
    WebUrl,
    ReturnUrl,
    IpAddress,
    Email,
    Phone,
    Provider,
    OfAnotherPayment,
    UnknownTestCard,
    UnknownTestPhone,
}

/// A field and its problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) field: String,
    pub(crate) problem: Problem,
}

impl Violation {
    pub(crate) fn new(field: &str, problem: Problem) -> Self {
        Self { field: field.to_owned(), problem }
    }
}
