//! Confirmation of a mobile-bank payment by the payer's one-time password (OTP).

use std::sync::Arc;

use http::Method;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::{
    config::{dialect::Dialect, endpoint::Endpoint, reply_field::ReplyField},
    operations::operation::{CheckSettings, Effect, Operation, RequestParts, WireSettings},
    reply::{
        reader::{NotAnAnswer, ReplyReader, Sent},
        redact::Redactor,
    },
    values::{
        error::PaymentError,
        json::Document,
        one_time_password::normalized_otp,
        payment_entry::PaymentEntry,
        payment_ref::{PaymentKind, PaymentRef},
        rules::Checks,
        secret::Secret,
        violation::Rule,
    },
};

/// The gateway accepted a confirmation. **Accepted, not settled**: watch `payment` for its final status.
///
/// The interface does not show this reply (`docs/interface.md#what-is-not-shown`); a [`Dialect`](crate::Dialect) names
/// what it holds.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MbankConfirmed {
    /// What to ask about the payment with.
    pub payment: PaymentRef,
    /// The gateway's code, where there is one.
    pub code: Option<String>,
    /// The gateway's own words, where there are any.
    pub reason: Option<String>,
    /// The status word that the reply shows, where there is one. Only a status query settles a payment.
    pub status: Option<String>,
    /// The whole reply, with secrets masked.
    pub raw: String,
}

impl MbankConfirmed {
    /// An answer with nothing but this, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
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
        // Refused and not dropped: the caller would believe that it was sent.
        if !can_be_sent {
            let sentence = "cannot be sent: the dialect names no mbank_identifier";
            checks.fail("confirmIdentifier", Rule::OneOf, None, sentence);
        } else if !is_text_or_number(identifier) {
            checks.fail("confirmIdentifier", Rule::Format, None, "must be a JSON text in quotes or a JSON number");
        }
    }
}

/// Read as it will be sent: what could not be would be left out.
fn is_text_or_number(identifier: &str) -> bool {
    let is_json = serde_json::from_str::<&RawValue>(identifier).is_ok();
    is_json && Document::parse(identifier).is_ok_and(|document| document.root().text().is_some())
}

struct Body<'a> {
    order_number: &'a str,
    otp: &'a str,
    identifier: Option<(&'a str, &'a RawValue)>,
}

/// Serialized by hand, because the name of the identifier's field comes from the dialect.
impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("orderNumber", self.order_number)?;
        body.serialize_entry("otp", self.otp)?;
        if let Some((field, identifier)) = self.identifier {
            body.serialize_entry(field, identifier)?;
        }
        body.end()
    }
}

pub(crate) static ENDPOINT: Endpoint = Endpoint {
    name: "mbank_confirm",
    method: Method::POST,
    path: "api/v1.1.0/mbank/confirm",
    reply_fields: &[
        ReplyField::Code,
        ReplyField::Reason,
        ReplyField::Status,
        ReplyField::OrderNumber,
        ReplyField::GatewayNumber,
    ],
    success_codes: &[],
};

impl Operation for MbankConfirm {
    type Answer = MbankConfirmed;

    const ENDPOINT: &'static Endpoint = &ENDPOINT;

    const CONFIRMS: bool = true;

    fn check(&self, checks: &mut Checks, settings: &CheckSettings) {
        if self.payment.kind != PaymentKind::Mbank {
            checks.fail("kind", Rule::OneOf, Some("mbank"), "must be mbank: only such a payment can be confirmed");
        }
        checks.required("orderNumber", self.order_number());
        checks.otp("otp", self.otp.expose());
        self.check_identifier(checks, settings.mbank_identifier);
    }

    fn effect(&self) -> Effect {
        Effect::MovesMoney(self.payment.clone())
    }

    fn log_name(&self) -> Option<Arc<str>> {
        Some(self.order_number().into())
    }

    fn parts(&self, settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        let field = settings.dialect.mbank_identifier().map(|identifier| identifier.confirm_field.as_str());
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

    fn sent(&self, _dialect: &Dialect) -> Sent<'_> {
        let own = [&self.payment.order_number, &self.payment.gateway_number];
        Sent { order_numbers: own.into_iter().flatten().map(String::as_str).collect(), ..Sent::default() }
    }
    fn noted(answer: &MbankConfirmed) -> Option<(PaymentEntry, Option<&str>)> {
        Some((PaymentEntry::new(answer.payment.clone()), None))
    }

    fn payment(answer: &mut MbankConfirmed) -> Option<&mut PaymentRef> {
        Some(&mut answer.payment)
    }

    fn read(&self, reply: &ReplyReader<'_>) -> Result<MbankConfirmed, NotAnAnswer> {
        reply.accepted()?;
        Ok(MbankConfirmed {
            payment: self.enrich(self.payment.clone(), reply),
            code: reply.code(),
            reason: reply.reason(),
            status: reply.shown(ReplyField::Status),
            raw: reply.raw(),
        })
    }

    fn enrich(&self, payment: PaymentRef, reply: &ReplyReader<'_>) -> PaymentRef {
        match reply.identifier(ReplyField::GatewayNumber) {
            Some(number) => payment.with_gateway_number(number),
            None => payment,
        }
    }
}
