//! The document and its page as answers.

use std::sync::Arc;

use axum::{
    Router,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use tokio::task::spawn_blocking;

use crate::{
    openapi::{document::document, page},
    state::State,
};

/// Where it is.
const PATH: &str = "/openapi.json";

/// Adds the document to the routes.
pub(crate) fn routes(router: Router, state: &Arc<State>) -> Router {
    let state = Arc::clone(state);
    let shown = Arc::clone(&state);
    let router = router.route(page::PATH, get(move || made(Arc::clone(&shown), page::show)));
    router.route(PATH, get(move || made(Arc::clone(&state), serve)))
}

/// Made anew each time, which takes a while: away from the network's threads.
async fn made(state: Arc<State>, make: fn(&State) -> Response) -> Response {
    match spawn_blocking(move || make(&state)).await {
        Ok(response) => response,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn serve(state: &State) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-cache")];
    (headers, document(state).to_string()).into_response()
}
