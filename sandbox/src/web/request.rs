//! Requests: body limits, HTTP authentication in constant time, and a request to a staff page with its form.

use std::time::Duration;

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use http_body_util::BodyExt;
use subtle::ConstantTimeEq;
use tokio::time::timeout;

use crate::{encoding::FormPairs, net::ConnectionHandle};

/// A request to a staff page, with its form read.
pub(crate) struct PageRequest {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) query: FormPairs,
    /// The query as it was sent, without the question mark.
    pub(crate) raw_query: String,
    /// The form of a POST.
    pub(crate) form: Option<FormPairs>,
    pub(crate) connection: ConnectionHandle,
}

impl PageRequest {
    /// Reads a request; fails with an error response.
    pub(crate) async fn read(request: Request, connection: ConnectionHandle) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let form = match parts.method {
            Method::GET | Method::HEAD => None,
            Method::POST => match read_body(body).await {
                Ok(body) => Some(FormPairs::parse(&body)),
                Err(_) => return Err((StatusCode::BAD_REQUEST, "The form could not be read\n").into_response()),
            },
            _ => return Err((StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD, POST")]).into_response()),
        };
        let raw_query = parts.uri.query().unwrap_or_default().to_owned();
        let query = FormPairs::parse(raw_query.as_bytes());
        Ok(Self { path: parts.uri.path().to_owned(), headers: parts.headers, query, raw_query, form, connection })
    }
}

/// The largest request body.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// How much of a larger body is drained before the connection is given up.
const MAX_DRAINED_BYTES: usize = 16 * MAX_BODY_BYTES;
/// How long a body may take to arrive.
pub(crate) const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyError {
    TooLarge,
    TooSlow,
    /// It ended in its middle, or is not what HTTP allows.
    Broken,
}

/// Reads a request's body within the limits of size and time.
pub(crate) async fn read_body(body: Body) -> Result<Bytes, BodyError> {
    match timeout(BODY_DEADLINE, collect(body)).await {
        Ok(result) => result,
        Err(_) => Err(BodyError::TooSlow),
    }
}

/// Past the limit it drains the body for a while: a client that is still sending would miss the response.
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

/// True where the request carries the merchant's login and password.
/// Compared in constant time, so that the duration does not reveal how much was right.
pub(crate) fn is_authorized(headers: &HeaderMap, login: &str, password: &str) -> bool {
    let expected = format!("{login}:{password}");
    given(headers).is_some_and(|given| given.ct_eq(expected.as_bytes()).into())
}

/// True where the request carries the admin token; compared likewise.
pub(crate) fn is_admin(headers: &HeaderMap, token: &str) -> bool {
    credentials(headers, "bearer").is_some_and(|given| given.as_bytes().ct_eq(token.as_bytes()).into())
}

fn given(headers: &HeaderMap) -> Option<Vec<u8>> {
    STANDARD.decode(credentials(headers, "basic")?).ok()
}

/// The credentials after the name of the scheme, if it is the wanted one.
fn credentials<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let (scheme, credentials) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case(wanted).then(|| credentials.trim())
}
