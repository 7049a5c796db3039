//! What there is under `/admin/`: the one table for those who answer and for those who describe.

use axum::http::{Method, StatusCode};
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use crate::{
    admin::{
        Call,
        answer::{Answer, Failure},
        clock, faults, payments, records, switches, test_data,
    },
    state::State,
};

/// The query parameter for one order.
pub(crate) const ORDER_NUMBER: &str = "order_number";

/// One method of one path.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// With parameters in braces.
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) text: &'static str,
    /// Whether the query may name an order.
    pub(crate) takes_order: bool,
    /// The JSON Schema of the body, where there is one.
    pub(crate) body: Option<fn() -> Value>,
    pub(crate) needs_body: bool,
    /// A body that it takes.
    pub(crate) example: &'static str,
    pub(crate) success: StatusCode,
    /// What a success says, if anything.
    pub(crate) says: Option<fn(&mut SchemaGenerator) -> Schema>,
    pub(crate) refusals: &'static [Refused],
    pub(super) answer: fn(&State, &Call<'_>) -> Result<Answer, Failure>,
}

/// A refusal that not every route has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// 404.
    NotFound,
    /// 409.
    AlreadyFinal,
    /// 409.
    TooFar,
}

impl Route {
    /// The parameters' values, where the segments are those of this path.
    pub(super) fn parameters<'a>(&self, segments: &'a [String]) -> Option<Vec<&'a str>> {
        let pattern: Vec<_> = self.path.split('/').skip(1).collect();
        let is_here = pattern.len() == segments.len()
            && pattern.iter().zip(segments).all(|(part, segment)| is_parameter(part) || part == segment);
        let values = pattern.iter().zip(segments).filter(|(part, _)| is_parameter(part));
        is_here.then(|| values.map(|(_, segment)| segment.as_str()).collect())
    }

    /// The names of the path's parameters.
    pub(crate) fn parameter_names(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter(|part| is_parameter(part)).map(|part| part.trim_matches(['{', '}']))
    }

    const fn new(
        method: Method,
        path: &'static str,
        summary: &'static str,
        answer: fn(&State, &Call<'_>) -> Result<Answer, Failure>,
    ) -> Self {
        Self {
            method,
            path,
            summary,
            text: "",
            takes_order: false,
            body: None,
            needs_body: false,
            example: "",
            success: StatusCode::NO_CONTENT,
            says: None,
            refusals: &[],
            answer,
        }
    }

    const fn text(mut self, text: &'static str) -> Self {
        self.text = text;
        self
    }

    const fn by_order(mut self) -> Self {
        self.takes_order = true;
        self
    }

    const fn body(mut self, body: fn() -> Value, example: &'static str) -> Self {
        self.body = Some(body);
        self.example = example;
        self
    }

    const fn needs_body(mut self, body: fn() -> Value, example: &'static str) -> Self {
        self.needs_body = true;
        self.body(body, example)
    }

    const fn says(mut self, success: StatusCode, says: fn(&mut SchemaGenerator) -> Schema) -> Self {
        self.success = success;
        self.says = Some(says);
        self
    }

    const fn refusals(mut self, refusals: &'static [Refused]) -> Self {
        self.refusals = refusals;
        self
    }
}

fn is_parameter(part: &str) -> bool {
    part.starts_with('{')
}

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
        .needs_body(faults::settings, r#"{"name": "reply-lost", "order_number": "ORDER-1", "times": 1}"#)
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
        .body(clock::changes, r#"{"settle_after_queries": 3, "settle_after_ms": null}"#)
        .says(StatusCode::OK, clock::schema),
    Route::new(Method::POST, "/admin/clock/forward", "Step the clock forward", clock::forward)
        .text(
            "What is due by then happens at once: callbacks are sent again, pending payments become final, cards expire. \
             Only a reset steps it back.",
        )
        .needs_body(clock::step, r#"{"ms": 3600000}"#)
        .says(StatusCode::OK, clock::schema)
        .refusals(&[Refused::TooFar]),
    Route::new(Method::GET, "/admin/test-data", "List the test cards and phones", test_data::show)
        .says(StatusCode::OK, test_data::schema),
    Route::new(Method::POST, "/admin/payments/{number}/approve", "Approve a payment", payments::approve)
        .text(
            "The payer does their part, and the payment ends as the test card or phone says; a payment on the pay-form is \
             paid by the first test card. Where the payer did their part, the provider takes the money.",
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
