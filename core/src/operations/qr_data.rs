//! Dynamic QR code as data: the text of the code (the payload of an EMV QR, for example), to be drawn by the merchant.

use std::{borrow::Cow, sync::Arc};

use http::Method;

use super::qr_payment::QrPayment;
use crate::{
    config::{dialect::Dialect, endpoint::Endpoint, reply_field::ReplyField},
    elqr::Elqr,
    operations::operation::{CheckSettings, Effect, Operation, RequestParts, WireSettings},
    reply::reader::{NotAnAnswer, ReplyReader, Sent},
    values::{
        error::{PaymentError, sentences},
        payment_entry::PaymentEntry,
        payment_ref::PaymentRef,
        rules::Checks,
    },
};

/// The data of a dynamic QR code.
///
/// The interface does not show this reply (`docs/interface.md#qr-replies`). What the dialect finds in it is here; the
/// whole reply is in `raw`.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QrData {
    /// The text of the code, to be drawn with [`QrCode`](crate::QrCode). Where it is one in ELQR,
    /// [`Elqr::parse`](crate::Elqr::parse) reads it, and it is what was asked for: its amount, the som, and a right checksum.
    pub payload: Option<String>,
    /// The identifier of the QR transaction.
    pub transaction_id: Option<String>,
    /// What to ask about the payment with; only where there is a transaction id, it can be asked about. Store it.
    pub payment: PaymentRef,
    /// The whole reply, with secrets masked.
    pub raw: String,
}

impl QrData {
    /// An answer with nothing but this, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn new(payment: PaymentRef) -> Self {
        Self { payload: None, transaction_id: payment.transaction_id.clone(), payment, raw: String::new() }
    }
}

pub(crate) struct QrDataRequest(pub(crate) QrPayment);

pub(crate) static ENDPOINT: Endpoint = Endpoint {
    name: "qr_data",
    method: Method::POST,
    path: "gen/qr/dynamic/data",
    reply_fields: &[
        ReplyField::Code,
        ReplyField::Reason,
        ReplyField::Amount,
        ReplyField::Currency,
        ReplyField::QrPayload,
        ReplyField::TransactionId,
    ],
    success_codes: &[],
};

impl QrDataRequest {
    /// A code by which the payer would pay something else than what was asked for is never handed on. Codes in other
    /// formats than ELQR are not read, but a link with a code behind it is one in ELQR, and must be whole.
    fn check_code(&self, payload: &str) -> Result<(), NotAnAnswer> {
        let checked = match Elqr::parse(payload) {
            // Without a link it cannot be told from an EMV code, which has another checksum in the same place.
            Ok(code) if code.link.is_empty() && !code.checksum_ok => Ok(()),
            Ok(code) => match self.0.sum_tyiyn {
                Some(sum) => code.check(sum),
                None => {
                    let mut checks = Checks::default();
                    code.check_text(&mut checks);
                    checks.finish()
                }
            },
            Err(problem) if payload.contains("#0002") => Err(problem),
            Err(_) => Ok(()),
        };
        checked.map_err(|problem| {
            let told = match &problem {
                PaymentError::Invalid { violations } => sentences(violations),
                other => other.to_string(),
            };
            NotAnAnswer::because(format!("the reply's QR code is not what was asked for: {told}"))
        })
    }
}

impl Operation for QrDataRequest {
    type Answer = QrData;

    const ENDPOINT: &'static Endpoint = &ENDPOINT;

    fn check(&self, checks: &mut Checks, _settings: &CheckSettings) {
        self.0.check(checks, false);
    }

    fn effect(&self) -> Effect {
        Effect::Creates
    }

    fn log_name(&self) -> Option<Arc<str>> {
        None
    }

    fn parts(&self, _settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        self.0.parts()
    }

    fn sent(&self, dialect: &Dialect) -> Sent<'_> {
        self.0.sent(dialect)
    }

    fn noted(answer: &QrData) -> Option<(PaymentEntry, Option<&str>)> {
        Some((answer.entry(), None))
    }

    fn payment(answer: &mut QrData) -> Option<&mut PaymentRef> {
        Some(&mut answer.payment)
    }

    /// JSON of any shape will do.
    fn read(&self, reply: &ReplyReader<'_>) -> Result<QrData, NotAnAnswer> {
        reply.document()?;
        if reply.code().is_some() {
            reply.accepted()?;
        }
        let payload = reply.find(ReplyField::QrPayload);
        // A secret in it would be read by whoever scans the code, and a masked payload would be another code.
        if payload.as_deref().is_some_and(|payload| !reply.is_clean(payload)) {
            return Err(NotAnAnswer::because("the reply's QR code holds a secret"));
        }
        if let Some(payload) = &payload {
            self.check_code(payload)?;
        }
        let payload = payload.map(Cow::into_owned);
        let transaction_id = reply.identifier(ReplyField::TransactionId);
        let payment = PaymentRef { transaction_id: transaction_id.clone(), ..self.0.payment_ref() };
        Ok(QrData { payload, payment, transaction_id, raw: reply.raw() })
    }
}
