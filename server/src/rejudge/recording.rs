//! The lines of a recording: JSON, one exchange each, after a header.

use std::{borrow::Cow, fmt};

use base64::{Engine, engine::general_purpose::STANDARD};
use kassa::{PaymentError, RecordedExchange};
use serde::Deserialize;

use super::judging::{Exchange, Subject};

/// The version of the form that this server reads.
const VERSION: u64 = 1;

/// Why a file is not a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordingError(String);

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Deserialize)]
struct Header {
    kassa_recording: u64,
}

/// Checks the first line.
pub(super) fn check_header(line: &[u8]) -> Result<(), RecordingError> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    match serde_json::from_slice::<Header>(line) {
        Ok(Header { kassa_recording: VERSION }) => Ok(()),
        Ok(Header { kassa_recording }) => Err(RecordingError(format!(
            "is a recording of form {kassa_recording}, and this version of Kassa reads form {VERSION}"
        ))),
        Err(_) => Err(RecordingError(format!(
            "is not a recording: its first line must be a JSON object with \"kassa_recording\": {VERSION}"
        ))),
    }
}

#[derive(Deserialize)]
struct Line<'a> {
    exchange: u64,
    #[serde(borrow)]
    direction: Cow<'a, str>,
    #[serde(borrow)]
    started_at: Cow<'a, str>,
    #[serde(borrow)]
    request: Request<'a>,
    #[serde(borrow, default)]
    response: Option<Response<'a>>,
    #[serde(borrow, default)]
    problem: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    target: Cow<'a, str>,
    #[serde(borrow, default)]
    body: Option<Body<'a>>,
}

#[derive(Deserialize)]
struct Response<'a> {
    status: u16,
    #[serde(borrow, default)]
    body: Option<Body<'a>>,
}

#[derive(Default, Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    base64: Option<Cow<'a, str>>,
    #[serde(default)]
    truncated: Option<u64>,
}

impl Body<'_> {
    fn bytes(&self, whose: &str) -> Result<Cow<'_, [u8]>, String> {
        if let Some(length) = self.truncated {
            return Err(format!("only a part of the {length} bytes of the {whose} was recorded"));
        }
        match (&self.text, &self.base64) {
            (Some(text), _) => Ok(text.as_bytes().into()),
            (None, Some(text)) => match STANDARD.decode(text.as_bytes()) {
                Ok(bytes) => Ok(bytes.into()),
                Err(_) => Err(format!("the {whose} is not base64")),
            },
            (None, None) => Ok(Cow::default()),
        }
    }
}

/// Why a line cannot be judged, with the number of its exchange if that could be read.
pub(super) type Unusable = (Option<u64>, String);

/// Reads one line.
pub(super) fn read(line: &[u8]) -> Result<Exchange, Unusable> {
    let line: Line<'_> =
        serde_json::from_slice(line).map_err(|problem| (None, format!("cannot be read: {problem}")))?;
    let subject = subject(&line).map_err(|why| (Some(line.exchange), why))?;
    let (exchange, at) = (line.exchange, line.started_at.into_owned());
    Ok(Exchange { payment_id: None, exchange, at, subject })
}

fn subject(line: &Line<'_>) -> Result<Subject, String> {
    let request_body = line.request.body.as_ref().map_or(Ok(Cow::default()), |body| body.bytes("request's body"));
    match &*line.direction {
        "callback" => Ok(Subject::Callback(String::from_utf8_lossy(&request_body?).into_owned())),
        "request" => {
            let Some(response) = &line.response else {
                let how = line.problem.as_ref().map(|problem| format!(": {problem}")).unwrap_or_default();
                return Err(format!("there is no response{how}"));
            };
            if let Some(problem) = &line.problem {
                return Err(format!("the response is not whole: {problem}"));
            }
            let request_body = request_body?;
            let response_body =
                response.body.as_ref().map_or(Ok(Cow::default()), |body| body.bytes("response's body"))?;
            let request_text = String::from_utf8_lossy(&request_body);
            let exchange = RecordedExchange::new(&line.request.target, &request_text, response.status, &response_body);
            Ok(Subject::Response(Box::new(exchange.map_err(|problem| unjudgeable(&problem))?)))
        }
        other => Err(format!("the direction {other:?} is not known")),
    }
}

/// The rules that a recorded request breaks.
pub(super) fn unjudgeable(problem: &PaymentError) -> String {
    match problem {
        PaymentError::Invalid { violations, .. } => {
            let sentences: Vec<_> = violations.iter().map(ToString::to_string).collect();
            sentences.join("; ")
        }
        other => other.to_string(),
    }
}
