//! Admin routes of the simulation clock: shown, changed and stepped forward.

use std::time::Duration;

use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    admin::{
        answer::{Answer, Failure},
        call::{Call, members},
    },
    domain::clock::{self, MAX_AHEAD_MS},
    settings::ResolvePending,
    state::State,
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Clock", deny_unknown_fields)]
struct ClockView {
    /// What time it is, in UTC.
    #[schemars(extend("format" = "date-time"))]
    now: String,
    /// The same in Bishkek, as callbacks show times.
    local: String,
    /// How many milliseconds the clock is ahead of the machine's.
    ahead_ms: i64,
    /// Pending payments become final once their status was asked for so often; null: they do not.
    resolve_after_queries: Option<u32>,
    /// Pending payments become final after so many milliseconds; null: they do not.
    resolve_after_ms: Option<u64>,
}

fn view(state: &State) -> ClockView {
    let now = state.clock().now_ms();
    let resolve_pending = state.resolve_pending();
    ClockView {
        now: clock::rfc_3339(clock::system_time(now)).unwrap_or_default(),
        local: clock::local_date_time(now),
        ahead_ms: state.clock().ahead_ms(),
        resolve_after_queries: resolve_pending.after_queries,
        resolve_after_ms: resolve_pending.after.map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX)),
    }
}

pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<ClockView>()
}

pub(super) fn show(state: &State, _: &Call<'_>) -> Result<Answer, Failure> {
    Answer::json(StatusCode::OK, &view(state))
}

/// Sets what is named and leaves the rest; a null switches off.
pub(super) fn change(state: &State, call: &Call<'_>) -> Result<Answer, Failure> {
    let mut members = members(call.body)?;
    let queries = members.whole_or_null("resolve_after_queries", 1, u32::MAX.into());
    let after = members.whole_or_null("resolve_after_ms", 0, MAX_AHEAD_MS.unsigned_abs());
    members.finish().map_err(Failure::invalid)?;
    state.change_resolve_pending(|now| ResolvePending {
        after_queries: queries.map_or(now.after_queries, |queries| queries.and_then(|count| u32::try_from(count).ok())),
        after: after.map_or(now.after, |after| after.map(Duration::from_millis)),
    });
    show(state, call)
}

/// The body of a change.
pub(super) fn changes() -> Value {
    let whole =
        |minimum: u64, maximum: u64| json!({ "type": ["integer", "null"], "minimum": minimum, "maximum": maximum });
    json!({
        "type": "object",
        "properties": {
            "resolve_after_queries": whole(1, u32::MAX.into()),
            "resolve_after_ms": whole(0, MAX_AHEAD_MS.unsigned_abs()),
        },
        "additionalProperties": false,
    })
}

pub(super) fn forward(state: &State, call: &Call<'_>) -> Result<Answer, Failure> {
    let mut members = members(call.body)?;
    let by = members.whole("ms");
    if by.is_none() && members.is_sound("ms") {
        members.refuse("ms", "is required");
    }
    members.finish().map_err(Failure::invalid)?;
    if state.step_clock(Duration::from_millis(by.unwrap_or_default()))? {
        show(state, call)
    } else {
        Err(Failure::too_far(&format!("the clock can be at most {} days ahead", MAX_AHEAD_MS / 86_400_000)))
    }
}

/// The body of a step.
pub(super) fn step() -> Value {
    json!({
        "type": "object",
        "properties": {
            "ms": { "type": "integer", "minimum": 0, "maximum": u64::MAX, "description": "By how many milliseconds." },
        },
        "required": ["ms"],
        "additionalProperties": false,
    })
}
