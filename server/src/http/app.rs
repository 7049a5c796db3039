//! Endpoints for payers' apps, by a client token for one checkout.

use std::time::Duration;

use axum::{
    extract::{Path, State},
    http::StatusCode,
};
use schemars::{Schema, SchemaGenerator};

use super::{
    access::Caller,
    field::{Field, Kind, Literal},
    payment_bodies::{ConfirmPayment, NewPayment},
    problem::{Problem, ProblemKind},
    request::{Api, ApiState, JsonResponse, QueryFields, ValidatedJson, payment_id},
    views::{self, AppCheckout, AppPayment, Done},
};
use crate::{
    checkouts::CheckoutView,
    dispatch::PaymentInput,
    payments::Payment,
    runtime::Boxed,
    server::Credential,
    values::{CheckoutId, Method, PaymentState, error::ServerError},
};

/// A payment that is begun or confirmed.
type PaymentFuture<'a> = Boxed<'a, Result<Payment, ServerError>>;

pub(super) const AFTER: Field = Field::optional("after", Kind::Integer { from: 0, to: i64::MAX })
    .about("The version that the caller already has: the response waits for a higher one.");
/// The server's settings may allow less.
pub(super) const WAIT: Field = Field::optional("wait", Kind::Integer { from: 0, to: 60 })
    .about("Maximum time to wait, in seconds (long polling). The server may respond earlier.")
    .with_default(Literal::Integer(0));

pub(super) fn checkout(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<AppCheckout<'_>>()
}

pub(super) fn payment(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<AppPayment<'_>>()
}

/// The checkout, at once or when it has changed. Only its credential stays in memory while it waits: thousands may.
pub(super) async fn wait_for_change(
    api: &ApiState,
    mut query: QueryFields,
    credential: Option<Credential>,
    id: CheckoutId,
) -> Result<CheckoutView, Problem> {
    let after = query.integer(&AFTER);
    let wait = query.integer(&WAIT).unwrap_or_default();
    query.finish()?;
    let Some(after) = after else { return Ok(api.server.checkout(&id).await?) };
    let wait = Duration::from_secs(wait.unsigned_abs()).min(api.settings.longest_wait);
    let _waiting = api.server.metrics().waiting();
    let found = api.server.checkout_after_for(credential.as_ref(), &id, after, wait).await?;
    // Its key or token has expired, or was revoked: the answer is that of a new request.
    found.ok_or_else(|| Problem::new(ProblemKind::Unauthorized))
}

pub(super) async fn read(State(api): Api, query: QueryFields, caller: Caller) -> Result<JsonResponse, Problem> {
    let (id, credential) = (caller.own_checkout()?.checkout.id.clone(), caller.credential());
    drop(caller);
    let view = wait_for_change(&api, query, credential, id).await?;
    JsonResponse::ok(&views::app_checkout(&view, &api.server.settings().dialect))
}

pub(super) async fn check(State(api): Api, caller: Caller) -> Result<JsonResponse, Problem> {
    api.server.check_now(&caller.own_checkout()?.checkout.id).await?;
    JsonResponse::new(StatusCode::ACCEPTED, &Done {})
}

pub(super) async fn pay(
    State(api): Api,
    caller: Caller,
    ValidatedJson(wanted): ValidatedJson<NewPayment>,
) -> Result<JsonResponse, Problem> {
    let key = caller.required_key()?;
    let id = &caller.own_checkout()?.checkout.id;
    let begin = || -> PaymentFuture<'_> {
        let way = match (&wanted.card, wanted.method) {
            (Some(card), _) => PaymentInput::Card(card),
            (None, Some(Method::Mbank)) => PaymentInput::Mbank { phone: &wanted.phone },
            (None, Some(Method::Megapay)) => PaymentInput::Megapay { phone: &wanted.phone },
            (None, Some(Method::Qr)) => PaymentInput::Qr,
            (None, _) => PaymentInput::PayForm { back: None },
        };
        Box::pin(api.server.pay(id, way, wanted.instead_of.as_ref(), Some(key)))
    };
    respond_within(&api, &begin, StatusCode::CREATED).await
}

pub(super) async fn confirm(
    State(api): Api,
    Path(payment): Path<String>,
    caller: Caller,
    ValidatedJson(ConfirmPayment { otp }): ValidatedJson<ConfirmPayment>,
) -> Result<JsonResponse, Problem> {
    let key = caller.required_key()?;
    let (id, payment) = (&caller.own_checkout()?.checkout.id, payment_id(&payment)?);
    let confirm = || -> PaymentFuture<'_> { Box::pin(api.server.confirm(id, &payment, &otp, Some(key))) };
    respond_within(&api, &confirm, StatusCode::OK).await
}

/// The outcome of a request that goes to the gateway. **Slowness is never an error**: the payment goes on, and
/// the same request with the same key returns its state.
async fn respond_within<'a>(
    api: &ApiState,
    begin: &(dyn Fn() -> PaymentFuture<'a> + Send + Sync),
    done: StatusCode,
) -> Result<JsonResponse, Problem> {
    let within = api.settings.answer_within;
    let payment = match tokio::time::timeout(within, begin()).await {
        Ok(result) => result?,
        // The same key finds it, and does not begin it again.
        Err(_) => match tokio::time::timeout(within, begin()).await {
            Ok(result) => result?,
            Err(_) => return Err(Problem::new(ProblemKind::Unavailable).retry_after(Duration::from_secs(1))),
        },
    };
    let status = if PaymentState::UNDER_WAY.contains(&payment.state) { StatusCode::ACCEPTED } else { done };
    JsonResponse::new(status, &views::app_payment(&payment, &api.server.settings().dialect))
}
