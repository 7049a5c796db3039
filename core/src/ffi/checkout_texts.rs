//! What a payment screen says, as functions: records cannot have constructors in every language.

use rust_decimal::Decimal;

use crate::{CheckoutLabels, CheckoutState, CheckoutTexts, Language, PaymentError};

/// What a payment screen says of a state.
#[uniffi::export]
fn checkout_texts(state: CheckoutState, may_have_paid: bool, language: Language) -> CheckoutTexts {
    CheckoutTexts::of(&state, may_have_paid, language)
}

/// The words of a payment screen that are the same in every state.
#[uniffi::export]
fn checkout_labels(language: Language) -> CheckoutLabels {
    CheckoutLabels::of(language)
}

/// An amount with its currency, as people write it. It fails for a number of the caller's that is none here.
#[uniffi::export]
fn amount_text(amount: Decimal, currency: &str, language: Language) -> Result<String, PaymentError> {
    Ok(crate::amount_text(amount, currency, language))
}

/// The button that pays, with the amount. It fails for a number of the caller's that is none here.
#[uniffi::export]
fn pay_text(amount: Decimal, currency: &str, language: Language) -> Result<String, PaymentError> {
    Ok(crate::pay_text(amount, currency, language))
}

/// To which number the code of the mobile bank goes; nothing where what was typed is none.
#[uniffi::export]
fn phone_hint(typed: &str, language: Language) -> Option<String> {
    crate::phone_hint(typed, language)
}
