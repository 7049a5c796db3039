//! Card payment, with the payer's 3-D Secure confirmation (3DS) if the card takes part.

use std::sync::Arc;

use http::Method;
use rust_decimal::Decimal;
use serde::Serialize;
use time::{Date, OffsetDateTime};

use crate::{
    card::{Card, is_past, passes_luhn},
    config::{
        dialect::Dialect,
        endpoint::{Endpoint, ResponseField},
    },
    currency,
    error::PaymentError,
    money::ExactNumber,
    operations::{CheckSettings, Kind, Operation, RequestParts, WireSettings},
    payment_entry::PaymentEntry,
    payment_ref::{PaymentRef, advice_on_characters},
    response::{
        page::payer_page,
        reader::{NotAnAnswer, ResponseReader, Sent},
        redact::Redactor,
    },
    validation::{Checks, advice_on_fragment},
    violation::{Advice, AdviceTopic},
};

/// A request for a card payment.
///
/// Sending card data puts the merchant under PCI DSS; see [`Card`].
///
/// ```
/// use kassa::{Card, CardPayment, Decimal};
///
/// let card = Card::new("4111 1111 1111 1111", "08", 2031, "123", "Aibek Usenov");
/// let amount = Decimal::new(10010, 2);
/// let payment = CardPayment::new("order-1", amount, "KGS", card, "https://shop.example.kg/callbacks")
///     .with_description("Two tickets")
///     .with_language("ky")
///     .with_ip("203.0.113.7")
///     .with_return_url("myshop://paid");
/// assert_eq!(payment.amount.to_string(), "100.10");
/// ```
///
/// Source: the card payment request (`docs/interface.md#card-payment-request`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CardPayment {
    /// The card. Objects come first in records that cross the language boundary (`docs/adr/0002-runtime-and-boundary.md`).
    pub(crate) card: Arc<Card>,
    /// The merchant's unique number of the payment, preferably of `A-Z a-z 0-9 - _` only;
    /// [`new_order_number`](crate::new_order_number) makes one.
    pub order_number: String,
    /// What is paid for.
    pub description: String,
    /// The amount in units of the currency, at least 1, with no more decimals than the currency has (ISO 4217): two for
    /// KGS. Sent digit for digit.
    pub amount: Decimal,
    /// The currency's three letters, such as `KGS`.
    pub currency: String,
    /// The payer's language, two letters, such as `ky`.
    pub language: String,
    /// Where the payer's browser goes after success: a web page or an app's deep link.
    pub return_url: Option<String>,
    /// Where the gateway sends its callbacks (webhooks): an absolute http or https URL.
    pub callback_url: String,
    /// The payer's IPv4 or IPv6 address.
    pub ip: String,
    /// The payer's e-mail.
    pub email: Option<String>,
}

impl CardPayment {
    /// A request for a payment. **Description, language and IP address are also required**: without one of them the
    /// call fails with [`PaymentError::Invalid`], which names it, and nothing is sent.
    pub fn new(
        order_number: impl Into<String>,
        amount: Decimal,
        currency: impl Into<String>,
        card: Card,
        callback_url: impl Into<String>,
    ) -> Self {
        Self {
            order_number: order_number.into(),
            description: String::new(),
            amount,
            currency: currency.into(),
            card: card.into(),
            language: String::new(),
            return_url: None,
            callback_url: callback_url.into(),
            ip: String::new(),
            email: None,
        }
    }

    /// Sets the description of what is paid for. Required.
    #[must_use]
    pub fn with_description(self, description: impl Into<String>) -> Self {
        Self { description: description.into(), ..self }
    }

    /// Sets the payer's language, two letters, such as `ky`. Required.
    #[must_use]
    pub fn with_language(self, language: impl Into<String>) -> Self {
        Self { language: language.into(), ..self }
    }

    /// Sets the payer's IPv4 or IPv6 address. Required.
    #[must_use]
    pub fn with_ip(self, ip: impl Into<String>) -> Self {
        Self { ip: ip.into(), ..self }
    }

    /// Sets the URL that the payer returns to after success: a web page or an app's deep link.
    #[must_use]
    pub fn with_return_url(self, return_url: impl Into<String>) -> Self {
        Self { return_url: Some(return_url.into()), ..self }
    }

    /// Sets the payer's e-mail.
    #[must_use]
    pub fn with_email(self, email: impl Into<String>) -> Self {
        Self { email: Some(email.into()), ..self }
    }

    /// Replaces the card.
    #[must_use]
    pub fn with_card(self, card: Card) -> Self {
        Self { card: card.into(), ..self }
    }

    /// The card.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// The payment reference. Store it **before** sending, so that you can query the payment whatever happens.
    pub fn payment_ref(&self) -> PaymentRef {
        PaymentRef::card(&self.order_number, self.amount, &self.currency)
    }

    /// Advice about the request, to review before sending. It blocks nothing.
    pub fn advice(&self) -> Vec<Advice> {
        self.advice_on(OffsetDateTime::now_utc().date())
    }

    fn advice_on(&self, today: Date) -> Vec<Advice> {
        let mistyped = !passes_luhn(self.card.pan());
        let mistyped = mistyped.then(|| Advice {
            field: "pan".to_owned(),
            topic: AdviceTopic::CardNumberMistyped,
            text: "pan has a wrong check digit, so a digit is probably mistyped".to_owned(),
        });
        let expired = has_expired(&self.card, today).then(|| Advice {
            field: "expiryYear".to_owned(),
            topic: AdviceTopic::CardExpired,
            text: "expiryMonth and expiryYear are in the past".to_owned(),
        });
        let fragment = self.return_url.as_deref().and_then(|url| advice_on_fragment("returnUrl", url));
        [advice_on_characters(&self.order_number), mistyped, expired, fragment].into_iter().flatten().collect()
    }
}

fn has_expired(card: &Card, today: Date) -> bool {
    let month = card.expiry_month().parse().ok().filter(|month: &u8| (1..=12).contains(month));
    month.is_some_and(|month| is_past((card.expiry_year(), month), (today.year(), today.month().into())))
}

/// The gateway accepted a card payment. **It is not paid yet**: follow `next_step`, then watch `payment`.
///
/// Source: the card payment response (`docs/interface.md#card-payment-response`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CardPaymentCreated {
    /// The payment reference. Store it in place of the one made before sending: it may hold more numbers.
    pub payment: PaymentRef,
    /// The next step.
    pub next_step: NextStep,
    /// The gateway's code, `110`.
    pub code: Option<String>,
    /// The amount as the gateway reports it.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serialized::optional_decimal"))]
    pub amount: Option<Decimal>,
    /// The currency as the gateway reports it.
    pub currency: Option<String>,
    /// The whole response, with secrets masked.
    pub raw: String,
}

impl CardPaymentCreated {
    /// The entry to store in place of the reference: it also holds the confirmation page, if any.
    pub fn entry(&self) -> PaymentEntry {
        let entry = PaymentEntry::new(self.payment.clone());
        match &self.next_step {
            NextStep::OpenConfirmation { url } => entry.with_page_url(url),
            NextStep::CheckStatus { .. } => entry,
        }
    }

    /// A minimal answer, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn new(payment: PaymentRef, next_step: NextStep) -> Self {
        Self { payment, next_step, code: None, amount: None, currency: None, raw: String::new() }
    }
}

/// The next step after a card payment was accepted.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NextStep {
    /// Open this page for the payer, who confirms the payment there (3DS). Always https, or loopback.
    #[non_exhaustive]
    OpenConfirmation {
        /// The page to open.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::response::page::read_payer_page"))]
        url: String,
    },
    /// Nothing to confirm. Query the status: only a status query decides whether the payment is charged.
    #[non_exhaustive]
    CheckStatus {
        /// The status word in the create response, such as `Success`.
        status: Option<String>,
    },
}

impl NextStep {
    /// A page to open, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn open_confirmation(url: impl Into<String>) -> Self {
        Self::OpenConfirmation { url: url.into() }
    }

    /// Nothing to confirm, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn check_status(status: Option<String>) -> Self {
        Self::CheckStatus { status }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    order_number: &'a str,
    description: &'a str,
    amount: ExactNumber,
    currency: &'a str,
    pan: &'a str,
    expiry_month: &'a str,
    expiry_year: i32,
    cvc: &'a str,
    language: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_url: Option<&'a str>,
    callback_url: &'a str,
    ip: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'a str>,
}

pub(crate) static ENDPOINT: Endpoint = Endpoint {
    name: "card_payment",
    method: Method::POST,
    path: "api/v1.1.0/payment",
    response_fields: &[
        ResponseField::Code,
        ResponseField::Reason,
        ResponseField::Status,
        ResponseField::OrderNumber,
        ResponseField::Amount,
        ResponseField::Currency,
        ResponseField::GatewayNumber,
        ResponseField::ConfirmationUrl,
    ],
    success_codes: &["110"],
};

impl Operation for CardPayment {
    type Answer = CardPaymentCreated;

    const ENDPOINT: &'static Endpoint = &ENDPOINT;

    const KIND: Kind<Self> = Kind::Pays(Self::payment_ref);

    fn check(&self, checks: &mut Checks, settings: &CheckSettings) {
        checks.required("orderNumber", &self.order_number);
        checks.required("description", &self.description);
        checks.minimum("amount", self.amount, Decimal::ONE);
        if let Some(decimals) = currency::decimals(&self.currency) {
            checks.decimals("amount", self.amount, decimals);
        }
        checks.currency("currency", &self.currency);
        checks.card(&self.card, settings.luhn);
        checks.exact_length("language", &self.language, 2);
        checks.required("name", self.card.holder_name());
        if let Some(return_url) = &self.return_url {
            checks.return_uri("returnUrl", return_url);
        }
        checks.http_url("callbackUrl", &self.callback_url);
        checks.ip_address("ip", &self.ip);
    }

    fn log_name(&self) -> Option<Arc<str>> {
        Some(self.order_number.as_str().into())
    }

    fn parts(&self, _settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        RequestParts::json(&Body {
            order_number: &self.order_number,
            description: &self.description,
            amount: ExactNumber(self.amount),
            currency: &self.currency,
            pan: self.card.pan(),
            expiry_month: self.card.expiry_month(),
            expiry_year: self.card.expiry_year(),
            cvc: self.card.cvc(),
            language: &self.language,
            name: self.card.holder_name(),
            return_url: self.return_url.as_deref(),
            callback_url: &self.callback_url,
            ip: &self.ip,
            email: self.email.as_deref(),
        })
    }

    fn hide_secrets(&self, redactor: &mut Redactor) {
        let (pan, cvc) = self.card.secrets();
        redactor.hide_pan(pan);
        redactor.hide_value(cvc);
    }

    fn sent(&self, _dialect: &Dialect) -> Sent<'_> {
        let order_numbers = vec![self.order_number.as_str().into()];
        Sent { order_numbers, amounts: vec![self.amount], currency: Some(&self.currency) }
    }
    fn journal_entry(answer: &CardPaymentCreated) -> Option<(PaymentEntry, Option<&str>)> {
        Some((answer.entry(), answer.code.as_deref()))
    }

    fn payment(answer: &mut CardPaymentCreated) -> Option<&mut PaymentRef> {
        Some(&mut answer.payment)
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<CardPaymentCreated, NotAnAnswer> {
        response.accepted()?;
        let next_step = match response.find(ResponseField::ConfirmationUrl) {
            Some(text) => NextStep::OpenConfirmation { url: payer_page("ConfirmationUrl", &text, response)?.into() },
            None if response.is_of_another_kind(ResponseField::ConfirmationUrl) => {
                return Err(NotAnAnswer::because("the response's ConfirmationUrl is not a text"));
            }
            None => NextStep::CheckStatus { status: response.shown(ResponseField::Status) },
        };
        Ok(CardPaymentCreated {
            payment: self.enrich(self.payment_ref(), response),
            next_step,
            code: response.code(),
            amount: response.amount(),
            currency: response.shown(ResponseField::Currency),
            raw: response.raw(),
        })
    }

    /// The gateway's own number: the `token` of the confirmation page, or else the one that the dialect finds.
    fn enrich(&self, payment: PaymentRef, response: &ResponseReader<'_>) -> PaymentRef {
        let token = response.find(ResponseField::ConfirmationUrl).and_then(|text| {
            let page = payer_page("ConfirmationUrl", &text, response).ok()?;
            let token = page.query_pairs().find(|(name, _)| name == "token").map(|(_, token)| token.into_owned());
            token.filter(|token| !token.is_empty() && response.is_clean(token))
        });
        match token.or_else(|| response.identifier(ResponseField::GatewayNumber)) {
            Some(number) => payment.with_gateway_number(number),
            None => payment,
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    fn topics(pan: &str, month: &str, year: i32, order_number: &str) -> Vec<AdviceTopic> {
        let payment = CardPayment {
            order_number: order_number.into(),
            description: "tea".into(),
            amount: Decimal::ONE,
            currency: "KGS".into(),
            card: Arc::new(Card::new(pan, month, year, "123", "Aibek Usenov")),
            language: "ky".into(),
            return_url: None,
            callback_url: "https://shop.example.kg/cb".into(),
            ip: "203.0.113.7".into(),
            email: None,
        };
        payment.advice_on(date!(2026 - 11 - 20)).into_iter().map(|advice| advice.topic).collect()
    }

    #[test]
    fn advice_names_what_is_worth_a_second_look() {
        assert_eq!(topics("4111111111111111", "11", 2026, "order-1_A"), []);
        assert_eq!(topics("4111111111111112", "11", 2026, "1"), [AdviceTopic::CardNumberMistyped]);
        assert_eq!(topics("4111111111111111", "10", 2026, "1"), [AdviceTopic::CardExpired]);
        assert_eq!(topics("4111111111111111", "12", 2025, "1"), [AdviceTopic::CardExpired]);
        assert_eq!(topics("4111111111111111", "01", 2027, "№ 1"), [AdviceTopic::OrderNumberCharacters]);
    }
}
