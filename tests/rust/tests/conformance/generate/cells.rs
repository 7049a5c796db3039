//! What a cell of the table of outcomes says, as the error that a vector expects.

use serde_json::{Value, json};

use super::{like, without_nulls};

/// What a cell of the table says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    Answer,
    Unknown,
    Unavailable,
    /// A query is sent three times first.
    RetriedThenUnavailable,
    Refused,
    Unexpected,
    Unauthorized,
    Misconfigured,
}

/// What came back, as far as an error tells of it. A star in a text stands for any.
pub struct Said<'a> {
    /// The reference of the payment, as a constant and as a text.
    pub payment: (&'a str, &'a str),
    pub status: Option<u64>,
    pub code: Option<&'a str>,
    pub reason: Option<&'a str>,
    /// Why there is no verdict, or what is wrong.
    pub detail: &'a str,
    pub body: Value,
    pub retry_after_ms: Option<u64>,
}

pub fn error(cell: Cell, said: &Said<'_>) -> Value {
    let (kind, mut fields, text) = fields(cell, said);
    fields["http_status"] = json!(said.status);
    fields["code"] = json!(said.code);
    fields["body"] = said.body.clone();
    fields["kind"] = kind.into();
    fields["text"] = like(&text);
    fields["payment_may_exist"] = (kind == "OutcomeUnknown").into();
    fields["is_retryable"] = (kind == "Unavailable").into();
    without_nulls(fields)
}

fn fields(cell: Cell, said: &Said<'_>) -> (&'static str, Value, String) {
    let Said { status, code, .. } = said;
    let detail = match status {
        Some(status) if *status >= 300 => format!("HTTP {status} {}", said.detail),
        _ => said.detail.to_owned(),
    };
    let quoted = said.reason.map(|reason| format!(", \"{reason}\"")).unwrap_or_default();
    let status_line = format!("HTTP {}{quoted}", status.unwrap_or_default());
    let words = code.map(|code| format!(", code {code}")).unwrap_or_default() + &quoted;
    let reason = said.reason.map(like);
    match cell {
        Cell::Unknown => (
            "OutcomeUnknown",
            json!({"payment": {"$use": said.payment.0}, "reason": reason, "detail": like(&detail)}),
            format!(
                "The outcome of {} is unknown, it may have happened: {detail}{words}. Watch it; never send it again.",
                said.payment.1
            ),
        ),
        Cell::Unavailable | Cell::RetriedThenUnavailable => {
            let detail = if status.is_some() { status_line } else { detail };
            let wait = said.retry_after_ms.map(|wait| format!(" in {} s", wait / 1000)).unwrap_or_default();
            (
                "Unavailable",
                json!({"detail": like(&detail), "retry_after_ms": said.retry_after_ms}),
                format!("Not available, nothing happened: {detail}. Try again{wait}."),
            )
        }
        Cell::Refused => (
            "Refused",
            json!({"reason": reason}),
            format!("The gateway refused, nothing happened (HTTP {}{words}).", status.unwrap_or_default()),
        ),
        Cell::Unexpected => (
            "Unexpected",
            json!({"detail": like(&detail)}),
            format!("The gateway's answer could not be understood, nothing happened: {detail}."),
        ),
        Cell::Unauthorized => (
            "Unauthorized",
            json!({"detail": like(&status_line)}),
            format!("The gateway did not accept the credentials, nothing happened: {status_line}."),
        ),
        Cell::Misconfigured => {
            let detail = format!("{status_line}, and not from the gateway: check the base URL and any proxy");
            let text = format!("Wrong configuration, nothing happened: {detail}.");
            ("Misconfigured", json!({"detail": detail}), text)
        }
        Cell::Answer => unreachable!("an answer is no error"),
    }
}
