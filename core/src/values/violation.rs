//! Results of input validation: violations, which are errors, and advice on what is merely worth a second look.

use std::fmt;

use strum::Display;

/// One rule that one field of an input breaks. An error carries all of them at once.
///
/// The value itself is never part of it, so it is safe to log.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The field, spelled as the gateway's interface spells it, such as `callbackURL` of a pay-form.
    pub field: String,
    /// The rule that is broken.
    pub rule: Rule,
    /// The limit of the rule where it has one, such as `3` or `13 to 20`.
    pub limit: Option<String>,
    /// One sentence that names the field and the rule, in English.
    pub text: String,
}

impl Violation {
    /// The sentence says what the field must be; the field's name is put before it.
    pub(crate) fn new(field: &str, rule: Rule, limit: Option<&str>, sentence: &str) -> Self {
        Self { field: field.to_owned(), rule, limit: limit.map(str::to_owned), text: format!("{field} {sentence}") }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The rules that an input can break.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display)]
#[strum(serialize_all = "snake_case")]
pub enum Rule {
    /// The field must be given and not be blank.
    Required,
    /// The field must have an exact number of characters (or of digits).
    Length,
    /// The amount must not be under a minimum.
    Minimum,
    /// Only the digits 0 to 9 are allowed.
    Digits,
    /// Only the letters A to Z are allowed.
    Letters,
    /// A month is written `01` to `12`.
    Month,
    /// An absolute `http` or `https` URL is needed.
    HttpUrl,
    /// An absolute URI is needed (a deep link will do), but not one that a browser would run as code or read a file by.
    ReturnUri,
    /// An IPv4 or IPv6 address is needed.
    IpAddress,
    /// The value must be one of a few.
    OneOf,
    /// The check digit of the card number is wrong. Checked only where the configuration asks for it.
    Luhn,
    /// The text does not have the form that is needed.
    Format,
    /// The signature must be one that this key made for this purpose.
    Signature,
    /// The value cannot be carried or converted without rounding: it has too many decimals, or is too large.
    Exact,
}

/// Something the interface only recommends, or that will probably be declined. It blocks nothing.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The field, spelled as the gateway's interface spells it.
    pub field: String,
    /// What the advice is about.
    pub topic: AdviceTopic,
    /// One sentence, in English.
    pub text: String,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What a piece of advice is about.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display)]
#[strum(serialize_all = "snake_case")]
pub enum AdviceTopic {
    /// The order number has characters other than A-Z a-z 0-9 - _, which can fail in transmission, storage or
    /// encryption.
    OrderNumberCharacters,
    /// A pay-form under 5 KGS will not offer MegaPay.
    MegaPayMinimum,
    /// The check digit of the card number is wrong: probably a mistyped digit.
    CardNumberMistyped,
    /// The card's expiry is in the past.
    CardExpired,
    /// The phone number is not written as `996XXXXXXXXX`, the form of the interface's test numbers.
    PhoneFormat,
}
