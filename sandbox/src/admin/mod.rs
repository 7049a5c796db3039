//! The admin interface for programs that have the admin token: the ledger, faults, switches and clock. Injected faults never
//! affect it. This file has authentication and the routing table, from which the router and the OpenAPI description are built.

pub(crate) mod ledger;
mod route;
pub(crate) mod simulation;

pub(crate) use route::{AdminError, ORDER_NUMBER, PathParameter, RejectionKind, Route, errors_schema};

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{self, Request},
    http::{Method, StatusCode},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{MethodFilter, MethodRouter, any},
};

use crate::{
    admin::route::{handler, reject_query},
    rules::FieldError,
    state::State,
    web::{read_body, request},
};

/// All routes.
pub(crate) static ROUTES: [Route; 16] = [
    Route::new(Method::GET, "/admin/ledger", "List the payments", |on| handler(on, ledger::list_payments))
        .text("In order of registration. The ledger shows the actual charges.")
        .by_order()
        .responds(StatusCode::OK, ledger::ledger_schema),
    Route::new(Method::GET, "/admin/requests", "List the requests", |on| handler(on, ledger::list_requests))
        .text("Requests that reached an endpoint, in the order in which they were answered.")
        .by_order()
        .responds(StatusCode::OK, ledger::requests_schema),
    Route::new(Method::GET, "/admin/callbacks", "List the callback delivery attempts", |on| {
        handler(on, ledger::list_callbacks)
    })
    .by_order()
    .responds(StatusCode::OK, ledger::callbacks_schema),
    Route::new(Method::GET, "/admin/faults", "List the faults", |on| handler(on, simulation::list_faults))
        .text("Includes faults whose limit is used up.")
        .responds(StatusCode::OK, simulation::faults_schema),
    Route::new(Method::POST, "/admin/faults", "Set a fault", |on| handler(on, simulation::add_fault))
        .needs_body(simulation::fault_settings, r#"{"name": "response-lost", "order_number": "ORDER-1", "times": 1}"#)
        .responds(StatusCode::CREATED, simulation::fault_schema),
    Route::new(Method::DELETE, "/admin/faults", "Remove all faults", |on| handler(on, simulation::clear_faults)),
    Route::new(Method::DELETE, "/admin/faults/{id}", "Remove a fault", |on| handler(on, simulation::remove_fault))
        .rejections(&[RejectionKind::NotFound]),
    Route::new(Method::GET, "/admin/switches", "Show the switches", |on| handler(on, simulation::show_switches))
        .responds(StatusCode::OK, simulation::switches_schema),
    Route::new(Method::PATCH, "/admin/switches", "Change switches", |on| handler(on, simulation::change_switches))
        .text("Switches that the body omits are unchanged.")
        .body(simulation::switches_changes, r#"{"reused_order_number": "charge-twice", "three_ds_1_page": true}"#)
        .responds(StatusCode::OK, simulation::switches_schema),
    Route::new(Method::GET, "/admin/clock", "Show the clock", |on| handler(on, simulation::show_clock))
        .responds(StatusCode::OK, simulation::clock_schema),
    Route::new(Method::PATCH, "/admin/clock", "Change when pending payments become final", |on| {
        handler(on, simulation::change_clock)
    })
    .text("Settings that the body omits are unchanged; null disables a setting.")
    .body(simulation::clock_changes, r#"{"resolve_after_queries": 3, "resolve_after_ms": null}"#)
    .responds(StatusCode::OK, simulation::clock_schema),
    Route::new(Method::POST, "/admin/clock/forward", "Step the clock forward", |on| {
        handler(on, simulation::forward_clock)
    })
    .text(
        "Everything due by the new time happens immediately: callbacks are retried, pending payments become \
             final, cards expire. Only a reset moves the clock back.",
    )
    .needs_body(simulation::clock_step, r#"{"ms": 3600000}"#)
    .responds(StatusCode::OK, simulation::clock_schema)
    .rejections(&[RejectionKind::TooFar]),
    Route::new(Method::GET, "/admin/test-data", "List the test cards and phones", |on| {
        handler(on, simulation::show_test_data)
    })
    .responds(StatusCode::OK, simulation::test_data_schema),
    Route::new(Method::POST, "/admin/payments/{number}/approve", "Approve a payment", |on| {
        handler(on, ledger::approve)
    })
    .text(
        "Acts as the payer: the payment gets the outcome of its test card or phone, and a pay-form is paid with \
             the first test card. If the payer has already acted, the provider charges the payment.",
    )
    .body(ledger::approval, "{}")
    .responds(StatusCode::OK, ledger::payment_schema)
    .rejections(&[RejectionKind::NotFound, RejectionKind::AlreadyFinal]),
    Route::new(Method::POST, "/admin/payments/{number}/decline", "Decline a payment", |on| {
        handler(on, ledger::decline)
    })
    .text("The payer cancels. If the payer has already acted, the provider declines.")
    .responds(StatusCode::OK, ledger::payment_schema)
    .rejections(&[RejectionKind::NotFound, RejectionKind::AlreadyFinal]),
    Route::new(Method::POST, "/admin/reset", "Reset the sandbox", |on| handler(on, ledger::reset))
        .text("Deletes all payments, callbacks, requests and faults, and restores the initial switches and clock."),
];

/// The routes of the interface.
pub(crate) fn routes(state: &Arc<State>) -> Router {
    let mut router = Router::new().route("/admin/{*path}", any(not_found));
    for (index, Route { path, .. }) in ROUTES.iter().enumerate() {
        if ROUTES[..index].iter().all(|earlier| earlier.path != *path) {
            router = router.route(path, methods(path));
        }
    }
    router.layer(from_fn_with_state(Arc::clone(state), authenticate)).with_state(Arc::clone(state))
}

/// The methods of one path.
fn methods(path: &str) -> MethodRouter<Arc<State>> {
    let routes = || ROUTES.iter().filter(|route| route.path == path);
    let allowed: Vec<_> = routes().map(|route| route.method.as_str()).collect();
    let allowed = allowed.join(", ");
    let wrong_method = move || async move { AdminError::wrong_method(&allowed) };
    // Without this, the handler of GET would answer HEAD.
    let methods = MethodRouter::new().on(MethodFilter::HEAD, wrong_method.clone()).fallback(wrong_method);
    routes().fold(methods, |methods, route| {
        let handler = (route.handler)(route.filter());
        methods.merge(if route.takes_order { handler } else { handler.route_layer(from_fn(reject_query)) })
    })
}

async fn not_found() -> AdminError {
    AdminError::not_found("path", "not found")
}

/// Middleware: checks the admin token, then reads the body.
async fn authenticate(extract::State(state): extract::State<Arc<State>>, request: Request, next: Next) -> Response {
    if !request::is_admin(request.headers(), &state.admin_token) {
        return AdminError::unauthorized().into_response();
    }
    let (parts, body) = request.into_parts();
    match read_body(body).await {
        Ok(body) => next.run(Request::from_parts(parts, Body::from(body))).await,
        Err(_) => AdminError::invalid(vec![FieldError::new("body", "could not be read")]).into_response(),
    }
}
