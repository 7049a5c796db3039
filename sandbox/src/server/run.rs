//! The running server: all routes, background tasks, connections, graceful shutdown.

use std::{sync::Arc, time::Duration};

use axum::{
    Router, extract,
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    middleware,
    response::{IntoResponse, Response},
    routing::any,
};
use reqwest::Client;
use tokio::{
    sync::watch,
    task::yield_now,
    time::{sleep, timeout},
};

use crate::{
    admin, callbacks,
    endpoints::pipeline,
    net::{self, ConnectionListener, HEAD_LIMIT},
    openapi, pages,
    payments::pending,
    replay::{self, Replayer},
    staff::{control, dashboard, receiver, start},
    state::{NOT_RECORDED, State},
    store::text_search,
    web,
};

/// The time limit for open requests after the order to stop.
const GRACE: Duration = Duration::from_secs(3);

/// The background delivery of callbacks, and the middleware in front of the routes.
pub(super) struct Tasks {
    /// Delivers callbacks.
    pub(super) client: Client,
    /// Answers recorded requests.
    pub(super) replayer: Option<Arc<Replayer>>,
}

/// Serves until `stop` is set.
pub(super) async fn run(state: Arc<State>, listener: ConnectionListener, tasks: Tasks, stop: watch::Receiver<bool>) {
    let deliveries = tokio::spawn(callbacks::run(Arc::clone(&state), tasks.client));
    let resolving = tokio::spawn(pending::run(Arc::clone(&state)));
    let log = tokio::spawn(write_log(Arc::clone(&state)));
    let indexing = tokio::spawn(index_texts(Arc::clone(&state)));
    let mut routes = routes(&state);
    if let Some(replayer) = tasks.replayer {
        routes = routes.layer(middleware::from_fn_with_state(replayer, replay::intercept));
    }
    let server = net::serve(listener, routes, HEAD_LIMIT, stopped(stop.clone()));
    let in_time = async {
        stopped(stop).await;
        sleep(GRACE).await;
    };
    tokio::select! {
        () = server => {}
        () = in_time => tracing::warn!("requests under way were cut off"),
    }
    resolving.abort();
    log.abort();
    indexing.abort();
    deliveries.abort();
    let _aborted = timeout(GRACE, deliveries).await;
    state.flush_log();
}

/// Waits for the order to stop, which dropping the sandbox also gives.
async fn stopped(mut stop: watch::Receiver<bool>) {
    let _ordered = stop.wait_for(|stop| *stop).await;
}

/// All routes.
pub(super) fn routes(state: &Arc<State>) -> Router {
    Router::new()
        .route(start::PATH, any(root_path))
        .fallback(unknown_path)
        .with_state(Arc::clone(state))
        .merge(pipeline::routes(state))
        .merge(pages::routes(state))
        .merge(admin::routes(state))
        .merge(web::document::asset_routes())
        .merge(receiver::routes(state))
        .merge(dashboard::routes(state))
        .merge(control::routes(state))
        .merge(openapi::routes(state))
}

/// A browser gets the start page; a program that calls this path has the wrong address.
async fn root_path(extract::State(state): extract::State<Arc<State>>, method: Method, headers: HeaderMap) -> Response {
    if is_browser(&method, &headers) { start::page(&state) } else { unknown_to_program().into_response() }
}

/// No page and no endpoint.
async fn unknown_path(
    extract::State(state): extract::State<Arc<State>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    if is_browser(&method, &headers) {
        start::not_found(&state, uri.path())
    } else {
        unknown_to_program().into_response()
    }
}

/// Whether the request is from a browser.
fn is_browser(method: &Method, headers: &HeaderMap) -> bool {
    let accepted = |value: &HeaderValue| value.to_str().is_ok_and(|accepted| accepted.contains("text/html"));
    matches!(*method, Method::GET | Method::HEAD) && headers.get_all(header::ACCEPT).iter().any(accepted)
}

/// Without an envelope, so that no client reads it as a response of the gateway: its base address is wrong.
fn unknown_to_program() -> impl IntoResponse {
    (
        StatusCode::NOT_FOUND,
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
        "Nothing here. This is the Kassa sandbox; is the base address right?\n",
    )
}

/// How long requests wait to be written together. If the sandbox is killed,
/// the log of that time is lost, but none of the requests' changes.
const LOG_PAUSE: Duration = Duration::from_millis(10);

/// How long to wait if the database failed.
const LOG_IDLE: Duration = Duration::from_secs(1);

/// Writes as long as the sandbox runs.
async fn write_log(state: Arc<State>) {
    loop {
        state.logged.notified().await;
        sleep(LOG_PAUSE).await;
        while state.on_blocking_thread(NOT_RECORDED, |state| state.store.flush()).await.is_none() {
            sleep(LOG_IDLE).await;
        }
    }
}

/// Fills the index after each search, as long as the sandbox runs.
async fn index_texts(state: Arc<State>) {
    loop {
        state.searched.notified().await;
        while has_more(&state).await {
            yield_now().await;
        }
    }
}

/// Indexes some payments. False if none are left, or the database failed.
async fn has_more(state: &Arc<State>) -> bool {
    let index = |state: &State| {
        let _generation = state.generation();
        state.store.write(text_search::index_batch)
    };
    state.on_blocking_thread("payments cannot be taken into the index of texts", index).await.unwrap_or(false)
}
