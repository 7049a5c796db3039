//! Admin routes of payments: one is decided from outside, or all are forgotten.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::{
    admin::{
        answer::{Answer, Failure},
        call::{Call, members},
        records,
    },
    payments::decide::{Decision, decide},
    state::State,
};

pub(super) fn approve(state: &State, call: &Call<'_>) -> Result<Answer, Failure> {
    decided(state, call, Decision::Approve)
}

pub(super) fn decline(state: &State, call: &Call<'_>) -> Result<Answer, Failure> {
    decided(state, call, Decision::Decline)
}

fn decided(state: &State, call: &Call<'_>, decision: Decision) -> Result<Answer, Failure> {
    let number = call.parameters.first().copied().unwrap_or_default();
    let mut members = members(call.body)?;
    let tyiyn = if decision == Decision::Approve { members.whole("amount") } else { None };
    members.finish().map_err(Failure::invalid)?;
    let _age = state.age();
    let payment = decide(state, number, decision, tyiyn)?;
    Answer::json(StatusCode::OK, &records::PaymentView::from(&payment))
}

/// The body of an approval.
pub(super) fn approval() -> Value {
    json!({
        "type": "object",
        "properties": {
            "amount": {
                "type": "integer", "minimum": 0, "maximum": u64::MAX,
                "description": "How many tyiyn the payer of a QR code pays that names no sum; at least 1.",
            },
        },
        "additionalProperties": false,
    })
}

pub(super) fn reset(state: &State, _: &Call<'_>) -> Result<Answer, Failure> {
    state.reset()?;
    Ok(Answer::nothing())
}
