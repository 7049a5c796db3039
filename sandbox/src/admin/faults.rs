//! Admin routes of fault injection: faults are listed, set and removed.

use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

use crate::{
    admin::{
        answer::{Answer, Failure},
        call::{Call, members},
    },
    faults::{self, ActiveFault, Fault},
    state::State,
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActiveFault")]
struct FaultView<'a> {
    /// By which it is removed.
    id: u64,
    #[serde(flatten)]
    #[schemars(schema_with = "faults::settings_shown")]
    fault: &'a Fault,
    /// How often it struck.
    struck: u64,
}

impl<'a> From<&'a ActiveFault> for FaultView<'a> {
    fn from(active: &'a ActiveFault) -> Self {
        Self { id: active.id, fault: &active.fault, struck: active.struck }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Faults<'a> {
    /// The faults, in the order they were set.
    faults: Vec<FaultView<'a>>,
}

pub(super) fn list(state: &State, _: &Call<'_>) -> Result<Answer, Failure> {
    let faults = state.faults.list();
    Answer::json(StatusCode::OK, &Faults { faults: faults.iter().map(FaultView::from).collect() })
}

pub(super) fn add(state: &State, call: &Call<'_>) -> Result<Answer, Failure> {
    let active = state.faults.add(Fault::from_members(members(call.body)?)?)?;
    Answer::json(StatusCode::CREATED, &FaultView::from(&active))
}

pub(super) fn clear(state: &State, _: &Call<'_>) -> Result<Answer, Failure> {
    state.faults.clear();
    Ok(Answer::nothing())
}

pub(super) fn remove(state: &State, call: &Call<'_>) -> Result<Answer, Failure> {
    let id = call.parameters.first().copied().unwrap_or_default();
    match id.parse() {
        Ok(id) if state.faults.remove(id) => Ok(Answer::nothing()),
        _ => Err(Failure::not_found("id", "there is no fault of this id")),
    }
}

pub(super) fn list_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Faults<'_>>()
}

pub(super) fn fault_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<FaultView<'_>>()
}

/// The body that sets a fault.
pub(super) fn settings() -> Value {
    faults::settings()
}
