//! The routing table, which answers requests and from which the OpenAPI description is generated.

use axum::{
    http::{Method, StatusCode},
    routing::on,
};

use super::{
    access::Audience,
    app,
    bodies::{ReplayEvents, ResolvePayment},
    document, examples, others,
    payment_bodies::{ConfirmPayment, NewPayment},
    problem::ProblemKind,
    route::Route,
    shop,
};
use crate::checkouts::new_checkout::NewCheckout;

const CREATED: &[StatusCode] = &[StatusCode::CREATED];
/// Done, or still in progress.
const BEGUN: &[StatusCode] = &[StatusCode::CREATED, StatusCode::ACCEPTED];
const CONFIRMED: &[StatusCode] = &[StatusCode::OK, StatusCode::ACCEPTED];

/// All routes.
pub(super) static ROUTES: [Route; 19] = [
    Route::new(
        Method::POST,
        "/v1/checkouts",
        "openCheckout",
        Audience::Shop,
        "Open a checkout",
        shop::checkout,
        |method| on(method, shop::open),
    )
    .text("Safe to retry: the same `reference` with the same content returns the same checkout.")
    .json::<NewCheckout>()
    .success(CREATED)
    .examples(examples::opened_checkout)
    .refusals(&[ProblemKind::ReferenceUsed]),
    Route::new(
        Method::GET,
        "/v1/checkouts",
        "findCheckout",
        Audience::Shop,
        "Find a checkout by its reference",
        shop::checkout,
        |method| on(method, shop::find),
    )
    .query(&[shop::REFERENCE])
    .refusals(&[ProblemKind::NotFound]),
    Route::new(
        Method::GET,
        "/v1/checkouts/{checkout}",
        "getCheckout",
        Audience::Shop,
        "Get a checkout",
        shop::checkout,
        |method| on(method, shop::read),
    )
    .query(&[app::AFTER, app::WAIT])
    .examples(examples::any_checkout)
    .refusals(&[ProblemKind::NotFound]),
    Route::new(
        Method::POST,
        "/v1/checkouts/{checkout}/cancel",
        "cancelCheckout",
        Audience::Shop,
        "Cancel a checkout",
        shop::checkout,
        |method| on(method, shop::cancel),
    )
    .text("A checkout with a payment in progress cannot be cancelled. Wait for the outcome of the payment.")
    .examples(examples::cancelled_checkout)
    .refusals(&[ProblemKind::NotFound, ProblemKind::NotOpen, ProblemKind::UnderWay]),
    Route::new(
        Method::POST,
        "/v1/checkouts/{checkout}/check",
        "checkCheckout",
        Audience::Shop,
        "Query the gateway for the status of its payments now",
        shop::done,
        |method| on(method, shop::check),
    )
    .success(&[StatusCode::ACCEPTED])
    .refusals(&[ProblemKind::NotFound]),
    Route::new(
        Method::POST,
        "/v1/checkouts/{checkout}/tokens",
        "newToken",
        Audience::Shop,
        "Create a client token",
        shop::token,
        |method| on(method, shop::new_token),
    )
    .text("The token gives the payer's app access to this checkout only. It is shown only once.")
    .success(CREATED)
    .refusals(&[ProblemKind::NotFound]),
    Route::new(
        Method::DELETE,
        "/v1/checkouts/{checkout}/tokens",
        "revokeTokens",
        Audience::Shop,
        "Revoke the checkout's client tokens",
        shop::count,
        |method| on(method, shop::revoke_tokens),
    )
    .refusals(&[ProblemKind::NotFound]),
    Route::new(
        Method::POST,
        "/v1/payments/{payment}/resolve",
        "resolvePayment",
        Audience::Shop,
        "Resolve the outcome of a payment manually",
        shop::payment,
        |method| on(method, shop::resolve),
    )
    .text(
        "For a person who has checked the gateway's own records. The payment must not have \
             ended and must not be being sent. With `charged`, it pays its checkout. If the gateway later \
             reports a charge after all, that charge counts and produces an event.",
    )
    .json::<ResolvePayment>()
    .refusals(&[ProblemKind::NotFound, ProblemKind::NotInDoubt]),
    Route::new(Method::GET, "/v1/events", "listEvents", Audience::Shop, "List events", shop::events_schema, |method| {
        on(method, shop::events)
    })
    .text("In the order in which they happened; none is ever skipped. The webhook delivers the same events.")
    .query(&[shop::EVENTS_AFTER, shop::LIMIT])
    .refusals(&[ProblemKind::HistoryGone]),
    Route::new(
        Method::POST,
        "/v1/events/replay",
        "replayEvents",
        Audience::Shop,
        "Redeliver events whose delivery was given up or refused",
        shop::count,
        |method| on(method, shop::replay),
    )
    .json::<ReplayEvents>(),
    Route::new(
        Method::GET,
        "/v1/checkout",
        "getOwnCheckout",
        Audience::App,
        "Get the checkout of the client token",
        app::checkout,
        |method| on(method, app::read),
    )
    .text(
        "With `after`, the response waits until the checkout's version is higher than `after`, or \
             until `wait` seconds have passed (long polling).",
    )
    .query(&[app::AFTER, app::WAIT]),
    Route::new(
        Method::POST,
        "/v1/checkout/payments",
        "beginPayment",
        Audience::App,
        "Start a payment",
        app::payment,
        |method| on(method, app::pay),
    )
    .text(
        "Returns 202 if the gateway has not responded yet: get the checkout, or repeat the request \
             with the same key.",
    )
    .json::<NewPayment>()
    .needs_key()
    .success(BEGUN)
    .refusals(&[ProblemKind::NotOpen, ProblemKind::UnderWay, ProblemKind::NoAttemptsLeft, ProblemKind::KeyReused]),
    Route::new(
        Method::POST,
        "/v1/checkout/payments/{payment}/confirm",
        "confirmPayment",
        Audience::App,
        "Confirm a payment with the payer's one-time password",
        app::payment,
        |method| on(method, app::confirm),
    )
    .text("The password is sent to the gateway once. Returns 202 if the outcome is not known yet.")
    .json::<ConfirmPayment>()
    .needs_key()
    .success(CONFIRMED)
    .refusals(&[
        ProblemKind::NotFound,
        ProblemKind::NotOpen,
        ProblemKind::UnderWay,
        ProblemKind::NotAwaited,
        ProblemKind::NoAttemptsLeft,
        ProblemKind::KeyReused,
    ]),
    Route::new(
        Method::POST,
        "/v1/checkout/check",
        "checkOwnCheckout",
        Audience::App,
        "Query the gateway for the status of its payments now",
        shop::done,
        |method| on(method, app::check),
    )
    .text("Call it when the payer returns.")
    .success(&[StatusCode::ACCEPTED]),
    Route::new(
        Method::POST,
        "/callbacks/{secret}/{payment}",
        "gatewayCallback",
        Audience::Gateway,
        "Receive a callback of the gateway",
        shop::done,
        |method| on(method, others::callback),
    )
    .text(
        "Only the gateway knows this URL. A callback is a hint that triggers a status query; \
             its content is never trusted. It needs only an order number: as JSON or a form, in the \
             body or the query string, optionally compressed with gzip. Unreadable callbacks are kept for the staff.",
    )
    .any_body()
    .refusals(&[ProblemKind::NotFound]),
    Route::new(
        Method::GET,
        "/callbacks/{secret}/{payment}",
        "gatewayCallbackByGet",
        Audience::Gateway,
        "Receive a callback of a gateway that uses GET",
        shop::done,
        |method| on(method, others::callback),
    )
    .text(
        "Only the gateway knows this URL. A callback is a hint that triggers a status query; \
             its content is never trusted.",
    )
    .any_body()
    .refusals(&[ProblemKind::NotFound]),
    Route::new(
        Method::GET,
        "/healthz",
        "isAlive",
        Audience::Public,
        "Liveness: whether the process runs",
        others::schema,
        |method| on(method, others::alive),
    ),
    Route::new(
        Method::GET,
        "/readyz",
        "isReady",
        Audience::Public,
        "Readiness: whether the server can process requests",
        others::schema,
        |method| on(method, others::ready),
    ),
    Route::new(
        Method::GET,
        "/openapi.json",
        "getDescription",
        Audience::Public,
        "Get this OpenAPI description",
        document::schema,
        |method| on(method, document::serve),
    ),
];
