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
    admin_state::{AdminState, StaffUser},
    fields::FormFields,
    login,
    page::ErrorPage,
    route::{RequestContext, RequiredAccess, Route},
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
    let admin = Arc::new(AdminState::new(server, settings));
    let mut paths: BTreeMap<&str, MethodRouter> = BTreeMap::new();
    for route in &ROUTES {
        let admin = admin.clone();
        let filter = if route.method == Method::GET { MethodFilter::GET } else { MethodFilter::POST };
        let answer = on(filter, move |parameters: Parameters, request: Request| {
            respond(admin.clone(), route, parameters, request)
        });
        let before = paths.remove(route.path).unwrap_or_default();
        paths.insert(route.path, before.merge(answer));
    }
    let wrong_method = move || {
        let error = ErrorPage::new(StatusCode::METHOD_NOT_ALLOWED, "This page cannot be called like that.");
        std::future::ready(with_headers(&admin, error.page(&admin.home, None)))
    };
    let router = paths.into_iter().fold(Router::new(), |router, (path, methods)| router.route(path, methods));
    router.method_not_allowed_fallback(wrong_method)
}

async fn respond(admin: Arc<AdminState>, route: &'static Route, parameters: Parameters, request: Request) -> Response {
    let started = Instant::now();
    let answering = AssertUnwindSafe(Box::pin(answer(&admin, route, &parameters, request))).catch_unwind();
    // The panic was already logged.
    let response = answering.await.unwrap_or_else(|_| {
        ErrorPage::new(StatusCode::INTERNAL_SERVER_ERROR, "The server failed; its log says why.")
            .page(&admin.home, None)
    });
    admin.server.metrics().http_answered(route.path, response.status().as_u16(), started.elapsed());
    with_headers(&admin, response)
}

async fn answer(admin: &Arc<AdminState>, route: &'static Route, parameters: &Parameters, request: Request) -> Response {
    let from = caller_of(&request, &admin.settings.proxies);
    if let Err(wait) = admin.check_address(from) {
        return ErrorPage::too_many_requests(wait).page(&admin.home, None);
    }
    let (head, body) = request.into_parts();
    let user = match route.access {
        RequiredAccess::Public => None,
        RequiredAccess::Staff(needed) => match admin.user(&head.headers).await {
            Ok(Some(user)) if user.may < needed => return looks_alone().page(&admin.home, Some(&user)),
            Ok(Some(user)) => Some(user),
            Ok(None) => return login::page(&admin.home, StatusCode::UNAUTHORIZED, None),
            Err(problem) => return ErrorPage::from(problem).page(&admin.home, None),
        },
    };
    let form = match form(admin, route, &head.headers, body, user.as_ref()).await {
        Ok(form) => form,
        Err(error) => return error.page(&admin.home, user.as_ref()),
    };
    let Ok(parameters) = parameters else { return ErrorPage::not_found().page(&admin.home, user.as_ref()) };
    let context = RequestContext {
        admin: admin.clone(),
        from,
        user: user.clone(),
        path: parameters.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect(),
        query: FormFields::parse(head.uri.query().unwrap_or_default().as_bytes()),
        form,
        headers: head.headers,
    };
    match (route.answer)(context).await {
        Ok(response) => response,
        Err(error) => error.page(&admin.home, user.as_ref()),
    }
}

fn looks_alone() -> ErrorPage {
    ErrorPage::new(
        StatusCode::FORBIDDEN,
        "Your key lets you look, and change nothing. Ask somebody whose key lets them decide.",
    )
}

/// What was posted: from a page of ours, and where somebody is logged in, from one of that session's.
async fn form(
    admin: &AdminState,
    route: &Route,
    headers: &HeaderMap,
    body: Body,
    user: Option<&StaffUser>,
) -> Result<FormFields, ErrorPage> {
    if route.method != Method::POST {
        return Ok(FormFields::default());
    }
    let foreign =
        || ErrorPage::new(StatusCode::FORBIDDEN, "This did not come from a page of this session. Open the page again.");
    if !admin.is_same_origin(headers) {
        return Err(foreign());
    }
    let boundary = boundary(headers);
    if boundary.is_none() && !is_of_media_type(headers, "application/x-www-form-urlencoded") {
        return Err(ErrorPage::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "A form was expected."));
    }
    let bytes = read_body(body, route.largest, admin.settings.body_deadline).await.map_err(|error| match error {
        BodyError::TooLarge => ErrorPage::new(StatusCode::PAYLOAD_TOO_LARGE, "This is too much at once."),
        BodyError::TooSlow => ErrorPage::new(StatusCode::REQUEST_TIMEOUT, "This came too slowly. Try again."),
        BodyError::Broken => broken(),
    })?;
    let form = match boundary {
        Some(boundary) => FormFields::parse_parts(bytes, &boundary).await.map_err(|_| broken())?,
        None => FormFields::parse(&bytes),
    };
    match user {
        Some(user) if !user.owns_form(form.get("csrf")) => Err(foreign()),
        _ => Ok(form),
    }
}

/// What stands between the parts of a form with files.
fn boundary(headers: &HeaderMap) -> Option<String> {
    let media_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    multer::parse_boundary(media_type).ok()
}

fn broken() -> ErrorPage {
    ErrorPage::new(StatusCode::BAD_REQUEST, "This broke off. Try again.")
}

/// What every answer carries: nobody keeps it, frames it, or runs anything in it.
fn with_headers(admin: &AdminState, mut response: Response) -> Response {
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
    if admin.is_secure {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    response
}
