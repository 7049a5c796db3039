//! The routes of the staff pages, and the steps before and after each handler.

use std::{panic::AssertUnwindSafe, str::FromStr, sync::Arc, time::Instant};

use axum::{
    Router,
    body::Body,
    extract::{Path, RawPathParams, Request, State, rejection::RawPathParamsRejection},
    http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::Response,
    routing::{MethodRouter, get, post},
};
use futures_util::FutureExt;
use kassa::Language;

use super::{
    admin_state::{AdminState, StaffUser},
    checkout, checkouts,
    context::RequestContext,
    cookie, day,
    fields::FormFields,
    login,
    page::{ErrorPage, LANGUAGE, View, serve_stylesheet},
    reconciliation, report, unknown_callbacks,
};
use crate::{
    http::HttpSettings,
    net::{BodyError, caller_of, is_of_media_type, read_body, with_security_headers},
    server::Server,
    tokens::Permission,
};

/// No scripts run, and nothing loads from other sites.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const FORM: usize = 64 * 1024;
/// The largest form with a statement, for a month of the gateway.
const STATEMENT: usize = 8 * 1024 * 1024;

/// The parameters of a path; an error if they are not valid text.
type Parameters = Result<RawPathParams, RawPathParamsRejection>;

/// The people who may open a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequiredAccess {
    /// Logged-in people with this permission.
    Staff(Permission),
    /// Anyone.
    Public,
}

/// The staff pages of a server, under `/staff`, to merge with [`router`](crate::router).
pub fn staff_router(server: Server, settings: HttpSettings) -> Router {
    let admin = Arc::new(AdminState::new(server, settings));
    let is_secure = admin.is_secure;
    let mut router = Router::new();
    for (access, path, largest_form, methods) in routes() {
        let route = Route { admin: admin.clone(), access, path, largest_form };
        router = router.route(path, methods.route_layer(from_fn_with_state(route, admit)));
    }
    let others = [
        // With `no-referrer`, forms would have the origin `null`.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    let router = router.method_not_allowed_fallback(wrong_method).with_state(admin);
    with_security_headers(router, is_secure, POLICY, &others)
}

/// All routes: required access, path, size limit of the form, and handlers.
fn routes() -> [(RequiredAccess, &'static str, usize, MethodRouter<Arc<AdminState>>); 18] {
    const VIEW: RequiredAccess = RequiredAccess::Staff(Permission::View);
    const DECIDE: RequiredAccess = RequiredAccess::Staff(Permission::Decide);
    const PUBLIC: RequiredAccess = RequiredAccess::Public;
    [
        (PUBLIC, "/staff/assets/{name}", 0, get(stylesheet)),
        (PUBLIC, "/staff/login", FORM, get(login::form).post(login::log_in)),
        (VIEW, "/staff/logout", FORM, post(login::log_out)),
        (VIEW, "/staff", 0, get(checkouts::list)),
        (VIEW, "/staff/checkouts.csv", 0, get(checkouts::download)),
        (VIEW, "/staff/checkouts/{checkout}", 0, get(checkout::show)),
        (DECIDE, "/staff/checkouts/{checkout}/check-status", FORM, post(checkout::check_status)),
        (DECIDE, "/staff/checkouts/{checkout}/cancel", FORM, post(checkout::cancel)),
        (DECIDE, "/staff/checkouts/{checkout}/replay", FORM, post(checkout::replay)),
        (DECIDE, "/staff/checkouts/{checkout}/refund", FORM, post(checkout::refund)),
        (DECIDE, "/staff/checkouts/{checkout}/payments/{payment}/resolve", FORM, post(checkout::resolve)),
        (VIEW, "/staff/day", 0, get(day::show)),
        (VIEW, "/staff/report", 0, get(report::show)),
        (VIEW, "/staff/reconciliation", STATEMENT, get(reconciliation::show).post(reconciliation::compare)),
        (VIEW, "/staff/reconciliation.csv", 0, get(reconciliation::download)),
        (VIEW, "/staff/unknown-callbacks", 0, get(unknown_callbacks::show)),
        (DECIDE, "/staff/unknown-callbacks/remove", FORM, post(unknown_callbacks::remove)),
        (VIEW, "/staff/{*rest}", 0, get(not_found)),
    ]
}

async fn stylesheet(Path(name): Path<String>, headers: HeaderMap) -> Response {
    serve_stylesheet(&name, &headers)
}

async fn not_found() -> ErrorPage {
    ErrorPage::not_found()
}

async fn wrong_method(State(admin): State<Arc<AdminState>>, uri: Uri, headers: HeaderMap) -> Response {
    let error = ErrorPage::new(StatusCode::METHOD_NOT_ALLOWED, |t| t.wrong_method);
    error.page(&View::of(&admin.home, &uri, true, &headers), None)
}

/// The properties of a route that decide on admission.
#[derive(Clone)]
struct Route {
    admin: Arc<AdminState>,
    access: RequiredAccess,
    path: &'static str,
    /// The size limit of the form, in bytes.
    largest_form: usize,
}

/// Admits a request to its handler, and renders errors as pages, including a panic, which was already logged.
async fn admit(State(route): State<Route>, parameters: Parameters, request: Request, next: Next) -> Response {
    let (started, admin) = (Instant::now(), &route.admin);
    let view = View::of(&admin.home, request.uri(), request.method() == Method::POST, request.headers());
    let picked = picked_language(request.uri());
    let answering = AssertUnwindSafe(Box::pin(answer(&route, &view, parameters, request, next))).catch_unwind();
    let mut response = answering.await.unwrap_or_else(|_| ErrorPage::failed().page(&view, None));
    if let Some(language) = picked {
        let remember = cookie::remember_language(language, admin.is_secure, &admin.home);
        response.headers_mut().append(header::SET_COOKIE, remember);
    }
    admin.server.metrics().http_answered(route.path, response.status().as_u16(), started.elapsed());
    response
}

/// The language that a link picks, to store in the browser.
fn picked_language(uri: &Uri) -> Option<Language> {
    FormFields::parse(uri.query()?.as_bytes()).get(LANGUAGE).parse().ok()
}

async fn answer(route: &Route, view: &View, parameters: Parameters, request: Request, next: Next) -> Response {
    let admin = &route.admin;
    let from = caller_of(&request, &admin.settings.proxies);
    if let Err(wait) = admin.check_address(from) {
        return ErrorPage::too_many_requests(wait).page(view, None);
    }
    let (mut head, body) = request.into_parts();
    let user = match route.access {
        RequiredAccess::Public => None,
        RequiredAccess::Staff(needed) => match admin.user(&head.headers).await {
            Ok(Some(user)) if user.permission < needed => return read_only().page(view, Some(&user)),
            Ok(Some(user)) => Some(user),
            Ok(None) => return login::login_page(view, StatusCode::UNAUTHORIZED, None),
            Err(problem) => return ErrorPage::from(problem).page(view, None),
        },
    };
    let form = match form(route, &head, body, user.as_ref()).await {
        Ok(form) => form,
        Err(error) => return error.page(view, user.as_ref()),
    };
    let Ok(parameters) = parameters else { return ErrorPage::not_found().page(view, user.as_ref()) };
    let context = RequestContext {
        admin: admin.clone(),
        view: view.clone(),
        from,
        user: user.clone(),
        headers: head.headers.clone(),
        checkout: named(&parameters, "checkout"),
        payment: named(&parameters, "payment"),
        query: FormFields::parse(head.uri.query().unwrap_or_default().as_bytes()),
        form,
    };
    head.extensions.insert(context);
    let mut response = next.run(Request::from_parts(head, Body::empty())).await;
    match response.extensions_mut().remove::<ErrorPage>() {
        Some(error) => error.page(view, user.as_ref()),
        None => response,
    }
}

/// Parses a part of the path.
fn named<T: FromStr>(parameters: &RawPathParams, name: &str) -> Option<T> {
    parameters.iter().find(|(known, _)| *known == name).and_then(|(_, text)| text.parse().ok())
}

fn read_only() -> ErrorPage {
    ErrorPage::new(StatusCode::FORBIDDEN, |t| t.read_only)
}

/// Reads a posted form: from our page and, for a logged-in person, from a page of that session.
async fn form(route: &Route, head: &Parts, body: Body, user: Option<&StaffUser>) -> Result<FormFields, ErrorPage> {
    if head.method != Method::POST {
        return Ok(FormFields::default());
    }
    let foreign = || ErrorPage::new(StatusCode::FORBIDDEN, |t| t.foreign_form);
    if !route.admin.is_same_origin(&head.headers) {
        return Err(foreign());
    }
    let boundary = boundary(&head.headers);
    if boundary.is_none() && !is_of_media_type(&head.headers, "application/x-www-form-urlencoded") {
        return Err(ErrorPage::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, |t| t.form_expected));
    }
    let read = read_body(body, route.largest_form, route.admin.settings.body_deadline).await;
    let bytes = read.map_err(|error| match error {
        BodyError::TooLarge => ErrorPage::new(StatusCode::PAYLOAD_TOO_LARGE, |t| t.too_large),
        BodyError::TooSlow => ErrorPage::new(StatusCode::REQUEST_TIMEOUT, |t| t.too_slow),
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

/// The boundary between the parts of a multipart form.
fn boundary(headers: &HeaderMap) -> Option<String> {
    let media_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    multer::parse_boundary(media_type).ok()
}

fn broken() -> ErrorPage {
    ErrorPage::new(StatusCode::BAD_REQUEST, |t| t.broke_off)
}
