//! The routing table: one for those who answer and for those who describe.

use axum::{
    http::{Method, StatusCode},
    routing::on,
};

use super::{
    access::Audience,
    app,
    bodies::{ConfirmPayment, NewPayment, ReplayEvents, ResolvePayment},
    document, examples, others,
    problem::ProblemKind,
    route::Route,
    shop,
};
use crate::checkouts::new_checkout::NewCheckout;

const CREATED: &[StatusCode] = &[StatusCode::CREATED];
/// Done, or still under way.
const BEGUN: &[StatusCode] = &[StatusCode::CREATED, StatusCode::ACCEPTED];
const CONFIRMED: &[StatusCode] = &[StatusCode::OK, StatusCode::ACCEPTED];

/// All of them.
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
    .text(
        "The same reference with the same content gives the same checkout, so this is safe to \
             send again.",
    )
    .json::<NewCheckout>()
    .success(CREATED)
    .examples(examples::opened_checkout)
    .refusals(&[ProblemKind::ReferenceUsed]),
    Route::new(
        Method::GET,
        "/v1/checkouts",
        "findCheckout",
        Audience::Shop,
        "Find a checkout",
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
        "Read a checkout",
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
    .text("One of which a payment is under way is not cancelled: wait for its end.")
    .examples(examples::cancelled_checkout)
    .refusals(&[ProblemKind::NotFound, ProblemKind::NotOpen, ProblemKind::UnderWay]),
    Route::new(
        Method::POST,
        "/v1/checkouts/{checkout}/check",
        "checkCheckout",
        Audience::Shop,
        "Ask the gateway about its payments now",
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
        "Make a client token",
        shop::token,
        |method| on(method, shop::new_token),
    )
    .text("For the payer's app: it opens this one checkout, and is shown once.")
    .success(CREATED)
    .refusals(&[ProblemKind::NotFound]),
    Route::new(
        Method::DELETE,
        "/v1/checkouts/{checkout}/tokens",
        "revokeTokens",
        Audience::Shop,
        "Revoke its client tokens",
        shop::count,
        |method| on(method, shop::revoke_tokens),
    )
    .refusals(&[ProblemKind::NotFound]),
    Route::new(
        Method::POST,
        "/v1/payments/{payment}/resolve",
        "resolvePayment",
        Audience::Shop,
        "Decide what became of a payment",
        shop::payment,
        |method| on(method, shop::resolve),
    )
    .text(
        "For a person who has looked at the gateway's own records: of one that has not \
             ended and is not being sent. One that was charged pays its checkout. If the gateway \
             reports a charge after all, that counts and is told.",
    )
    .json::<ResolvePayment>()
    .refusals(&[ProblemKind::NotFound, ProblemKind::NotInDoubt]),
    Route::new(Method::GET, "/v1/events", "listEvents", Audience::Shop, "Read events", shop::events_schema, |method| {
        on(method, shop::events)
    })
    .text(
        "In the order in which they happened; none is ever skipped. Those that are delivered \
             are these.",
    )
    .query(&[shop::EVENTS_AFTER, shop::LIMIT])
    .refusals(&[ProblemKind::HistoryGone]),
    Route::new(
        Method::POST,
        "/v1/events/replay",
        "replayEvents",
        Audience::Shop,
        "Deliver again what was given up, or refused",
        shop::count,
        |method| on(method, shop::replay),
    )
    .json::<ReplayEvents>(),
    Route::new(
        Method::GET,
        "/v1/checkout",
        "getOwnCheckout",
        Audience::App,
        "Read the checkout",
        app::checkout,
        |method| on(method, app::read),
    )
    .text(
        "With `after`, waits until its version is above that, or `wait` seconds are over \
             (long poll).",
    )
    .query(&[app::AFTER, app::WAIT]),
    Route::new(
        Method::POST,
        "/v1/checkout/payments",
        "beginPayment",
        Audience::App,
        "Begin a payment",
        app::payment,
        |method| on(method, app::pay),
    )
    .text(
        "202 where the gateway has not answered yet: read the checkout, or send the same \
             again with the same key.",
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
        "Send the payer's one-time password",
        app::payment,
        |method| on(method, app::confirm),
    )
    .text("Sent to the gateway once. 202 where its outcome is not known yet.")
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
        "Ask the gateway about its payments now",
        shop::done,
        |method| on(method, app::check),
    )
    .text("For a payer who came back.")
    .success(&[StatusCode::ACCEPTED]),
    Route::new(
        Method::POST,
        "/callbacks/{secret}/{payment}",
        "gatewayCallback",
        Audience::Gateway,
        "Take a callback of the gateway's",
        shop::done,
        |method| on(method, others::callback),
    )
    .text(
        "The address is known to the gateway alone. What comes is a hint: the payment is \
             asked about, and nothing is believed. A hint needs an order number and no more: JSON or a form, in the \
             body or the query, also compressed by gzip. What cannot be read is kept for the staff.",
    )
    .any_body()
    .refusals(&[ProblemKind::NotFound]),
    Route::new(
        Method::GET,
        "/callbacks/{secret}/{payment}",
        "gatewayCallbackByGet",
        Audience::Gateway,
        "Take a callback of a gateway that calls by GET",
        shop::done,
        |method| on(method, others::callback),
    )
    .text(
        "The address is known to the gateway alone. What comes is a hint: the payment is \
             asked about, and nothing is believed.",
    )
    .any_body()
    .refusals(&[ProblemKind::NotFound]),
    Route::new(
        Method::GET,
        "/healthz",
        "isAlive",
        Audience::Public,
        "Whether the program runs",
        others::schema,
        |method| on(method, others::alive),
    ),
    Route::new(Method::GET, "/readyz", "isReady", Audience::Public, "Whether it can work", others::schema, |method| {
        on(method, others::ready)
    }),
    Route::new(
        Method::GET,
        "/openapi.json",
        "getDescription",
        Audience::Public,
        "This description",
        document::schema,
        |method| on(method, document::serve),
    ),
];
