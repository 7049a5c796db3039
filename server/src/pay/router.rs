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
    accept::Spoken,
    assets,
    form::{Form, MARKS},
    links::Links,
    merchant::Merchant,
    refusal::Refusal,
    table::ROUTES,
    till::Till,
    visit::{Route, Visit},
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
    let till = Arc::new(Till::new(server, settings, merchant));
    let mut paths: BTreeMap<&str, MethodRouter> = BTreeMap::new();
    for route in &ROUTES {
        let till = till.clone();
        let filter = if route.method == Method::GET { MethodFilter::GET } else { MethodFilter::POST };
        let answer = on(filter, move |parameters: Parameters, request: Request| {
            respond(till.clone(), route, parameters, request)
        });
        let before = paths.remove(route.path).unwrap_or_default();
        paths.insert(route.path, before.merge(answer));
    }
    let router = paths.into_iter().fold(Router::new(), |router, (path, methods)| router.route(path, methods));
    let asset = {
        let till = till.clone();
        move |Path(name): Path<String>, request: Request| std::future::ready(asset(&till, &name, &request))
    };
    let wrong_method = move |request: Request| {
        let refusal = Refusal::not_ours(StatusCode::METHOD_NOT_ALLOWED);
        std::future::ready(guarded(&till, refusal.page(&till, &nowhere(&till, request.headers()))))
    };
    router.route(ASSETS, get(asset)).method_not_allowed_fallback(wrong_method)
}

fn asset(till: &Till, name: &str, request: &Request) -> Response {
    let from = caller_of(request, &till.settings.proxies);
    let refusal = match (till.let_in(from), till.assets.find(name)) {
        (Err(wait), _) => Refusal::too_often(wait),
        (Ok(()), Some(asset)) => return guarded(till, assets::serve(asset, request.headers())),
        (Ok(()), None) => Refusal::nowhere(),
    };
    guarded(till, refusal.page(till, &nowhere(till, request.headers())))
}

/// The addresses of a page that is none.
fn nowhere(till: &Till, headers: &HeaderMap) -> Links {
    Links::new(&till.settings.public_url, None, Spoken::of("", headers))
}

async fn respond(till: Arc<Till>, route: &'static Route, parameters: Parameters, request: Request) -> Response {
    let started = Instant::now();
    let from = caller_of(&request, &till.settings.proxies);
    let (head, body) = request.into_parts();
    let query = Form::of_query(head.uri.query().unwrap_or_default());
    let spoken = Spoken::of(query.get("lang"), &head.headers);
    let mut links = Links::new(&till.settings.public_url, None, spoken);
    let answering = async {
        let visit = admitted(&till, parameters, from, &head, query, &mut links).await?;
        let form = form(&till, route, &head.headers, body).await?;
        drop(head);
        (route.answer)(Visit { form, ..visit }).await
    };
    let answered = AssertUnwindSafe(Box::pin(answering)).catch_unwind().await;
    // The panic was already logged.
    let response =
        answered.unwrap_or_else(|_| Err(Refusal::failed())).unwrap_or_else(|refusal| refusal.page(&till, &links));
    // By the route, as the path is a secret.
    till.server.metrics().http_answered(route.path, response.status().as_u16(), started.elapsed());
    guarded(&till, response)
}

/// Somebody who brings the address of a page, within the limits.
async fn admitted(
    till: &Arc<Till>,
    parameters: Parameters,
    from: IpAddr,
    head: &Parts,
    query: Form,
    links: &mut Links,
) -> Result<Visit, Refusal> {
    till.let_in(from).map_err(Refusal::too_often)?;
    let parameters = parameters.map_err(|_| Refusal::nowhere())?;
    let page = parameters.iter().find(|(name, _)| *name == "page").map(|(_, text)| text).unwrap_or_default();
    // Marks that were escaped on the way made a query part of the path.
    let secret = page.split(MARKS).next().unwrap_or_default();
    let view = Box::new(till.checkout(secret, from).await?);
    *links = Links::new(&till.settings.public_url, Some(Hidden::new(secret)), links.spoken);
    let is_head = head.method == Method::HEAD;
    Ok(Visit { till: till.clone(), view, links: links.clone(), query, form: Form::default(), is_head })
}

/// What was posted, from a page of ours; from anywhere where the route allows that, and then it is not read.
async fn form(till: &Till, route: &Route, headers: &HeaderMap, body: Body) -> Result<Form, Refusal> {
    if route.method != Method::POST {
        return Ok(Form::default());
    }
    if route.takes_foreign_posts {
        // Nothing of it is kept. It is taken off the line, as a browser that is busy sending would miss the answer; one that
        // is too large, too slow or broken is led on all the same.
        let _unread = read_body(body, 0, till.settings.body_deadline).await;
        return Ok(Form::default());
    }
    if !till.is_own(headers) {
        return Err(Refusal::not_ours(StatusCode::FORBIDDEN));
    }
    if !is_of_media_type(headers, "application/x-www-form-urlencoded") {
        return Err(Refusal::not_ours(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    Ok(Form::parse(&read_body(body, LARGEST_FORM, till.settings.body_deadline).await?))
}

/// What every answer carries: nobody keeps it, frames it, finds it, or is told where its payer came from.
fn guarded(till: &Till, mut response: Response) -> Response {
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
    if till.is_secure {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    response
}
