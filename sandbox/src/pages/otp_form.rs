//! The form for a one-time password, the same for cards and wallets.

use axum::http::StatusCode;

use crate::{
    actions::submit_otp::{OtpResult, cancel, submit_otp},
    messages::Message,
    pages::{Answer, View, finish, form::Form, html::document},
    state::PaymentStatus,
    store::{StoreError, payments::Record},
};

pub(super) fn show(view: &View<'_>) -> Answer {
    Answer::Html(StatusCode::OK, page(view, ""))
}

pub(super) fn submit(view: &View<'_>, form: &Form) -> Result<Answer, StoreError> {
    let id = view.record.id;
    if form.get("action") == "cancel" {
        let record = cancel(view.gateway, id)?;
        return Ok(with(view, &record, finish::settled));
    }
    Ok(match submit_otp(view.gateway, id, form.get("otp"))? {
        OtpResult::Right(record) => with(view, &record, finish::settled),
        OtpResult::NotAwaited(record) => with(view, &record, finish::already),
        OtpResult::Wrong(record) if record.payment.status == PaymentStatus::Created => with(view, &record, wrong),
        OtpResult::Wrong(record) => with(view, &record, finish::settled),
    })
}

/// The same view of the payment as it stands now.
fn with(view: &View<'_>, record: &Record, answer: fn(&View<'_>) -> Answer) -> Answer {
    answer(&View { record, ..*view })
}

fn wrong(view: &View<'_>) -> Answer {
    let left = view.record.payment.otp_attempts_left;
    let alert = format!("<p role=\"alert\">{}</p>\n", view.say(Message::WrongOtp(left)));
    Answer::Html(StatusCode::BAD_REQUEST, page(view, &alert))
}

fn page(view: &View<'_>, alert: &str) -> String {
    let content = format!(
        "{alert}{summary}<form method=\"post\">\n\
         <label for=\"otp\">{enter}</label>\n\
         <input id=\"otp\" name=\"otp\" inputmode=\"numeric\" autocomplete=\"one-time-code\" required autofocus \
         aria-describedby=\"attempts\">\n\
         <p id=\"attempts\">{attempts}</p>\n\
         <button>{confirm}</button>\n</form>\n\
         <form method=\"post\"><button name=\"action\" value=\"cancel\">{cancel}</button></form>",
        summary = finish::summary(view),
        enter = view.say(Message::EnterOtp),
        attempts = view.say(Message::AttemptsLeft(view.record.payment.otp_attempts_left)),
        confirm = view.say(Message::Confirm),
        cancel = view.say(Message::Cancel),
    );
    document(view.language, Message::ConfirmTitle, &content)
}
