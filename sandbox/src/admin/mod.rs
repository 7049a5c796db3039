//! The admin interface, for programs that hold the admin token: the ledger, the faults, the switches. Fault injection does not touch
//! it. Here: authentication and the routing table, from which requests are answered and the OpenAPI description is made.

mod ledger;
mod route;
mod simulation;

pub(crate) use route::{ORDER_NUMBER, Refused, Route, errors_schema};

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::Request,
    http::{Method, StatusCode, Uri},
    response::{IntoResponse, Response},
    routing::any,
};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::{
    admin::route::{AdminError, JsonResponse, RouteRequest},
    encoding::FormPairs,
    rules::{FieldError, Members},
    state::State,
    web::{read_body, request},
};

/// Every route.
pub(crate) static ROUTES: [Route; 16] = [
    Route::new(Method::GET, "/admin/ledger", "List the payments", ledger::list_payments)
        .text("In order of registration. The ledger shows the actual charges.")
        .by_order()
        .says(StatusCode::OK, ledger::ledger_schema),
    Route::new(Method::GET, "/admin/requests", "List the requests", ledger::list_requests)
        .text("Requests that reached an endpoint, in the order in which they were answered.")
        .by_order()
        .says(StatusCode::OK, ledger::requests_schema),
    Route::new(Method::GET, "/admin/callbacks", "List the callback delivery attempts", ledger::list_callbacks)
        .by_order()
        .says(StatusCode::OK, ledger::callbacks_schema),
    Route::new(Method::GET, "/admin/faults", "List the faults", simulation::list_faults)
        .text("Includes faults whose limit is used up.")
        .says(StatusCode::OK, simulation::faults_schema),
    Route::new(Method::POST, "/admin/faults", "Set a fault", simulation::add_fault)
        .needs_body(simulation::fault_settings, r#"{"name": "response-lost", "order_number": "ORDER-1", "times": 1}"#)
        .says(StatusCode::CREATED, simulation::fault_schema),
    Route::new(Method::DELETE, "/admin/faults", "Remove all faults", simulation::clear_faults),
    Route::new(Method::DELETE, "/admin/faults/{id}", "Remove a fault", simulation::remove_fault)
        .refusals(&[Refused::NotFound]),
    Route::new(Method::GET, "/admin/switches", "Show the switches", simulation::show_switches)
        .says(StatusCode::OK, simulation::switches_schema),
    Route::new(Method::PATCH, "/admin/switches", "Change switches", simulation::change_switches)
        .text("Switches that the body omits are unchanged.")
        .body(simulation::switches_changes, r#"{"reused_order_number": "charge-twice", "three_ds_1_page": true}"#)
        .says(StatusCode::OK, simulation::switches_schema),
    Route::new(Method::GET, "/admin/clock", "Show the clock", simulation::show_clock)
        .says(StatusCode::OK, simulation::clock_schema),
    Route::new(Method::PATCH, "/admin/clock", "Change when pending payments become final", simulation::change_clock)
        .text("Settings that the body omits are unchanged; null disables a setting.")
        .body(simulation::clock_changes, r#"{"resolve_after_queries": 3, "resolve_after_ms": null}"#)
        .says(StatusCode::OK, simulation::clock_schema),
    Route::new(Method::POST, "/admin/clock/forward", "Step the clock forward", simulation::forward_clock)
        .text(
            "Everything due by the new time happens immediately: callbacks are retried, pending payments become \
             final, cards expire. Only a reset moves the clock back.",
        )
        .needs_body(simulation::clock_step, r#"{"ms": 3600000}"#)
        .says(StatusCode::OK, simulation::clock_schema)
        .refusals(&[Refused::TooFar]),
    Route::new(Method::GET, "/admin/test-data", "List the test cards and phones", simulation::show_test_data)
        .says(StatusCode::OK, simulation::test_data_schema),
    Route::new(Method::POST, "/admin/payments/{number}/approve", "Approve a payment", ledger::approve)
        .text(
            "Acts as the payer: the payment gets the outcome of its test card or phone, and a pay-form is paid with \
             the first test card. If the payer has already acted, the provider charges the payment.",
        )
        .body(ledger::approval, "{}")
        .says(StatusCode::OK, ledger::payment_schema)
        .refusals(&[Refused::NotFound, Refused::AlreadyFinal]),
    Route::new(Method::POST, "/admin/payments/{number}/decline", "Decline a payment", ledger::decline)
        .text("The payer cancels. If the payer has already acted, the provider declines.")
        .says(StatusCode::OK, ledger::payment_schema)
        .refusals(&[Refused::NotFound, Refused::AlreadyFinal]),
    Route::new(Method::POST, "/admin/reset", "Reset the sandbox", ledger::reset)
        .text("Deletes all payments, callbacks, requests and faults, and restores the initial switches and clock."),
];

/// Adds the interface to the routes.
pub(crate) fn routes(router: Router, state: &Arc<State>) -> Router {
    let state = Arc::clone(state);
    router.route("/admin/{*path}", any(move |request: Request| handle(Arc::clone(&state), request)))
}

async fn handle(state: Arc<State>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if !request::is_admin(&parts.headers, &state.admin_token) {
        return AdminError::unauthorized().into_response();
    }
    let body = match read_body(body).await {
        Ok(body) => body,
        Err(_) => return AdminError::invalid(vec![FieldError::new("body", "could not be read")]).into_response(),
    };
    match spawn_blocking(move || dispatch(&state, &parts.method, &parts.uri, &body)).await {
        Ok(Ok(response)) => response.into_response(),
        Ok(Err(failure)) => failure.into_response(),
        Err(error) => AdminError::internal(&error).into_response(),
    }
}

/// Executes a request of the interface for a page, without a response body; fails with the field errors.
pub(crate) fn execute(state: &State, method: &Method, path: &str, body: &Value) -> Result<(), Vec<FieldError>> {
    let refused = |error: &dyn std::fmt::Display| vec![FieldError::new("path", error.to_string())];
    let uri: Uri = path.parse().map_err(|error: axum::http::uri::InvalidUri| refused(&error))?;
    let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    dispatch(state, method, &uri, &body).map(drop).map_err(AdminError::into_errors)
}

fn dispatch(state: &State, method: &Method, uri: &Uri, body: &Bytes) -> Result<JsonResponse, AdminError> {
    let segments = segments(uri.path());
    let under_path: Vec<_> = ROUTES.iter().filter_map(|route| Some((route, route.parameters(&segments)?))).collect();
    if under_path.is_empty() {
        return Err(AdminError::not_found("path", "not found"));
    }
    let allowed: Vec<_> = under_path.iter().map(|(route, _)| route.method.as_str()).collect();
    let Some((route, parameters)) = under_path.into_iter().find(|(route, _)| route.method == *method) else {
        return Err(AdminError::wrong_method(&allowed.join(", ")));
    };
    let order = order(route, uri)?;
    (route.handle)(state, &RouteRequest { parameters, order, body })
}

/// The order that the query names; a parameter that the route does not know is refused.
fn order(route: &Route, uri: &Uri) -> Result<Option<String>, AdminError> {
    let mut query = Members::new(query(uri));
    let order = if route.takes_order { query.text(ORDER_NUMBER) } else { None };
    query.finish().map_err(AdminError::invalid)?;
    Ok(order)
}

/// The path's segments, decoded one by one: an order number may contain a slash.
fn segments(path: &str) -> Vec<String> {
    path.split('/').skip(1).map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned()).collect()
}

fn query(uri: &Uri) -> impl Iterator<Item = (String, Value)> {
    let pairs = FormPairs::parse(uri.query().unwrap_or_default().as_bytes());
    pairs.into_iter().map(|(name, value)| (name, Value::from(value)))
}
