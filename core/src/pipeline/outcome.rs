//! Outcomes, at-most-once delivery and idempotency: what came back, and what it means for the money
//! (`docs/outcomes.md#the-table`).
//!
//! The interface shows no idempotency key, so a payment that the gateway may have seen is never sent again. Once a
//! connection was there, a request that moves money ends in [`PaymentError::OutcomeUnknown`] unless the gateway gave a
//! verdict that can be trusted. This is the one place where that is decided; why the errors are these:
//! `docs/adr/0008-errors-by-what-the-caller-can-do.md`.

use std::time::Duration;

use crate::{
    config::dialect::{Dialect, code_list::CodeList},
    error::PaymentError,
    journal::BeginError,
    operations::operation::{Effect, Operation},
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

/// A retry policy. There is one, [`again`]; tests inject wrong ones, to show that they would be noticed.
pub(crate) type ResendPolicy = fn(&Effect, &Result<Response, Failure>) -> Again;

/// The retry policy (`docs/outcomes.md#the-rules-of-sending`). A query is idempotent, so it is repeated where that may
/// help: after a lost response, a rate limit (429) or a server error. A request that moves money is repeated only where no
/// connection was ever made, so that the gateway cannot have seen it; one that creates something, never.
pub(crate) fn again(effect: &Effect, result: &Result<Response, Failure>) -> Again {
    match (effect, result) {
        (Effect::Asks, Err(Failure::NotConnected { .. } | Failure::Lost { .. })) => Again::After(None),
        (Effect::Asks, Ok(response)) if response.http_status == 429 || response.http_status >= 500 => {
            Again::After(response.retry_after)
        }
        (Effect::MovesMoney(_), Err(Failure::NotConnected { .. })) => Again::After(None),
        _ => Again::No,
    }
}

/// A call that failed, with what only its response can tell.
pub(crate) struct CallError {
    pub(crate) error: PaymentError,
    /// True where the gateway itself says no: by a code that the dialect lists as a refusal, with any HTTP status, or in
    /// its envelope with 400, 404, 410 or 422. For a query: it does not know what it was asked about.
    pub(crate) is_definitive: bool,
}

impl From<PaymentError> for CallError {
    fn from(error: PaymentError) -> Self {
        Self { error, is_definitive: false }
    }
}

/// The outcome where the journal kept it from being sent. Where it was sent before, nothing happened now, and it may have
/// happened then: a caller that took it for refused would send it under another number.
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

/// What this call asked for, and not what was asked for under its number before: whoever watches that must not take the
/// charge of another amount for its own. The gateway's numbers are those of the first where both are the same request.
fn as_sent_before(own: PaymentRef, first: Option<Box<PaymentRef>>) -> PaymentRef {
    let mut own = own;
    if let Some(first) = first.filter(|first| first.is_same_request(&own)) {
        own.learn_numbers(&first);
    }
    own
}

/// The outcome where the page of a response is another payment's: the payer would confirm that one by it, so the response is not to be
/// trusted in anything else either.
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

/// The outcome where no response came.
pub(crate) fn without_response(effect: Effect, failure: Failure) -> PaymentError {
    match (failure, effect) {
        (Failure::Misconfigured { detail }, _) => PaymentError::misconfigured(detail),
        (Failure::NotConnected { detail }, _) | (Failure::Lost { detail }, Effect::Creates | Effect::Asks) => {
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

/// The outcome where a response came.
pub(crate) fn with_response<O: Operation>(
    operation: &O,
    effect: Effect,
    response: &Response,
    reader: &ResponseReader<'_>,
) -> Result<O::Answer, CallError> {
    let mut answer = None;
    let mut read = || operation.read(reader).map(|read| answer = Some(read));
    let failed = failed(&operation, &mut read, effect.clone(), response, reader);
    match (failed, answer) {
        (None, Some(answer)) => Ok(answer),
        (Some(failed), _) => Err(failed),
        (None, None) => {
            Err(without_response(effect, Failure::Lost { detail: "the response was not read".to_owned() }).into())
        }
    }
}

/// What the outcome needs of an operation, whatever its answer is (type erasure): so all of it is compiled once.
trait ErasedOperation {
    fn sent(&self, dialect: &Dialect) -> Sent<'_>;
    fn enrich(&self, payment: PaymentRef, response: &ResponseReader<'_>) -> PaymentRef;
}

impl<O: Operation> ErasedOperation for &O {
    fn sent(&self, dialect: &Dialect) -> Sent<'_> {
        O::sent(self, dialect)
    }

    fn enrich(&self, payment: PaymentRef, response: &ResponseReader<'_>) -> PaymentRef {
        O::enrich(self, payment, response)
    }
}

/// Nothing where the response is an answer, and was read.
fn failed(
    operation: &dyn ErasedOperation,
    read: &mut dyn FnMut() -> Result<(), NotAnAnswer>,
    effect: Effect,
    response: &Response,
    reader: &ResponseReader<'_>,
) -> Option<CallError> {
    let mismatches = reader.mismatches(&operation.sent(reader.dialect()));
    let is_about_this = mismatches.is_empty();
    let another = || format!("the response is about another payment, by its {}", mismatches.join(" and "));
    let meaning = match response.http_status {
        // Whatever it says of another payment, a refusal included, it says nothing of this one.
        _ if !is_about_this && matches!(effect, Effect::MovesMoney(_)) => Meaning::Indeterminate(another()),
        200..=299 => match read() {
            Ok(()) if is_about_this => return None,
            Ok(()) => Meaning::Indeterminate(another()),
            Err(problem) => unsuccessful(&effect, reader, problem),
        },
        status => unsuccessful_status(status, &effect, reader),
    };
    let is_definitive = is_definitive(&meaning, response.http_status, reader);
    Some(CallError {
        error: Exchange { operation, response, reader, is_about_this }.error(meaning, effect),
        is_definitive,
    })
}

/// HTTP statuses that are said of a request's form, before it is acted on: by the gateway or by what stands before it.
const REJECTED_BEFORE_PROCESSING: [u16; 6] = [413, 414, 415, 421, 426, 431];

/// What a response that is no answer means for the caller.
enum Meaning {
    Unauthorized,
    NotTheGateway,
    Unavailable,
    Refused,
    /// Nothing that can be trusted: an unknown outcome where money could move, else an answer that is not understood.
    Indeterminate(String),
}

/// An HTTP status of success, but a body that is none.
fn unsuccessful(effect: &Effect, reader: &ResponseReader<'_>, problem: NotAnAnswer) -> Meaning {
    match effect {
        Effect::MovesMoney(_) | Effect::Creates if reader.is_listed(CodeList::Refusal) => Meaning::Refused,
        Effect::Creates | Effect::Asks if has_indeterminate_code(reader) => Meaning::Refused,
        _ => Meaning::Indeterminate(problem.detail),
    }
}

/// Any HTTP status but one of success. An error that does not come from the gateway itself may have been said by a
/// proxy or a firewall after the gateway had acted, so it is believed only where such a status is said before that.
fn unsuccessful_status(status: u16, effect: &Effect, reader: &ResponseReader<'_>) -> Meaning {
    let indeterminate = |problem: &str| Meaning::Indeterminate(format!("HTTP {status} {problem}"));
    let moves_money = matches!(effect, Effect::MovesMoney(_));
    let has_envelope = reader.has_envelope();
    match status {
        400..=499 if moves_money && has_indeterminate_code(reader) => {
            indeterminate("does not tell whether the payment was made")
        }
        // Such a code may be in it.
        400..=499 if moves_money && reader.compressed().is_some() && status != 429 => {
            indeterminate("has a compressed body, so it does not tell whether the payment was made")
        }
        401 => Meaning::Unauthorized,
        403 if has_envelope => Meaning::Unauthorized,
        404 | 405 | 407 if !has_envelope => Meaning::NotTheGateway,
        408 | 409 if moves_money => indeterminate("does not tell whether the payment was made"),
        429 => Meaning::Unavailable,
        408 | 409 => Meaning::Refused,
        _ if REJECTED_BEFORE_PROCESSING.contains(&status) => Meaning::Refused,
        400..=499 if has_envelope => Meaning::Refused,
        400..=499 => match effect {
            Effect::MovesMoney(_) => {
                indeterminate("is not from the gateway, so it does not tell whether the payment was made")
            }
            Effect::Creates => Meaning::Refused,
            Effect::Asks => Meaning::Unavailable,
        },
        500.. if moves_money => indeterminate("does not tell whether the payment was made"),
        500.. => Meaning::Unavailable,
        300..=399 => indeterminate("is a redirect, which is never followed"),
        _ => indeterminate("is not a final response"),
    }
}

/// A code by which the gateway itself leaves open whether there is a payment.
fn has_indeterminate_code(reader: &ResponseReader<'_>) -> bool {
    reader.is_listed(CodeList::Unknown) || reader.is_listed(CodeList::Duplicate)
}

/// Only statuses that say that something is not there, or not to be asked for so. A conflict, a proxy's demand or a refusal
/// of the request's form (405, 407, 409, 414 and the like) is no answer to what was asked, and many a proxy writes a code.
fn is_definitive(meaning: &Meaning, status: u16, reader: &ResponseReader<'_>) -> bool {
    let says_no = matches!(status, 400 | 404 | 410 | 422) && matches!(meaning, Meaning::Refused);
    reader.is_listed(CodeList::Refusal) || says_no && reader.has_envelope() && !has_indeterminate_code(reader)
}

/// A request with its response: what the errors are made of.
struct Exchange<'a> {
    operation: &'a dyn ErasedOperation,
    response: &'a Response,
    reader: &'a ResponseReader<'a>,
    is_about_this: bool,
}

impl Exchange<'_> {
    fn error(&self, meaning: Meaning, effect: Effect) -> PaymentError {
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
            Meaning::Indeterminate(detail) => match effect {
                Effect::MovesMoney(payment) => PaymentError::OutcomeUnknown {
                    payment: self.what_to_ask_about(payment).into(),
                    http_status: Some(http_status),
                    code,
                    reason: self.reader.reason(),
                    detail,
                    body: Some(body),
                },
                Effect::Creates | Effect::Asks => PaymentError::Unexpected { detail, http_status, code, body },
            },
        }
    }

    /// The numbers in a response about another payment would lead to that one.
    fn what_to_ask_about(&self, payment: PaymentRef) -> PaymentRef {
        if self.is_about_this { self.operation.enrich(payment, self.reader) } else { payment }
    }

    fn status_and_words(&self) -> String {
        let words = self.reader.reason().map(|reason| format!(", \"{reason}\"")).unwrap_or_default();
        format!("HTTP {}{words}", self.response.http_status)
    }
}
