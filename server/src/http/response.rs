//! Answers: JSON with its status.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use super::problem::{Problem, ProblemKind};

/// An answer that is no refusal.
pub(super) struct JsonResponse {
    status: StatusCode,
    body: String,
}

impl JsonResponse {
    pub(super) fn new(status: StatusCode, body: &impl Serialize) -> Result<Self, Problem> {
        let body = serde_json::to_string(body).map_err(|problem| {
            tracing::error!(target: "kassa_server", %problem, "an answer could not be written");
            Problem::new(ProblemKind::Internal)
        })?;
        Ok(Self { status, body })
    }

    /// JSON that was written before.
    pub(super) fn text(body: String) -> Self {
        Self { status: StatusCode::OK, body }
    }

    pub(super) fn ok(body: &impl Serialize) -> Result<Self, Problem> {
        Self::new(StatusCode::OK, body)
    }
}

impl IntoResponse for JsonResponse {
    fn into_response(self) -> Response {
        (self.status, [(header::CONTENT_TYPE, "application/json")], self.body).into_response()
    }
}
