//! The form for a one-time password, the same for cards and wallets.

use askama::Template;
use axum::{http::StatusCode, response::Response};

use crate::{
    domain::PaymentStatus,
    encoding::FormPairs,
    messages::Message,
    pages::{field::Field, finish, frame::Frame, offers::Offers, summary::Summary, view::View},
    payments::submit_otp::{OtpResult, cancel, right_otp, submit_otp},
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
        return Ok(with(view, &record, finish::resolved));
    }
    Ok(match submit_otp(view.state, id, form.get("otp"))? {
        OtpResult::Right(record) => with(view, &record, finish::resolved),
        OtpResult::NotAwaited(record) => with(view, &record, finish::already),
        OtpResult::Wrong(record) if record.payment.status == PaymentStatus::Created => with(view, &record, wrong),
        OtpResult::Wrong(record) => with(view, &record, finish::resolved),
    })
}

/// The same view of the payment as it stands now.
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
        field: field.known_as("filled", "numeric", "one-time-code"),
        offers,
    };
    page(status, Policy::Payer, &otp_page)
}
