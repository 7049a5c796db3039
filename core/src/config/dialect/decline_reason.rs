//! Why a payment was declined, as far as the gateway's code and message show. **Never a part of an outcome**: it only selects texts for
//! people.

use strum::{Display, EnumIter, EnumString, IntoEnumIterator, IntoStaticStr};

/// Why no money was taken. [`text_in`](Self::text_in) is the sentence for the payer.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum DeclineReason {
    /// The payer does not have enough money.
    InsufficientFunds,
    /// The amount exceeds a limit of the payer's card, account or wallet.
    LimitExceeded,
    /// The one-time password or PIN was wrong.
    WrongCode,
    /// The one-time password or PIN has expired.
    CodeExpired,
    /// The bank has no account, wallet or card like the payer's.
    UnknownPayer,
    /// The payer's bank declined without a more specific reason.
    DeclinedByBank,
}

/// Words that gateways and banks are known to use. A dialect can name its gateway's own.
const DEFAULTS: [(DeclineReason, &[&str]); 6] = [
    (
        DeclineReason::InsufficientFunds,
        &[
            "insufficient funds",
            "insufficient balance",
            "not enough money",
            "not enough funds",
            "недостаточно средств",
            "недостаточно денег",
            "акча жетишсиз",
            "каражат жетишсиз",
        ],
    ),
    (
        DeclineReason::LimitExceeded,
        &[
            "limit exceeded",
            "exceeds the limit",
            "over the limit",
            "превышен лимит суммы",
            "лимит по карте",
            "лимит ашты",
        ],
    ),
    (
        DeclineReason::WrongCode,
        &[
            "wrong one-time password",
            "wrong otp",
            "wrong pin",
            "wrong code",
            "invalid otp",
            "invalid pin",
            "incorrect code",
            "неверный одноразовый пароль",
            "неверный код",
            "неверный пин",
            "код туура эмес",
            "бир жолку сырсөз туура эмес",
        ],
    ),
    (
        DeclineReason::CodeExpired,
        &[
            "code has expired",
            "password has expired",
            "pin has expired",
            "код истёк",
            "код истек",
            "кода истёк",
            "кода истек",
            "кодунун мөөнөтү",
            "коддун мөөнөтү",
        ],
    ),
    (
        DeclineReason::UnknownPayer,
        &[
            "wallet not found",
            "wallet is not registered",
            "phone is not registered",
            "no such wallet",
            "кошелёк не найден",
        ],
    ),
    (DeclineReason::DeclinedByBank, &["declined", "do not honor", "отклонён", "отклонен", "четке кагылды"]),
];

impl DeclineReason {
    /// The name of its list in a dialect, such as `insufficient_funds`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The codes and words of each reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeclineReasons(Vec<(DeclineReason, Vec<String>)>);

impl Default for DeclineReasons {
    fn default() -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self(DEFAULTS.iter().map(|(reason, texts)| (*reason, owned(texts))).collect())
    }
}

impl DeclineReasons {
    /// The names of all lists.
    pub(super) fn names() -> Vec<&'static str> {
        DeclineReason::iter().map(DeclineReason::as_str).collect()
    }

    /// Replaces the list of a reason.
    pub(super) fn replace(&mut self, name: &str, texts: Vec<String>) {
        for (_, own) in self.0.iter_mut().filter(|(reason, _)| reason.as_str() == name) {
            own.clone_from(&texts);
        }
    }

    /// Each list by its name.
    pub(super) fn lists(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        self.0.iter().map(|(reason, texts)| (reason.as_str(), texts.as_slice()))
    }

    /// The reason whose list has the code; else the first with a text that occurs in the code or the message.
    pub(super) fn find(&self, code: Option<&str>, words: Option<&str>) -> Option<DeclineReason> {
        let of_code = code.and_then(|code| self.first(|text| text == code));
        let words = format!("{} {}", code.unwrap_or_default(), words.unwrap_or_default()).to_lowercase();
        of_code.or_else(|| self.first(|text| !is_code(text) && words.contains(&text.to_lowercase())))
    }

    fn first(&self, fits: impl Fn(&str) -> bool) -> Option<DeclineReason> {
        self.0.iter().find(|(_, texts)| texts.iter().any(|text| fits(text))).map(|(reason, _)| *reason)
    }
}

/// A number within the message, such as an amount, is not a code.
fn is_code(text: &str) -> bool {
    text.chars().all(|sign| sign.is_ascii_digit())
}
