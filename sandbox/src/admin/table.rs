//! The routing table of what there is under `/admin/`: one for those who answer and for those who describe.

use axum::http::{Method, StatusCode};

use crate::admin::{
    clock, faults, payments, records,
    route::{Refused, Route},
    switches, test_data,
};

/// All of them.
pub(crate) static ROUTES: [Route; 16] = [
    Route::new(Method::GET, "/admin/ledger", "List the payments", records::ledger)
        .text("In the order of registration: what really happened to the money.")
        .by_order()
        .says(StatusCode::OK, records::ledger_schema),
    Route::new(Method::GET, "/admin/requests", "List the requests", records::requests)
        .text("Those that reached an endpoint, in the order they were answered.")
        .by_order()
        .says(StatusCode::OK, records::requests_schema),
    Route::new(Method::GET, "/admin/callbacks", "List the attempts to deliver a callback", records::callbacks)
        .by_order()
        .says(StatusCode::OK, records::callbacks_schema),
    Route::new(Method::GET, "/admin/faults", "List the faults", faults::list)
        .text("Spent ones too.")
        .says(StatusCode::OK, faults::list_schema),
    Route::new(Method::POST, "/admin/faults", "Set a fault", faults::add)
        .needs_body(faults::settings, r#"{"name": "response-lost", "order_number": "ORDER-1", "times": 1}"#)
        .says(StatusCode::CREATED, faults::fault_schema),
    Route::new(Method::DELETE, "/admin/faults", "Remove every fault", faults::clear),
    Route::new(Method::DELETE, "/admin/faults/{id}", "Remove a fault", faults::remove).refusals(&[Refused::NotFound]),
    Route::new(Method::GET, "/admin/switches", "Show the switches", switches::show)
        .says(StatusCode::OK, switches::schema),
    Route::new(Method::PATCH, "/admin/switches", "Change switches", switches::change)
        .text("What the body does not name stays as it is.")
        .body(switches::changes, r#"{"reused_order_number": "charge-twice", "three_ds_1_page": true}"#)
        .says(StatusCode::OK, switches::schema),
    Route::new(Method::GET, "/admin/clock", "Show the clock", clock::show).says(StatusCode::OK, clock::schema),
    Route::new(Method::PATCH, "/admin/clock", "Change when pending payments become final", clock::change)
        .text("What the body does not name stays as it is; a null switches it off.")
        .body(clock::changes, r#"{"resolve_after_queries": 3, "resolve_after_ms": null}"#)
        .says(StatusCode::OK, clock::schema),
    Route::new(Method::POST, "/admin/clock/forward", "Step the clock forward", clock::forward)
        .text(
            "What is due by then happens at once: callbacks are sent again, pending payments become final, cards \
             expire. Only a reset steps it back.",
        )
        .needs_body(clock::step, r#"{"ms": 3600000}"#)
        .says(StatusCode::OK, clock::schema)
        .refusals(&[Refused::TooFar]),
    Route::new(Method::GET, "/admin/test-data", "List the test cards and phones", test_data::show)
        .says(StatusCode::OK, test_data::schema),
    Route::new(Method::POST, "/admin/payments/{number}/approve", "Approve a payment", payments::approve)
        .text(
            "The payer does their part, and the payment ends as the test card or phone says; a payment on the \
             pay-form is paid by the first test card. Where the payer did their part, the provider takes the money.",
        )
        .body(payments::approval, "{}")
        .says(StatusCode::OK, records::payment_schema)
        .refusals(&[Refused::NotFound, Refused::AlreadyFinal]),
    Route::new(Method::POST, "/admin/payments/{number}/decline", "Decline a payment", payments::decline)
        .text("The payer cancels; where the payer did their part, the provider declines.")
        .says(StatusCode::OK, records::payment_schema)
        .refusals(&[Refused::NotFound, Refused::AlreadyFinal]),
    Route::new(Method::POST, "/admin/reset", "Forget everything", payments::reset)
        .text("Payments, callbacks, requests and faults are forgotten; switches and clock are those of the start."),
];
