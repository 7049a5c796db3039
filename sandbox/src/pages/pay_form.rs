//! The pay-form: the payer picks a card, MBank or MegaPay.

use askama::Template;
use axum::{http::StatusCode, response::Response};

use crate::{
    domain::{PaymentKind, PaymentStatus, Provider},
    encoding::FormPairs,
    messages::Message,
    pages::{
        field::Field,
        finish,
        frame::Frame,
        money,
        offers::Offers,
        page::Page,
        pay_form_input::{self, Mistake},
        summary::Summary,
        three_ds,
        view::View,
        wallet,
    },
    payments::{
        submit_otp::cancel,
        submit_pay_form::{Payer, submit_pay_form},
    },
    store::StoreError,
    web::{Document, Policy, page, see_other},
};

pub(crate) const PATH: &str = "/pay-form";

pub(super) const PAGE: Page =
    Page { path: PATH, is_for: |record| record.payment.kind == PaymentKind::PayForm, show, submit };

#[derive(Template)]
#[template(path = "payer/pay_form.html")]
struct PayFormPage<'a> {
    document: &'a Document,
    frame: &'a Frame,
    summary: Summary,
    mistakes: Vec<(&'static str, String)>,
    methods: Vec<Method>,
    pan: Field,
    month: Field,
    year: Field,
    cvc: Field,
    holder: Field,
    phone: Field,
    /// The month that cards have to outlive, for the script.
    this_month: String,
    pay: String,
    offers: Offers,
}

/// One way to pay.
struct Method {
    provider: &'static str,
    name: String,
    is_chosen: bool,
    /// Why it cannot be chosen.
    refusal: Option<String>,
}

fn show(view: &View<'_>) -> Response {
    let offers = offers(view);
    let form = offers.filled(view.fill);
    let values = Values { form: &form, shows_card: true };
    pay_form_page(view, StatusCode::OK, &values, &[], offers)
}

fn submit(view: &View<'_>, form: &FormPairs) -> Result<Response, StoreError> {
    if form.get("action") == "cancel" {
        let record = cancel(view.state, view.record.id)?;
        return Ok(finish::resolved(&View { record: &record, ..*view }));
    }
    let payer = match pay_form_input::read(form, &view.record.payment, view.state.clock().today()) {
        Ok(payer) => payer,
        Err(mistakes) => {
            let values = Values { form, shows_card: false };
            return Ok(pay_form_page(view, StatusCode::BAD_REQUEST, &values, &mistakes, offers(view)));
        }
    };
    let record = submit_pay_form(view.state, view.record.id, payer)?;
    if record.payment.status != PaymentStatus::Created {
        return Ok(finish::resolved(&View { record: &record, ..*view }));
    }
    Ok(see_other(&view.next_page(match payer {
        Payer::Card(_) => three_ds::PATH,
        Payer::Wallet(_) => wallet::PATH,
    })))
}

fn offers(view: &View<'_>) -> Offers {
    Offers::of_payers(view, pay_form_input::megapay_takes(&view.record.payment))
}

/// What stands in the fields. Card data that somebody typed is never shown again: after a mistake it is entered anew.
struct Values<'a> {
    form: &'a FormPairs,
    shows_card: bool,
}

impl Values<'_> {
    fn of(&self, name: &str) -> String {
        let is_secret = matches!(name, "pan" | "expiryMonth" | "expiryYear" | "cvc");
        if is_secret && !self.shows_card { String::new() } else { self.form.get(name).to_owned() }
    }
}

fn pay_form_page(
    view: &View<'_>,
    status: StatusCode,
    values: &Values<'_>,
    mistakes: &[Mistake],
    offers: Offers,
) -> Response {
    let field = |name: &'static str, label, if_empty, if_wrong| {
        let mistake = mistakes.iter().find(|(field, _)| *field == name).map(|(_, message)| view.say(*message));
        let field = Field::new(view.frame.language(), name, label, if_wrong);
        let is_focused = mistakes.first().is_some_and(|(first, _)| *first == name);
        Field { value: values.of(name), if_empty: view.say(if_empty), mistake, is_focused, ..field }
    };
    let tell = Message::MissingPan;
    let summary = Summary::of(view);
    let pay_form_page = PayFormPage {
        document: &view.frame.document,
        frame: view.frame,
        mistakes: mistakes.iter().map(|(name, message)| (*name, view.say(*message))).collect(),
        methods: methods(view, values),
        pan: field("pan", Message::CardNumber, tell, Message::WrongPan).known_as("pan", "numeric", "cc-number"),
        month: Field {
            placeholder: view.say(Message::MonthPlaceholder),
            ..field("expiryMonth", Message::ExpiryMonth, Message::WrongMonth, Message::WrongMonth)
        }
        .known_as("month", "numeric", "cc-exp-month"),
        year: Field {
            placeholder: view.say(Message::YearPlaceholder),
            ..field("expiryYear", Message::ExpiryYear, Message::WrongYear, Message::WrongYear)
        }
        .known_as("year", "numeric", "cc-exp-year"),
        cvc: field("cvc", Message::Cvc, Message::WrongCvc, Message::WrongCvc).known_as("cvc", "numeric", "cc-csc"),
        holder: field("name", Message::HolderName, Message::MissingName, Message::MissingName)
            .known_as("filled", "text", "cc-name"),
        phone: Field { input_type: "tel", ..field("phone", Message::Phone, Message::WrongPhone, Message::WrongPhone) }
            .known_as("phone", "tel", "tel"),
        this_month: view.state.clock().today().to_string().chars().take(7).collect(),
        pay: pay(view),
        summary,
        offers,
    };
    page(status, Policy::Payer, &pay_form_page)
}

/// What the button says: to pay, and how much.
fn pay(view: &View<'_>) -> String {
    let price = money::price(&view.record.payment, view.frame.language());
    [Some(view.say(Message::Pay)), price].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The ways to pay; a card is chosen unless the payer chose.
fn methods(view: &View<'_>, values: &Values<'_>) -> Vec<Method> {
    let chosen = Provider::parse(&values.of("provider")).unwrap_or(Provider::Cards);
    Provider::ALL
        .into_iter()
        .map(|provider| {
            let is_refused = provider == Provider::MegaPay && !pay_form_input::megapay_takes(&view.record.payment);
            Method {
                provider: provider.as_str(),
                name: match provider {
                    Provider::Cards => view.say(Message::BankCard),
                    Provider::MBank | Provider::MegaPay => provider.as_str().to_owned(),
                },
                is_chosen: provider == chosen && !is_refused,
                refusal: is_refused.then(|| view.say(Message::MegaPayMinimum)),
            }
        })
        .collect()
}
