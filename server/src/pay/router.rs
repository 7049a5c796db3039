//! The hosted page's routes, and the steps before and after each handler.

use std::{net::IpAddr, panic::AssertUnwindSafe, sync::Arc, time::Instant};

use axum::{
    Router,
    body::Body,
    extract::{Path, RawPathParams, Request, State, rejection::RawPathParamsRejection},
    http::{HeaderMap, HeaderName, Method, StatusCode, header, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{MethodRouter, any, get},
};
use futures_util::FutureExt;

use super::{
    context::{Form, QUERY_SEPARATORS, RequestContext},
    frame::{ErrorPage, Links},
    merchant::Merchant,
    page_state::{PageState, serve_asset},
    paying, show,
};
use crate::{
    http::HttpSettings,
    locale::Locale,
    net::{caller_of, is_of_media_type, read_body, with_security_headers},
    server::Server,
    values::Hidden,
};

const ASSETS: &str = "/pay/assets/{name}";
const LARGEST_FORM: usize = 4 * 1024;
/// Only our own files load, nothing is inline, and forms post only to us.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The parameters of a path; an error if they are not valid text.
type Parameters = Result<RawPathParams, RawPathParamsRejection>;

/// The origins from which a route accepts forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Posts {
    /// Only our own pages.
    SameOrigin,
    /// Any site, such as the gateway's page that sends its payer back. The posted body is not read: the
    /// route does the same as by GET.
    AnyOrigin,
}

/// The hosted pages of a server, under `/pay`: to be merged with [`router`](crate::router), whose settings say by
/// `has_pay_page` that they are there.
pub fn pay_router(server: Server, settings: HttpSettings, merchant: &Merchant) -> Router {
    let pages = Arc::new(PageState::new(server, settings, merchant));
    let is_secure = pages.is_secure;
    let mut router = Router::new().route(ASSETS, get(asset));
    // A truncated address: its visitor is a payer, so the error is not JSON.
    for path in ["/pay", "/pay/"] {
        router = router.route(path, any(nowhere));
    }
    for (path, methods, posts) in routes() {
        let route = Route { pages: pages.clone(), path, posts };
        router = router.route(path, methods.route_layer(from_fn_with_state(route, admit)));
    }
    let others = [
        // The address is a capability: other sites must not get it. With `no-referrer`, forms would have the origin `null`.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    let router = router.method_not_allowed_fallback(wrong_method).with_state(pages);
    with_security_headers(router, is_secure, POLICY, &others)
}

/// All routes, except static files.
fn routes() -> [(&'static str, MethodRouter<Arc<PageState>>, Posts); 8] {
    use Posts::{AnyOrigin, SameOrigin};
    [
        ("/pay/{page}", get(show::show).post(paying::to_page), AnyOrigin),
        ("/pay/{page}/state", get(show::state), SameOrigin),
        ("/pay/{page}/go", get(show::go), SameOrigin),
        ("/pay/{page}/back", get(paying::back).post(paying::back), AnyOrigin),
        ("/pay/{page}/pay", get(paying::to_page).post(paying::pay), SameOrigin),
        ("/pay/{page}/confirm", get(paying::to_page).post(paying::confirm), SameOrigin),
        ("/pay/{page}/check", get(paying::to_page).post(paying::check), SameOrigin),
        // A return address with a malformed query, such as `back&OrderNumber=1`, as gateways build it.
        ("/pay/{page}/{*end}", get(paying::back).post(paying::back), AnyOrigin),
    ]
}

/// The properties of a route that decide on admission.
#[derive(Clone)]
struct Route {
    pages: Arc<PageState>,
    path: &'static str,
    posts: Posts,
}

/// A stylesheet, the script or a picture.
async fn asset(State(pages): State<Arc<PageState>>, Path(name): Path<String>, request: Request) -> Response {
    let from = caller_of(&request, &pages.settings.proxies);
    let error = match (pages.check_address(from), pages.assets.find(&name)) {
        (Err(wait), _) => ErrorPage::too_many_requests(wait),
        (Ok(()), Some(asset)) => return serve_asset(asset, request.headers()),
        (Ok(()), None) => ErrorPage::not_found(),
    };
    error.page(&pages, &Links::without_page(&pages.settings.public_url, Locale::of("", request.headers())))
}

async fn nowhere(State(pages): State<Arc<PageState>>, request: Request) -> Response {
    let links = Links::without_page(&pages.settings.public_url, Locale::of("", request.headers()));
    let checked = pages.check_address(caller_of(&request, &pages.settings.proxies));
    checked.map_or_else(ErrorPage::too_many_requests, |()| ErrorPage::not_found()).page(&pages, &links)
}

async fn wrong_method(State(pages): State<Arc<PageState>>, headers: HeaderMap) -> Response {
    let links = Links::without_page(&pages.settings.public_url, Locale::of("", &headers));
    ErrorPage::bad_form(StatusCode::METHOD_NOT_ALLOWED).page(&pages, &links)
}

/// Admits a request to its handler, and renders errors as pages, including a panic, which was already logged.
async fn admit(State(route): State<Route>, parameters: Parameters, request: Request, next: Next) -> Response {
    let (started, pages) = (Instant::now(), route.pages);
    let from = caller_of(&request, &pages.settings.proxies);
    let (mut head, body) = request.into_parts();
    let query = Form::of_query(head.uri.query().unwrap_or_default());
    let mut links = Links::without_page(&pages.settings.public_url, Locale::of(query.get("lang"), &head.headers));
    let answering = async {
        let context = admitted(&pages, parameters, from, &head, query, &mut links).await?;
        let form = form(&pages, route.posts, &head, body).await?;
        head.extensions.insert(RequestContext { form, ..context });
        Ok::<_, ErrorPage>(next.run(Request::from_parts(head, Body::empty())).await)
    };
    let answered = AssertUnwindSafe(Box::pin(answering)).catch_unwind().await;
    let answered = answered.unwrap_or_else(|_| Err(ErrorPage::failed()));
    let mut response = answered.unwrap_or_else(IntoResponse::into_response);
    if let Some(error) = response.extensions_mut().remove::<ErrorPage>() {
        response = error.page(&pages, &links);
    }
    // Counted by the route, because the path is a secret.
    pages.server.metrics().http_answered(route.path, response.status().as_u16(), started.elapsed());
    response
}

/// Admits a request with a valid page address, within the limits.
async fn admitted(
    pages: &Arc<PageState>,
    parameters: Parameters,
    from: IpAddr,
    head: &Parts,
    query: Form,
    links: &mut Links,
) -> Result<RequestContext, ErrorPage> {
    pages.check_address(from).map_err(ErrorPage::too_many_requests)?;
    let parameters = parameters.map_err(|_| ErrorPage::not_found())?;
    let page = parameters.iter().find(|(name, _)| *name == "page").map(|(_, text)| text).unwrap_or_default();
    // If separators were escaped on the way, a query became part of the path.
    let secret = page.split(QUERY_SEPARATORS).next().unwrap_or_default();
    let view = Box::new(pages.checkout(secret, from).await?);
    *links = Links::new(&pages.settings.public_url, Some(Hidden::new(secret)), links.locale);
    let is_head = head.method == Method::HEAD;
    Ok(RequestContext { pages: pages.clone(), view, links: links.clone(), query, form: Form::default(), is_head })
}

/// Reads a form posted by our page. If the route allows posts from anywhere, the body is not read.
async fn form(pages: &PageState, posts: Posts, head: &Parts, body: Body) -> Result<Form, ErrorPage> {
    if head.method != Method::POST {
        return Ok(Form::default());
    }
    if posts == Posts::AnyOrigin {
        // The body is discarded. It is still received, because a browser that is busy sending would miss the response; a body
        // that is too large, too slow or broken does not matter.
        let _unread = read_body(body, 0, pages.settings.body_deadline).await;
        return Ok(Form::default());
    }
    if !pages.is_same_origin(&head.headers) {
        return Err(ErrorPage::bad_form(StatusCode::FORBIDDEN));
    }
    if !is_of_media_type(&head.headers, "application/x-www-form-urlencoded") {
        return Err(ErrorPage::bad_form(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    Ok(Form::parse(&read_body(body, LARGEST_FORM, pages.settings.body_deadline).await?))
}
