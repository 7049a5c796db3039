//! Input validation: all violations of one input are collected, and nothing is written before there are none.

use kassa::{normalized_otp, normalized_phone};
use url::Url;
use zeroize::Zeroizing;

use crate::values::{
    card_number::looks_like_card_number,
    error::ServerError,
    violation::{Rule, Violation},
};

/// Schemes by which a browser or an operating system would run code, read what is on the device, or show a page of its own.
/// Any other may be an app's.
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

/// With marks, spaces and whatever else comes along when it is pasted.
const LONGEST_PHONE: usize = 64;
/// Too short for a card number.
const LONGEST_OTP: usize = 12;

/// The violations of one input.
#[derive(Default)]
pub struct Checks(Vec<Violation>);

impl Checks {
    /// Notes that a field breaks a rule; once, however many of its members do.
    pub fn fail(&mut self, field: &str, rule: Rule, sentence: &str) {
        let violation = Violation::new(field, rule, sentence);
        if !self.0.contains(&violation) {
            self.0.push(violation);
        }
    }

    /// A text that may be empty, of so many characters at most, that holds no card number and no control characters.
    pub fn text(&mut self, field: &str, value: &str, most: usize) {
        if value.chars().count() > most {
            self.fail(field, Rule::Length, &format!("must have at most {most} characters"));
        }
        if value.chars().any(char::is_control) {
            self.fail(field, Rule::Format, "must have no control characters");
        }
        if looks_like_card_number(value) {
            self.fail(field, Rule::CardNumber, "must hold nothing that looks like a card number");
        }
    }

    /// The same for one that must be there.
    pub fn required_text(&mut self, field: &str, value: &str, most: usize) {
        if value.trim().is_empty() {
            self.fail(field, Rule::Required, "must be given");
        } else {
            self.text(field, value, most);
        }
    }

    /// Where a payer returns to: a page, or a deep link of an app.
    pub fn return_url(&mut self, field: &str, value: &str) {
        let before = self.0.len();
        self.required_text(field, value, 2048);
        let is_allowed = |url: &Url| !REFUSED_SCHEMES.contains(&url.scheme());
        let has_spaces = value.contains(|c: char| c.is_whitespace() || c == '\\');
        if self.0.len() == before && (has_spaces || !Url::parse(value).is_ok_and(|url| is_allowed(&url))) {
            self.fail(
                field,
                Rule::Url,
                "must be an absolute address, and none by which code would run or a file be read",
            );
        }
    }

    /// A phone number, however it is written; what comes back is the form in which it is sent.
    pub fn phone(&mut self, field: &str, value: &str) -> String {
        if value.trim().is_empty() {
            self.fail(field, Rule::Required, "must be given");
            return String::new();
        }
        if value.chars().count() > LONGEST_PHONE {
            self.fail(field, Rule::Length, &format!("must have at most {LONGEST_PHONE} characters"));
        }
        let phone = normalized_phone(value);
        // A number of another country may have as many digits as a card's.
        if looks_like_card_number(phone.as_deref().unwrap_or(value)) {
            self.fail(field, Rule::CardNumber, "must hold nothing that looks like a card number");
        }
        if phone.is_none() {
            let sentence = "must be a phone number of 9 to 15 digits, such as 0700 000 001; one of another country begins with its \
                country code";
            self.fail(field, Rule::Format, sentence);
        }
        phone.unwrap_or_default()
    }

    /// A one-time password, as messages show them; what comes back is the form in which it is sent.
    pub fn otp(&mut self, field: &str, value: &str) -> Zeroizing<String> {
        // Zeroization: our copy is wiped.
        let otp = Zeroizing::new(normalized_otp(value));
        self.required_text(field, &otp, LONGEST_OTP);
        if !otp.is_empty() && !otp.bytes().any(|byte| byte.is_ascii_digit()) {
            self.fail(field, Rule::Format, "must have digits");
        }
        otp
    }

    /// Adds what others found, but for fields of which it is known already that they are wrong.
    pub fn add(&mut self, violations: Vec<Violation>) {
        let new: Vec<_> = violations.into_iter().filter(|violation| !self.is_broken(&violation.field)).collect();
        self.0.extend(new);
    }

    /// Whether a field is known to be wrong.
    pub fn is_broken(&self, field: &str) -> bool {
        self.0.iter().any(|violation| violation.field == field)
    }

    /// # Errors
    /// [`ServerError::Invalid`] with all that is wrong.
    pub fn finish(self) -> Result<(), ServerError> {
        if self.0.is_empty() { Ok(()) } else { Err(ServerError::Invalid { violations: self.0 }) }
    }
}
