//! Input validation: the rules of the request tables in `docs/interface.md`, checked before anything is sent. All
//! violations are collected, not only the first one.

pub(crate) mod phone_and_otp;

use std::net::IpAddr;

use rust_decimal::Decimal;
use url::Url;

use crate::{
    card::{Card, PAN_MAX, PAN_MIN, passes_luhn},
    error::PaymentError,
    validation::phone_and_otp::{can_be_otp, normalized_phone},
    violation::{Advice, AdviceTopic, Rule, Violation},
};

/// The limit in characters.
const LONGEST_ENTRY_ID: usize = 256;

/// Collects the violations of one input. A field that breaks `Required` is not checked further.
#[derive(Default)]
pub(crate) struct Checks {
    violations: Vec<Violation>,
}

impl Checks {
    /// Adds a violation with a more specific English sentence, for developers.
    pub(crate) fn fail(&mut self, field: &str, rule: Rule, limit: Option<&str>, sentence: &str) {
        self.violations.push(Violation::new(field, rule, limit, sentence));
    }

    /// Adds a violation. Field, rule and limit determine its text in every language.
    pub(crate) fn break_rule(&mut self, field: &str, rule: Rule, limit: Option<&str>) {
        self.violations.push(Violation::of(field, rule, limit));
    }

    /// True if the value is present and can be checked further.
    pub(crate) fn required(&mut self, field: &str, value: &str) -> bool {
        let given = !value.trim().is_empty();
        if !given {
            self.break_rule(field, Rule::Required, None);
        }
        given
    }

    /// Lengths count characters, not bytes.
    pub(crate) fn exact_length(&mut self, field: &str, value: &str, length: usize) -> bool {
        if !self.required(field, value) {
            return false;
        }
        let right = value.chars().count() == length;
        if !right {
            let limit = length.to_string();
            self.break_rule(field, Rule::Length, Some(&limit));
        }
        right
    }

    pub(crate) fn digits_between(&mut self, field: &str, value: &str, least: usize, most: usize) -> bool {
        if !self.required(field, value) {
            return false;
        }
        let length_is_right = (least..=most).contains(&value.chars().count());
        if !length_is_right {
            let limit = format!("{least} to {most}");
            self.break_rule(field, Rule::Length, Some(&limit));
        }
        let only_digits = value.bytes().all(|byte| byte.is_ascii_digit());
        if !only_digits {
            self.break_rule(field, Rule::Digits, None);
        }
        length_is_right && only_digits
    }

    pub(crate) fn currency(&mut self, field: &str, value: &str) {
        if self.exact_length(field, value, 3) && !value.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            self.break_rule(field, Rule::Letters, None);
        }
    }

    pub(crate) fn month(&mut self, field: &str, value: &str) {
        if !self.exact_length(field, value, 2) {
            return;
        }
        let two_digits = value.bytes().all(|byte| byte.is_ascii_digit());
        if !two_digits || !value.parse().is_ok_and(|month: u8| (1..=12).contains(&month)) {
            self.break_rule(field, Rule::Month, Some("01 to 12"));
        }
    }

    pub(crate) fn four_digit_year(&mut self, field: &str, value: i32) {
        if !(1000..=9999).contains(&value) {
            self.break_rule(field, Rule::Length, Some("4"));
        }
    }

    pub(crate) fn minimum(&mut self, field: &str, value: Decimal, least: Decimal) {
        if value < least {
            self.break_rule(field, Rule::Minimum, Some(&least.to_string()));
        }
    }

    /// An amount with more decimals than its currency has: the gateway would round it, or charge an amount that the
    /// payer did not see. Trailing zeros do not count: 100.100 has one decimal.
    pub(crate) fn decimals(&mut self, field: &str, amount: Decimal, most: u32) {
        if amount.normalize().scale() > most {
            self.break_rule(field, Rule::Exact, Some(&most.to_string()));
        }
    }

    /// A card's number, expiry and code. Its holder's name is elsewhere in the interface's table.
    pub(crate) fn card(&mut self, card: &Card, luhn: bool) {
        if self.digits_between("pan", card.pan(), PAN_MIN, PAN_MAX) && luhn && !passes_luhn(card.pan()) {
            self.break_rule("pan", Rule::Luhn, None);
        }
        self.month("expiryMonth", card.expiry_month());
        self.four_digit_year("expiryYear", card.expiry_year());
        self.exact_length("cvc", card.cvc(), 3);
    }

    pub(crate) fn phone(&mut self, field: &str, value: &str) {
        if self.required(field, value) && normalized_phone(value).is_none() {
            self.break_rule(field, Rule::Format, Some("9 to 15"));
        }
    }

    /// A one-time password, normalized.
    pub(crate) fn otp(&mut self, field: &str, value: &str) {
        if self.required(field, value) && !can_be_otp(value) {
            self.break_rule(field, Rule::Format, None);
        }
    }

    /// The id of a journal entry, if given.
    pub(crate) fn entry_id(&mut self, value: Option<&str>) {
        let Some(value) = value else { return };
        if self.required("entry_id", value) && value.chars().count() > LONGEST_ENTRY_ID {
            let limit = LONGEST_ENTRY_ID.to_string();
            self.fail("entry_id", Rule::Length, Some(&limit), "must have at most 256 characters");
        }
    }

    pub(crate) fn http_url(&mut self, field: &str, value: &str) {
        if !self.required(field, value) {
            return;
        }
        let absolute = Url::parse(value).is_ok_and(|url| is_http(&url) && names_host(value, &url));
        if !absolute || has_forgiven_character(value) {
            self.break_rule(field, Rule::HttpUrl, None);
        }
    }

    pub(crate) fn return_uri(&mut self, field: &str, value: &str) {
        if !self.required(field, value) {
            return;
        }
        let allowed =
            Url::parse(value).is_ok_and(|url| has_allowed_scheme(&url) && (!is_http(&url) || names_host(value, &url)));
        if !allowed || has_forgiven_character(value) {
            self.break_rule(field, Rule::ReturnUri, None);
        }
    }

    pub(crate) fn ip_address(&mut self, field: &str, value: &str) {
        if self.required(field, value) && value.parse::<IpAddr>().is_err() {
            self.break_rule(field, Rule::IpAddress, None);
        }
    }

    pub(crate) fn finish(self) -> Result<(), PaymentError> {
        if self.violations.is_empty() { Ok(()) } else { Err(PaymentError::Invalid { violations: self.violations }) }
    }
}

fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// A URL parser repairs `https:shop` and `https:///shop`, but they would be sent unchanged, and the gateway may not
/// repair them.
fn names_host(value: &str, url: &Url) -> bool {
    let host = value.get(url.scheme().len()..).and_then(|rest| rest.strip_prefix("://"));
    host.is_some_and(|host| !host.starts_with('/'))
}

/// A URL parser silently drops or replaces these characters, but they would be sent unchanged.
fn has_forgiven_character(value: &str) -> bool {
    value.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\')
}

// Return URLs: where the payer's browser goes after the gateway's page. A page of the merchant, or an app's deep link.

/// Denylist of schemes by which a browser or an operating system would run code (XSS), read what is on the device, or
/// show a page of its own. An allowlist is not possible, because the deep link of an app may have any scheme; so
/// `intent:` stays allowed, too, by which Android opens an app.
const REFUSED_SCHEMES: [&str; 17] = [
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

/// True if the scheme of a parsed URL is allowed for a page or an app.
pub(crate) fn has_allowed_scheme(url: &Url) -> bool {
    // A parser writes schemes in lower case.
    !REFUSED_SCHEMES.contains(&url.scheme())
}

/// A fragment stays in the browser. The gateway adds its parameters to the address, and may add them to its very end.
pub(crate) fn advice_on_fragment(field: &str, return_url: &str) -> Option<Advice> {
    return_url.contains('#').then(|| Advice {
        field: field.to_owned(),
        topic: AdviceTopic::ReturnUrlFragment,
        text: format!("{field} has a #: the gateway may add its parameters behind it, where servers do not see them"),
    })
}
