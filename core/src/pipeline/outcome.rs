//! Outcomes, at-most-once delivery and idempotency: what a response, or its absence, means for the money
//! (`docs/outcomes.md#the-table`).
//!
//! The interface shows no idempotency key, so a payment that the gateway may have seen is never sent again. Once there
//! was a connection, a request that moves money ends in [`PaymentError::OutcomeUnknown`] unless the gateway sent a
//! trustworthy response. Only this module decides that. For the choice of errors see
//! `docs/adr/0008-errors-by-what-the-caller-can-do.md`.

use std::time::Duration;

use crate::{
    config::endpoint::CodeList,
    error::PaymentError,
    journal::BeginError,
    operations::{Effect, Operation},
    payment_ref::PaymentRef,
    response::{
        Response,
        reader::{NotAnAnswer, ResponseReader, Sent},
    },
    transport::Failure,
    violation::Rule,
};

/// Whether to retry: whether the same request may be sent again, and how long the gateway asked to wait
/// (`Retry-After`).
pub(crate) enum Again {
    No,
    After(Option<Duration>),
}

/// A retry policy. The product has one, [`again`]; tests inject wrong ones, to prove that they are detected.
pub(crate) type ResendPolicy = fn(&Effect, &Result<Response, Failure>) -> Again;

/// The retry policy (`docs/outcomes.md#the-rules-of-sending`). A query is idempotent, so it is retried if that may help: after a lost
/// response, a rate limit (429) or a server error. A request that moves money is retried only if no connection was ever made, so that the
/// gateway cannot have seen it; a request that creates something, never.
pub(crate) fn again(effect: &Effect, result: &Result<Response, Failure>) -> Again {
    match (effect, result) {
        (Effect::Queries, Err(Failure::NotConnected { .. } | Failure::Lost { .. })) => Again::After(None),
        (Effect::Queries, Ok(response)) if response.http_status == 429 || response.http_status >= 500 => {
            Again::After(response.retry_after)
        }
        (Effect::MovesMoney(_), Err(Failure::NotConnected { .. })) => Again::After(None),
        _ => Again::No,
    }
}

/// A failed call, with facts that only its response has.
pub(crate) struct CallError {
    pub(crate) error: PaymentError,
    /// True if the gateway itself refuses: by a code that the dialect lists as a refusal, with any HTTP status, or in
    /// its envelope with 400, 404, 410 or 422. For a query it means that the gateway does not know the number.
    pub(crate) is_definitive: bool,
}

impl From<PaymentError> for CallError {
    fn from(error: PaymentError) -> Self {
        Self { error, is_definitive: false }
    }
}

/// The outcome if the journal prevented sending. If the payment was sent before, nothing happened now, but it may have happened then: with
/// a refusal, the caller would send it under another number.
pub(crate) fn not_sent(effect: Effect, not_held: BeginError) -> PaymentError {
    match (not_held, effect) {
        (BeginError::SentBefore { payment, detail }, Effect::MovesMoney(own)) => PaymentError::OutcomeUnknown {
            payment: as_sent_before(own, payment).into(),
            http_status: None,
            code: None,
            reason: None,
            detail,
            body: None,
        },
        (BeginError::SentBefore { detail, .. }, _) => {
            PaymentError::invalid("entry_id", Rule::OneOf, None, &format!("is taken: {detail}"))
        }
        (BeginError::Unwritten { detail }, _) => PaymentError::unavailable(detail),
    }
}

/// The reference with the values of this request, not of the earlier request with the same number: a caller that
/// watches it must not mistake the charge of another amount for its own. It has the gateway's numbers of the earlier
/// request if both are the same request.
fn as_sent_before(own: PaymentRef, first: Option<Box<PaymentRef>>) -> PaymentRef {
    let mut own = own;
    if let Some(first) = first.filter(|first| first.is_same_request(&own)) {
        own.learn_numbers(&first);
    }
    own
}

/// The outcome if the page of a response belongs to another payment: the payer would confirm that payment, so nothing else in the response
/// is trusted either.
pub(crate) fn anothers_page(payment: PaymentRef, code: Option<&str>) -> PaymentError {
    PaymentError::OutcomeUnknown {
        payment: payment.into(),
        http_status: None,
        code: code.map(str::to_owned),
        reason: None,
        detail: "the response's ConfirmationUrl is that of another payment, and is not shown to a second payer"
            .to_owned(),
        body: None,
    }
}

/// The outcome if no response arrived.
pub(crate) fn without_response(effect: Effect, failure: Failure) -> PaymentError {
    match (failure, effect) {
        (Failure::Misconfigured { detail }, _) => PaymentError::misconfigured(detail),
        (Failure::NotConnected { detail }, _) | (Failure::Lost { detail }, Effect::Creates | Effect::Queries) => {
            PaymentError::unavailable(detail)
        }
        (Failure::Lost { detail }, Effect::MovesMoney(payment)) => PaymentError::OutcomeUnknown {
            payment: payment.into(),
            http_status: None,
            code: None,
            reason: None,
            detail,
            body: None,
        },
    }
}

/// The outcome of a response: first whether it may be read as an answer, which does not depend on the operation, then its meaning for this
/// operation.
pub(crate) fn with_response<O: Operation>(
    operation: &O,
    effect: &Effect,
    response: &Response,
    reader: &ResponseReader<'_>,
) -> Result<O::Answer, CallError> {
    let exchange = Exchange::of(effect, response, reader, &operation.sent(reader.dialect()));
    exchange
        .accepted()
        .and_then(|()| operation.read(reader).map_err(|problem| exchange.unsuccessful(problem)))
        .and_then(|answer| exchange.is_of_this_payment().map(|()| answer))
        .map_err(|failed| exchange.with_numbers(failed, |payment| operation.enrich(payment, reader)))
}

/// HTTP statuses about a request's form, which the gateway or a proxy returns before processing the request.
const REJECTED_BEFORE_PROCESSING: [u16; 6] = [413, 414, 415, 421, 426, 431];

/// The meaning of a response that is not an answer.
enum Meaning {
    Unauthorized,
    NotTheGateway,
    Unavailable,
    Refused,
    /// Nothing trustworthy: an unknown outcome if money could move, else a response that cannot be understood.
    Indeterminate(String),
}

/// A success status with a body that is not an answer.
fn unsuccessful(effect: &Effect, reader: &ResponseReader<'_>, problem: NotAnAnswer) -> Meaning {
    match effect {
        Effect::MovesMoney(_) | Effect::Creates if reader.is_listed(CodeList::Refusal) => Meaning::Refused,
        Effect::Creates | Effect::Queries if has_indeterminate_code(reader) => Meaning::Refused,
        _ => Meaning::Indeterminate(problem.detail),
    }
}

/// Any HTTP status except success. An error that does not come from the gateway itself may be from a proxy or a
/// firewall after the gateway has acted, so it is trusted only for statuses that are returned before processing.
fn unsuccessful_status(status: u16, effect: &Effect, reader: &ResponseReader<'_>) -> Meaning {
    let indeterminate = |problem: &str| Meaning::Indeterminate(format!("HTTP {status} {problem}"));
    let moves_money = matches!(effect, Effect::MovesMoney(_));
    let has_envelope = reader.has_envelope();
    match status {
        400..=499 if moves_money && has_indeterminate_code(reader) => {
            indeterminate("does not show whether the payment was made")
        }
        // The compressed body may contain such a code.
        400..=499 if moves_money && reader.compressed().is_some() && status != 429 => {
            indeterminate("has a compressed body, so it does not show whether the payment was made")
        }
        401 => Meaning::Unauthorized,
        403 if has_envelope => Meaning::Unauthorized,
        404 | 405 | 407 if !has_envelope => Meaning::NotTheGateway,
        408 | 409 if moves_money => indeterminate("does not show whether the payment was made"),
        429 => Meaning::Unavailable,
        408 | 409 => Meaning::Refused,
        _ if REJECTED_BEFORE_PROCESSING.contains(&status) => Meaning::Refused,
        400..=499 if has_envelope => Meaning::Refused,
        400..=499 => match effect {
            Effect::MovesMoney(_) => {
                indeterminate("is not from the gateway, so it does not show whether the payment was made")
            }
            Effect::Creates => Meaning::Refused,
            Effect::Queries => Meaning::Unavailable,
        },
        500.. if moves_money => indeterminate("does not show whether the payment was made"),
        500.. => Meaning::Unavailable,
        300..=399 => indeterminate("is a redirect, which is never followed"),
        _ => indeterminate("is not a final response"),
    }
}

/// Whether the code means that a payment may exist.
fn has_indeterminate_code(reader: &ResponseReader<'_>) -> bool {
    reader.is_listed(CodeList::Unknown) || reader.is_listed(CodeList::Duplicate)
}

/// Only statuses that mean that something does not exist, or that the request is invalid. A conflict, a proxy's demand or a rejection of
/// the request's form (405, 407, 409, 414 and the like) does not answer the request, and many proxies send a code.
fn is_definitive(meaning: &Meaning, status: u16, reader: &ResponseReader<'_>) -> bool {
    let says_no = matches!(status, 400 | 404 | 410 | 422) && matches!(meaning, Meaning::Refused);
    reader.is_listed(CodeList::Refusal) || says_no && reader.has_envelope() && !has_indeterminate_code(reader)
}

/// A request with its response: decides whether it is an answer, and builds the errors.
struct Exchange<'a> {
    effect: &'a Effect,
    response: &'a Response,
    reader: &'a ResponseReader<'a>,
    /// The fields that show that the response is about another payment.
    mismatches: Vec<&'static str>,
}

impl<'a> Exchange<'a> {
    fn of(effect: &'a Effect, response: &'a Response, reader: &'a ResponseReader<'a>, sent: &Sent<'_>) -> Self {
        Self { effect, response, reader, mismatches: reader.mismatches(sent) }
    }

    /// Whether it may be read as an answer: by its HTTP status, and, if money could move, by its payment. A response about another payment,
    /// even a refusal, says nothing about this one.
    fn accepted(&self) -> Result<(), CallError> {
        if self.effect.moves_money() {
            self.is_of_this_payment()?;
        }
        match self.response.http_status {
            200..=299 => Ok(()),
            status => Err(self.failed(unsuccessful_status(status, self.effect, self.reader))),
        }
    }

    fn is_of_this_payment(&self) -> Result<(), CallError> {
        if self.mismatches.is_empty() {
            return Ok(());
        }
        let fields = self.mismatches.join(" and ");
        Err(self.failed(Meaning::Indeterminate(format!("the response is about another payment, by its {fields}"))))
    }

    /// The error for a success status with a body that is not an answer.
    fn unsuccessful(&self, problem: NotAnAnswer) -> CallError {
        self.failed(unsuccessful(self.effect, self.reader, problem))
    }

    fn failed(&self, meaning: Meaning) -> CallError {
        let is_definitive = is_definitive(&meaning, self.response.http_status, self.reader);
        CallError { error: self.error(meaning), is_definitive }
    }

    /// Adds numbers from the response to the reference for later queries. A response about another payment is excluded, because its numbers
    /// would lead to that payment.
    fn with_numbers(&self, mut failed: CallError, enrich: impl FnOnce(PaymentRef) -> PaymentRef) -> CallError {
        if self.mismatches.is_empty()
            && let PaymentError::OutcomeUnknown { payment, .. } = &mut failed.error
        {
            **payment = enrich(PaymentRef::clone(payment));
        }
        failed
    }

    fn error(&self, meaning: Meaning) -> PaymentError {
        let (http_status, code, body) = (self.response.http_status, self.reader.code(), self.reader.raw());
        match meaning {
            Meaning::Unauthorized => {
                PaymentError::Unauthorized { detail: self.status_and_words(), http_status, code, body }
            }
            Meaning::NotTheGateway => PaymentError::Misconfigured {
                detail: format!(
                    "{}, and not from the gateway: check the base URL and any proxy",
                    self.status_and_words()
                ),
                http_status: Some(http_status),
                code,
                body: Some(body),
            },
            Meaning::Unavailable => PaymentError::Unavailable {
                detail: self.status_and_words(),
                retry_after: self.response.retry_after,
                http_status: Some(http_status),
                code,
                body: Some(body),
            },
            Meaning::Refused => PaymentError::Refused { http_status, code, reason: self.reader.reason(), body },
            Meaning::Indeterminate(detail) => match self.effect {
                Effect::MovesMoney(payment) => PaymentError::OutcomeUnknown {
                    payment: payment.clone().into(),
                    http_status: Some(http_status),
                    code,
                    reason: self.reader.reason(),
                    detail,
                    body: Some(body),
                },
                Effect::Creates | Effect::Queries => PaymentError::Unexpected { detail, http_status, code, body },
            },
        }
    }

    fn status_and_words(&self) -> String {
        let words = self.reader.reason().map(|reason| format!(", \"{reason}\"")).unwrap_or_default();
        format!("HTTP {}{words}", self.response.http_status)
    }
}
