//! Endpoints for other callers: callbacks for the gateway, liveness for process supervisors, and readiness for load balancers.

use std::time::Duration;

use axum::extract::{Path, RawQuery, State};
use schemars::{Schema, SchemaGenerator};

use super::{
    access::Caller,
    problem::{Problem, ProblemKind},
    request::{AnyBody, Api, JsonResponse},
    views::{Done, Health},
};
use crate::{callbacks::ReceivedCallback, values::error::ServerError};

pub(super) async fn callback(
    State(api): Api,
    Path((secret, payment)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    caller: Caller,
    body: AnyBody,
) -> Result<JsonResponse, Problem> {
    let (address, query) = (format!("{secret}/{payment}"), query.unwrap_or_default());
    let problem = body.problem.map(|problem| problem.to_string());
    let received =
        ReceivedCallback { address: &address, query: &query, body: &body.bytes, problem: problem.as_deref() };
    let taken = api.server.called_back(received).await;
    if taken.is_ok() {
        api.access.record_callback(caller.from);
    }
    match (taken, body.problem) {
        // The callback is recorded, and the response says that its body was not read.
        (Ok(_), Some(problem)) => Err(problem.into()),
        (Ok(_), None) => JsonResponse::ok(&Done {}),
        (Err(problem @ ServerError::NotFound { .. }), _) => {
            Err(api.access.record_unknown_callback(caller.from, problem.into()))
        }
        (Err(problem), _) => Err(problem.into()),
    }
}

pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Health>()
}

/// The process runs. A failed database is no reason to restart it.
pub(super) async fn alive() -> Result<JsonResponse, Problem> {
    JsonResponse::ok(&Health { status: "ok" })
}

/// The database accepts writes, and the server is not stopping.
pub(super) async fn ready(State(api): Api) -> Result<JsonResponse, Problem> {
    // The cause is logged once where it occurs, and not for each probe.
    let not_ready = |_| Problem::new(ProblemKind::Unavailable).retry_after(Duration::from_secs(1));
    api.server.is_ready().await.map_err(not_ready)?;
    JsonResponse::ok(&Health { status: "ok" })
}
