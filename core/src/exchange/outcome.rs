//! Outcomes, at-most-once delivery and idempotency: what came back, and what it means for the money
//! (`docs/outcomes.md#the-table`).
//!
//! The interface shows no idempotency key, so a payment that the gateway may have seen is never sent again. Once a
//! connection was there, a request that moves money ends in [`PaymentError::OutcomeUnknown`] unless the gateway gave a
//! verdict that can be trusted. This is the one place where a verdict is made; why the errors are these:
//! `docs/adr/0008-errors-by-what-the-caller-can-do.md`.

use std::time::Duration;

use crate::{
    operations::operation::{Effect, Operation},
    reply::{
        Reply,
        reader::{NotAnAnswer, ReplyReader},
    },
    transport::Failure,
    values::error::PaymentError,
};

/// Whether to retry: whether the same request may be sent again, and how long the gateway asked to wait
/// (`Retry-After`).
pub(crate) enum Again {
    No,
    After(Option<Duration>),
}

/// A retry policy. There is one, [`again`]; tests inject wrong ones, to show that they would be noticed.
pub(crate) type ResendPolicy = fn(&Effect, &Result<Reply, Failure>) -> Again;

/// The retry policy (`docs/outcomes.md#the-rules-of-sending`). A query is idempotent, so it is repeated where that may
/// help: after a lost reply, a rate limit (429) or a server error. A request that moves money is repeated only where no
/// connection was ever made, so that the gateway cannot have seen it; one that creates something, never.
pub(crate) fn again(effect: &Effect, came_back: &Result<Reply, Failure>) -> Again {
    match (effect, came_back) {
        (Effect::Asks, Err(Failure::NotConnected { .. } | Failure::Lost { .. })) => Again::After(None),
        (Effect::Asks, Ok(reply)) if reply.http_status == 429 || reply.http_status >= 500 => {
            Again::After(reply.retry_after)
        }
        (Effect::MovesMoney(_), Err(Failure::NotConnected { .. })) => Again::After(None),
        _ => Again::No,
    }
}

/// The outcome where no reply came.
pub(crate) fn without_reply(effect: Effect, failure: Failure) -> PaymentError {
    match (failure, effect) {
        (Failure::Misconfigured { detail }, _) => PaymentError::Misconfigured { detail },
        (Failure::NotConnected { detail }, _) => PaymentError::Unavailable { detail, retry_after: None },
        (Failure::Lost { detail }, Effect::MovesMoney(payment)) => {
            PaymentError::OutcomeUnknown { payment: payment.into(), code: None, reason: None, detail, body: None }
        }
        (Failure::Lost { detail }, Effect::Creates | Effect::Asks) => {
            PaymentError::Unavailable { detail, retry_after: None }
        }
    }
}

/// The outcome where a reply came.
pub(crate) fn with_reply<O: Operation>(
    operation: &O,
    effect: Effect,
    reply: &Reply,
    reader: &ReplyReader<'_>,
) -> Result<O::Answer, PaymentError> {
    let verdict = Verdict { reply, reader };
    let problem = match reply.http_status {
        200..=299 => match operation.read(reader) {
            Ok(answer) => return Ok(answer),
            Err(problem) => return Err(verdict.not_an_answer(operation, effect, problem)),
        },
        401 | 403 => return Err(verdict.unauthorized()),
        404 | 405 | 407 if !reader.has_envelope() => return Err(verdict.not_the_gateway()),
        429 => return Err(verdict.unavailable()),
        408 | 409 if matches!(effect, Effect::MovesMoney(_)) => "does not tell whether the payment was made",
        400..=499 => return Err(verdict.refused()),
        500.. if !matches!(effect, Effect::MovesMoney(_)) => return Err(verdict.unavailable()),
        500.. => "does not tell whether the payment was made",
        300..=399 => "is a redirect, which is never followed",
        _ => "is not a final reply",
    };
    let detail = format!("HTTP {} {problem}", reply.http_status);
    Err(verdict.unsettled(operation, effect, detail))
}

/// True where there is no such endpoint: HTTP 404 or 405 without the gateway's envelope.
pub(crate) fn is_no_such_endpoint(error: &PaymentError) -> bool {
    let PaymentError::Misconfigured { detail } = error else { return false };
    detail.starts_with("HTTP 404") || detail.starts_with("HTTP 405")
}

/// The errors that a reply can end in.
struct Verdict<'a> {
    reply: &'a Reply,
    reader: &'a ReplyReader<'a>,
}

impl Verdict<'_> {
    /// An HTTP status of success, but a body that is none.
    fn not_an_answer<O: Operation>(&self, operation: &O, effect: Effect, problem: NotAnAnswer) -> PaymentError {
        if self.reader.is_refusal() && !matches!(effect, Effect::Asks) {
            return self.refused();
        }
        self.unsettled(operation, effect, problem.detail)
    }

    /// No verdict that can be trusted.
    fn unsettled<O: Operation>(&self, operation: &O, effect: Effect, detail: String) -> PaymentError {
        match effect {
            Effect::MovesMoney(payment) => PaymentError::OutcomeUnknown {
                payment: operation.enrich(payment, self.reader).into(),
                code: self.reader.code(),
                reason: self.reader.reason(),
                detail,
                body: Some(self.reader.raw()),
            },
            Effect::Creates | Effect::Asks => PaymentError::Unexpected { detail, body: self.reader.raw() },
        }
    }

    fn refused(&self) -> PaymentError {
        PaymentError::Refused {
            http_status: self.reply.http_status,
            code: self.reader.code(),
            reason: self.reader.reason(),
            body: self.reader.raw(),
        }
    }

    fn unauthorized(&self) -> PaymentError {
        PaymentError::Unauthorized { detail: self.status_and_words() }
    }

    fn not_the_gateway(&self) -> PaymentError {
        let detail = format!("{}, and not from the gateway: check the base URL and any proxy", self.status_and_words());
        PaymentError::Misconfigured { detail }
    }

    fn unavailable(&self) -> PaymentError {
        PaymentError::Unavailable { detail: self.status_and_words(), retry_after: self.reply.retry_after }
    }

    fn status_and_words(&self) -> String {
        let words = self.reader.reason().map(|reason| format!(", \"{reason}\"")).unwrap_or_default();
        format!("HTTP {}{words}", self.reply.http_status)
    }
}
