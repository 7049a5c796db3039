//! Pay-form: a payment page that the gateway hosts (hosted checkout).

use std::sync::Arc;

use http::Method;
use rust_decimal::Decimal;
use serde::Serialize;

use crate::{
    config::{
        dialect::Dialect,
        endpoint::{Endpoint, ResponseField},
    },
    currency::{KGS, KGS_DECIMALS},
    error::PaymentError,
    money::ExactNumber,
    operations::{CheckSettings, Kind, Operation, RequestParts, WireSettings},
    payment_entry::PaymentEntry,
    payment_ref::PaymentRef,
    response::{
        page::payer_page,
        reader::{NotAnAnswer, ResponseReader, Sent},
    },
    validation::{Checks, advice_on_fragment},
    violation::{Advice, AdviceTopic},
};

/// The least that MegaPay takes, in KGS (`docs/interface.md#limits`).
pub(crate) const MEGA_PAY_MINIMUM: Decimal = Decimal::from_parts(5, 0, 0, false, 0);

/// A request for a pay-form: the gateway's own page on which the payer chooses a method (card, MBank or MegaPay).
///
/// The answer carries no identifier, so **put a reference of your own into the query of `callback_url` and
/// `return_url`** (such as `?ref=cart-17`), store [`payment_ref`](Self::payment_ref) under it, and verify the callback and
/// the return with that. Their order number is only claimed: how to rule out that it is a QR payment's, the dialect says
/// (`qr_numbers`).
///
/// ```
/// use kassa::PayForm;
///
/// let form = PayForm::new(390.into(), "Two tickets", "https://shop.example.kg/callbacks?ref=cart-17")
///     .with_return_url("https://shop.example.kg/paid?ref=cart-17");
/// assert_eq!(form.service_name, "Two tickets");
/// ```
///
/// Source: the pay-form request (`docs/interface.md#pay-form-request`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PayForm {
    /// The amount in KGS, at least 1 and with at most two decimals; under 5 the page will not offer MegaPay. Sent digit
    /// for digit.
    pub amount: Decimal,
    /// What is paid for.
    pub service_name: String,
    /// Where the gateway sends its callbacks (webhooks): an absolute http or https URL.
    pub callback_url: String,
    /// Where the payer's browser goes after success: a page, or a deep link of an app.
    pub return_url: String,
    /// The name of its entry in the gateway's [`Journal`](crate::Journal), one of its own for each pay-form; one is made
    /// unless it is given. The gateway never sees it.
    #[cfg_attr(feature = "uniffi", uniffi(default = None))]
    pub entry_id: Option<String>,
}

impl PayForm {
    /// A request for a page, with the amount in KGS. **The return URL is needed as well**, and has a name of its own so
    /// that it cannot be mixed up with the callback URL: without it the request is [`PaymentError::Invalid`], naming it,
    /// and nothing is sent.
    pub fn new(amount: Decimal, service_name: impl Into<String>, callback_url: impl Into<String>) -> Self {
        let (service_name, callback_url) = (service_name.into(), callback_url.into());
        Self { amount, service_name, callback_url, return_url: String::new(), entry_id: None }
    }

    /// The same with where the payer's browser goes after success: a page, or a deep link of an app. Needed.
    #[must_use]
    pub fn with_return_url(self, return_url: impl Into<String>) -> Self {
        Self { return_url: return_url.into(), ..self }
    }

    /// The same with a name for its entry in the gateway's journal: where the callback's address has to say which payment
    /// it is about. [`new_order_number`](crate::new_order_number) makes one.
    #[must_use]
    pub fn with_entry_id(self, entry_id: impl Into<String>) -> Self {
        Self { entry_id: Some(entry_id.into()), ..self }
    }

    /// What to store before sending: the requested amount. The payer chooses how to pay, so the payment has no number until
    /// a callback or a return claims one.
    pub fn payment_ref(&self) -> PaymentRef {
        PaymentRef { entry_id: self.entry_id.clone(), ..PaymentRef::pay_form(self.amount) }
    }

    /// What is worth a second look before sending. It blocks nothing.
    pub fn advice(&self) -> Vec<Advice> {
        let too_little = self.amount < MEGA_PAY_MINIMUM;
        let too_little = too_little.then(|| Advice {
            field: "amount".to_owned(),
            topic: AdviceTopic::MegaPayMinimum,
            text: "amount is under 5 KGS, so the page will not offer MegaPay".to_owned(),
        });
        [too_little, advice_on_fragment("returnURL", &self.return_url)].into_iter().flatten().collect()
    }
}

/// A pay-form (the gateway's own payment page), ready for the payer.
///
/// Source: the pay-form response (`docs/interface.md#pay-form-response`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PayFormCreated {
    /// What to verify its callback and return with. Store it.
    pub payment: PaymentRef,
    /// The page to open in a new browser window. Always https, or loopback.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::response::page::read_payer_page"))]
    pub pay_form_url: String,
    /// The whole response, with secrets masked.
    pub raw: String,
}

impl PayFormCreated {
    /// What to store in place of the reference: it also holds the page.
    pub fn entry(&self) -> PaymentEntry {
        PaymentEntry::new(self.payment.clone()).with_page_url(&self.pay_form_url)
    }

    /// An answer with nothing but this, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn new(payment: PaymentRef, pay_form_url: impl Into<String>) -> Self {
        Self { payment, pay_form_url: pay_form_url.into(), raw: String::new() }
    }
}

#[derive(Serialize)]
struct Body<'a> {
    amount: ExactNumber,
    #[serde(rename = "serviceName")]
    service_name: &'a str,
    #[serde(rename = "callbackURL")]
    callback_url: &'a str,
    #[serde(rename = "returnURL")]
    return_url: &'a str,
}

pub(crate) static ENDPOINT: Endpoint = Endpoint {
    name: "pay_form",
    method: Method::POST,
    path: "api/v1.1.0/pay-form",
    response_fields: &[
        ResponseField::Code,
        ResponseField::Reason,
        ResponseField::Amount,
        ResponseField::Currency,
        ResponseField::PayFormUrl,
    ],
    success_codes: &[],
};

impl Operation for PayForm {
    type Answer = PayFormCreated;

    const ENDPOINT: &'static Endpoint = &ENDPOINT;

    const KIND: Kind<Self> = Kind::Creates;

    fn check(&self, checks: &mut Checks, _settings: &CheckSettings) {
        checks.minimum("amount", self.amount, Decimal::ONE);
        checks.decimals("amount", self.amount, KGS_DECIMALS);
        checks.required("serviceName", &self.service_name);
        checks.http_url("callbackURL", &self.callback_url);
        checks.return_uri("returnURL", &self.return_url);
        checks.entry_id(self.entry_id.as_deref());
    }

    fn log_name(&self) -> Option<Arc<str>> {
        None
    }

    fn parts(&self, _settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        RequestParts::json(&Body {
            amount: ExactNumber(self.amount),
            service_name: &self.service_name,
            callback_url: &self.callback_url,
            return_url: &self.return_url,
        })
    }

    fn sent(&self, _dialect: &Dialect) -> Sent<'_> {
        Sent { amounts: vec![self.amount], currency: Some(KGS), ..Sent::default() }
    }

    fn journal_entry(answer: &PayFormCreated) -> Option<(PaymentEntry, Option<&str>)> {
        Some((answer.entry(), None))
    }

    fn payment(answer: &mut PayFormCreated) -> Option<&mut PaymentRef> {
        Some(&mut answer.payment)
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<PayFormCreated, NotAnAnswer> {
        response.accepted()?;
        let text = response
            .find(ResponseField::PayFormUrl)
            .ok_or_else(|| NotAnAnswer::because("the response has no payFormUrl"))?;
        let pay_form_url = payer_page("payFormUrl", &text, response)?.into();
        Ok(PayFormCreated { payment: self.payment_ref(), pay_form_url, raw: response.raw() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_five_som_megapay_will_not_be_offered() {
        let form = |amount: &str| PayForm {
            amount: amount.parse().unwrap(),
            service_name: "tea".into(),
            callback_url: "https://shop.example.kg/cb".into(),
            return_url: "https://shop.example.kg/".into(),
            entry_id: None,
        };
        assert_eq!(form("5").advice(), []);
        assert_eq!(form("4.99").advice()[0].topic, AdviceTopic::MegaPayMinimum);
    }
}
