//! What the gateway calls.

use axum::extract::{Path, RawQuery, State};

use super::{
    access::Caller,
    problem::Problem,
    request::{AnyBody, Api},
    response::JsonResponse,
    views::Done,
};
use crate::{callbacks::Received, values::error::ServerError};

pub(super) async fn callback(
    State(api): Api,
    Path((secret, payment)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    caller: Caller,
    body: AnyBody,
) -> Result<JsonResponse, Problem> {
    let (address, query) = (format!("{secret}/{payment}"), query.unwrap_or_default());
    let problem = body.problem.map(|problem| problem.to_string());
    let received = Received { address: &address, query: &query, body: &body.bytes, problem: problem.as_deref() };
    let taken = api.server.called_back(received).await;
    if taken.is_ok() {
        api.access.record_callback(caller.from);
    }
    match (taken, body.problem) {
        // It is noted, and the gateway is told that it was not read.
        (Ok(_), Some(problem)) => Err(problem.into()),
        (Ok(_), None) => JsonResponse::ok(&Done {}),
        (Err(problem @ ServerError::NotFound { .. }), _) => {
            Err(api.access.record_unknown_callback(caller.from, problem.into()))
        }
        (Err(problem), _) => Err(problem.into()),
    }
}
