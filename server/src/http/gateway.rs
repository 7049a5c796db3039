//! What the gateway calls.

use std::sync::Arc;

use super::{request::ApiRequest, response::JsonResponse, route::HandlerFuture, state::ApiState, views::Done};
use crate::{callbacks::Received, values::error::ServerError};

pub(super) fn callback(http: Arc<ApiState>, request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let address = format!("{}/{}", request.parameter("secret"), request.parameter("payment"));
        let problem = request.body_problem.map(|problem| problem.to_string());
        let received = Received {
            address: &address,
            query: &request.whole_query,
            body: &request.body,
            problem: problem.as_deref(),
        };
        let taken = http.server.called_back(received).await;
        if taken.is_ok() {
            http.access.record_callback(request.from);
        }
        match (taken, request.body_problem) {
            // It is noted, and the gateway is told that it was not read.
            (Ok(_), Some(problem)) => Err(problem.into()),
            (Ok(_), None) => JsonResponse::ok(&Done {}),
            (Err(problem @ ServerError::NotFound { .. }), _) => {
                Err(http.access.record_unknown_callback(request.from, problem.into()))
            }
            (Err(problem), _) => Err(problem.into()),
        }
    })
}
