//! What the payer typed into the pay-form, checked: a known test card or a known test phone.

use crate::{
    actions::submit_pay_form::Payer,
    clock,
    messages::Message,
    pages::{form::Form, pay_form::megapay_takes},
    payment::{Payment, Provider},
    problem::Problem,
    rules,
    test_data::{self, TestCard},
};

/// A field, by its label, and what is wrong with it.
pub(super) type FieldProblem = (Message, Problem);

/// The payer the form names, or everything that is wrong with it.
pub(super) fn read(form: &Form, payment: &Payment) -> Result<Payer, Vec<FieldProblem>> {
    let provider = Provider::parse(form.get("provider")).ok_or_else(|| vec![(Message::Method, Problem::Provider)])?;
    if provider == Provider::MegaPay && !megapay_takes(payment) {
        return Err(vec![(Message::Method, Problem::MegaPayMinimum)]);
    }
    match provider {
        Provider::Cards => card(form).map(Payer::Card),
        Provider::MBank | Provider::MegaPay => {
            let digits = rules::phone_of(form.get("phone")).map_err(|problem| vec![(Message::Phone, problem)])?;
            test_data::phone_of(provider, &digits)
                .map(Payer::Wallet)
                .ok_or_else(|| vec![(Message::Phone, Problem::UnknownTestPhone)])
        }
    }
}

fn card(form: &Form) -> Result<&'static TestCard, Vec<FieldProblem>> {
    let mut problems = Vec::new();
    let card = test_card(form).map_err(|problem| problems.push((Message::CardNumber, problem))).ok();
    let month = rules::month_of(form.get("expiryMonth").to_owned())
        .map_err(|problem| problems.push((Message::ExpiryMonth, problem)));
    let year = year(form.get("expiryYear")).map_err(|problem| problems.push((Message::ExpiryYear, problem)));
    if let (Ok(month), Ok(year)) = (month, year)
        && !clock::ends_after(year, month, clock::today())
    {
        problems.push((Message::ExpiryYear, Problem::Expired));
    }
    if let Err(problem) = rules::cvc_of(form.get("cvc").to_owned()) {
        problems.push((Message::Cvc, problem));
    }
    if form.get("name").is_empty() {
        problems.push((Message::HolderName, Problem::Blank));
    }
    card.filter(|_| problems.is_empty()).ok_or(problems)
}

/// People type card numbers in groups.
fn test_card(form: &Form) -> Result<&'static TestCard, Problem> {
    let pan = rules::pan_of(form.get("pan").replace([' ', '-'], ""))?;
    test_data::card_of(&pan).ok_or(Problem::UnknownTestCard)
}

fn year(text: &str) -> Result<i32, Problem> {
    let year = text.parse().map_err(|_| Problem::FourDigitYear)?;
    rules::year_of(year)
}
