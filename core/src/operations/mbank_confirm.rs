//! Confirmation of a mobile-bank payment by the payer's one-time password (OTP).

use std::{borrow::Cow, sync::Arc};

use http::Method;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::{
    config::{
        dialect::{Dialect, MbankIdentifier, ORDER_NUMBER},
        endpoint::{Endpoint, ResponseField},
    },
    error::PaymentError,
    json::Document,
    operations::{CheckSettings, Kind, Operation, RequestParts, WireSettings},
    payment_entry::PaymentEntry,
    payment_ref::{PaymentKind, PaymentRef},
    response::{
        reader::{NotAnAnswer, ResponseReader, Sent},
        redact::Redactor,
    },
    secret::Secret,
    validation::{Checks, phone_and_otp::normalized_otp},
    violation::Rule,
};

/// The gateway accepted a confirmation. **Accepted, not final**: watch `payment` for its final status.
///
/// The interface does not show this response (`docs/interface.md#what-is-not-shown`); a [`Dialect`](crate::Dialect) names its fields.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MbankConfirmed {
    /// The payment reference, for status queries.
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

impl MbankConfirmed {
    /// A minimal answer, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn new(payment: PaymentRef) -> Self {
        Self { payment, code: None, reason: None, status: None, raw: String::new() }
    }
}

pub(crate) struct MbankConfirm {
    payment: PaymentRef,
    otp: Secret,
}

impl MbankConfirm {
    pub(crate) fn new(payment: &PaymentRef, otp: &str) -> Self {
        Self { payment: payment.clone(), otp: Secret::new(normalized_otp(otp)) }
    }

    fn order_number(&self) -> &str {
        self.payment.order_number.as_deref().unwrap_or_default()
    }

    fn check_identifier(&self, checks: &mut Checks, can_be_sent: bool) {
        let Some(identifier) = &self.payment.confirm_identifier else { return };
        // Rejected and not dropped, because the caller would believe that it was sent. A dialect with the field `null` states that it is
        // not sent.
        if !can_be_sent {
            let sentence = "cannot be sent: the dialect names no mbank_identifier";
            checks.fail("confirmIdentifier", Rule::OneOf, None, sentence);
        } else if text_or_number(identifier).is_none() {
            checks.fail("confirmIdentifier", Rule::Format, None, "must be a JSON text in quotes or a JSON number");
        }
    }
}

/// The identifier in the form in which it is sent. `None` if it cannot be sent.
fn text_or_number(identifier: &str) -> Option<String> {
    serde_json::from_str::<&RawValue>(identifier).ok()?;
    let document = Document::parse(identifier).ok()?;
    document.root().text().map(Cow::into_owned)
}

struct Body<'a> {
    order_number: &'a str,
    otp: &'a str,
    /// The identifier and its field, which may be the field of the order number.
    identifier: Option<(&'a str, &'a RawValue)>,
}

/// Serialized by hand, because the name of the identifier's field comes from the dialect.
impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = serializer.serialize_map(None)?;
        match self.identifier {
            Some((ORDER_NUMBER, identifier)) => body.serialize_entry(ORDER_NUMBER, identifier)?,
            _ => body.serialize_entry(ORDER_NUMBER, self.order_number)?,
        }
        body.serialize_entry("otp", self.otp)?;
        if let Some((field, identifier)) = self.identifier
            && field != ORDER_NUMBER
        {
            body.serialize_entry(field, identifier)?;
        }
        body.end()
    }
}

pub(crate) static ENDPOINT: Endpoint = Endpoint {
    name: "mbank_confirm",
    method: Method::POST,
    path: "api/v1.1.0/mbank/confirm",
    response_fields: &[
        ResponseField::Code,
        ResponseField::Reason,
        ResponseField::Status,
        ResponseField::OrderNumber,
        ResponseField::GatewayNumber,
    ],
    success_codes: &[],
};

impl Operation for MbankConfirm {
    type Answer = MbankConfirmed;

    const ENDPOINT: &'static Endpoint = &ENDPOINT;

    const KIND: Kind<Self> = Kind::Confirms(|confirm| confirm.payment.clone());

    fn check(&self, checks: &mut Checks, settings: &CheckSettings) {
        if self.payment.kind != PaymentKind::Mbank {
            checks.fail("kind", Rule::OneOf, Some("mbank"), "must be mbank: only such a payment can be confirmed");
        }
        checks.required("orderNumber", self.order_number());
        checks.otp("otp", self.otp.expose());
        self.check_identifier(checks, settings.mbank_identifier);
    }

    fn log_name(&self) -> Option<Arc<str>> {
        Some(self.order_number().into())
    }

    fn parts(&self, settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        let field = settings.dialect.mbank_identifier().and_then(|identifier| identifier.confirm_field.as_deref());
        let identifier: Option<&RawValue> =
            self.payment.confirm_identifier.as_deref().and_then(|json| serde_json::from_str(json).ok());
        RequestParts::json(&Body {
            order_number: self.order_number(),
            otp: self.otp.expose(),
            identifier: field.zip(identifier),
        })
    }

    fn hide_secrets(&self, redactor: &mut Redactor) {
        redactor.hide_value(self.otp.clone());
    }

    fn sent(&self, dialect: &Dialect) -> Sent<'_> {
        let own = [&self.payment.order_number, &self.payment.gateway_number];
        let mut order_numbers: Vec<Cow<'_, str>> =
            own.into_iter().flatten().map(|number| number.as_str().into()).collect();
        if dialect.mbank_identifier().is_some_and(MbankIdentifier::replaces_order_number)
            && let Some(identifier) = self.payment.confirm_identifier.as_deref().and_then(text_or_number)
        {
            order_numbers.push(identifier.into());
        }
        Sent { order_numbers, ..Sent::default() }
    }
    fn journal_entry(answer: &MbankConfirmed) -> Option<(PaymentEntry, Option<&str>)> {
        Some((PaymentEntry::new(answer.payment.clone()), None))
    }

    fn payment(answer: &mut MbankConfirmed) -> Option<&mut PaymentRef> {
        Some(&mut answer.payment)
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<MbankConfirmed, NotAnAnswer> {
        response.accepted()?;
        Ok(MbankConfirmed {
            payment: self.enrich(self.payment.clone(), response),
            code: response.code(),
            reason: response.reason(),
            status: response.shown(ResponseField::Status),
            raw: response.raw(),
        })
    }

    fn enrich(&self, payment: PaymentRef, response: &ResponseReader<'_>) -> PaymentRef {
        match response.identifier(ResponseField::GatewayNumber) {
            Some(number) => payment.with_gateway_number(number),
            None => payment,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        GatewayConfig, MbankPayment,
        testing::scripted::{Act, Scripted},
    };

    /// Created, then confirmed, by one dialect: what the reference holds, what is sent, and whether a response that names this number
    /// is an answer.
    async fn confirmed(field: &str, created: &'static str, named: &'static str) -> (Option<String>, String, bool) {
        let text = format!(r#"{{"mbank_identifier":{{"pointers":["/data/quid"],"confirm_field":{field}}}}}"#);
        let settings =
            move |config: &mut GatewayConfig| config.dialect = Dialect::from_json(&text).expect("a dialect").into();
        let sent = Arc::new(std::sync::Mutex::new(String::new()));
        let (gateway, _) = Scripted::by_request(settings, {
            let sent = sent.clone();
            move |number, body| {
                *sent.lock().unwrap() = body.to_owned();
                let response = if number == 0 { created } else { named };
                Act::Response(Duration::ZERO, 200, None, response.to_owned())
            }
        });
        let request = MbankPayment::new("order-2", 250, "996700000001", "tea");
        let payment = gateway.create_mbank_payment(request).await.unwrap().payment;
        let is_answer = gateway.confirm_mbank_payment(&payment, "918273").await.is_ok();
        let body = sent.lock().unwrap().clone();
        (payment.confirm_identifier, body, is_answer)
    }

    #[tokio::test(start_paused = true)]
    async fn identifier_is_sent_where_dialect_maps_it() {
        const QUID: &str = r#"{"code":"110","data":{"quid":"FP-7"}}"#;
        const NUMBER: &str = r#"{"code":"110","data":{"quid":71}}"#;
        const NONE: &str = r#"{"code":"110","data":{}}"#;
        const OK: &str = r#"{"code":"120"}"#;
        let (named, by_own) = (r#"{"data":{"orderNumber":"FP-7"}}"#, r#"{"data":{"orderNumber":"order-2"}}"#);
        let other = r#"{"data":{"orderNumber":"FP-8"}}"#;
        for (field, created, response, expected, body, is_answer) in [
            (
                r#""quid""#,
                QUID,
                OK,
                Some(r#""FP-7""#),
                r#"{"orderNumber":"order-2","otp":"918273","quid":"FP-7"}"#,
                true,
            ),
            (
                r#""quid""#,
                QUID,
                named,
                Some(r#""FP-7""#),
                r#"{"orderNumber":"order-2","otp":"918273","quid":"FP-7"}"#,
                false,
            ),
            (r#""orderNumber""#, QUID, OK, Some(r#""FP-7""#), r#"{"orderNumber":"FP-7","otp":"918273"}"#, true),
            (r#""orderNumber""#, QUID, named, Some(r#""FP-7""#), r#"{"orderNumber":"FP-7","otp":"918273"}"#, true),
            (r#""orderNumber""#, QUID, by_own, Some(r#""FP-7""#), r#"{"orderNumber":"FP-7","otp":"918273"}"#, true),
            (r#""orderNumber""#, QUID, other, Some(r#""FP-7""#), r#"{"orderNumber":"FP-7","otp":"918273"}"#, false),
            (r#""orderNumber""#, NUMBER, OK, Some("71"), r#"{"orderNumber":71,"otp":"918273"}"#, true),
            (r#""orderNumber""#, NONE, OK, None, r#"{"orderNumber":"order-2","otp":"918273"}"#, true),
            ("null", QUID, OK, None, r#"{"orderNumber":"order-2","otp":"918273"}"#, true),
        ] {
            let (identifier, sent, answered) = confirmed(field, created, response).await;
            assert_eq!(
                (identifier.as_deref(), sent.as_str(), answered),
                (expected, body, is_answer),
                "{field} {response}"
            );
        }
    }

    /// Such as one that was stored before the dialect said so.
    #[tokio::test(start_paused = true)]
    async fn unmapped_identifier_allows_confirmation() {
        let text = r#"{"mbank_identifier":{"pointers":["/data/quid"],"confirm_field":null}}"#;
        let settings =
            |config: &mut GatewayConfig| config.dialect = Dialect::from_json(text).expect("a dialect").into();
        let (gateway, _) = Scripted::by_request(settings, |_, body| {
            assert_eq!(body, r#"{"orderNumber":"order-2","otp":"918273"}"#);
            Act::Response(Duration::ZERO, 200, None, "{}".to_owned())
        });
        let payment =
            PaymentRef { confirm_identifier: Some(r#""FP-7""#.to_owned()), ..PaymentRef::mbank("order-2", 250) };
        gateway.confirm_mbank_payment(&payment, "918273").await.unwrap();
    }
}
