//! The page that a phone opens after scanning a QR code.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use rust_decimal::Decimal;

use crate::{
    domain::{PaymentKind, amount},
    encoding::FormPairs,
    messages::Message,
    pages::{
        form::Field,
        frame::{Frame, Page, View},
        result,
        summary::Summary,
    },
    payments::payer::{QrDecision, submit_qr},
    store::StoreError,
    web::{Document, Policy, page},
};

pub(crate) const PATH: &str = "/qr";

pub(super) const PAGE: Page = Page {
    path: PATH,
    is_for: |record| record.payment.kind == PaymentKind::Qr,
    show: |view| qr_page(view, StatusCode::OK, String::new(), None),
    submit,
};

#[derive(Template)]
#[template(path = "payer/qr.html")]
struct QrPage<'a> {
    document: &'a Document,
    frame: &'a Frame,
    summary: Summary,
    /// The form, if the code has no sum.
    amount: Option<Field>,
    /// The error of a form without a decision.
    mistake: Option<String>,
}

fn submit(view: &View<'_>, form: &FormPairs) -> Result<Response, StoreError> {
    let decision = match form.get("action") {
        "decline" => QrDecision::Decline,
        "approve" if view.record.payment.amount.is_some() => QrDecision::Approve(None),
        "approve" => match tyiyn(form.get("amount")) {
            Some(tyiyn) => QrDecision::Approve(Some(tyiyn)),
            None => return Ok(show_error(view, form, Message::WrongAmount)),
        },
        _ => return Ok(show_error(view, form, Message::NoDecision)),
    };
    let record = submit_qr(view.state, view.record.id, decision)?;
    Ok(result::resolved(&View { record: &record, ..*view }))
}

/// The tyiyn of an amount in som: at least one, and whole. People put blanks between thousands.
fn tyiyn(som: &str) -> Option<Decimal> {
    let som = som.replace(',', ".").replace([' ', '\u{a0}'], "");
    if !som.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let tyiyn = amount::exact(&som)?.checked_mul(Decimal::ONE_HUNDRED)?;
    (tyiyn >= Decimal::ONE && tyiyn.fract().is_zero()).then(|| tyiyn.normalize())
}

fn show_error(view: &View<'_>, form: &FormPairs, message: Message) -> Response {
    qr_page(view, StatusCode::BAD_REQUEST, form.get("amount").to_owned(), Some(message))
}

fn qr_page(view: &View<'_>, status: StatusCode, typed: String, mistake: Option<Message>) -> Response {
    let is_open = view.record.payment.amount.is_none();
    let (of_amount, of_form) = match mistake {
        Some(Message::WrongAmount) => (mistake, None),
        _ => (None, mistake),
    };
    let amount = Field {
        value: typed,
        mistake: of_amount.map(|message| view.say(message)),
        is_focused: true,
        is_alone: true,
        ..Field::new(view.frame.language(), "amount", Message::AmountInSom, Message::WrongAmount)
    };
    let qr_page = QrPage {
        document: &view.frame.document,
        frame: view.frame,
        summary: Summary::of(view),
        amount: is_open.then(|| amount.with_input("amount", "decimal", "transaction-amount")),
        mistake: of_form.map(|message| view.say(message)),
    };
    page(status, Policy::Payer, &qr_page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn som_convert_to_whole_tyiyn_only() {
        for (som, expected) in [
            ("1", Some("100")),
            ("12.50", Some("1250")),
            ("0,01", Some("1")),
            ("1 234,50", Some("123450")),
            ("0.001", None),
            ("0", None),
            ("-1", None),
            ("", None),
            ("1e3", None),
            ("1_0", None),
        ] {
            assert_eq!(tyiyn(som).map(|tyiyn| tyiyn.to_string()).as_deref(), expected, "{som}");
        }
    }
}
