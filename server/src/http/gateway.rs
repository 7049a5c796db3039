//! What the gateway calls.

use std::sync::Arc;

use super::{answer::Answer, call::Call, route::Answering, shared::Http, views::Done};
use crate::{callbacks::Received, values::error::ServerError};

pub(super) fn callback(http: Arc<Http>, call: Call) -> Answering {
    Box::pin(async move {
        let address = format!("{}/{}", call.parameter("secret"), call.parameter("payment"));
        let problem = call.body_problem.map(|problem| problem.to_string());
        let received =
            Received { address: &address, query: &call.whole_query, body: &call.body, problem: problem.as_deref() };
        let taken = http.server.called_back(received).await;
        if taken.is_ok() {
            http.gate.called_back(call.from);
        }
        match (taken, call.body_problem) {
            // It is noted, and the gateway is told that it was not read.
            (Ok(_), Some(problem)) => Err(problem.into()),
            (Ok(_), None) => Answer::ok(&Done {}),
            (Err(problem @ ServerError::NotFound { .. }), _) => Err(http.gate.missed(call.from, problem.into())),
            (Err(problem), _) => Err(problem.into()),
        }
    })
}
