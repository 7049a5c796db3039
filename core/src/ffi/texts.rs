//! Parsing and printing of values, and the texts of a payment screen, as functions: in the generated code, records and enums cannot have
//! constructors in every language.

use rust_decimal::Decimal;

use crate::{
    AdviceTopic, Callback, CardBrand, CheckoutLabels, CheckoutState, CheckoutTexts, Elqr, ElqrKind, Language,
    LocalDateTime, PaymentEntry, PaymentError, PaymentKind, PaymentRef, PaymentStatus, Provider, Proxy, ReturnRedirect,
    Rule,
};

/// The default configuration of a gateway, to be changed field by field.
#[uniffi::export]
fn default_config(base_url: String, credentials: std::sync::Arc<crate::Credentials>) -> crate::GatewayConfig {
    crate::GatewayConfig::new(base_url, std::sync::Arc::unwrap_or_clone(credentials))
}

/// The configuration from environment variables.
#[uniffi::export]
fn config_from_environment() -> Result<crate::GatewayConfig, PaymentError> {
    crate::GatewayConfig::from_environment()
}

/// The names of all known dialects.
#[uniffi::export]
fn dialect_names() -> Vec<String> {
    crate::Dialect::names()
}

/// A query at once, then one every 10 s, for 20 minutes.
#[uniffi::export]
fn default_poll_policy() -> crate::PollPolicy {
    crate::PollPolicy::default()
}

/// A new order number that no other call will ever return, within the recommended characters.
#[uniffi::export]
fn new_order_number() -> String {
    crate::new_order_number()
}

/// The phone number in the form that is sent to the gateway; absent if the text is not a phone number.
#[uniffi::export]
fn normalized_phone(typed: &str) -> Option<String> {
    crate::normalized_phone(typed)
}

/// An amount in som as a whole number of tyiyn. It refuses to round.
#[uniffi::export]
fn som_to_tyiyn(som: Decimal) -> Result<i64, PaymentError> {
    crate::som_to_tyiyn(som)
}

/// A whole number of tyiyn in som.
#[uniffi::export]
fn tyiyn_to_som(tyiyn: i64) -> Decimal {
    crate::tyiyn_to_som(tyiyn)
}

/// Reads the body of a callback.
#[uniffi::export]
fn parse_callback(body: &str) -> Result<Callback, PaymentError> {
    Callback::parse(body)
}

/// Reads the URL that the payer came back to.
#[uniffi::export]
fn parse_return_redirect(url: &str) -> Result<ReturnRedirect, PaymentError> {
    ReturnRedirect::parse(url)
}

/// Reads the text of an ELQR code.
#[uniffi::export]
fn parse_elqr(text: &str) -> Result<Elqr, PaymentError> {
    Elqr::parse(text)
}

/// Reads a local date and time; absent if the text has another form.
#[uniffi::export]
fn parse_local_date_time(text: &str) -> Option<LocalDateTime> {
    LocalDateTime::parse(text)
}

/// Reads the stored text of a payment reference.
#[uniffi::export]
fn parse_payment_ref(text: &str) -> Result<PaymentRef, PaymentError> {
    text.parse()
}

/// Reads the stored text of an entry.
#[uniffi::export]
fn parse_payment_entry(text: &str) -> Result<PaymentEntry, PaymentError> {
    text.parse()
}

/// The language of a tag such as `ru-KG`; any other than Russian and Kyrgyz is English.
#[uniffi::export]
fn language_from_tag(tag: &str) -> Language {
    Language::from_tag(tag)
}

/// The provider by its name on the wire.
#[uniffi::export]
fn provider_from_name(name: &str) -> Provider {
    Provider::from_name(name)
}

macro_rules! export_text {
    ($($value:ty),*) => {
        $(
            #[uniffi::export]
            impl $value {
                /// The value as text, the same in every language.
                fn as_text(&self) -> String {
                    self.to_string()
                }
            }
        )*
    };
}

export_text!(LocalDateTime, Provider, PaymentStatus, PaymentKind, Rule, AdviceTopic, CardBrand, Language, ElqrKind);

#[uniffi::export]
impl Proxy {
    /// The kind of proxy, without a URL.
    fn as_text(&self) -> String {
        format!("{self:?}")
    }
}

// The texts of a payment screen, as functions: records cannot have constructors in every language.

/// The texts of a payment screen for a state.
#[uniffi::export]
fn checkout_texts(state: CheckoutState, may_have_paid: bool, language: Language) -> CheckoutTexts {
    CheckoutTexts::of(&state, may_have_paid, language)
}

/// The labels of a payment screen that are the same in every state.
#[uniffi::export]
fn checkout_labels(language: Language) -> CheckoutLabels {
    CheckoutLabels::of(language)
}

/// An amount with its currency, as people write it. It fails for an invalid amount.
#[uniffi::export]
fn amount_text(amount: Decimal, currency: &str, language: Language) -> Result<String, PaymentError> {
    Ok(crate::amount_text(amount, currency, language))
}

/// The button that pays, with the amount. It fails for an invalid amount.
#[uniffi::export]
fn pay_text(amount: Decimal, currency: &str, language: Language) -> Result<String, PaymentError> {
    Ok(crate::pay_text(amount, currency, language))
}

/// The text about the number that receives the code; absent if the typed text is not a phone number.
#[uniffi::export]
fn phone_hint(typed: &str, language: Language) -> Option<String> {
    crate::phone_hint(typed, language)
}
