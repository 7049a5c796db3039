//! The one-time password: the 3DS page of a card (the `ConfirmationUrl`), and
//! the wallet page of a pay-form for MBank or MegaPay. Both show the same form.

use askama::Template;
use axum::{http::StatusCode, response::Response};

use crate::{
    domain::{PaymentKind, PaymentStatus},
    encoding::FormPairs,
    messages::Message,
    pages::{
        form::{Field, Offers},
        frame::{Frame, Page, View},
        result,
        summary::Summary,
    },
    payments::payer::{OtpResult, cancel, right_otp, submit_otp},
    store::{StoreError, payments::Record},
    web::{Document, Policy, page},
};

#[derive(Template)]
#[template(path = "payer/otp.html")]
struct OtpPage<'a> {
    document: &'a Document,
    frame: &'a Frame,
    summary: Summary,
    explanation: String,
    field: Field,
    offers: Option<Offers>,
}

pub(super) fn show(view: &View<'_>) -> Response {
    otp_page(view, StatusCode::OK, None)
}

pub(super) fn submit(view: &View<'_>, form: &FormPairs) -> Result<Response, StoreError> {
    let id = view.record.id;
    if form.get("action") == "cancel" {
        let record = cancel(view.state, id)?;
        return Ok(with(view, &record, result::resolved));
    }
    Ok(match submit_otp(view.state, id, form.get("otp"))? {
        OtpResult::Right(record) => with(view, &record, result::resolved),
        OtpResult::NotAwaited(record) => with(view, &record, result::already),
        OtpResult::Wrong(record) if record.payment.status == PaymentStatus::Created => with(view, &record, wrong),
        OtpResult::Wrong(record) => with(view, &record, result::resolved),
    })
}

/// The same view of the changed payment.
fn with(view: &View<'_>, record: &Record, answer: fn(&View<'_>) -> Response) -> Response {
    answer(&View { record, ..*view })
}

fn wrong(view: &View<'_>) -> Response {
    otp_page(view, StatusCode::BAD_REQUEST, Some(view.say(Message::WrongPassword)))
}

fn otp_page(view: &View<'_>, status: StatusCode, mistake: Option<String>) -> Response {
    let payment = &view.record.payment;
    let offers = right_otp(payment).map(|otp| Offers::of_password(view, otp));
    let explanation = match payment.masked_card {
        Some(_) => Message::OtpOfBank,
        None => Message::OtpByPhone,
    };
    let filled = offers.as_ref().filter(|_| mistake.is_none()).map(|offers| offers.filled(view.fill));
    let field = Field {
        value: filled.map(|form| form.get("otp").to_owned()).unwrap_or_default(),
        hint: Some(view.say(Message::AttemptsLeft(payment.otp_attempts_left))),
        mistake,
        is_alone: true,
        is_focused: true,
        ..Field::new(view.frame.language(), "otp", Message::EnterOtp, Message::MissingOtp)
    };
    let otp_page = OtpPage {
        document: &view.frame.document,
        frame: view.frame,
        summary: Summary::of(view),
        explanation: view.say(explanation),
        field: field.with_input("filled", "numeric", "one-time-code"),
        offers,
    };
    page(status, Policy::Payer, &otp_page)
}

pub(crate) const THREE_DS_PATH: &str = "/3ds";

pub(super) const THREE_DS: Page =
    Page { path: THREE_DS_PATH, is_for: |record| record.payment.masked_card.is_some(), show, submit };

pub(crate) const WALLET_PATH: &str = "/wallet";

pub(super) const WALLET: Page = Page {
    path: WALLET_PATH,
    is_for: |record| record.payment.kind == PaymentKind::PayForm && record.payment.masked_phone.is_some(),
    show,
    submit,
};
