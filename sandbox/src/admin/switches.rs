//! Admin routes of the switches: shown and changed.

use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    admin::{
        answer::{Answer, Failure},
        call::{Call, members},
    },
    domain::Language,
    settings::{Dialect, MbankQuid, ReusedOrderNumber, StatusNumbers, Switches},
    state::State,
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Switches", deny_unknown_fields)]
struct SwitchesView {
    /// What a reused order number does.
    #[schemars(extend("enum" = ReusedOrderNumber::ALL.map(ReusedOrderNumber::as_str)))]
    reused_order_number: &'static str,
    /// Which numbers the two status endpoints know: each its own, or both both.
    #[schemars(extend("enum" = StatusNumbers::ALL.map(StatusNumbers::as_str)))]
    status_numbers: &'static str,
    /// Whether 3DS 1.0 cards get a confirmation page, too.
    three_ds_1_page: bool,
    /// Whether a declined payer is redirected to the return URL, too.
    redirect_declines: bool,
    /// The language of messages where a request names none.
    #[schemars(extend("enum" = Language::ALL.map(Language::code)))]
    language: &'static str,
    /// Which gateway's responses the nine endpoints give.
    #[schemars(extend("enum" = Dialect::ALL.map(Dialect::as_str)))]
    acts_as: &'static str,
    /// As `finipay`: where a confirmation carries the `quid` of a mobile-bank payment.
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

pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<SwitchesView>()
}

/// The body of a change: the same, with nothing required.
pub(super) fn changes() -> Value {
    let mut schema = json!(schemars::schema_for!(SwitchesView));
    if let Some(members) = schema.as_object_mut() {
        for name in ["$schema", "title", "required"] {
            members.remove(name);
        }
    }
    schema
}

pub(super) fn show(state: &State, _: &Call<'_>) -> Result<Answer, Failure> {
    Answer::json(StatusCode::OK, &SwitchesView::from(state.switches()))
}

/// Sets what is named and leaves the rest; nothing where anything in it is wrong.
pub(super) fn change(state: &State, call: &Call<'_>) -> Result<Answer, Failure> {
    let mut members = members(call.body)?;
    let reused = members.word("reused_order_number", &ReusedOrderNumber::ALL, ReusedOrderNumber::as_str);
    let numbers = members.word("status_numbers", &StatusNumbers::ALL, StatusNumbers::as_str);
    let page = members.boolean("three_ds_1_page");
    let declines = members.boolean("redirect_declines");
    let language = members.word("language", &Language::ALL, Language::code);
    let acts_as = members.word("acts_as", &Dialect::ALL, Dialect::as_str);
    let mbank_quid = members.word("mbank_quid", &MbankQuid::ALL, MbankQuid::as_str);
    members.finish().map_err(Failure::invalid)?;
    let changed = state.change_switches(|now| Switches {
        reused_order_number: reused.unwrap_or(now.reused_order_number),
        status_numbers: numbers.unwrap_or(now.status_numbers),
        three_ds_1_page: page.unwrap_or(now.three_ds_1_page),
        redirect_declines: declines.unwrap_or(now.redirect_declines),
        language: language.unwrap_or(now.language),
        acts_as: acts_as.unwrap_or(now.acts_as),
        mbank_quid: mbank_quid.unwrap_or(now.mbank_quid),
    });
    Answer::json(StatusCode::OK, &SwitchesView::from(changed))
}
