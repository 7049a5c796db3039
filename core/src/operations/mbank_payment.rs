//! Mobile-bank payment, which the payer confirms with a one-time password (OTP).

use std::sync::Arc;

use http::Method;
use rust_decimal::Decimal;
use serde::Serialize;

use crate::{
    config::{
        dialect::Dialect,
        endpoint::{Endpoint, ResponseField},
    },
    currency::KGS,
    error::PaymentError,
    operations::{CheckSettings, Kind, Operation, RequestParts, WireSettings},
    payment_entry::PaymentEntry,
    payment_ref::{PaymentRef, advice_on_characters},
    response::reader::{NotAnAnswer, ResponseReader, Sent},
    validation::{
        Checks,
        phone_and_otp::{advice_on_form, normalized_phone},
    },
    violation::Advice,
};

/// A request for a mobile-bank payment.
///
/// ```
/// use kassa::MbankPayment;
///
/// let payment = MbankPayment::new("order-1", 250, "996700000001", "Two tickets")
///     .with_callback_url("https://shop.example.kg/callbacks");
/// assert_eq!(payment.amount_som, 250);
/// ```
///
/// Source: the mobile-bank payment request (`docs/interface.md#mobile-bank-payment-request`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MbankPayment {
    /// The merchant's unique number of the payment; [`new_order_number`](crate::new_order_number) makes one.
    pub order_number: String,
    /// The payer's phone number, which receives the one-time password, in any notation. It is normalized with
    /// [`normalized_phone`](crate::normalized_phone) before sending.
    pub phone: String,
    /// The amount in **whole som**, at least 1.
    pub amount_som: i64,
    /// What is paid for.
    pub comment: String,
    /// Where the gateway sends its callbacks (webhooks): an absolute http or https URL.
    pub callback_url: Option<String>,
}

impl MbankPayment {
    /// A request for a payment. The amount in **whole som** is between the two strings of digits, so that they cannot
    /// be mixed up.
    pub fn new(
        order_number: impl Into<String>,
        amount_som: i64,
        phone: impl Into<String>,
        comment: impl Into<String>,
    ) -> Self {
        Self {
            order_number: order_number.into(),
            phone: phone.into(),
            amount_som,
            comment: comment.into(),
            callback_url: None,
        }
    }

    /// Sets the URL to which the gateway sends its callbacks (webhooks).
    #[must_use]
    pub fn with_callback_url(self, callback_url: impl Into<String>) -> Self {
        Self { callback_url: Some(callback_url.into()), ..self }
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl MbankPayment {
    /// The payment reference. Store it **before** sending, so that you can query the payment whatever happens.
    pub fn payment_ref(&self) -> PaymentRef {
        PaymentRef::mbank(&self.order_number, self.amount_som)
    }

    /// Advice about the request, to review before sending. It blocks nothing.
    pub fn advice(&self) -> Vec<Advice> {
        [advice_on_characters(&self.order_number), advice_on_form("phone", &self.phone)].into_iter().flatten().collect()
    }
}

/// The gateway accepted a mobile-bank payment. **Accepted, not paid**: confirm it with the payer's one-time password.
///
/// The interface does not show this response (`docs/interface.md#what-is-not-shown`); a [`Dialect`](crate::Dialect) names its fields.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MbankPaymentCreated {
    /// The payment reference, for the confirmation and for status queries. Store it in place of the one made before
    /// sending: it may hold more numbers.
    pub payment: PaymentRef,
    /// The gateway's code, if any.
    pub code: Option<String>,
    /// The gateway's message, if any.
    pub reason: Option<String>,
    /// The status word in the response, if any. Only a status query decides whether the payment is charged.
    pub status: Option<String>,
    /// The whole response, with secrets masked.
    pub raw: String,
}

impl MbankPaymentCreated {
    /// The entry to store in place of the reference.
    pub fn entry(&self) -> PaymentEntry {
        PaymentEntry::new(self.payment.clone())
    }

    /// A minimal answer, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn new(payment: PaymentRef) -> Self {
        Self { payment, code: None, reason: None, status: None, raw: String::new() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    order_number: &'a str,
    phone: &'a str,
    amount: i64,
    comment: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    callback_url: Option<&'a str>,
}

pub(crate) static ENDPOINT: Endpoint = Endpoint {
    name: "mbank_payment",
    method: Method::POST,
    path: "api/v1.1.0/mbank/pay",
    response_fields: &[
        ResponseField::Code,
        ResponseField::Reason,
        ResponseField::Status,
        ResponseField::OrderNumber,
        ResponseField::Amount,
        ResponseField::Currency,
        ResponseField::GatewayNumber,
    ],
    success_codes: &[],
};

impl Operation for MbankPayment {
    type Answer = MbankPaymentCreated;

    const ENDPOINT: &'static Endpoint = &ENDPOINT;

    const KIND: Kind<Self> = Kind::Pays(Self::payment_ref);

    fn check(&self, checks: &mut Checks, _settings: &CheckSettings) {
        checks.required("orderNumber", &self.order_number);
        checks.phone("phone", &self.phone);
        checks.minimum("amount", self.amount_som.into(), Decimal::ONE);
        checks.required("comment", &self.comment);
        if let Some(callback_url) = &self.callback_url {
            checks.http_url("callbackUrl", callback_url);
        }
    }

    fn log_name(&self) -> Option<Arc<str>> {
        Some(self.order_number.as_str().into())
    }

    fn parts(&self, _settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        // An invalid number does not pass the checks.
        let phone = normalized_phone(&self.phone);
        RequestParts::json(&Body {
            order_number: &self.order_number,
            phone: phone.as_deref().unwrap_or(&self.phone),
            amount: self.amount_som,
            comment: &self.comment,
            callback_url: self.callback_url.as_deref(),
        })
    }

    fn sent(&self, _dialect: &Dialect) -> Sent<'_> {
        let order_numbers = vec![self.order_number.as_str().into()];
        Sent { order_numbers, amounts: vec![self.amount_som.into()], currency: Some(KGS) }
    }
    fn journal_entry(answer: &MbankPaymentCreated) -> Option<(PaymentEntry, Option<&str>)> {
        Some((answer.entry(), answer.code.as_deref()))
    }

    fn payment(answer: &mut MbankPaymentCreated) -> Option<&mut PaymentRef> {
        Some(&mut answer.payment)
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<MbankPaymentCreated, NotAnAnswer> {
        response.accepted()?;
        Ok(MbankPaymentCreated {
            payment: self.enrich(self.payment_ref(), response),
            code: response.code(),
            reason: response.reason(),
            status: response.shown(ResponseField::Status),
            raw: response.raw(),
        })
    }

    fn enrich(&self, payment: PaymentRef, response: &ResponseReader<'_>) -> PaymentRef {
        // An identifier that is never sent is useless, and would be mistaken for one that is.
        let named = response.dialect().mbank_identifier().filter(|identifier| identifier.confirm_field.is_some());
        let pointers = named.into_iter().flat_map(|identifier| &identifier.pointers).map(String::as_str);
        let confirm_identifier = response.json_identifier_at(pointers);
        let gateway_number = response.identifier(ResponseField::GatewayNumber);
        PaymentRef { confirm_identifier, gateway_number, ..payment }
    }
}
