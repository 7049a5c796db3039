//! Fault injection in responses: changes a response, or the way it is sent.

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
    net::{ConnectionHandle, Cut, CutPoint},
    redact::transcript,
    settings::Dialect,
};

/// How much of the head is sent before a reset in it: the status line and the beginning of a header.
const HEAD_BYTES: usize = 20;
/// The chunk that an endless body repeats.
const ENDLESS_CHUNK: Bytes = Bytes::from_static(&[b' '; 16 * 1024]);
/// The pause between the bytes of a dripped body.
const DRIP_PAUSE: Duration = Duration::from_secs(1);

/// A response and how it is sent.
pub(crate) struct OutgoingResponse {
    status: StatusCode,
    content_type: &'static str,
    body: Vec<u8>,
    header: Option<(HeaderName, HeaderValue)>,
    transfer: Transfer,
    /// The created payment, if the request has no number of it.
    pub(crate) payment_id: Option<i64>,
}

/// The way a response is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transfer {
    Whole,
    Late(Duration),
    Dripped,
    Endless,
    Cut(Cut),
}

impl OutgoingResponse {
    /// A response without a fault.
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

    /// No response: the connection is closed.
    pub(crate) fn none() -> Self {
        Self {
            status: StatusCode::OK,
            content_type: "",
            body: Vec::new(),
            header: None,
            transfer: Transfer::Cut(Cut { until: CutPoint::Now, reset: false }),
            payment_id: None,
        }
    }

    /// The response with a fault of the moment "response". `location` is the target of a redirect.
    pub(crate) fn with_fault(fault: &Fault, response: Response, dialect: Dialect, location: &str) -> Self {
        let payment_id = response.payment_id;
        let faulty = match fault.name() {
            FaultName::ResponseLost => Self::none(),
            FaultName::Delay => Self::with_transfer(response, dialect, Transfer::Late(fault.delay_or_default())),
            FaultName::Drip => Self::with_transfer(response, dialect, Transfer::Dripped),
            FaultName::ResetBeforeResponse => Self::reset(response, dialect, |_| CutPoint::Now),
            FaultName::ResetInHeaders => Self::reset(response, dialect, |_| CutPoint::Head(HEAD_BYTES)),
            FaultName::ResetInBody => Self::reset(response, dialect, |body| CutPoint::Body(body.len() / 2)),
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
            // Faults of other moments do not change a response.
            _ => Self::whole(response, dialect),
        };
        Self { payment_id, ..faulty }
    }

    fn with_transfer(response: Response, dialect: Dialect, transfer: Transfer) -> Self {
        Self { transfer, ..Self::whole(response, dialect) }
    }

    fn reset(response: Response, dialect: Dialect, until: impl FnOnce(&[u8]) -> CutPoint) -> Self {
        let whole = Self::whole(response, dialect);
        let cut = Cut { until: until(&whole.body), reset: true };
        Self { transfer: Transfer::Cut(cut), ..whole }
    }

    fn cut_in_half(response: Response, dialect: Dialect) -> Self {
        let mut whole = Self::whole(response, dialect);
        whole.body.truncate(whole.body.len() / 2);
        whole
    }

    /// Without its last byte, the body is never valid JSON.
    fn endless(response: Response, dialect: Dialect) -> Self {
        let mut whole = Self::with_transfer(response, dialect, Transfer::Endless);
        whole.body.pop();
        whole
    }

    /// An error page as a proxy between client and gateway sends it.
    fn html(status: StatusCode, title: &str, header: Option<(HeaderName, HeaderValue)>) -> Self {
        let body = format!("<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n");
        let (content_type, body) = ("text/html", body.into_bytes());
        Self { status, content_type, body, header, transfer: Transfer::Whole, payment_id: None }
    }

    /// The HTTP status that the client receives, if any.
    pub(crate) fn visible_status(&self) -> Option<u16> {
        let is_unseen = matches!(self.transfer, Transfer::Cut(Cut { until: CutPoint::Now | CutPoint::Head(_), .. }));
        (!is_unseen).then_some(self.status.as_u16())
    }

    /// Its head and body, whether or not they reach the client; the body is absent if there is no response.
    pub(crate) fn as_written(&self) -> (String, Option<String>) {
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
    pub(crate) async fn send(self, connection: &ConnectionHandle) -> HttpResponse {
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
                connection.cut(cut);
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
        // No caching, because responses are about money.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.extend(header);
        built
    }
}

/// Sends one byte, pauses, and sends the next one, until the body ends or the client hangs up.
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

/// The body and then spaces, as fast as the client reads them, until the client hangs up.
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
