//! One exchange with an endpoint, from the request's bytes to the answer.

use std::{sync::Arc, time::Duration, time::Instant};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, Method, Uri},
    response::{IntoResponse, Response},
};
use http_body_util::BodyExt;
use tokio::{task::spawn_blocking, time::timeout};

use crate::{
    auth,
    fields::Fields,
    flows::{Endpoint, Input},
    gateway::Gateway,
    refusal::Refusal,
    reply::Reply,
    store::exchanges,
};

/// The largest request body.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// How much of a larger one is read before the connection is given up.
const MAX_DRAINED_BYTES: usize = 16 * MAX_BODY_BYTES;
/// How long a body may take to arrive.
const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// Answers a request to an endpoint. Once its body was read, it takes effect even if the caller hangs up.
pub(crate) async fn exchange(gateway: Arc<Gateway>, endpoint: &'static Endpoint, request: Request) -> Response {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    let input = match refuse_early(&gateway, endpoint, &parts.method, &parts.headers) {
        Some(refusal) => Err(refusal),
        None => read_body(body).await.map(|body| (parts.uri, body)),
    };
    let work = move || answer(&gateway, endpoint, input, started);
    match spawn_blocking(work).await {
        Ok(reply) => reply.into_response(),
        Err(error) => Refusal::Internal(error.to_string()).reply(crate::language::Language::English).into_response(),
    }
}

/// What needs no body: a stranger learns nothing but that they are one.
fn refuse_early(gateway: &Gateway, endpoint: &Endpoint, method: &Method, headers: &HeaderMap) -> Option<Refusal> {
    if !auth::is_authorized(headers, &gateway.options) {
        return Some(Refusal::Unauthorized);
    }
    (method != endpoint.method).then_some(Refusal::WrongMethod { allowed: endpoint.allowed })
}

/// Reads a request's body within the limits of size and time.
pub(crate) async fn read_body(body: Body) -> Result<Bytes, Refusal> {
    match timeout(BODY_DEADLINE, collect(body)).await {
        Ok(result) => result,
        Err(_) => Err(Refusal::BodyTooSlow),
    }
}

/// Past the limit it still reads for a while, and forgets: a caller who is busy sending hears no answer.
async fn collect(mut body: Body) -> Result<Bytes, Refusal> {
    let mut bytes = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Refusal::NotJson)?.into_data() else {
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
        return Err(Refusal::BodyTooLarge);
    }
    Ok(bytes.into())
}

/// Answers, records the exchange, and logs it.
fn answer(gateway: &Gateway, endpoint: &Endpoint, input: Result<(Uri, Bytes), Refusal>, started: Instant) -> Reply {
    let fields = input.and_then(|(uri, body)| read_fields(endpoint.input, &uri, &body));
    let peek = |name| fields.as_ref().ok().and_then(|fields| fields.peek(name));
    let subject = endpoint.subject.and_then(peek);
    let language = gateway.language(peek("language").as_deref());
    let reply =
        fields.and_then(|fields| (endpoint.answer)(gateway, fields)).unwrap_or_else(|refusal| refusal.reply(language));

    let http_status = reply.status.as_u16();
    let subject = subject.as_deref();
    let recorded = gateway.store.read(|connection| exchanges::record(connection, endpoint.path, subject, http_status));
    if let Err(error) = recorded {
        tracing::error!(%error, "an exchange could not be recorded");
    }
    tracing::info!(
        method = endpoint.allowed,
        path = endpoint.path,
        order = subject,
        status = http_status,
        ms = started.elapsed().as_millis(),
        "request"
    );
    reply
}

fn read_fields(input: Input, uri: &Uri, body: &[u8]) -> Result<Fields, Refusal> {
    let has_body = !body.iter().all(u8::is_ascii_whitespace);
    match input {
        Input::Body => Fields::from_json(body),
        Input::BodyOrQuery if has_body => Fields::from_json(body),
        Input::BodyOrQuery | Input::Query => Ok(Fields::from_query(uri.query().unwrap_or_default())),
    }
}
