//! All routes together: what happens before and after each of them.

use std::{
    collections::{BTreeMap, HashMap},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Instant,
};

use axum::{
    Router,
    body::{Body as HttpBody, Bytes},
    extract::{RawPathParams, Request, rejection::RawPathParamsRejection},
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
    response::{IntoResponse, Response},
    routing::{MethodFilter, MethodRouter, get, on},
};
use futures_util::FutureExt;

use super::{
    document::document,
    fields::BodyFields,
    problem::{Problem, ProblemKind},
    query::QueryFields,
    request::ApiRequest,
    route::{Body, Route},
    settings::HttpSettings,
    state::ApiState,
    table::ROUTES,
};
use crate::{
    metrics::Metrics,
    net::{BodyError, caller_of, is_of_media_type, read_body},
    server::{LONGEST_KEY, Server},
    values::{checks::Checks, violation::Rule},
};

const KEY: &str = "idempotency-key";

/// The parts of a path; none where they are no text.
type Parameters = Result<RawPathParams, RawPathParamsRejection>;

/// The HTTP interface of a server.
pub fn router(server: Server, settings: HttpSettings) -> Router {
    let description = document(&ROUTES, &settings.public_url, server.settings().takes_cards).to_string();
    let http = Arc::new(ApiState::new(server, settings, description));
    let mut paths: BTreeMap<&str, MethodRouter> = BTreeMap::new();
    for route in &ROUTES {
        let http = http.clone();
        let answer = on(filter(&route.method), move |parameters: Parameters, request: Request| {
            respond(http.clone(), route, parameters, request)
        });
        let before = paths.remove(route.path).unwrap_or_default();
        paths.insert(route.path, before.merge(answer));
    }
    let not_found = {
        let http = http.clone();
        move |request: Request| {
            let result = http.access.check_address(caller_of(&request, &http.settings.proxies));
            std::future::ready(finished(
                &http,
                result.err().unwrap_or_else(|| Problem::new(ProblemKind::NotFound)).into_response(),
            ))
        }
    };
    let wrong_method = {
        let http = http.clone();
        move || std::future::ready(finished(&http, Problem::new(ProblemKind::MethodNotAllowed).into_response()))
    };
    let router = paths.into_iter().fold(Router::new(), |router, (path, methods)| router.route(path, methods));
    router.method_not_allowed_fallback(wrong_method).fallback(not_found)
}

/// The metrics of a server, for a listener of their own.
pub fn metrics_router(server: Server) -> Router {
    let answer = move || {
        let server = server.clone();
        async move { ([(header::CONTENT_TYPE, Metrics::CONTENT_TYPE)], server.metrics_text().await) }
    };
    Router::new().route("/metrics", get(answer))
}

fn filter(method: &Method) -> MethodFilter {
    match *method {
        Method::GET => MethodFilter::GET,
        Method::DELETE => MethodFilter::DELETE,
        _ => MethodFilter::POST,
    }
}

async fn respond(http: Arc<ApiState>, route: &'static Route, parameters: Parameters, request: Request) -> Response {
    let started = Instant::now();
    let answering = AssertUnwindSafe(Box::pin(answer(&http, route, &parameters, request))).catch_unwind();
    let response = match answering.await {
        Ok(Ok(response)) => response,
        Ok(Err(problem)) => problem.into_response(),
        // The panic was already logged.
        Err(_) => Problem::new(ProblemKind::Internal).into_response(),
    };
    http.server.metrics().http_answered(route.path, response.status().as_u16(), started.elapsed());
    finished(&http, response)
}

async fn answer(
    http: &Arc<ApiState>,
    route: &'static Route,
    parameters: &Parameters,
    request: Request,
) -> Result<Response, Problem> {
    let from = caller_of(&request, &http.settings.proxies);
    let (head, body) = request.into_parts();
    let identity = http.access.authenticate(&http.server, route.access, &head.headers, from).await?;
    let parameters = parameters.as_ref().map_err(|_| Problem::new(ProblemKind::NotFound))?;
    let path: HashMap<_, _> = parameters.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    let takes_anything = matches!(route.body, Body::Any);
    let whole_query = head.uri.query().unwrap_or_default();
    let query = QueryFields::parse(whole_query);
    let whole_query = if takes_anything { whole_query.to_owned() } else { String::new() };
    let is_to_be_empty = route.query.is_empty() && !takes_anything;
    let query = if is_to_be_empty { query.finish().map(|()| QueryFields::default())? } else { query };
    let key = if route.needs_key { idempotency_key(&head.headers)? } else { None };
    let (body, body_problem) = whole_body(http, route, &head.headers, body).await?;
    let request = ApiRequest { identity, from, path, query, body, body_problem, whole_query, key };
    // Thousands may wait in what follows.
    drop(head);
    Ok((route.answer)(http.clone(), request).await?.into_response())
}

/// The body, within its limits and of the right kind. A route that takes any body is told what was wrong with it.
async fn whole_body(
    http: &ApiState,
    route: &Route,
    headers: &HeaderMap,
    body: HttpBody,
) -> Result<(Bytes, Option<BodyError>), Problem> {
    let (limit, deadline) = (http.settings.largest_body, http.settings.body_deadline);
    let body = match read_body(body, limit, deadline).await {
        Ok(body) => body,
        Err(error) if matches!(route.body, Body::Any) => return Ok((Bytes::new(), Some(error))),
        Err(error) => return Err(error.into()),
    };
    match route.body {
        Body::None => BodyFields::parse(&body)?.finish()?,
        Body::Json { .. } if !body.is_empty() && !is_of_media_type(headers, "application/json") => {
            return Err(Problem::new(ProblemKind::UnsupportedMediaType));
        }
        Body::Json { .. } | Body::Any => {}
    }
    Ok((body, None))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(KEY) else { return Ok(None) };
    let mut checks = Checks::default();
    let text = value.to_str().unwrap_or_default();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if text.is_empty() || text.len() > LONGEST_KEY || !is_plain {
        checks.fail("Idempotency-Key", Rule::Format, "must be 1 to 64 letters, digits, hyphens and underscores");
    } else {
        checks.text("Idempotency-Key", text, LONGEST_KEY);
    }
    checks.finish()?;
    Ok(Some(text.to_owned()))
}

/// What every answer carries: nobody keeps it, frames it, or takes it for something else.
fn finished(http: &ApiState, mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if http.settings.public_url.starts_with("https://") {
        let value = HeaderValue::from_static("max-age=31536000");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
    response
}
