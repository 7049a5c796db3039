//! Health, for who starts and restarts the program, and readiness, for who sends it requests.

use std::{sync::Arc, time::Duration};

use schemars::{Schema, SchemaGenerator};

use super::{
    problem::{Problem, ProblemKind},
    request::ApiRequest,
    response::JsonResponse,
    route::HandlerFuture,
    state::ApiState,
    views::Health,
};

pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Health>()
}

/// It runs. A database that fails is no reason to restart it.
pub(super) fn alive(_: Arc<ApiState>, _: ApiRequest) -> HandlerFuture {
    Box::pin(async { JsonResponse::ok(&Health { status: "ok" }) })
}

/// Its database takes writes, and it is not stopping.
pub(super) fn ready(http: Arc<ApiState>, _: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        // Why not is told by who tries, once, and not for each that asks.
        let not_ready = |_| Problem::new(ProblemKind::Unavailable).retry_after(Duration::from_secs(1));
        http.server.is_ready().await.map_err(not_ready)?;
        JsonResponse::ok(&Health { status: "ok" })
    })
}
