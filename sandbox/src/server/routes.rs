//! The router: what there is under which path.

use std::sync::Arc;

use axum::{
    Router,
    extract::{ConnectInfo, Request},
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::any,
};

use crate::{
    admin,
    endpoints::{ENDPOINTS, exchange},
    net::Line,
    openapi, pages,
    staff::{control, dashboard, receiver, start},
    state::State,
    web,
};

/// All of it.
pub(super) fn routes(state: &Arc<State>) -> Router {
    let mut router = Router::new();
    for endpoint in &ENDPOINTS {
        let state = Arc::clone(state);
        let handler = move |ConnectInfo(line): ConnectInfo<Line>, request: Request| {
            exchange::exchange(Arc::clone(&state), endpoint, line, request)
        };
        router = router.route(endpoint.name.path(), any(handler));
    }
    for page in &pages::PAGES {
        let state = Arc::clone(state);
        let handler = move |request: Request| pages::visit(Arc::clone(&state), page, request);
        router = router.route(page.path, any(handler));
    }
    let router = web::assets::routes(admin::routes(router, state));
    let router = dashboard::routes(receiver::routes(router, state), state);
    let router = control::routes(openapi::routes(router, state), state);
    let state = Arc::clone(state);
    let front_door = move |method: Method, headers: HeaderMap| front_door(Arc::clone(&state), method, headers);
    router.route(start::PATH, any(front_door)).fallback(unknown_path)
}

/// A browser is shown the start page; a program that comes here has the wrong address.
async fn front_door(state: Arc<State>, method: Method, headers: HeaderMap) -> Response {
    let is_browser = headers
        .get_all(header::ACCEPT)
        .iter()
        .any(|value| value.to_str().is_ok_and(|accepted| accepted.contains("text/html")));
    match method {
        Method::GET | Method::HEAD if is_browser => start::page(&state),
        _ => unknown_path().await.into_response(),
    }
}

/// No envelope: a client that reads it as an answer of the gateway has the wrong base address.
async fn unknown_path() -> impl IntoResponse {
    (
        StatusCode::NOT_FOUND,
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
        "Nothing here. This is the Kassa sandbox; is the base address right?\n",
    )
}
