//! Routing and authentication of the admin interface: the token, the route, the answer.

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::Request,
    http::{Method, Uri},
    response::{IntoResponse, Response},
    routing::any,
};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::{
    admin::{
        answer::{Answer, Failure},
        call::Call,
        route::{ORDER_NUMBER, Route},
        table::ROUTES,
    },
    encoding::FormPairs,
    rules::{FieldError, Members},
    state::State,
    web::{auth, read_body},
};

/// Adds the interface to the routes.
pub(crate) fn routes(router: Router, state: &Arc<State>) -> Router {
    let state = Arc::clone(state);
    router.route("/admin/{*path}", any(move |request: Request| exchange(Arc::clone(&state), request)))
}

async fn exchange(state: Arc<State>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if !auth::is_admin(&parts.headers, &state.admin_token) {
        return Failure::unauthorized().into_response();
    }
    let body = match read_body(body).await {
        Ok(body) => body,
        Err(_) => return Failure::invalid(vec![FieldError::new("body", "could not be read")]).into_response(),
    };
    match spawn_blocking(move || answer(&state, &parts.method, &parts.uri, &body)).await {
        Ok(Ok(answer)) => answer.into_response(),
        Ok(Err(failure)) => failure.into_response(),
        Err(error) => Failure::internal(&error).into_response(),
    }
}

/// Does what a request of the interface does, for a page: nothing, or what is wrong with which field.
pub(crate) fn ask(state: &State, method: &Method, path: &str, body: &Value) -> Result<(), Vec<FieldError>> {
    let refused = |error: &dyn std::fmt::Display| vec![FieldError::new("path", error.to_string())];
    let uri: Uri = path.parse().map_err(|error: axum::http::uri::InvalidUri| refused(&error))?;
    let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    answer(state, method, &uri, &body).map(drop).map_err(Failure::into_errors)
}

fn answer(state: &State, method: &Method, uri: &Uri, body: &Bytes) -> Result<Answer, Failure> {
    let segments = segments(uri.path());
    let under_path: Vec<_> = ROUTES.iter().filter_map(|route| Some((route, route.parameters(&segments)?))).collect();
    if under_path.is_empty() {
        return Err(Failure::not_found("path", "there is nothing under this path"));
    }
    let allowed: Vec<_> = under_path.iter().map(|(route, _)| route.method.as_str()).collect();
    let Some((route, parameters)) = under_path.into_iter().find(|(route, _)| route.method == *method) else {
        return Err(Failure::wrong_method(&allowed.join(", ")));
    };
    let order = order(route, uri)?;
    (route.answer)(state, &Call { parameters, order, body })
}

/// The order that the query names; a parameter that the route does not know is refused.
fn order(route: &Route, uri: &Uri) -> Result<Option<String>, Failure> {
    let mut query = Members::new(query(uri));
    let order = if route.takes_order { query.text(ORDER_NUMBER) } else { None };
    query.finish().map_err(Failure::invalid)?;
    Ok(order)
}

/// What stands between the slashes, decoded one by one: an order number may have a slash in it.
fn segments(path: &str) -> Vec<String> {
    path.split('/').skip(1).map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned()).collect()
}

fn query(uri: &Uri) -> impl Iterator<Item = (String, Value)> {
    let pairs = FormPairs::parse(uri.query().unwrap_or_default().as_bytes());
    pairs.into_iter().map(|(name, value)| (name, Value::from(value)))
}
