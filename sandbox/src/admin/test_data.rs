//! Admin route of the test data: the cards and the phones.

use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::{
    admin::{
        answer::{Answer, Failure},
        call::Call,
    },
    domain::{
        Provider,
        test_data::{TEST_CARDS, TEST_PHONES, TestCard, TestPhone},
    },
    state::State,
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TestCard", deny_unknown_fields)]
struct CardView {
    /// The card's number.
    pan: &'static str,
    /// The check it takes part in.
    three_ds: String,
    /// How its payment ends.
    outcome: String,
    /// The right one-time password; absent where it is asked for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    otp: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TestPhone", deny_unknown_fields)]
struct PhoneView {
    /// Whose phone it is.
    #[schemars(extend("enum" = Provider::ALL.map(Provider::as_str)))]
    provider: &'static str,
    /// Its number.
    phone: &'static str,
    /// How its payment ends.
    outcome: String,
    /// The right one-time password.
    otp: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct TestData {
    /// The cards.
    cards: Vec<CardView>,
    /// The phones.
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

pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<TestData>()
}

pub(super) fn show(_: &State, _: &Call<'_>) -> Result<Answer, Failure> {
    let cards = TEST_CARDS.iter().map(CardView::from).collect();
    let phones = TEST_PHONES.iter().map(PhoneView::from).collect();
    Answer::json(StatusCode::OK, &TestData { cards, phones })
}
