//! The page at the server's root address, for browsers: what the server is, how to start, and every endpoint with its callers.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Path, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use kassa_pages::{Asset, stylesheets};

use super::{
    access::Audience,
    problem::{Problem, ProblemKind},
    request::ApiState,
    route::Route,
    table::ROUTES,
};
use crate::net::{caller_of, page};

pub(super) const PATH: &str = "/";
/// Its stylesheets.
pub(super) const ASSETS_PATH: &str = "/assets/{name}";

/// It has no scripts, and no forms.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
static ASSETS: [&Asset; 2] = [&stylesheets::BASE, &stylesheets::STAFF];

#[derive(Template)]
#[template(path = "http/start.html")]
struct Start<'a> {
    /// The public address, without a slash at its end.
    base_url: &'a str,
    /// The addresses of the stylesheets.
    stylesheets: [String; 2],
    groups: [Group; 3],
}

/// Endpoints for the same callers.
struct Group {
    id: &'static str,
    name: &'static str,
    /// The credential that a caller needs.
    key: &'static str,
    routes: Vec<&'static Route>,
}

/// Shows browsers the page; any other program has the wrong address.
pub(super) async fn show(State(api): State<Arc<ApiState>>, request: Request) -> Result<Response, Problem> {
    api.access.check_address(caller_of(&request, &api.settings.proxies))?;
    if !is_browser(request.method(), request.headers()) {
        return Err(Problem::new(ProblemKind::NotFound));
    }
    let base_url = api.settings.public_url.trim_end_matches('/');
    let template = Start {
        base_url,
        stylesheets: ASSETS.map(|asset| format!("{base_url}/assets/{}", asset.versioned_name())),
        groups: [
            Group {
                id: "shop",
                name: "For the shop's back end",
                key: "An API key (ak_…), as Authorization: Bearer.",
                routes: routes(&[Audience::Shop]),
            },
            Group {
                id: "app",
                name: "For the payer's app",
                key: "A client token of one checkout (ct_…), as Authorization: Bearer.",
                routes: routes(&[Audience::App]),
            },
            Group {
                id: "others",
                name: "For the gateway and the operator",
                key: "No key. The gateway's callbacks come to an address that nobody else knows.",
                routes: routes(&[Audience::Gateway, Audience::Public]),
            },
        ],
    };
    let mut response = page(StatusCode::OK, &template);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Ok(response)
}

/// One of its stylesheets.
pub(super) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let found = ASSETS.iter().find(|asset| asset.versioned_name() == name);
    found.map_or_else(|| Problem::new(ProblemKind::NotFound).into_response(), |asset| asset.serve(&headers))
}

/// Whether a browser opens an address.
fn is_browser(method: &Method, headers: &HeaderMap) -> bool {
    let accepted = |value: &HeaderValue| value.to_str().is_ok_and(|accepted| accepted.contains("text/html"));
    matches!(*method, Method::GET | Method::HEAD) && headers.get_all(header::ACCEPT).iter().any(accepted)
}

fn routes(callers: &[Audience]) -> Vec<&'static Route> {
    ROUTES.iter().filter(|route| callers.contains(&route.access)).collect()
}
