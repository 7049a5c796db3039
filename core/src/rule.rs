//! The rules that an input can break, and the topics of advice.

use strum::Display;

/// The rules that an input can break.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(test, derive(strum::EnumIter))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
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
    /// An absolute URI is needed (a deep link will do), but not one by which a browser or a system would run code or read
    /// a file.
    ReturnUri,
    /// An IPv4 or IPv6 address is needed.
    IpAddress,
    /// The value must be one of a few.
    OneOf,
    /// The check digit of the card number is wrong. Checked only if the configuration requires it.
    Luhn,
    /// The text does not have the required form.
    Format,
    /// The signature must have been made with this key for this purpose.
    Signature,
    /// The value cannot be represented or converted without rounding: it has too many decimals, or is too large.
    Exact,
    /// The card's expiry is in the past. Checked only in a [`CardInput`](crate::CardInput); of a payment it is advice.
    Expired,
    /// The action does not fit the state of the [`Checkout`](crate::Checkout).
    State,
}

/// The topics of advice.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(test, derive(strum::EnumIter))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
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
    /// The phone number is not one of Kyrgyzstan, `996XXXXXXXXX`, as the interface's test numbers are.
    PhoneFormat,
    /// The return URL has a `#`: the gateway may add its parameters after it, where servers do not see them.
    ReturnUrlFragment,
    /// The dialect leaves something open, or does not find a value in a response.
    Dialect,
}
