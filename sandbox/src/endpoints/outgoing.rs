//! Fault injection in answers: another answer, or another way for it to reach the client.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::Response as HttpResponse,
};
use http_body_util::channel::Channel;
use tokio::time::sleep;

use crate::{
    endpoints::Response,
    faults::{Fault, FaultName},
    net::{Cut, Line, Until},
    redact::transcript,
    settings::Dialect,
};

/// How much of the head a reset in it lets through: the status line and the beginning of a header.
const HEAD_BYTES: usize = 20;
/// What an endless body goes on with.
const ENDLESS_CHUNK: Bytes = Bytes::from_static(&[b' '; 16 * 1024]);
/// The pause between the bytes of a dripped body.
const DRIP_PAUSE: Duration = Duration::from_secs(1);

/// An answer as it goes out.
pub(crate) struct Outgoing {
    status: StatusCode,
    content_type: &'static str,
    body: Vec<u8>,
    header: Option<(HeaderName, HeaderValue)>,
    transfer: Transfer,
    /// The payment that the request made, where it named none.
    pub(crate) payment_id: Option<i64>,
}

/// How an answer goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transfer {
    Whole,
    Late(Duration),
    Dripped,
    Endless,
    Cut(Cut),
}

impl Outgoing {
    /// An answer with nothing wrong in it.
    pub(crate) fn whole(response: Response, dialect: Dialect) -> Self {
        let (content_type, body) = response.write(dialect);
        Self {
            status: response.status,
            content_type,
            body: body.into_bytes(),
            header: response.header,
            transfer: Transfer::Whole,
            payment_id: response.payment_id,
        }
    }

    /// No answer: the connection is closed.
    pub(crate) fn none() -> Self {
        Self {
            status: StatusCode::OK,
            content_type: "",
            body: Vec::new(),
            header: None,
            transfer: Transfer::Cut(Cut { until: Until::Now, reset: false }),
            payment_id: None,
        }
    }

    /// What a fault of the moment "response" makes of an answer. `location` is where a redirect leads.
    pub(crate) fn struck(fault: &Fault, response: Response, dialect: Dialect, location: &str) -> Self {
        let payment_id = response.payment_id;
        let struck = match fault.name() {
            FaultName::ResponseLost => Self::none(),
            FaultName::Delay => Self::by(response, dialect, Transfer::Late(fault.delay_or_default())),
            FaultName::Drip => Self::by(response, dialect, Transfer::Dripped),
            FaultName::ResetBeforeResponse => Self::reset(response, dialect, |_| Until::Now),
            FaultName::ResetInHeaders => Self::reset(response, dialect, |_| Until::Head(HEAD_BYTES)),
            FaultName::ResetInBody => Self::reset(response, dialect, |body| Until::Body(body.len() / 2)),
            FaultName::EndlessBody => Self::endless(response, dialect),
            FaultName::Html502 => Self::html(StatusCode::BAD_GATEWAY, "502 Bad Gateway", None),
            FaultName::NotJson => Self { body: b"OK".to_vec(), ..Self::whole(response, dialect) },
            FaultName::CutJson => Self::cut_in_half(response, dialect),
            FaultName::UnknownStatus => Self::whole(response.with_status_word(fault.shown_status()), dialect),
            FaultName::UnknownCode => Self::whole(response.with_code(fault.shown_code()), dialect),
            FaultName::OtherDialect => Self::whole(response, Dialect::Other),
            FaultName::Redirect => {
                let location = HeaderValue::from_str(location).ok().map(|to| (header::LOCATION, to));
                Self::html(StatusCode::TEMPORARY_REDIRECT, "307 Temporary Redirect", location)
            }
            // Faults of other moments do nothing to an answer.
            _ => Self::whole(response, dialect),
        };
        Self { payment_id, ..struck }
    }

    fn by(response: Response, dialect: Dialect, transfer: Transfer) -> Self {
        Self { transfer, ..Self::whole(response, dialect) }
    }

    fn reset(response: Response, dialect: Dialect, until: impl FnOnce(&[u8]) -> Until) -> Self {
        let whole = Self::whole(response, dialect);
        let cut = Cut { until: until(&whole.body), reset: true };
        Self { transfer: Transfer::Cut(cut), ..whole }
    }

    fn cut_in_half(response: Response, dialect: Dialect) -> Self {
        let mut whole = Self::whole(response, dialect);
        whole.body.truncate(whole.body.len() / 2);
        whole
    }

    /// Without its last byte the body is no JSON, however long what follows is.
    fn endless(response: Response, dialect: Dialect) -> Self {
        let mut whole = Self::by(response, dialect, Transfer::Endless);
        whole.body.pop();
        whole
    }

    /// A page as something between client and gateway would send it.
    fn html(status: StatusCode, title: &str, header: Option<(HeaderName, HeaderValue)>) -> Self {
        let body = format!("<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n");
        let (content_type, body) = ("text/html", body.into_bytes());
        Self { status, content_type, body, header, transfer: Transfer::Whole, payment_id: None }
    }

    /// The HTTP status that the client gets to see, if it sees one.
    pub(crate) fn seen_status(&self) -> Option<u16> {
        let is_unseen = matches!(self.transfer, Transfer::Cut(Cut { until: Until::Now | Until::Head(_), .. }));
        (!is_unseen).then_some(self.status.as_u16())
    }

    /// Its head and body as they were written, whether or not they reach the client; no body where there is no answer.
    pub(crate) fn seen(&self) -> (String, Option<String>) {
        if self.content_type.is_empty() {
            return (String::new(), None);
        }
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.extend(self.header.clone());
        let head = format!("HTTP {}{}", self.status, transcript::shown_headers(&headers));
        (head, Some(String::from_utf8_lossy(&self.body).into_owned()))
    }

    /// Sends it.
    pub(crate) async fn send(self, line: &Line) -> HttpResponse {
        let Self { status, content_type, body, header, transfer, payment_id: _ } = self;
        let length = body.len();
        let body = match transfer {
            Transfer::Whole => Body::from(body),
            Transfer::Late(delay) => {
                sleep(delay).await;
                Body::from(body)
            }
            Transfer::Dripped => dripped(body.into()),
            Transfer::Endless => endless(body.into()),
            Transfer::Cut(cut) => {
                line.cut(cut);
                Body::from(body)
            }
        };
        let mut built = HttpResponse::new(body);
        *built.status_mut() = status;
        let headers = built.headers_mut();
        if transfer == Transfer::Dripped {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        // No caching: answers are about money.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.extend(header);
        built
    }
}

/// A byte, a pause, the next byte; it ends with the body, or with the client's patience.
fn dripped(body: Bytes) -> Body {
    let (mut sender, channel) = Channel::<Bytes, Infallible>::new(1);
    tokio::spawn(async move {
        for index in 0..body.len() {
            if index > 0 {
                sleep(DRIP_PAUSE).await;
            }
            if sender.send_data(body.slice(index..=index)).await.is_err() {
                return;
            }
        }
    });
    Body::new(channel)
}

/// The body and then blanks, as fast as the client takes them, until it no longer does.
fn endless(body: Bytes) -> Body {
    let (mut sender, channel) = Channel::<Bytes, Infallible>::new(1);
    tokio::spawn(async move {
        let mut chunk = body;
        while sender.send_data(chunk).await.is_ok() {
            chunk = ENDLESS_CHUNK;
        }
    });
    Body::new(channel)
}
