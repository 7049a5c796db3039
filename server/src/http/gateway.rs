//! What the gateway calls.

use std::sync::Arc;

use super::{answer::Answer, call::Call, route::Answering, shared::Http, views::Done};
use crate::values::error::ServerError;

pub(super) fn callback(http: Arc<Http>, call: Call) -> Answering {
    Box::pin(async move {
        let address = format!("{}/{}", call.parameter("secret"), call.parameter("payment"));
        // One that is no text still says that something happened.
        match http.server.hint(&address, &String::from_utf8_lossy(&call.body)).await {
            Ok(_) => Answer::ok(&Done {}),
            Err(problem @ ServerError::NotFound { .. }) => Err(http.gate.guessed(call.from, problem.into())),
            Err(problem) => Err(problem.into()),
        }
    })
}
