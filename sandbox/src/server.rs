//! The routes, and the server's life from the first connection to the last.

use std::{future::IntoFuture, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::Request,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::{any, get},
};
use reqwest::Client;
use tokio::{net::TcpListener, sync::watch, time::timeout};

use crate::{api, deliveries, flows::ENDPOINTS, gateway::Gateway, pages};

/// How long requests under way may go on after the order to stop.
const GRACE: Duration = Duration::from_secs(3);

/// Serves until told to stop.
pub(crate) async fn run(gateway: Arc<Gateway>, listener: TcpListener, client: Client, stop: watch::Receiver<bool>) {
    let deliveries = tokio::spawn(deliveries::run(Arc::clone(&gateway), client));
    let server = axum::serve(listener, routes(&gateway)).with_graceful_shutdown(stopped(stop.clone())).into_future();
    let in_time = async {
        stopped(stop).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        ended = server => {
            if let Err(error) = ended {
                tracing::error!(%error, "the server ended");
            }
        }
        () = in_time => tracing::warn!("requests under way were cut off"),
    }
    deliveries.abort();
    let _aborted = timeout(GRACE, deliveries).await;
}

/// Waits for the order to stop; a sandbox that was dropped gave it, too.
async fn stopped(mut stop: watch::Receiver<bool>) {
    let _ordered = stop.wait_for(|stop| *stop).await;
}

fn routes(gateway: &Arc<Gateway>) -> Router {
    let mut router = Router::new();
    for endpoint in &ENDPOINTS {
        let gateway = Arc::clone(gateway);
        let handler = move |request: Request| api::exchange(Arc::clone(&gateway), endpoint, request);
        router = router.route(endpoint.path, any(handler));
    }
    for page in &pages::PAGES {
        let gateway = Arc::clone(gateway);
        let handler = move |request: Request| pages::visit(Arc::clone(&gateway), page, request);
        router = router.route(page.path, any(handler));
    }
    router.route(pages::STYLE_PATH, get(pages::stylesheet)).fallback(unknown_path)
}

/// No envelope: a client that reads it as an answer of the gateway has the wrong base address.
async fn unknown_path() -> impl IntoResponse {
    (
        StatusCode::NOT_FOUND,
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
        "Nothing here. This is the Kassa sandbox; is the base address right?\n",
    )
}
