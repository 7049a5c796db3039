//! Operations: one file for each endpoint, and one for the three status queries, with the request, its rules, its wire
//! form and its answer. This file defines the trait that they share, and the effect of sending an operation.

pub(crate) mod card_payment;
pub(crate) mod dialect;
pub(crate) mod explain;
pub(crate) mod mbank_confirm;
pub(crate) mod mbank_payment;
pub(crate) mod megapay;
pub(crate) mod pay_form;
pub(crate) mod qr_data;
pub(crate) mod qr_image;
pub(crate) mod qr_payment;
pub(crate) mod recorded;
pub(crate) mod status_queries;

use std::sync::Arc;

use http::Method;
use serde::Serialize;

use crate::{
    config::{dialect::Dialect, endpoint::Endpoint, gateway_config::StatusQueryForm},
    error::PaymentError,
    payment_entry::PaymentEntry,
    payment_ref::PaymentRef,
    response::{
        reader::{NotAnAnswer, ResponseReader, Sent},
        redact::Redactor,
    },
    secret::SecretBytes,
    validation::Checks,
};

/// One request to the gateway, and the way to read its response.
pub(crate) trait Operation: Sized + Send + 'static {
    type Answer: Send + 'static;

    /// Its name, method, path, and the fields to read in its response.
    const ENDPOINT: &'static Endpoint;

    /// The effect of sending it. It decides how the operation is sent, retried, journaled and interpreted.
    const KIND: Kind<Self>;

    /// Input validation: the rules of this request's table in `docs/interface.md`.
    fn check(&self, checks: &mut Checks, settings: &CheckSettings);

    /// The number that identifies it in logs.
    fn log_name(&self) -> Option<Arc<str>>;

    fn parts(&self, form: &WireSettings<'_>) -> Result<RequestParts, PaymentError>;

    /// Redaction: names the secrets that the gateway may echo.
    fn hide_secrets(&self, _redactor: &mut Redactor) {}

    /// The values of the request that a response must not contradict. An absent or unreadable value contradicts nothing.
    fn sent(&self, _dialect: &Dialect) -> Sent<'_> {
        Sent::default()
    }

    /// The entry that the journal records for an answer, and the gateway's code.
    fn journal_entry(_answer: &Self::Answer) -> Option<(PaymentEntry, Option<&str>)> {
        None
    }

    /// The payment of an answer. If it has no number, the journal gives it an entry id. The journal removes a gateway number that belongs
    /// to another payment.
    fn payment(_answer: &mut Self::Answer) -> Option<&mut PaymentRef> {
        None
    }

    /// The result of an answer, in one word for telemetry (`docs/telemetry.md`). Accepted is not paid.
    fn outcome(_answer: &Self::Answer) -> &'static str {
        "accepted"
    }

    /// Reads a response with a success status.
    fn read(&self, response: &ResponseReader<'_>) -> Result<Self::Answer, NotAnAnswer>;

    /// Adds numbers from the response to the reference of a payment whose outcome stays unknown.
    fn enrich(&self, payment: PaymentRef, _response: &ResponseReader<'_>) -> PaymentRef {
        payment
    }
}

/// The effect of sending a kind of request (`docs/outcomes.md#three-kinds-of-request`), and how to get the reference of its payment.
///
/// It is known at compile time, so that only queries carry the code that queries need.
pub(crate) enum Kind<O> {
    /// It can take money. The journal records the payment before it is sent.
    Pays(fn(&O) -> PaymentRef),
    /// It can take the money of a payment that was created and recorded before.
    Confirms(fn(&O) -> PaymentRef),
    /// It creates a pay-form or a QR code. The journal records it before the caller gets it, because no one can pay it before that.
    Creates,
    /// It only queries.
    Queries,
}

impl<O> Kind<O> {
    /// Whether it only queries.
    pub(crate) fn is_query(&self) -> bool {
        matches!(self, Self::Queries)
    }

    pub(crate) fn effect(&self, operation: &O) -> Effect {
        match self {
            Self::Pays(payment) | Self::Confirms(payment) => Effect::MovesMoney(payment(operation)),
            Self::Creates => Effect::Creates,
            Self::Queries => Effect::Queries,
        }
    }
}

/// The effect of sending one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It can take money. Sent at most once; the reference is for queries afterwards.
    MovesMoney(PaymentRef),
    /// It creates a pay-form or a QR code and moves no money. Sent once.
    Creates,
    /// It only queries, which is idempotent. Retried if that may help.
    Queries,
}

impl Effect {
    pub(crate) fn moves_money(&self) -> bool {
        matches!(self, Self::MovesMoney(_))
    }
}

/// Settings of the configuration that the rules depend on.
#[derive(Clone, Copy, Default)]
pub(crate) struct CheckSettings {
    pub(crate) luhn: bool,
    /// Whether the dialect names the field for the mbank identifier.
    pub(crate) mbank_identifier: bool,
}

/// Settings of the configuration that the wire form depends on.
pub(crate) struct WireSettings<'a> {
    pub(crate) dialect: &'a Dialect,
    pub(crate) status_query: StatusQueryForm,
}

/// The query and the body of a request.
#[derive(Default)]
pub(crate) struct RequestParts {
    /// The method, if it is not the endpoint's own.
    pub(crate) method: Option<Method>,
    pub(crate) query: Option<String>,
    pub(crate) body: Option<SecretBytes>,
}

impl RequestParts {
    /// A JSON body. It is made in one piece that is wiped after use (zeroization).
    pub(crate) fn json(value: &impl Serialize) -> Result<Self, PaymentError> {
        // Enough for a query. Growing wipes the old buffer, and the whole buffer is wiped in the end.
        let mut body = SecretBytes::with_capacity(128);
        serde_json::to_writer(&mut body, value).map_err(|problem| {
            PaymentError::misconfigured(format!("the request could not be written as JSON: {problem}"))
        })?;
        Ok(Self { body: Some(body), ..Self::default() })
    }

    /// Fields in the query, each percent-encoded as one value, whatever is in it (no injection).
    pub(crate) fn query<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(fields);
        // A plus sign means a space only in forms; %20 means one everywhere.
        Self { query: Some(query.finish().replace('+', "%20")), ..Self::default() }
    }
}
