//! The pay-form: the payer chooses a card, MBank or MegaPay. It accepts only test cards and test phones.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use rust_decimal::Decimal;
use time::Date;

use crate::{
    domain::{
        Payment, PaymentKind, PaymentStatus, Provider, clock,
        test_data::{self, TestCard},
    },
    encoding::FormPairs,
    messages::Message,
    pages::{
        form::{Field, Offers},
        frame::{Frame, Page, View},
        otp, result,
        summary::{self, Summary},
    },
    payments::payer::{Payer, cancel, submit_pay_form},
    rules,
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
    /// The month after which cards must expire, for the script.
    this_month: String,
    pay: String,
    offers: Offers,
}

/// A payment method.
struct Method {
    provider: &'static str,
    name: String,
    is_chosen: bool,
    /// Why it cannot be chosen.
    unavailable: Option<String>,
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
        return Ok(result::resolved(&View { record: &record, ..*view }));
    }
    let payer = match read_payer(form, &view.record.payment, view.state.clock().today()) {
        Ok(payer) => payer,
        Err(mistakes) => {
            let values = Values { form, shows_card: false };
            return Ok(pay_form_page(view, StatusCode::BAD_REQUEST, &values, &mistakes, offers(view)));
        }
    };
    let record = submit_pay_form(view.state, view.record.id, payer)?;
    if record.payment.status != PaymentStatus::Created {
        return Ok(result::resolved(&View { record: &record, ..*view }));
    }
    Ok(see_other(&view.next_page(match payer {
        Payer::Card(_) => otp::THREE_DS_PATH,
        Payer::Wallet(_) => otp::WALLET_PATH,
    })))
}

fn offers(view: &View<'_>) -> Offers {
    Offers::of_payers(view, megapay_takes(&view.record.payment))
}

/// The values of the fields. Card data is never shown again: after a mistake, the payer must enter it again.
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
        pan: field("pan", Message::CardNumber, tell, Message::WrongPan).with_input("pan", "numeric", "cc-number"),
        month: Field {
            placeholder: view.say(Message::MonthPlaceholder),
            ..field("expiryMonth", Message::ExpiryMonth, Message::WrongMonth, Message::WrongMonth)
        }
        .with_input("month", "numeric", "cc-exp-month"),
        year: Field {
            placeholder: view.say(Message::YearPlaceholder),
            ..field("expiryYear", Message::ExpiryYear, Message::WrongYear, Message::WrongYear)
        }
        .with_input("year", "numeric", "cc-exp-year"),
        cvc: field("cvc", Message::Cvc, Message::WrongCvc, Message::WrongCvc).with_input("cvc", "numeric", "cc-csc"),
        holder: field("name", Message::HolderName, Message::MissingName, Message::MissingName)
            .with_input("filled", "text", "cc-name"),
        phone: Field { input_type: "tel", ..field("phone", Message::Phone, Message::WrongPhone, Message::WrongPhone) }
            .with_input("phone", "tel", "tel"),
        this_month: view.state.clock().today().to_string().chars().take(7).collect(),
        pay: pay(view),
        summary,
        offers,
    };
    page(status, Policy::Payer, &pay_form_page)
}

/// The label of the button: pay, and the price.
fn pay(view: &View<'_>) -> String {
    let price = summary::price(&view.record.payment, view.frame.language());
    [Some(view.say(Message::Pay)), price].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The payment methods. A card is selected by default.
fn methods(view: &View<'_>, values: &Values<'_>) -> Vec<Method> {
    let chosen = Provider::parse(&values.of("provider")).unwrap_or(Provider::Cards);
    Provider::ALL
        .into_iter()
        .map(|provider| {
            let is_too_small = provider == Provider::MegaPay && !megapay_takes(&view.record.payment);
            Method {
                provider: provider.as_str(),
                name: match provider {
                    Provider::Cards => view.say(Message::BankCard),
                    Provider::MBank | Provider::MegaPay => provider.as_str().to_owned(),
                },
                is_chosen: provider == chosen && !is_too_small,
                unavailable: is_too_small.then(|| view.say(Message::MegaPayMinimum)),
            }
        })
        .collect()
}

/// The name of a field, and its error message.
pub(super) type Mistake = (&'static str, Message);

/// MegaPay's minimum payment.
const MEGAPAY_MINIMUM: Decimal = Decimal::from_parts(5, 0, 0, false, 0);

/// Whether the amount is enough for MegaPay.
fn megapay_takes(payment: &Payment) -> bool {
    payment.amount.is_some_and(|amount| amount >= MEGAPAY_MINIMUM)
}

/// The payer in the form, or all of the form's errors.
fn read_payer(form: &FormPairs, payment: &Payment, today: Date) -> Result<Payer, Vec<Mistake>> {
    let provider = Provider::parse(form.get("provider")).ok_or_else(|| vec![("provider", Message::ChooseMethod)])?;
    if provider == Provider::MegaPay && !megapay_takes(payment) {
        return Err(vec![("provider", Message::MegaPayMinimum)]);
    }
    match provider {
        Provider::Cards => card(form, today).map(Payer::Card),
        Provider::MBank | Provider::MegaPay => {
            let digits = rules::phone_of(form.get("phone")).map_err(|_| vec![("phone", Message::WrongPhone)])?;
            test_data::phone_of(provider, &digits)
                .map(Payer::Wallet)
                .ok_or_else(|| vec![("phone", Message::NoTestPhone(provider.as_str()))])
        }
    }
}

fn card(form: &FormPairs, today: Date) -> Result<&'static TestCard, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let card = test_card(form).map_err(|message| mistakes.push(("pan", message))).ok();
    let month = rules::month_of(two_digits(form.get("expiryMonth")))
        .map_err(|_| mistakes.push(("expiryMonth", Message::WrongMonth)));
    let year = year(form.get("expiryYear")).ok_or_else(|| mistakes.push(("expiryYear", Message::WrongYear)));
    if let (Ok(month), Ok(year)) = (month, year)
        && !clock::ends_after(year, month, today)
    {
        mistakes.push(("expiryYear", Message::CardExpired));
    }
    if rules::cvc_of(form.get("cvc").to_owned()).is_err() {
        mistakes.push(("cvc", Message::WrongCvc));
    }
    if form.get("name").is_empty() {
        mistakes.push(("name", Message::MissingName));
    }
    card.filter(|_| mistakes.is_empty()).ok_or(mistakes)
}

/// People type card numbers in groups.
fn test_card(form: &FormPairs) -> Result<&'static TestCard, Message> {
    let pan = rules::pan_of(form.get("pan").replace([' ', '-'], "")).map_err(|_| Message::WrongPan)?;
    test_data::card_of(&pan).ok_or(Message::NoTestCard)
}

/// People omit the leading zero of a month.
fn two_digits(month: &str) -> String {
    format!("{month:0>2}")
}

/// Cards show two digits of the year, and so do people.
fn year(text: &str) -> Option<i32> {
    let year: i64 = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    rules::year_of(if text.len() == 2 { year + 2000 } else { year }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn year_has_two_or_four_digits() {
        for (text, expected) in [
            ("2031", Some(2031)),
            ("31", Some(2031)),
            ("00", Some(2000)),
            ("1", None),
            ("+31", None),
            ("031", None),
            ("", None),
        ] {
            assert_eq!(year(text), expected, "{text}");
        }
    }

    #[test]
    fn month_may_have_one_digit() {
        for (text, is_month) in [("1", true), ("09", true), ("12", true), ("", false), ("0", false), ("13", false)] {
            assert_eq!(rules::month_of(two_digits(text)).is_ok(), is_month, "{text}");
        }
    }
}
