//! Responses of the endpoints: an HTTP status and the envelope of code, message and data. The `Other` dialect
//! puts the same data into another envelope with other field names, to test clients with configurable mappings.

use std::collections::BTreeMap;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::{domain::codes, settings::Dialect};

/// The field of `data` with the status word.
const STATUS: &str = "status";

/// A response, independent of the web framework and of the dialect.
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    content: Content,
    pub(crate) header: Option<(HeaderName, HeaderValue)>,
    /// Whether a fault keeps the payment from becoming final.
    pub(crate) stuck: bool,
    /// The payment in the response, if the request did not identify it.
    pub(crate) payment_id: Option<i64>,
    /// True if the data is the bare status word.
    has_bare_status: bool,
}

enum Content {
    Envelope {
        code: String,
        message: String,
        data: Box<RawValue>,
    },
    /// The base64 of a picture, without an envelope, as in the interface.
    Image(String),
    Text(String),
}

#[derive(Serialize)]
struct Envelope<'a> {
    code: &'a str,
    message: &'a str,
    data: &'a RawValue,
}

/// The data of an envelope with a picture.
#[derive(Serialize)]
struct ImageData<'a> {
    image: &'a str,
}

impl Response {
    /// The envelope with HTTP 200.
    pub(crate) fn ok(code: &str, message: &str, data: &impl Serialize) -> Self {
        Self::envelope(StatusCode::OK, code, message, data)
    }

    /// The envelope with any HTTP status.
    pub(crate) fn envelope(status: StatusCode, code: &str, message: &str, data: &impl Serialize) -> Self {
        match to_raw_value(data) {
            Ok(data) => {
                Self::new(status, Content::Envelope { code: code.to_owned(), message: message.to_owned(), data })
            }
            Err(error) => unwritable(&error),
        }
    }

    /// A picture, as base64.
    pub(crate) fn image(base64: String) -> Self {
        Self::new(StatusCode::OK, Content::Image(base64))
    }

    fn new(status: StatusCode, content: Content) -> Self {
        Self { status, content, header: None, stuck: false, payment_id: None, has_bare_status: false }
    }

    /// The same response with one more header.
    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some((name, value));
        self
    }

    /// The same response, marked if a fault keeps its payment from becoming final.
    pub(crate) fn about_stuck(mut self, stuck: bool) -> Self {
        self.stuck = stuck;
        self
    }

    /// The same response with its payment, for a request without a number of it.
    pub(crate) fn about(mut self, payment_id: i64) -> Self {
        self.payment_id = Some(payment_id);
        self
    }

    /// The same response, marked as having a bare status word as data.
    pub(crate) fn of_bare_status(mut self) -> Self {
        self.has_bare_status = true;
        self
    }

    /// Whether it has an envelope, and so a code.
    pub(crate) fn has_code(&self) -> bool {
        matches!(self.content, Content::Envelope { .. })
    }

    /// Whether its data has or is a status word.
    pub(crate) fn has_status_word(&self) -> bool {
        self.has_bare_status
            || matches!(&self.content, Content::Envelope { data, .. } if members(data).contains_key(STATUS))
    }

    /// The same response with another code.
    pub(crate) fn with_code(mut self, other: &str) -> Self {
        if let Content::Envelope { code, .. } = &mut self.content {
            other.clone_into(code);
        }
        self
    }

    /// The same response with another status word.
    pub(crate) fn with_status_word(mut self, word: &str) -> Self {
        let is_bare = self.has_bare_status;
        if let Content::Envelope { data, .. } = &mut self.content
            && let Ok(word) = to_raw_value(word)
        {
            if is_bare {
                *data = word;
                return self;
            }
            let mut fields = members(data);
            fields.insert(STATUS, &word);
            if let Ok(changed) = to_raw_value(&fields) {
                *data = changed;
            }
        }
        self
    }

    /// The content type and the body in a dialect.
    pub(crate) fn write(&self, dialect: Dialect) -> (&'static str, String) {
        const JSON: &str = "application/json";
        let written = match (&self.content, dialect) {
            (Content::Text(text), _) => return (TEXT, text.clone()),
            (Content::Image(base64), Dialect::Interface | Dialect::Finipay) => return (TEXT, base64.clone()),
            (Content::Image(base64), Dialect::Other) => to_raw_value(&ImageData { image: base64 })
                .and_then(|data| in_other_dialect(codes::CREATED, "CREATED", &data)),
            (Content::Envelope { code, message, data }, Dialect::Interface | Dialect::Finipay) => {
                serde_json::to_string(&Envelope { code, message, data })
            }
            (Content::Envelope { code, message, data }, Dialect::Other) => in_other_dialect(code, message, data),
        };
        written.map_or_else(|error| unwritable(&error).write(dialect), |body| (JSON, body))
    }
}

const TEXT: &str = "text/plain; charset=utf-8";

/// The members of the data.
fn members(data: &RawValue) -> BTreeMap<&str, &RawValue> {
    serde_json::from_str(data.get()).unwrap_or_default()
}

fn unwritable(error: &serde_json::Error) -> Response {
    tracing::error!(%error, "an answer could not be written");
    Response::new(StatusCode::INTERNAL_SERVER_ERROR, Content::Text(String::new()))
}

/// The field names of `data` in the other dialect.
const OTHER_NAMES: [(&str, &str); 15] = [
    ("ConfirmationUrl", "confirm_link"),
    ("amount", "total"),
    ("attemptsLeft", "tries_left"),
    ("currency", "ccy"),
    ("description", "purpose"),
    ("errors", "violations"),
    ("image", "picture"),
    ("name", "holder"),
    ("orderNumber", "order_id"),
    ("payFormUrl", "form_link"),
    ("paymentId", "operation_id"),
    ("qr_data", "qr_text"),
    ("status", "state"),
    ("sum", "total"),
    ("transaction_id", "operation_id"),
];

#[derive(Serialize)]
struct OtherEnvelope<'a> {
    result: OtherResult<'a>,
    payload: BTreeMap<&'a str, &'a RawValue>,
}

#[derive(Serialize)]
struct OtherResult<'a> {
    value: &'a str,
    text: &'a str,
}

/// Writes a response in the other dialect. Data that is not an object becomes the only member of an object.
fn in_other_dialect(code: &str, message: &str, data: &RawValue) -> serde_json::Result<String> {
    let fields: BTreeMap<&str, &RawValue> =
        serde_json::from_str(data.get()).unwrap_or_else(|_| BTreeMap::from([("value", data)]));
    let payload = fields.into_iter().map(|(name, value)| (renamed(name), value)).collect();
    serde_json::to_string(&OtherEnvelope { result: OtherResult { value: code, text: message }, payload })
}

fn renamed(name: &str) -> &str {
    OTHER_NAMES.iter().find(|(shown, _)| *shown == name).map_or(name, |(_, other)| other)
}
