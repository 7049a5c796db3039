//! The rules of the interface's tables, one function a rule. Each reads the JSON text itself.

use std::net::IpAddr;

use rust_decimal::Decimal;
use serde_json::value::RawValue;
use time::Month;
use url::Url;

use crate::{amount, payment::Provider, problem::Problem};

/// Schemes that would run or read something on the payer's machine instead of leading back.
const REFUSED_RETURN_SCHEMES: [&str; 6] = ["javascript", "vbscript", "data", "file", "blob", "about"];

/// Any string.
pub(crate) fn string(value: &RawValue) -> Result<String, Problem> {
    serde_json::from_str(value.get()).map_err(|_| Problem::NotText)
}

/// A string that says something.
pub(crate) fn text(value: &RawValue) -> Result<String, Problem> {
    let text = string(value)?;
    if text.trim().is_empty() {
        return Err(Problem::Blank);
    }
    Ok(text)
}

/// A decimal of at least `minimum`, exactly as its digits say.
pub(crate) fn decimal(minimum: u32) -> impl Fn(&RawValue) -> Result<Decimal, Problem> {
    move |value| {
        number(value)?;
        let amount = amount::exact(value.get()).ok_or(Problem::TooManyDigits)?;
        if amount < Decimal::from(minimum) {
            return Err(Problem::Minimum(minimum));
        }
        Ok(amount)
    }
}

/// A whole number, written as one, of at least `minimum`.
pub(crate) fn integer(minimum: u32) -> impl Fn(&RawValue) -> Result<i64, Problem> {
    move |value| {
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
}

fn number(value: &RawValue) -> Result<(), Problem> {
    if value.get().starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        Ok(())
    } else {
        Err(Problem::NotNumber)
    }
}

/// A full card number: 13 to 20 digits.
pub(crate) fn pan(value: &RawValue) -> Result<String, Problem> {
    pan_of(string(value)?)
}

/// As `pan`, of a text that is read already.
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
pub(crate) fn expiry_month(value: &RawValue) -> Result<Option<Month>, Problem> {
    month_of(string(value)?).map(Some)
}

/// As `expiry_month`, of a text that is read already.
pub(crate) fn month_of(text: String) -> Result<Month, Problem> {
    let text = digits(exactly(2, text)?)?;
    let number: u8 = text.parse().map_err(|_| Problem::Month)?;
    Month::try_from(number).map_err(|_| Problem::Month)
}

/// A year of four digits.
pub(crate) fn expiry_year(value: &RawValue) -> Result<i32, Problem> {
    year_of(integer(0)(value)?)
}

/// As `expiry_year`, of a number that is read already.
pub(crate) fn year_of(year: i64) -> Result<i32, Problem> {
    match i32::try_from(year) {
        Ok(year @ 1000..=9999) => Ok(year),
        _ => Err(Problem::FourDigitYear),
    }
}

/// Any three characters: test cards take any CVC. It goes no further than here.
pub(crate) fn cvc(value: &RawValue) -> Result<(), Problem> {
    cvc_of(string(value)?)
}

/// As `cvc`, of a text that is read already.
pub(crate) fn cvc_of(text: String) -> Result<(), Problem> {
    exactly(3, text).map(drop)
}

fn exactly(length: usize, text: String) -> Result<String, Problem> {
    if text.chars().count() == length { Ok(text) } else { Err(Problem::Length(length)) }
}

/// A currency code of three letters.
pub(crate) fn currency(value: &RawValue) -> Result<String, Problem> {
    let code = string(value)?;
    if code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        Ok(code)
    } else {
        Err(Problem::Currency)
    }
}

/// A language code of two letters, spoken here or not.
pub(crate) fn language(value: &RawValue) -> Result<String, Problem> {
    let code = string(value)?;
    if code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        Ok(code)
    } else {
        Err(Problem::LanguageCode)
    }
}

/// An absolute http or https URL.
pub(crate) fn web_url(value: &RawValue) -> Result<String, Problem> {
    let text = string(value)?;
    match Url::parse(&text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(text),
        _ => Err(Problem::WebUrl),
    }
}

/// An absolute URI that a browser may be sent to: deep links of apps too.
pub(crate) fn return_url(value: &RawValue) -> Result<String, Problem> {
    let text = string(value)?;
    match Url::parse(&text) {
        Ok(url) if !REFUSED_RETURN_SCHEMES.contains(&url.scheme()) => Ok(text),
        _ => Err(Problem::ReturnUrl),
    }
}

/// An IP address, version 4 or 6.
pub(crate) fn ip_address(value: &RawValue) -> Result<(), Problem> {
    let parsed: Result<IpAddr, _> = string(value)?.parse();
    parsed.map(drop).map_err(|_| Problem::IpAddress)
}

/// Something on both sides of an at sign; what else an address is, only its mail server knows.
pub(crate) fn email(value: &RawValue) -> Result<(), Problem> {
    let text = string(value)?;
    match text.rsplit_once('@') {
        Some((name, host)) if !name.is_empty() && !host.is_empty() && !text.contains(char::is_whitespace) => Ok(()),
        _ => Err(Problem::Email),
    }
}

/// A phone number, as its digits with the country code.
pub(crate) fn phone(value: &RawValue) -> Result<String, Problem> {
    phone_of(&string(value)?)
}

/// As `phone`, of a text that is read already.
pub(crate) fn phone_of(text: &str) -> Result<String, Problem> {
    let compact: String = text.trim().chars().filter(|character| !matches!(character, ' ' | '-' | '(' | ')')).collect();
    let digits = compact.strip_prefix('+').unwrap_or(&compact);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Problem::Phone);
    }
    match (digits.len(), digits.strip_prefix('0')) {
        // The way a number is dialled inside the country.
        (10, Some(local)) => Ok(format!("996{local}")),
        (9..=15, None) => Ok(digits.to_owned()),
        _ => Err(Problem::Phone),
    }
}

/// One of the three providers.
pub(crate) fn provider(value: &RawValue) -> Result<Option<Provider>, Problem> {
    Provider::parse(&string(value)?).map(Some).ok_or(Problem::Provider)
}
