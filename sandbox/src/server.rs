//! The routes, and the server's life from the first connection to the last.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{ConnectInfo, Request},
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::any,
};
use reqwest::Client;
use tokio::{sync::watch, time::timeout};

use crate::{
    admin,
    callbacks::delivery,
    control, dashboard,
    endpoints::{ENDPOINTS, exchange},
    net::{HEAD_LIMIT, Line, Lines, connections},
    openapi, pages,
    payments::pending_timer,
    receiver,
    state::State,
    web,
};

/// How long requests under way may go on after the order to stop.
const GRACE: Duration = Duration::from_secs(3);

/// Serves until told to stop.
pub(crate) async fn run(state: Arc<State>, lines: Lines, client: Client, stop: watch::Receiver<bool>) {
    let deliveries = tokio::spawn(delivery::run(Arc::clone(&state), client));
    let settling = tokio::spawn(pending_timer::run(Arc::clone(&state)));
    let server = connections::serve(lines, routes(&state), HEAD_LIMIT, stopped(stop.clone()));
    let in_time = async {
        stopped(stop).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        () = server => {}
        () = in_time => tracing::warn!("requests under way were cut off"),
    }
    settling.abort();
    deliveries.abort();
    let _aborted = timeout(GRACE, deliveries).await;
}

/// Waits for the order to stop; a sandbox that was dropped gave it, too.
async fn stopped(mut stop: watch::Receiver<bool>) {
    let _ordered = stop.wait_for(|stop| *stop).await;
}

fn routes(state: &Arc<State>) -> Router {
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
    router.route("/", any(front_door)).fallback(unknown_path)
}

/// A browser is shown in; a program that comes here has the wrong address.
async fn front_door(method: Method, headers: HeaderMap) -> Response {
    let is_browser = headers
        .get_all(header::ACCEPT)
        .iter()
        .any(|value| value.to_str().is_ok_and(|accepted| accepted.contains("text/html")));
    match method {
        Method::GET | Method::HEAD if is_browser => web::see_other("dashboard"),
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
