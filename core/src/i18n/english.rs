//! English. A sentence follows the field's name.

use crate::{
    i18n::Typed,
    rule::{AdviceTopic, Rule},
};

pub(super) fn name(typed: Typed) -> &'static str {
    match typed {
        Typed::CardNumber => "Card number",
        Typed::ExpiryMonth => "Expiry month",
        Typed::ExpiryYear => "Expiry year",
        Typed::Cvc => "CVC",
        Typed::HolderName => "Cardholder name",
        Typed::Phone => "Phone number",
        Typed::WalletPhone => "MegaPay phone number",
        Typed::Otp => "Code from the SMS",
        Typed::Pin => "PIN from the SMS",
    }
}

/// For a payer, who does not know check digits.
pub(super) fn for_payers(typed: Typed, rule: Rule, limit: Option<&str>) -> String {
    match (rule, limit) {
        (Rule::Luhn, _) => advice(AdviceTopic::CardNumberMistyped).to_owned(),
        (Rule::Length, Some(limit)) if typed.has_digits() => format!("must have {limit} digits"),
        (Rule::Format, Some(limit)) if typed == Typed::Phone => {
            format!(
                "must have {limit} digits, such as 0700 000 001; one of another country begins with its country code"
            )
        }
        _ => sentence(Some(typed), rule, limit),
    }
}

pub(super) fn sentence(typed: Option<Typed>, rule: Rule, limit: Option<&str>) -> String {
    let fixed = match (rule, limit) {
        (Rule::Length, Some(limit)) => return length(typed, limit),
        (Rule::Minimum, Some(limit)) => return format!("must be at least {limit}"),
        (Rule::Month, Some(limit)) => return format!("must be a month from {limit}"),
        (Rule::OneOf, Some(limit)) => return format!("must be one of {limit}"),
        (Rule::Format, Some(limit)) if typed.is_some_and(Typed::is_phone) => return phone(limit),
        (Rule::Format, Some(limit)) => return format!("must have the form {limit}"),
        (Rule::State, Some(state)) => return format!("does not fit the state {state}"),
        (Rule::Exact, Some(limit)) => return format!("must have no more decimals than its currency: {limit}"),
        (Rule::Required, _) => "must be given",
        (Rule::Length, None) => "has a wrong length",
        (Rule::Minimum, None) => "is too small",
        (Rule::Digits, _) => "must have digits only",
        (Rule::Letters, _) => "must have letters only, such as KGS",
        (Rule::Month, None) => "must be a month",
        (Rule::HttpUrl, _) => "must be an absolute http or https URL",
        (Rule::ReturnUri, _) => "must be an absolute URI, and not javascript:, data:, file: or the like",
        (Rule::IpAddress, _) => "must be an IPv4 or IPv6 address",
        (Rule::OneOf, None) => "must be one of the values that are known",
        (Rule::Luhn, _) => "has a wrong check digit",
        (Rule::Format, None) => "has a wrong form",
        (Rule::Signature, _) => "must be signed by this key, for this purpose",
        (Rule::Exact, None) => "cannot be carried without rounding",
        (Rule::State, None) => "does not fit the state",
        (Rule::Expired, _) => "must not be in the past: the card has expired",
    };
    fixed.to_owned()
}

fn length(typed: Option<Typed>, limit: &str) -> String {
    match typed {
        Some(Typed::CardNumber | Typed::ExpiryYear) => format!("must have {limit} digits"),
        _ => format!("must be exactly {limit} characters long"),
    }
}

fn phone(limit: &str) -> String {
    format!(
        "must be a phone number: {limit} digits, such as 0700 000 001; \
         one of another country begins with its country code"
    )
}

/// For fields that a payer types.
pub(super) fn advice(topic: AdviceTopic) -> &'static str {
    match topic {
        AdviceTopic::OrderNumberCharacters => {
            "has characters other than A-Z a-z 0-9 - _, which can fail on the way or in storage"
        }
        AdviceTopic::MegaPayMinimum => "is under 5 KGS, so the page will not offer MegaPay",
        AdviceTopic::CardNumberMistyped => "seems to have a mistyped digit",
        AdviceTopic::CardExpired => "is in the past: the card has expired",
        AdviceTopic::PhoneFormat => "is not a number in Kyrgyzstan (996XXXXXXXXX)",
        AdviceTopic::ReturnUrlFragment => {
            "has a #: the gateway may add its parameters behind it, where servers do not see them"
        }
        AdviceTopic::Dialect => "is not set in the dialect, so payments may stay undecided: set it there",
    }
}
