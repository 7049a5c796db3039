//! Requests: body limits, HTTP authentication in constant time, and the middleware that pages share.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::{Body, Bytes},
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use http_body_util::BodyExt;
use subtle::ConstantTimeEq;
use tokio::{task::spawn_blocking, time::timeout};

use crate::{encoding::FormPairs, net::ConnectionHandle};

/// A request to a staff page, with its form read. Handlers extract it as `Extension<Arc<PageRequest>>`.
pub(crate) struct PageRequest {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) query: FormPairs,
    /// The unparsed query, without the question mark.
    pub(crate) raw_query: String,
    /// The form of a POST; empty for other methods.
    pub(crate) form: FormPairs,
    /// The address of the client, or of the proxy before it.
    pub(crate) peer: IpAddr,
}

/// Middleware of the staff's pages: reads a request into a [`PageRequest`].
pub(crate) async fn read_page_request(
    ConnectInfo(connection): ConnectInfo<ConnectionHandle>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let form = match parts.method {
        Method::GET | Method::HEAD => FormPairs::default(),
        Method::POST => match read_body(body).await {
            Ok(body) => FormPairs::parse(&body),
            Err(_) => return (StatusCode::BAD_REQUEST, "The form could not be read\n").into_response(),
        },
        _ => return page_method_not_allowed().await,
    };
    let raw_query = parts.uri.query().unwrap_or_default().to_owned();
    let page_request = PageRequest {
        path: parts.uri.path().to_owned(),
        headers: parts.headers.clone(),
        query: FormPairs::parse(raw_query.as_bytes()),
        raw_query,
        form,
        peer: connection.peer,
    };
    parts.extensions.insert(Arc::new(page_request));
    next.run(Request::from_parts(parts, Body::empty())).await
}

/// HTTP 405 of a page.
pub(crate) async fn page_method_not_allowed() -> Response {
    (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD, POST")]).into_response()
}

/// Middleware: logs each request to a group of pages, under the name of the group.
pub(crate) async fn log_request(State(group): State<&'static str>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = next.run(request).await;
    let (status, ms) = (response.status().as_u16(), started.elapsed().as_millis());
    tracing::info!(%method, path, status, ms, "{group}");
    response
}

/// Runs a handler's work on a blocking thread. A panic, which was already logged, becomes HTTP 500.
pub(crate) async fn respond_blocking(work: impl FnOnce() -> Response + Send + 'static) -> Response {
    match spawn_blocking(work).await {
        Ok(response) => response,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The maximum size of a request body.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// How much of a larger body is drained before the connection is closed.
const MAX_DRAINED_BYTES: usize = 16 * MAX_BODY_BYTES;
/// The time limit for receiving a body.
pub(crate) const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyError {
    TooLarge,
    TooSlow,
    /// It ended early, or is not valid HTTP.
    Broken,
}

/// Reads a request's body within the limits of size and time.
pub(crate) async fn read_body(body: Body) -> Result<Bytes, BodyError> {
    match timeout(BODY_DEADLINE, collect(body)).await {
        Ok(result) => result,
        Err(_) => Err(BodyError::TooSlow),
    }
}

/// Drains a body past the limit for a while: otherwise a client that is still sending would miss the response.
async fn collect(mut body: Body) -> Result<Bytes, BodyError> {
    let mut bytes = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else {
            continue;
        };
        length += data.len();
        if length <= MAX_BODY_BYTES {
            bytes.extend_from_slice(&data);
        } else if length > MAX_DRAINED_BYTES {
            break;
        }
    }
    if length > MAX_BODY_BYTES {
        return Err(BodyError::TooLarge);
    }
    Ok(bytes.into())
}

/// True if the request has the merchant's login and password. Compared in
/// constant time, so that the duration does not reveal how much was right.
pub(crate) fn is_authorized(headers: &HeaderMap, login: &str, password: &str) -> bool {
    let expected = format!("{login}:{password}");
    given(headers).is_some_and(|given| given.ct_eq(expected.as_bytes()).into())
}

/// True if the request has the admin token; compared in constant time, too.
pub(crate) fn is_admin(headers: &HeaderMap, token: &str) -> bool {
    credentials(headers, "bearer").is_some_and(|given| given.as_bytes().ct_eq(token.as_bytes()).into())
}

fn given(headers: &HeaderMap) -> Option<Vec<u8>> {
    STANDARD.decode(credentials(headers, "basic")?).ok()
}

/// The credentials after the scheme's name, if it is the expected scheme.
fn credentials<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let (scheme, credentials) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case(wanted).then(|| credentials.trim())
}
