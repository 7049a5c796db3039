//! The routes of the HTTP interface, and the steps before and after each handler.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use axum::{
    Router,
    body::Body,
    extract::{RawPathParams, Request, State, rejection::RawPathParamsRejection},
    http::{HeaderMap, Method, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{MethodFilter, any, get},
};
use futures_util::FutureExt;

use super::{
    access::Caller,
    document::document,
    field::Shape,
    fields::BodyFields,
    problem::{Problem, ProblemKind},
    request::{ApiState, QueryFields},
    route::{IDEMPOTENCY_KEY, RequestBody, Route},
    settings::HttpSettings,
    start,
    table::ROUTES,
};
use crate::{
    metrics::Metrics,
    net::{caller_of, read_body, with_security_headers},
    server::Server,
    values::error::Checks,
};

const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// The parameters of a path; an error if they are not valid text.
type Parameters = Result<RawPathParams, RawPathParamsRejection>;

/// The HTTP interface of a server.
pub fn router(server: Server, settings: HttpSettings) -> Router {
    let description = document(&ROUTES, &settings.public_url, server.settings().taken_methods()).to_string();
    let is_secure = settings.public_url.starts_with("https://");
    let api = Arc::new(ApiState::new(server, settings, description));
    let mut router = Router::new();
    for route in &ROUTES {
        let handler = (route.handler)(filter(&route.method));
        router = router.route(route.path, handler.route_layer(from_fn_with_state((api.clone(), route), admit)));
    }
    let router = router.route(start::PATH, any(start::show)).route(start::ASSETS_PATH, get(start::asset));
    let router = router.method_not_allowed_fallback(wrong_method).fallback(not_found).with_state(api);
    with_security_headers(router, is_secure, POLICY, &[(header::REFERRER_POLICY, "no-referrer")])
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

async fn not_found(State(api): State<Arc<ApiState>>, request: Request) -> Problem {
    let checked = api.access.check_address(caller_of(&request, &api.settings.proxies));
    checked.err().unwrap_or_else(|| Problem::new(ProblemKind::NotFound))
}

async fn wrong_method() -> Problem {
    Problem::new(ProblemKind::MethodNotAllowed)
}

/// Admits a request to its handler. A panic, which was already logged, becomes a server error.
async fn admit(
    State((api, route)): State<(Arc<ApiState>, &'static Route)>,
    parameters: Parameters,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let is_path_valid = parameters.is_ok();
    let answering = async {
        let request = admitted(&api, route, is_path_valid, request).await?;
        Ok::<_, Problem>(next.run(request).await)
    };
    let response = match AssertUnwindSafe(Box::pin(answering)).catch_unwind().await {
        Ok(answered) => answered.unwrap_or_else(IntoResponse::into_response),
        Err(_) => Problem::new(ProblemKind::Internal).into_response(),
    };
    api.server.metrics().http_answered(route.path, response.status().as_u16(), started.elapsed());
    response
}

/// Authenticates a request before its body is read.
async fn admitted(
    api: &ApiState,
    route: &Route,
    is_path_valid: bool,
    mut request: Request,
) -> Result<Request, Problem> {
    let from = caller_of(&request, &api.settings.proxies);
    let identity = api.access.authenticate(&api.server, route.access, request.headers(), from).await?;
    if !is_path_valid {
        return Err(Problem::new(ProblemKind::NotFound));
    }
    let takes_anything = matches!(route.body, RequestBody::Any);
    if route.query.is_empty() && !takes_anything {
        QueryFields::parse(request.uri().query().unwrap_or_default()).finish()?;
    }
    let key = if route.needs_key { idempotency_key(request.headers())? } else { None };
    if matches!(route.body, RequestBody::None) {
        let body = std::mem::replace(request.body_mut(), Body::empty());
        let body = read_body(body, api.settings.largest_body, api.settings.body_deadline).await?;
        BodyFields::parse(&body, &Shape::Object(&[]), false)?.finish()?;
    }
    request.extensions_mut().insert(Caller { identity, from, key });
    Ok(request)
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY.name) else { return Ok(None) };
    let mut checks = Checks::default();
    let text = value.to_str().unwrap_or_default();
    IDEMPOTENCY_KEY.kind.check_text(&mut checks, IDEMPOTENCY_KEY.name, text);
    checks.finish()?;
    Ok(Some(text.to_owned()))
}
