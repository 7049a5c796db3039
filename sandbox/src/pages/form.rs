//! Fields of a form, and the test payers of a page: one click fills the form.

use askama::Template;
use time::Date;
use url::form_urlencoded;

use crate::{
    domain::{
        Language, Provider,
        test_data::{TEST_CARDS, TEST_PHONES, TestCard, TestOutcome, TestPhone, ThreeDs},
    },
    encoding::FormPairs,
    messages::Message,
    pages::frame::View,
};

/// The data of `templates/payer/field.html`. The pages' script validates the
/// field while the payer types, by `check`; the server always validates it.
#[derive(Template)]
#[template(path = "payer/field.html")]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: String,
    pub(super) input_type: &'static str,
    pub(super) input_mode: &'static str,
    /// The field's autocomplete value.
    pub(super) autocomplete: &'static str,
    pub(super) placeholder: String,
    /// A hint beside the label.
    pub(super) hint: Option<String>,
    pub(super) value: String,
    pub(super) is_focused: bool,
    /// The script's check for it.
    pub(super) check: &'static str,
    /// The messages for an empty and for a wrong value.
    pub(super) if_empty: String,
    pub(super) if_wrong: String,
    /// Whether it is the only field of its form: its error is then announced at the field itself.
    pub(super) is_alone: bool,
    /// The server's error message.
    pub(super) mistake: Option<String>,
}

impl Field {
    /// An empty text field without mistakes, with the same message for an empty and for a wrong value.
    pub(super) fn new(language: Language, name: &'static str, label: Message, if_wrong: Message) -> Self {
        Self {
            name,
            label: language.say(label),
            input_type: "text",
            input_mode: "text",
            autocomplete: "off",
            placeholder: String::new(),
            hint: None,
            value: String::new(),
            is_focused: false,
            check: "filled",
            if_empty: language.say(if_wrong),
            if_wrong: language.say(if_wrong),
            is_alone: false,
            mistake: None,
        }
    }

    /// Attributes for the browser and the script.
    pub(super) fn with_input(
        mut self,
        check: &'static str,
        input_mode: &'static str,
        autocomplete: &'static str,
    ) -> Self {
        (self.check, self.input_mode, self.autocomplete) = (check, input_mode, autocomplete);
        self
    }
}

/// The test data of a page.
#[derive(Template)]
#[template(path = "payer/offers.html")]
pub(super) struct Offers {
    title: String,
    hint: String,
    /// The message after the form is filled.
    filled: String,
    token: String,
    language: Option<Language>,
    groups: Vec<OfferGroup>,
}

/// Test payers of one kind, or a one-time password.
struct OfferGroup {
    title: String,
    /// The payment method, or `None` for a password.
    provider: Option<Provider>,
    is_open: bool,
    offers: Vec<Offer>,
}

/// A test payer that fills the form.
struct Offer {
    /// The link for browsers without scripts.
    key: String,
    label: String,
    /// The outcome, and how good it is.
    outcome: Option<(&'static str, String)>,
    /// The fields with their values, encoded like a form.
    fields: String,
}

impl Offers {
    /// The test cards and phones, those with the complete flow first.
    pub(super) fn of_payers(view: &View<'_>, megapay_too: bool) -> Self {
        let mut groups: Vec<_> = [ThreeDs::V2, ThreeDs::V1, ThreeDs::None].map(|check| cards(view, check)).into();
        groups.push(phones(view, Provider::MBank));
        if megapay_too {
            groups.push(phones(view, Provider::MegaPay));
        }
        Self::new(view, groups)
    }

    /// The correct one-time password.
    pub(super) fn of_password(view: &View<'_>, otp: &str) -> Self {
        let group = OfferGroup {
            title: view.say(Message::EnterOtp),
            provider: None,
            is_open: true,
            offers: vec![password(otp)],
        };
        Self::new(view, vec![group])
    }

    fn new(view: &View<'_>, groups: Vec<OfferGroup>) -> Self {
        Self {
            title: view.say(Message::TestData),
            hint: view.say(Message::TestDataHint),
            filled: view.say(Message::TestDataFilled),
            token: view.frame.token.clone(),
            language: view.frame.chosen,
            groups,
        }
    }

    /// The form, filled with the test payer that a browser without scripts requested.
    pub(super) fn filled(&self, asked_for: Option<&str>) -> FormPairs {
        let mut offers = self.groups.iter().flat_map(|group| &group.offers);
        let found = offers.find(|offer| Some(offer.key.as_str()) == asked_for);
        FormPairs::parse(found.map(|offer| offer.fields.as_bytes()).unwrap_or_default())
    }
}

fn cards(view: &View<'_>, check: ThreeDs) -> OfferGroup {
    let title = match check {
        ThreeDs::V2 => Message::CardsWith3ds2,
        ThreeDs::V1 => Message::CardsWith3ds1,
        ThreeDs::None => Message::CardsWithout3ds,
    };
    let offers = TEST_CARDS.iter().enumerate().filter(|(_, card)| card.three_ds == check);
    OfferGroup {
        title: view.say(title),
        provider: Some(Provider::Cards),
        is_open: check == ThreeDs::V2,
        offers: offers.map(|(index, card)| card_offer(view, index, card)).collect(),
    }
}

fn card_offer(view: &View<'_>, index: usize, card: &TestCard) -> Offer {
    let fields = card_fields(card, view.state.clock().today());
    Offer {
        key: format!("card-{index}"),
        label: in_fours(card.pan),
        outcome: Some(outcome(view, card.outcome)),
        fields: encoded(&fields.each_ref().map(|(name, value)| (*name, value.as_str()))),
    }
}

fn card_fields(card: &TestCard, today: Date) -> [(&'static str, String); 6] {
    [
        ("provider", Provider::Cards.as_str().to_owned()),
        ("pan", in_fours(card.pan)),
        ("expiryMonth", "12".to_owned()),
        ("expiryYear", (today.year() + 3).to_string()),
        ("cvc", "123".to_owned()),
        ("name", "Test Payer".to_owned()),
    ]
}

fn phones(view: &View<'_>, provider: Provider) -> OfferGroup {
    let offers = TEST_PHONES.iter().enumerate().filter(|(_, phone)| phone.provider == provider);
    OfferGroup {
        title: provider.as_str().to_owned(),
        provider: Some(provider),
        is_open: true,
        offers: offers.map(|(index, phone)| phone_offer(view, index, phone)).collect(),
    }
}

fn phone_offer(view: &View<'_>, index: usize, phone: &TestPhone) -> Offer {
    let number = international(phone.phone);
    Offer {
        key: format!("phone-{index}"),
        outcome: Some(outcome(view, phone.outcome)),
        fields: encoded(&[("provider", phone.provider.as_str()), ("phone", &number)]),
        label: number,
    }
}

fn password(otp: &str) -> Offer {
    Offer { key: "otp".to_owned(), label: otp.to_owned(), outcome: None, fields: encoded(&[("otp", otp)]) }
}

fn encoded(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

fn outcome(view: &View<'_>, outcome: TestOutcome) -> (&'static str, String) {
    let (mood, words) = match outcome {
        TestOutcome::Approved => ("good", Message::OutcomeApproved),
        TestOutcome::Declined => ("bad", Message::OutcomeDeclined),
        TestOutcome::InsufficientFunds => ("bad", Message::OutcomeInsufficientFunds),
        TestOutcome::StuckPending => ("wait", Message::OutcomeStuckPending),
        TestOutcome::Error => ("bad", Message::OutcomeError),
    };
    (mood, view.say(words))
}

fn in_fours(pan: &str) -> String {
    let mut grouped = String::new();
    for (index, digit) in pan.chars().enumerate() {
        if index > 0 && index.is_multiple_of(4) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// `+996 555 000 101`.
fn international(digits: &str) -> String {
    let mut number = String::from("+");
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && index.is_multiple_of(3) {
            number.push(' ');
        }
        number.push(digit);
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_in_groups() {
        assert_eq!(in_fours("4222222222222"), "4222 2222 2222 2");
        assert_eq!(international("996555000101"), "+996 555 000 101");
    }
}
