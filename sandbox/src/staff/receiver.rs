//! Built-in webhook receiver for people who have no endpoint yet: it accepts every
//! request, and the dashboard shows them. It sends nothing, so it cannot cause a loop.

use std::sync::Arc;

use axum::{
    Router,
    extract::{self, Request},
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
    routing::any,
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::{task::spawn_blocking, time::timeout};

use crate::{
    encoding::FormPairs,
    redact::{transcript, without_secrets},
    state::State,
    store::received::{self, Received},
    web::BODY_DEADLINE,
};

/// Its path. The name after it separates the requests of different shops.
pub(crate) const PREFIX: &str = "/receiver/";
/// The maximum size of a body.
const MAX_BODY: usize = 64 * 1024;
/// The maximum length of a stored name.
const MAX_NAME: usize = 100;
/// The maximum length of a stored address.
const MAX_TARGET: usize = 2000;

/// Its route.
pub(crate) fn routes(state: &Arc<State>) -> Router {
    Router::new().route("/receiver/{*name}", any(receive)).with_state(Arc::clone(state))
}

async fn receive(extract::State(state): extract::State<Arc<State>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = match timeout(BODY_DEADLINE, Limited::new(body, MAX_BODY).collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            return plain(StatusCode::PAYLOAD_TOO_LARGE, "larger than 64 KiB\n");
        }
        Ok(Err(_)) => return plain(StatusCode::BAD_REQUEST, "the body did not arrive whole\n"),
        Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time\n"),
    };
    let status = requested_status(&parts);
    let received = received(&parts, &body, status, state.clock().now_ms());
    let stored = spawn_blocking(move || {
        let _generation = state.generation();
        state.store.write(|transaction| received::record(transaction, &received))
    });
    match stored.await {
        Ok(Ok(())) => plain(status, "received\n"),
        Ok(Err(error)) => {
            tracing::error!(%error, "a request to the receiver could not be stored");
            plain(StatusCode::INTERNAL_SERVER_ERROR, "not received\n")
        }
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "not received\n"),
    }
}

/// The status that `?answer=` requests, to test rejected callbacks.
fn requested_status(parts: &Parts) -> StatusCode {
    let wanted = FormPairs::parse(parts.uri.query().unwrap_or_default().as_bytes());
    let wanted = wanted.get("answer").parse().ok().filter(|status| (200..600).contains(status));
    wanted.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::OK)
}

fn received(parts: &Parts, body: &[u8], status: StatusCode, at: i64) -> Received {
    let name = parts.uri.path().strip_prefix(PREFIX).unwrap_or_default();
    // Redacted before truncation, because half a card number is not recognized.
    let target: String = without_secrets(&parts.uri.to_string()).chars().take(MAX_TARGET).collect();
    Received {
        at,
        name: without_secrets(name).chars().take(MAX_NAME).collect(),
        head: format!("{} {target}{}", parts.method, transcript::shown_headers(&parts.headers)),
        body: shown(&parts.headers, body),
        body_length: i64::try_from(body.len()).unwrap_or(i64::MAX),
        answered: status.as_u16(),
    }
}

/// The body in its stored form. A payment request that was sent here by mistake is masked, too.
fn shown(headers: &HeaderMap, body: &[u8]) -> String {
    if headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/")) {
        // In multipart, a name and its value are on different lines, so redaction cannot find secrets.
        return format!("(multipart, {} bytes; not kept)", body.len());
    }
    let request = transcript::Request::default().with_body(body);
    match request.body {
        Some(masked) if request.has_card_data => masked,
        _ => transcript::cut(&without_secrets(&String::from_utf8_lossy(body))),
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")], text)
        .into_response()
}
