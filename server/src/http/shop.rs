//! Endpoints for a shop's back end.

use axum::{
    extract::{Path, State},
    http::StatusCode,
};
use schemars::{Schema, SchemaGenerator};
use serde_json::json;

use super::{
    access::Caller,
    app::wait_for_change,
    bodies::{ReplayEvents, ResolvePayment},
    field::{Field, Kind, Literal},
    problem::Problem,
    request::{Api, JsonResponse, QueryFields, ValidatedJson, checkout_id, payment_id},
    views::{self, Count, Done, Events, ShopCheckout, ShopPayment, Token},
};
use crate::{
    checkouts::new_checkout::{LONGEST_REFERENCE, NewCheckout},
    values::Cursor,
};

/// References are only looked up here: an invalid one is not found.
const ANY_REFERENCE: Kind =
    Kind::Form { schema: || json!({ "minLength": 1, "maxLength": LONGEST_REFERENCE }), check: |_, _, _| {} };
const CURSOR: Kind = Kind::Form {
    schema: || json!({ "pattern": r"^(0|[1-9][0-9]{0,17}\.[a-p]{1,15}\.[a-p]{16})$" }),
    check: |checks, _, text| checks.add(text.parse::<Cursor>().err().into_iter().collect()),
};
pub(super) const REFERENCE: Field =
    Field::required("reference", ANY_REFERENCE).about("The shop's reference for the checkout.");
pub(super) const EVENTS_AFTER: Field = Field::optional("after", CURSOR)
    .about("Cursor of the last event that was read, or `next` of the previous page. 0 starts at the first event.")
    .with_default(Literal::Text("0"));
pub(super) const LIMIT: Field = Field::optional("limit", Kind::Integer { from: 1, to: 1000 })
    .about("Maximum number of events to return.")
    .with_default(Literal::Integer(100));

pub(super) fn checkout(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<ShopCheckout<'_>>()
}

pub(super) fn payment(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<ShopPayment<'_>>()
}

pub(super) fn token(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Token<'_>>()
}

pub(super) fn count(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Count>()
}

pub(super) fn events_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Events>()
}

pub(super) fn done(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Done>()
}

pub(super) async fn open(
    State(api): Api,
    ValidatedJson(wanted): ValidatedJson<NewCheckout>,
) -> Result<JsonResponse, Problem> {
    let view = api.server.open_checkout(wanted).await?;
    JsonResponse::new(StatusCode::CREATED, &api.shop_checkout(&view))
}

pub(super) async fn find(State(api): Api, mut query: QueryFields) -> Result<JsonResponse, Problem> {
    let reference = query.text(&REFERENCE).unwrap_or_default();
    query.finish()?;
    let view = api.server.checkout_of_reference(&reference).await?;
    JsonResponse::ok(&api.shop_checkout(&view))
}

pub(super) async fn read(
    State(api): Api,
    Path(id): Path<String>,
    query: QueryFields,
    caller: Caller,
) -> Result<JsonResponse, Problem> {
    let view = wait_for_change(&api, query, caller.credential(), checkout_id(&id)?).await?;
    JsonResponse::ok(&api.shop_checkout(&view))
}

pub(super) async fn cancel(State(api): Api, Path(id): Path<String>) -> Result<JsonResponse, Problem> {
    let view = api.server.cancel(&checkout_id(&id)?).await?;
    JsonResponse::ok(&api.shop_checkout(&view))
}

pub(super) async fn check(State(api): Api, Path(id): Path<String>) -> Result<JsonResponse, Problem> {
    let id = checkout_id(&id)?;
    api.server.checkout(&id).await?;
    api.server.check_now(&id).await?;
    JsonResponse::new(StatusCode::ACCEPTED, &Done {})
}

pub(super) async fn new_token(State(api): Api, Path(id): Path<String>) -> Result<JsonResponse, Problem> {
    let token = api.server.new_token(&checkout_id(&id)?).await?;
    let lifetime_s = api.server.settings().token_lifetime.as_secs();
    JsonResponse::new(StatusCode::CREATED, &Token { token: token.expose(), lifetime_s })
}

pub(super) async fn revoke_tokens(State(api): Api, Path(id): Path<String>) -> Result<JsonResponse, Problem> {
    let id = checkout_id(&id)?;
    api.server.checkout(&id).await?;
    JsonResponse::ok(&Count { count: api.server.revoke_tokens(&id).await? })
}

pub(super) async fn events(State(api): Api, mut query: QueryFields) -> Result<JsonResponse, Problem> {
    let after = query.parsed::<Cursor>(&EVENTS_AFTER).unwrap_or_default();
    let limit = query.integer(&LIMIT).unwrap_or_default();
    query.finish()?;
    let events = api.server.events_after(&after, u32::try_from(limit).unwrap_or(1)).await?;
    JsonResponse::ok(&views::events(&after, events))
}

pub(super) async fn resolve(
    State(api): Api,
    Path(id): Path<String>,
    caller: Caller,
    ValidatedJson(decision): ValidatedJson<ResolvePayment>,
) -> Result<JsonResponse, Problem> {
    let ResolvePayment { outcome, reason, by } = decision;
    let payment = api.server.resolve(&payment_id(&id)?, outcome, &reason, caller.by(by)).await?;
    JsonResponse::ok(&views::shop_payment(&payment))
}

pub(super) async fn replay(
    State(api): Api,
    ValidatedJson(replay): ValidatedJson<ReplayEvents>,
) -> Result<JsonResponse, Problem> {
    JsonResponse::ok(&Count { count: api.server.replay(replay.checkout.as_ref()).await? })
}
