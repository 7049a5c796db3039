//! The hosted pay-form: the payer picks a card, MBank or MegaPay.

use axum::http::StatusCode;
use rust_decimal::Decimal;

use crate::{
    actions::submit_pay_form::{Payer, submit_pay_form},
    messages::Message,
    pages::{
        Answer, Page, View, finish,
        form::Form,
        html::{document, escape},
        pay_form_input::{self, FieldProblem},
        three_ds, wallet,
    },
    payment::{Payment, PaymentKind, Provider},
    state::PaymentStatus,
    store::StoreError,
};

pub(crate) const PATH: &str = "/pay-form";

pub(super) const PAGE: Page = Page {
    path: PATH,
    is_for: |record| record.payment.kind == PaymentKind::PayForm,
    show: |view| Answer::Html(StatusCode::OK, page(view, &[])),
    submit,
};

/// MegaPay's smallest payment.
const MEGAPAY_MINIMUM: Decimal = Decimal::from_parts(5, 0, 0, false, 0);

/// Whether the amount is enough for MegaPay.
pub(super) fn megapay_takes(payment: &Payment) -> bool {
    payment.amount.is_some_and(|amount| amount >= MEGAPAY_MINIMUM)
}

fn submit(view: &View<'_>, form: &Form) -> Result<Answer, StoreError> {
    let payer = match pay_form_input::read(form, &view.record.payment) {
        Ok(payer) => payer,
        Err(problems) => {
            return Ok(Answer::Html(StatusCode::BAD_REQUEST, page(view, &problems)));
        }
    };
    let record = submit_pay_form(view.gateway, view.record.id, payer)?;
    if record.payment.status != PaymentStatus::Created {
        return Ok(finish::settled(&View { record: &record, ..*view }));
    }
    let next = match payer {
        Payer::Card(_) => three_ds::PATH,
        Payer::Wallet(_) => wallet::PATH,
    };
    let number = &record.payment.gateway_number;
    Ok(Answer::SeeOther(view.gateway.page_url(next, number)))
}

fn page(view: &View<'_>, problems: &[FieldProblem]) -> String {
    let content = format!(
        "{alert}{summary}<form method=\"post\">\n{providers}{fields}<button>{pay}</button>\n</form>",
        alert = alert(view, problems),
        summary = finish::summary(view),
        providers = providers(view),
        fields = fields(view),
        pay = view.say(Message::Pay),
    );
    document(view.language, Message::PayTitle, &content)
}

fn alert(view: &View<'_>, problems: &[FieldProblem]) -> String {
    if problems.is_empty() {
        return String::new();
    }
    let items: String = problems
        .iter()
        .map(|(label, problem)| {
            let text = escape(&view.language.explain(*problem));
            format!("<li>{}: {text}</li>", view.say(*label))
        })
        .collect();
    format!("<ul role=\"alert\">{items}</ul>\n")
}

fn providers(view: &View<'_>) -> String {
    let too_little = !megapay_takes(&view.record.payment);
    let options: String = Provider::ALL
        .into_iter()
        .map(|provider| {
            let name = provider.as_str();
            let label = match provider {
                Provider::Cards => view.say(Message::BankCard),
                _ => name.to_owned(),
            };
            if provider == Provider::MegaPay && too_little {
                let reason = view.say(Message::MegaPayMinimum);
                return format!(
                    "<label><input type=\"radio\" name=\"provider\" value=\"{name}\" disabled \
                     aria-describedby=\"megapay\"> {label}</label>\n<p id=\"megapay\">{reason}</p>\n"
                );
            }
            format!("<label><input type=\"radio\" name=\"provider\" value=\"{name}\" required> {label}</label>\n")
        })
        .collect();
    let legend = view.say(Message::ChooseMethod);
    format!("<fieldset><legend>{legend}</legend>\n{options}</fieldset>\n")
}

/// Card data is never shown again: after a mistake the payer enters it anew.
fn fields(view: &View<'_>) -> String {
    let input = |(name, label, attributes): (&str, Message, &str)| {
        let label = view.say(label);
        format!("<label for=\"{name}\">{label}</label>\n<input id=\"{name}\" name=\"{name}\" {attributes}>\n")
    };
    let numeric = "inputmode=\"numeric\" autocomplete";
    let card: String = [
        ("pan", Message::CardNumber, format!("{numeric}=\"cc-number\"")),
        ("expiryMonth", Message::ExpiryMonth, format!("{numeric}=\"cc-exp-month\" maxlength=\"2\"")),
        ("expiryYear", Message::ExpiryYear, format!("{numeric}=\"cc-exp-year\" maxlength=\"4\"")),
        ("cvc", Message::Cvc, format!("{numeric}=\"cc-csc\" maxlength=\"3\"")),
        ("name", Message::HolderName, "autocomplete=\"cc-name\"".to_owned()),
    ]
    .iter()
    .map(|(name, label, attributes)| input((name, *label, attributes)))
    .collect();
    let phone = input(("phone", Message::Phone, "type=\"tel\" autocomplete=\"tel\""));
    let card_legend = view.say(Message::BankCard);
    format!(
        "<fieldset><legend>{card_legend}</legend>\n{card}</fieldset>\n\
         <fieldset><legend>MBank, MegaPay</legend>\n{phone}</fieldset>\n"
    )
}
