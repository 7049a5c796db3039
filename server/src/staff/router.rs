//! All pages together: what happens before and after each of them.

use std::{collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc, time::Instant};

use axum::{
    Router,
    body::Body,
    extract::{RawPathParams, Request, rejection::RawPathParamsRejection},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::Response,
    routing::{MethodFilter, MethodRouter, on},
};
use futures_util::FutureExt;

use super::{
    desk::{Desk, Visitor},
    fields::Fields,
    login,
    page::Refusal,
    route::{Access, Route, Visit},
    table::ROUTES,
};
use crate::{
    http::HttpSettings,
    net::{BodyError, caller_of, is_of_media_type, read_body},
    server::Server,
};

/// Nothing runs, and nothing comes from elsewhere.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

type Parameters = Result<RawPathParams, RawPathParamsRejection>;

/// The staff's pages of a server, under `/staff`: to be merged with [`router`](crate::router).
pub fn staff_router(server: Server, settings: HttpSettings) -> Router {
    let desk = Arc::new(Desk::new(server, settings));
    let mut paths: BTreeMap<&str, MethodRouter> = BTreeMap::new();
    for route in &ROUTES {
        let desk = desk.clone();
        let filter = if route.method == Method::GET { MethodFilter::GET } else { MethodFilter::POST };
        let answer = on(filter, move |parameters: Parameters, request: Request| {
            respond(desk.clone(), route, parameters, request)
        });
        let before = paths.remove(route.path).unwrap_or_default();
        paths.insert(route.path, before.merge(answer));
    }
    let wrong_method = move || {
        let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "This page cannot be called like that.");
        std::future::ready(guarded(&desk, refusal.page(&desk.home, None)))
    };
    let router = paths.into_iter().fold(Router::new(), |router, (path, methods)| router.route(path, methods));
    router.method_not_allowed_fallback(wrong_method)
}

async fn respond(desk: Arc<Desk>, route: &'static Route, parameters: Parameters, request: Request) -> Response {
    let started = Instant::now();
    let answering = AssertUnwindSafe(Box::pin(answer(&desk, route, &parameters, request))).catch_unwind();
    // The panic was already logged.
    let response = answering.await.unwrap_or_else(|_| {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "The server failed; its log says why.").page(&desk.home, None)
    });
    desk.server.metrics().http_answered(route.path, response.status().as_u16(), started.elapsed());
    guarded(&desk, response)
}

async fn answer(desk: &Arc<Desk>, route: &'static Route, parameters: &Parameters, request: Request) -> Response {
    let from = caller_of(&request, &desk.settings.proxies);
    if let Err(wait) = desk.let_in(from) {
        return Refusal::too_often(wait).page(&desk.home, None);
    }
    let (head, body) = request.into_parts();
    let visitor = match route.access {
        Access::Anybody => None,
        Access::Staff(needed) => match desk.visitor(&head.headers).await {
            Ok(Some(visitor)) if visitor.may < needed => return looks_alone().page(&desk.home, Some(&visitor)),
            Ok(Some(visitor)) => Some(visitor),
            Ok(None) => return login::page(&desk.home, StatusCode::UNAUTHORIZED, None),
            Err(problem) => return Refusal::from(problem).page(&desk.home, None),
        },
    };
    let form = match form(desk, route, &head.headers, body, visitor.as_ref()).await {
        Ok(form) => form,
        Err(refusal) => return refusal.page(&desk.home, visitor.as_ref()),
    };
    let Ok(parameters) = parameters else { return Refusal::nowhere().page(&desk.home, visitor.as_ref()) };
    let visit = Visit {
        desk: desk.clone(),
        from,
        visitor: visitor.clone(),
        path: parameters.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect(),
        query: Fields::parse(head.uri.query().unwrap_or_default().as_bytes()),
        form,
        headers: head.headers,
    };
    match (route.answer)(visit).await {
        Ok(response) => response,
        Err(refusal) => refusal.page(&desk.home, visitor.as_ref()),
    }
}

fn looks_alone() -> Refusal {
    Refusal::new(
        StatusCode::FORBIDDEN,
        "Your key lets you look, and change nothing. Ask somebody whose key lets them decide.",
    )
}

/// What was posted: from a page of ours, and where somebody is logged in, from one of that session's.
async fn form(
    desk: &Desk,
    route: &Route,
    headers: &HeaderMap,
    body: Body,
    visitor: Option<&Visitor>,
) -> Result<Fields, Refusal> {
    if route.method != Method::POST {
        return Ok(Fields::default());
    }
    let foreign =
        || Refusal::new(StatusCode::FORBIDDEN, "This did not come from a page of this session. Open the page again.");
    if !desk.is_own(headers) {
        return Err(foreign());
    }
    let boundary = boundary(headers);
    if boundary.is_none() && !is_of_media_type(headers, "application/x-www-form-urlencoded") {
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "A form was expected."));
    }
    let bytes = read_body(body, route.largest, desk.settings.body_deadline).await.map_err(|error| match error {
        BodyError::TooLarge => Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "This is too much at once."),
        BodyError::TooSlow => Refusal::new(StatusCode::REQUEST_TIMEOUT, "This came too slowly. Try again."),
        BodyError::Broken => broken(),
    })?;
    let form = match boundary {
        Some(boundary) => Fields::parse_parts(bytes, &boundary).await.map_err(|_| broken())?,
        None => Fields::parse(&bytes),
    };
    match visitor {
        Some(visitor) if !visitor.sent(form.get("csrf")) => Err(foreign()),
        _ => Ok(form),
    }
}

/// What stands between the parts of a form with files.
fn boundary(headers: &HeaderMap) -> Option<String> {
    let media_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    multer::parse_boundary(media_type).ok()
}

fn broken() -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "This broke off. Try again.")
}

/// What every answer carries: nobody keeps it, frames it, or runs anything in it.
fn guarded(desk: &Desk, mut response: Response) -> Response {
    let headers = response.headers_mut();
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        // Forms of a page without any referrer would say that they come from nowhere.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if desk.is_secure {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    response
}
