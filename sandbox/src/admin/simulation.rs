//! Admin routes that control the simulation: faults, switches, the clock; and the list of test cards and phones.

use std::time::Duration;

use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    admin::route::{AdminError, JsonResponse, PathParameter},
    domain::{
        Language, Provider,
        clock::{self, MAX_AHEAD_MS},
        test_data::{TEST_CARDS, TEST_PHONES, TestCard, TestPhone},
    },
    faults::{self, ActiveFault, Fault},
    rules::Members,
    settings::{Dialect, MbankQuid, ResolvePending, ReusedOrderNumber, StatusNumbers, Switches},
    state::State,
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActiveFault")]
struct FaultView<'a> {
    /// Identifier for removing the fault.
    id: u64,
    #[serde(flatten)]
    #[schemars(schema_with = "faults::settings_shown")]
    fault: &'a Fault,
    /// Number of times the fault has struck.
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
    /// Faults, in the order in which they were set.
    faults: Vec<FaultView<'a>>,
}

pub(super) fn list_faults(state: &State, (): ()) -> Result<JsonResponse, AdminError> {
    let faults = state.faults.list();
    JsonResponse::json(StatusCode::OK, &Faults { faults: faults.iter().map(FaultView::from).collect() })
}

pub(crate) fn add_fault(state: &State, members: Members) -> Result<JsonResponse, AdminError> {
    let active = state.faults.add(Fault::from_members(members)?)?;
    JsonResponse::json(StatusCode::CREATED, &FaultView::from(&active))
}

pub(crate) fn clear_faults(state: &State, (): ()) -> Result<JsonResponse, AdminError> {
    state.faults.clear();
    Ok(JsonResponse::nothing())
}

pub(crate) fn remove_fault(state: &State, PathParameter(id): PathParameter) -> Result<JsonResponse, AdminError> {
    match id.parse() {
        Ok(id) if state.faults.remove(id) => Ok(JsonResponse::nothing()),
        _ => Err(AdminError::not_found("id", "there is no fault with this id")),
    }
}

pub(super) fn faults_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Faults<'_>>()
}

pub(super) fn fault_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<FaultView<'_>>()
}

/// The JSON Schema of a new fault.
pub(super) fn fault_settings() -> Value {
    faults::settings()
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Switches", deny_unknown_fields)]
struct SwitchesView {
    /// Behavior when an order number is used again.
    #[schemars(extend("enum" = ReusedOrderNumber::ALL.map(ReusedOrderNumber::as_str)))]
    reused_order_number: &'static str,
    /// Numbers that the two status endpoints accept: each its own, or both kinds at both.
    #[schemars(extend("enum" = StatusNumbers::ALL.map(StatusNumbers::as_str)))]
    status_numbers: &'static str,
    /// Whether 3DS 1.0 cards also get a confirmation page.
    three_ds_1_page: bool,
    /// Whether declined payers are also redirected to the return URL.
    redirect_declines: bool,
    /// Language of messages if the request does not specify one.
    #[schemars(extend("enum" = Language::ALL.map(Language::code)))]
    language: &'static str,
    /// Gateway whose response format the gateway's endpoints use.
    #[schemars(extend("enum" = Dialect::ALL.map(Dialect::as_str)))]
    acts_as: &'static str,
    /// Field of a confirmation that carries the `quid` of a mobile-bank payment. Applies only if `acts_as` is `finipay`.
    #[schemars(extend("enum" = MbankQuid::ALL.map(MbankQuid::as_str)))]
    mbank_quid: &'static str,
}

impl From<Switches> for SwitchesView {
    fn from(switches: Switches) -> Self {
        Self {
            reused_order_number: switches.reused_order_number.as_str(),
            status_numbers: switches.status_numbers.as_str(),
            three_ds_1_page: switches.three_ds_1_page,
            redirect_declines: switches.redirect_declines,
            language: switches.language.code(),
            acts_as: switches.acts_as.as_str(),
            mbank_quid: switches.mbank_quid.as_str(),
        }
    }
}

pub(super) fn switches_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<SwitchesView>()
}

/// The JSON Schema of a change: the same members, none required.
pub(super) fn switches_changes() -> Value {
    let mut schema = json!(schemars::schema_for!(SwitchesView));
    if let Some(members) = schema.as_object_mut() {
        for name in ["$schema", "title", "required"] {
            members.remove(name);
        }
    }
    schema
}

pub(super) fn show_switches(state: &State, (): ()) -> Result<JsonResponse, AdminError> {
    JsonResponse::json(StatusCode::OK, &SwitchesView::from(state.switches()))
}

/// Changes the named switches. If one of them is wrong, none is changed.
pub(crate) fn change_switches(state: &State, mut members: Members) -> Result<JsonResponse, AdminError> {
    let reused = members.word("reused_order_number", &ReusedOrderNumber::ALL, ReusedOrderNumber::as_str);
    let numbers = members.word("status_numbers", &StatusNumbers::ALL, StatusNumbers::as_str);
    let page = members.boolean("three_ds_1_page");
    let declines = members.boolean("redirect_declines");
    let language = members.word("language", &Language::ALL, Language::code);
    let acts_as = members.word("acts_as", &Dialect::ALL, Dialect::as_str);
    let mbank_quid = members.word("mbank_quid", &MbankQuid::ALL, MbankQuid::as_str);
    members.finish().map_err(AdminError::invalid)?;
    let changed = state.change_switches(|now| Switches {
        reused_order_number: reused.unwrap_or(now.reused_order_number),
        status_numbers: numbers.unwrap_or(now.status_numbers),
        three_ds_1_page: page.unwrap_or(now.three_ds_1_page),
        redirect_declines: declines.unwrap_or(now.redirect_declines),
        language: language.unwrap_or(now.language),
        acts_as: acts_as.unwrap_or(now.acts_as),
        mbank_quid: mbank_quid.unwrap_or(now.mbank_quid),
    });
    JsonResponse::json(StatusCode::OK, &SwitchesView::from(changed))
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Clock", deny_unknown_fields)]
struct ClockView {
    /// The gateway's current time, in UTC.
    #[schemars(extend("format" = "date-time"))]
    now: String,
    /// The same time in Bishkek, in the format of callbacks.
    local: String,
    /// Offset of the clock ahead of the machine's, in milliseconds.
    ahead_ms: i64,
    /// Number of status queries after which a pending payment becomes final. Null if disabled.
    resolve_after_queries: Option<u32>,
    /// Time after which a pending payment becomes final, in milliseconds. Null if disabled.
    resolve_after_ms: Option<u64>,
}

fn clock_view(state: &State) -> ClockView {
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

pub(super) fn clock_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<ClockView>()
}

pub(super) fn show_clock(state: &State, (): ()) -> Result<JsonResponse, AdminError> {
    JsonResponse::json(StatusCode::OK, &clock_view(state))
}

/// Changes the named settings; a null disables one.
pub(crate) fn change_clock(state: &State, mut members: Members) -> Result<JsonResponse, AdminError> {
    let queries = members.whole_or_null("resolve_after_queries", 1, u32::MAX.into());
    let after = members.whole_or_null("resolve_after_ms", 0, MAX_AHEAD_MS.unsigned_abs());
    members.finish().map_err(AdminError::invalid)?;
    state.change_resolve_pending(|now| ResolvePending {
        after_queries: queries.map_or(now.after_queries, |queries| queries.and_then(|count| u32::try_from(count).ok())),
        after: after.map_or(now.after, |after| after.map(Duration::from_millis)),
    });
    show_clock(state, ())
}

/// The JSON Schema of a change.
pub(super) fn clock_changes() -> Value {
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

pub(crate) fn forward_clock(state: &State, mut members: Members) -> Result<JsonResponse, AdminError> {
    let by = members.whole("ms");
    if by.is_none() && members.is_sound("ms") {
        members.reject("ms", "is required");
    }
    members.finish().map_err(AdminError::invalid)?;
    if state.step_clock(Duration::from_millis(by.unwrap_or_default()))? {
        show_clock(state, ())
    } else {
        Err(AdminError::too_far(&format!("the clock can be at most {} days ahead", MAX_AHEAD_MS / 86_400_000)))
    }
}

/// The JSON Schema of a step.
pub(super) fn clock_step() -> Value {
    json!({
        "type": "object",
        "properties": {
            "ms": { "type": "integer", "minimum": 0, "maximum": u64::MAX, "description": "Step in milliseconds." },
        },
        "required": ["ms"],
        "additionalProperties": false,
    })
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TestCard", deny_unknown_fields)]
struct CardView {
    /// Card number.
    pan: &'static str,
    /// Cardholder check: the 3DS version, or none.
    three_ds: String,
    /// Outcome of a payment.
    outcome: String,
    /// Correct one-time password. Absent if the card requires none.
    #[serde(skip_serializing_if = "Option::is_none")]
    otp: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TestPhone", deny_unknown_fields)]
struct PhoneView {
    /// Provider of the phone's wallet.
    #[schemars(extend("enum" = Provider::ALL.map(Provider::as_str)))]
    provider: &'static str,
    /// Phone number.
    phone: &'static str,
    /// Outcome of a payment.
    outcome: String,
    /// Correct one-time password.
    otp: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct TestData {
    /// Test cards.
    cards: Vec<CardView>,
    /// Test phones.
    phones: Vec<PhoneView>,
}

impl From<&TestCard> for CardView {
    fn from(card: &TestCard) -> Self {
        Self {
            pan: card.pan,
            three_ds: card.three_ds.to_string(),
            outcome: card.outcome.to_string(),
            otp: card.right_otp(),
        }
    }
}

impl From<&TestPhone> for PhoneView {
    fn from(phone: &TestPhone) -> Self {
        Self {
            provider: phone.provider.as_str(),
            phone: phone.phone,
            outcome: phone.outcome.to_string(),
            otp: phone.otp,
        }
    }
}

pub(super) fn test_data_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<TestData>()
}

pub(super) fn show_test_data(_: &State, (): ()) -> Result<JsonResponse, AdminError> {
    let cards = TEST_CARDS.iter().map(CardView::from).collect();
    let phones = TEST_PHONES.iter().map(PhoneView::from).collect();
    JsonResponse::json(StatusCode::OK, &TestData { cards, phones })
}
