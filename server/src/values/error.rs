//! Errors of the server's interface, by what the caller can do next. None of them says that a payment
//! failed: its state has the outcome.

use std::fmt;

use kassa::{normalized_otp, normalized_phone};
use strum::{Display, IntoStaticStr};
use url::Url;
use zeroize::Zeroizing;

use super::{CheckoutState, Cursor, PaymentState, card_number::looks_like_card_number};

/// Why the server did not do what was requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The input breaks rules. **Nothing was written and nothing sent.** It contains all violations.
    #[error("Invalid input, nothing was done: {}.", sentences(violations))]
    #[non_exhaustive]
    Invalid {
        /// Every rule that is broken.
        violations: Vec<Violation>,
    },
    /// It does not exist, or it is not the caller's.
    #[error("There is no such {what}.")]
    #[non_exhaustive]
    NotFound {
        /// The kind of the missing thing.
        what: &'static str,
    },
    /// The reference has been used for a checkout that requests something else.
    #[error("This reference was used for another checkout: {} not what it was.", differing(differs))]
    #[non_exhaustive]
    ReferenceUsed {
        /// The fields of the request that differ from the stored checkout, such as `amount`.
        differs: Vec<&'static str>,
    },
    /// The idempotency key has been used with another body.
    #[error("This idempotency key was used with another body.")]
    KeyReused,
    /// The checkout is not open, so that nothing can be begun or changed.
    #[error("The checkout is {state}.")]
    #[non_exhaustive]
    NotOpen {
        /// The current state.
        state: CheckoutState,
    },
    /// Another payment of the checkout may still take money: wait for its end.
    #[error("A payment of this checkout is {state}.")]
    #[non_exhaustive]
    UnderWay {
        /// Its current state.
        state: PaymentState,
    },
    /// The payment awaits no one-time password.
    #[error("The payment awaits no one-time password: it is {state}.")]
    #[non_exhaustive]
    NotAwaited {
        /// Its current state.
        state: PaymentState,
    },
    /// There is nothing for a person to decide: it has ended, or is being sent.
    #[error("There is nothing to decide of the payment: it is {state}.")]
    #[non_exhaustive]
    NotInDoubt {
        /// Its current state.
        state: PaymentState,
    },
    /// The database was restored from a backup, and no longer contains the event of this cursor.
    #[error(
        "The event of this cursor is not in the database, which was restored from a backup. Read on after {resume}; events that \
         you have seen come again under the same identifiers."
    )]
    #[non_exhaustive]
    HistoryGone {
        /// The cursor to continue from: before everything that only the restored history has.
        resume: Cursor,
    },
    /// Too many wrong one-time passwords were given, or too many cards or payments were tried for one checkout.
    #[error("No attempts are left.")]
    NoAttemptsLeft,
    /// The database cannot be used, or the server is stopping. The request may or may not have been
    /// executed: repeat it with the same key.
    #[error("Not available: {detail}. Try again with the same key.")]
    #[non_exhaustive]
    Unavailable {
        /// Why.
        detail: String,
    },
}

impl ServerError {
    /// The error for one field.
    pub fn invalid(violation: Violation) -> Self {
        Self::Invalid { violations: vec![violation] }
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        Self::Unavailable { detail: detail.into() }
    }
}

/// Fields as the subject of a sentence.
pub(crate) fn differing(fields: &[&str]) -> String {
    let verb = if fields.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", fields.join(", "))
}

fn sentences(violations: &[Violation]) -> String {
    violations.iter().map(|violation| violation.text.as_str()).collect::<Vec<_>>().join("; ")
}

// Results of input validation: which field breaks which rule. A value itself is never part of it.

/// The rules that an input can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// It must be given and not be blank.
    Required,
    /// It must not have more characters, or more members, than the limit.
    Length,
    /// It must not be under a minimum, or over a maximum.
    Range,
    /// An amount must not have more decimals than its currency has, and a mobile bank takes whole som.
    Exact,
    /// It must be one of a few.
    OneOf,
    /// It does not have the required form.
    Format,
    /// It must be an absolute address, without a scheme that a browser would run as code.
    Url,
    /// The field or parameter is unknown.
    Unknown,
    /// It looks like a card number, which must not be stored (PCI DSS).
    CardNumber,
}

/// One rule that one field breaks. An error carries all of them at once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The field.
    pub field: String,
    /// The rule.
    pub rule: Rule,
    /// One sentence that names the field and what it must be.
    pub text: String,
}

impl Violation {
    /// The violation for a member of an object: its field and sentence also name the object.
    pub(crate) fn inside(self, name: &str) -> Self {
        Self { field: format!("{name}.{}", self.field), text: format!("{name}.{}", self.text), ..self }
    }

    /// A field that breaks a rule. The sentence says what it must be; the field's name is put before it.
    pub fn new(field: &str, rule: Rule, sentence: &str) -> Self {
        Self { field: field.to_owned(), rule, text: format!("{field} {sentence}") }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

// Input validation: all violations of one input are collected, and nothing is written before there are none.

/// Schemes by which a browser or an operating system would run code, read what is on the device, or show a page of its own.
/// Any other scheme may be an app's.
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

/// The longest phone, with the separators and other characters of a pasted one.
const LONGEST_PHONE: usize = 64;
/// The longest one-time password: too short for a card number.
pub(crate) const LONGEST_OTP: usize = 12;
pub(crate) const LONGEST_URL: usize = 2048;

/// The violations of one input.
#[derive(Default)]
pub struct Checks(Vec<Violation>);

impl Checks {
    /// Records that a field breaks a rule; once, for any number of its members.
    pub fn fail(&mut self, field: &str, rule: Rule, sentence: &str) {
        let violation = Violation::new(field, rule, sentence);
        if !self.0.contains(&violation) {
            self.0.push(violation);
        }
    }

    /// Checks a text that may be empty, of at most `most` characters, without card numbers and control characters.
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

    /// Checks a required text.
    pub fn required_text(&mut self, field: &str, value: &str, most: usize) {
        if value.trim().is_empty() {
            self.fail(field, Rule::Required, "must be given");
        } else {
            self.text(field, value, most);
        }
    }

    /// Checks the address to which a payer returns: a page, or a deep link of an app.
    pub fn return_url(&mut self, field: &str, value: &str) {
        let before = self.0.len();
        self.required_text(field, value, LONGEST_URL);
        let is_allowed = |url: &Url| !REFUSED_SCHEMES.contains(&url.scheme());
        let has_spaces = value.contains(|c: char| c.is_whitespace() || c == '\\');
        if self.0.len() == before && (has_spaces || !Url::parse(value).is_ok_and(|url| is_allowed(&url))) {
            self.fail(field, Rule::Url, "must be an absolute address, without a scheme that runs code or reads a file");
        }
    }

    /// Checks a phone number in any notation. Returns the form in which it is sent.
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

    /// Checks a one-time password, as messages show it. Returns the form in which it is sent.
    pub fn otp(&mut self, field: &str, value: &str) -> Zeroizing<String> {
        // Zeroization: our copy is wiped.
        let otp = Zeroizing::new(normalized_otp(value));
        self.required_text(field, &otp, LONGEST_OTP);
        if !otp.is_empty() && !otp.bytes().any(|byte| byte.is_ascii_digit()) {
            self.fail(field, Rule::Format, "must have digits");
        }
        otp
    }

    /// Adds violations, except for fields that are already known to be wrong.
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
