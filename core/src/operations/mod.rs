//! Operations: one file for each endpoint, and one for the three status queries, with the request, its rules, its
//! wire form and its answer. This file holds what is common to them: the trait, and what sending an operation can do.

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

    /// Its name, method, path, and what is looked for in its response.
    const ENDPOINT: &'static Endpoint;

    /// What sending it can do, said once: how it is sent, retried, journaled and judged follows from it.
    const KIND: Kind<Self>;

    /// Input validation: the rules of this request's table in `docs/interface.md`.
    fn check(&self, checks: &mut Checks, settings: &CheckSettings);

    /// The number by which logs name it.
    fn log_name(&self) -> Option<Arc<str>>;

    fn parts(&self, form: &WireSettings<'_>) -> Result<RequestParts, PaymentError>;

    /// Redaction: names the secrets that the gateway may echo.
    fn hide_secrets(&self, _redactor: &mut Redactor) {}

    /// What a response must not contradict.
    fn sent(&self, _dialect: &Dialect) -> Sent<'_> {
        Sent::default()
    }

    /// What the journal notes of an answer, and the gateway's code.
    fn journal_entry(_answer: &Self::Answer) -> Option<(PaymentEntry, Option<&str>)> {
        None
    }

    /// The payment of an answer: the journal names it where it has no number, and takes a number of the gateway's out that is another
    /// payment's.
    fn payment(_answer: &mut Self::Answer) -> Option<&mut PaymentRef> {
        None
    }

    /// What an answer says, in one word for telemetry (`docs/telemetry.md`). Accepted is not paid.
    fn outcome(_answer: &Self::Answer) -> &'static str {
        "accepted"
    }

    /// Reads a response with a success status.
    fn read(&self, response: &ResponseReader<'_>) -> Result<Self::Answer, NotAnAnswer>;

    /// What a response adds to the reference of a payment whose outcome stays unknown.
    fn enrich(&self, payment: PaymentRef, _response: &ResponseReader<'_>) -> PaymentRef {
        payment
    }
}

/// What sending a kind of request can do (`docs/outcomes.md#three-kinds-of-request`), and how to name the payment.
///
/// It is known when the library is compiled, so that nothing else carries what only queries need.
pub(crate) enum Kind<O> {
    /// It can take money. The journal writes the payment down before it is sent.
    Pays(fn(&O) -> PaymentRef),
    /// It can take the money of a payment that was created, and written down, before.
    Confirms(fn(&O) -> PaymentRef),
    /// It creates a pay-form or a QR code. The journal records it before the caller gets it: nobody can pay it before.
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

/// What sending one request can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It can take money. Sent at most once; the reference is for queries afterwards.
    MovesMoney(PaymentRef),
    /// It makes a pay-form or a QR code: no money moves by it. Sent once.
    Creates,
    /// It only queries, which is idempotent. Sent again where that may help.
    Queries,
}

impl Effect {
    pub(crate) fn moves_money(&self) -> bool {
        matches!(self, Self::MovesMoney(_))
    }
}

/// What the configuration adds to the rules.
#[derive(Clone, Copy, Default)]
pub(crate) struct CheckSettings {
    pub(crate) luhn: bool,
    /// Whether the dialect names the field in which an mbank identifier travels.
    pub(crate) mbank_identifier: bool,
}

/// What the configuration adds to the wire form.
pub(crate) struct WireSettings<'a> {
    pub(crate) dialect: &'a Dialect,
    pub(crate) status_query: StatusQueryForm,
}

/// The query and the body of a request.
#[derive(Default)]
pub(crate) struct RequestParts {
    /// Where it is not the endpoint's.
    pub(crate) method: Option<Method>,
    pub(crate) query: Option<String>,
    pub(crate) body: Option<SecretBytes>,
}

impl RequestParts {
    /// A JSON body. It is made in one piece that is wiped after use (zeroization).
    pub(crate) fn json(value: &impl Serialize) -> Result<Self, PaymentError> {
        // As much as a query takes. Growing wipes what was there, and all of the room is wiped in the end.
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
        // A plus sign means a space to forms only; %20 means one to every reader.
        Self { query: Some(query.finish().replace('+', "%20")), ..Self::default() }
    }
}
