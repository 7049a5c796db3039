//! Health, for who starts and restarts the program, and readiness, for who sends it requests.

use std::time::Duration;

use axum::extract::State;
use schemars::{Schema, SchemaGenerator};

use super::{
    problem::{Problem, ProblemKind},
    request::Api,
    response::JsonResponse,
    views::Health,
};

pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Health>()
}

/// It runs. A database that fails is no reason to restart it.
pub(super) async fn alive() -> Result<JsonResponse, Problem> {
    JsonResponse::ok(&Health { status: "ok" })
}

/// Its database takes writes, and it is not stopping.
pub(super) async fn ready(State(api): Api) -> Result<JsonResponse, Problem> {
    // Why not is told by who tries, once, and not for each that asks.
    let not_ready = |_| Problem::new(ProblemKind::Unavailable).retry_after(Duration::from_secs(1));
    api.server.is_ready().await.map_err(not_ready)?;
    JsonResponse::ok(&Health { status: "ok" })
}
