//! All pages together: what happens before and after each of them.

use std::{collections::BTreeMap, net::IpAddr, panic::AssertUnwindSafe, sync::Arc, time::Instant};

use axum::{
    Router,
    body::Body,
    extract::{Path, RawPathParams, Request, rejection::RawPathParamsRejection},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, request::Parts},
    response::Response,
    routing::{MethodFilter, MethodRouter, get, on},
};
use futures_util::FutureExt;

use super::{
    assets,
    context::{RequestContext, Route},
    error_page::ErrorPage,
    form::{Form, QUERY_SEPARATORS},
    links::Links,
    locale::Locale,
    merchant::Merchant,
    page_state::PageState,
    table::ROUTES,
};
use crate::{
    http::HttpSettings,
    net::{caller_of, is_of_media_type, read_body},
    server::Server,
    values::hidden::Hidden,
};

const ASSETS: &str = "/pay/assets/{name}";
const LARGEST_FORM: usize = 4 * 1024;
/// Everything comes from here, nothing stands inside the page's text, and forms post here alone.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

type Parameters = Result<RawPathParams, RawPathParamsRejection>;

/// The hosted pages of a server, under `/pay`: to be merged with [`router`](crate::router), whose settings say by
/// `has_pay_page` that they are there.
pub fn pay_router(server: Server, settings: HttpSettings, merchant: &Merchant) -> Router {
    let pages = Arc::new(PageState::new(server, settings, merchant));
    let mut paths: BTreeMap<&str, MethodRouter> = BTreeMap::new();
    for route in &ROUTES {
        let pages = pages.clone();
        let filter = if route.method == Method::GET { MethodFilter::GET } else { MethodFilter::POST };
        let answer = on(filter, move |parameters: Parameters, request: Request| {
            respond(pages.clone(), route, parameters, request)
        });
        let before = paths.remove(route.path).unwrap_or_default();
        paths.insert(route.path, before.merge(answer));
    }
    let router = paths.into_iter().fold(Router::new(), |router, (path, methods)| router.route(path, methods));
    let asset = {
        let pages = pages.clone();
        move |Path(name): Path<String>, request: Request| std::future::ready(asset(&pages, &name, &request))
    };
    let wrong_method = move |request: Request| {
        let error = ErrorPage::bad_form(StatusCode::METHOD_NOT_ALLOWED);
        std::future::ready(with_headers(&pages, error.page(&pages, &not_found_links(&pages, request.headers()))))
    };
    router.route(ASSETS, get(asset)).method_not_allowed_fallback(wrong_method)
}

fn asset(pages: &PageState, name: &str, request: &Request) -> Response {
    let from = caller_of(request, &pages.settings.proxies);
    let error = match (pages.check_address(from), pages.assets.find(name)) {
        (Err(wait), _) => ErrorPage::too_many_requests(wait),
        (Ok(()), Some(asset)) => return with_headers(pages, assets::serve(asset, request.headers())),
        (Ok(()), None) => ErrorPage::not_found(),
    };
    with_headers(pages, error.page(pages, &not_found_links(pages, request.headers())))
}

/// The addresses of a page that is none.
fn not_found_links(pages: &PageState, headers: &HeaderMap) -> Links {
    Links::new(&pages.settings.public_url, None, Locale::of("", headers))
}

async fn respond(pages: Arc<PageState>, route: &'static Route, parameters: Parameters, request: Request) -> Response {
    let started = Instant::now();
    let from = caller_of(&request, &pages.settings.proxies);
    let (head, body) = request.into_parts();
    let query = Form::of_query(head.uri.query().unwrap_or_default());
    let locale = Locale::of(query.get("lang"), &head.headers);
    let mut links = Links::new(&pages.settings.public_url, None, locale);
    let answering = async {
        let context = admitted(&pages, parameters, from, &head, query, &mut links).await?;
        let form = form(&pages, route, &head.headers, body).await?;
        drop(head);
        (route.answer)(RequestContext { form, ..context }).await
    };
    let answered = AssertUnwindSafe(Box::pin(answering)).catch_unwind().await;
    // The panic was already logged.
    let response =
        answered.unwrap_or_else(|_| Err(ErrorPage::failed())).unwrap_or_else(|error| error.page(&pages, &links));
    // By the route, as the path is a secret.
    pages.server.metrics().http_answered(route.path, response.status().as_u16(), started.elapsed());
    with_headers(&pages, response)
}

/// Somebody who brings the address of a page, within the limits.
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
    // Marks that were escaped on the way made a query part of the path.
    let secret = page.split(QUERY_SEPARATORS).next().unwrap_or_default();
    let view = Box::new(pages.checkout(secret, from).await?);
    *links = Links::new(&pages.settings.public_url, Some(Hidden::new(secret)), links.locale);
    let is_head = head.method == Method::HEAD;
    Ok(RequestContext { pages: pages.clone(), view, links: links.clone(), query, form: Form::default(), is_head })
}

/// What was posted, from a page of ours; from anywhere where the route allows that, and then it is not read.
async fn form(pages: &PageState, route: &Route, headers: &HeaderMap, body: Body) -> Result<Form, ErrorPage> {
    if route.method != Method::POST {
        return Ok(Form::default());
    }
    if route.takes_foreign_posts {
        // Nothing of it is kept. It is taken off the line, as a browser that is busy sending would miss the answer; one that
        // is too large, too slow or broken is led on all the same.
        let _unread = read_body(body, 0, pages.settings.body_deadline).await;
        return Ok(Form::default());
    }
    if !pages.is_same_origin(headers) {
        return Err(ErrorPage::bad_form(StatusCode::FORBIDDEN));
    }
    if !is_of_media_type(headers, "application/x-www-form-urlencoded") {
        return Err(ErrorPage::bad_form(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    Ok(Form::parse(&read_body(body, LARGEST_FORM, pages.settings.body_deadline).await?))
}

/// What every answer carries: nobody keeps it, frames it, finds it, or is told where its payer came from.
fn with_headers(pages: &PageState, mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [(header::CACHE_CONTROL, "no-store"), (header::CONTENT_SECURITY_POLICY, POLICY)] {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    for (name, value) in [
        // The address is a capability: no other site hears of it. Forms of a page that names none at all would say that they
        // come from nowhere.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if pages.is_secure {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    response
}
