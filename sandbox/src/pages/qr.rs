//! The QR payment page: what a phone opens after scanning the code.

use axum::http::StatusCode;
use rust_decimal::Decimal;

use crate::{
    actions::decide_qr::{Decision, decide_qr},
    amount,
    messages::Message,
    pages::{
        Answer, Page, View, finish,
        form::Form,
        html::{document, escape},
    },
    payment::PaymentKind,
    problem::Problem,
    store::StoreError,
};

pub(crate) const PATH: &str = "/qr";

pub(super) const PAGE: Page = Page {
    path: PATH,
    is_for: |record| record.payment.kind == PaymentKind::Qr,
    show: |view| Answer::Html(StatusCode::OK, page(view, None)),
    submit,
};

fn submit(view: &View<'_>, form: &Form) -> Result<Answer, StoreError> {
    let decision = match form.get("action") {
        "decline" => Decision::Decline,
        "approve" if view.record.payment.amount.is_some() => Decision::Approve(None),
        "approve" => match tyiyn(form.get("amount")) {
            Some(tyiyn) => Decision::Approve(Some(tyiyn)),
            None => return Ok(ask_again(view)),
        },
        _ => return Ok(ask_again(view)),
    };
    let record = decide_qr(view.gateway, view.record.id, decision)?;
    Ok(finish::settled(&View { record: &record, ..*view }))
}

/// The tyiyn of an amount in som: at least one, and no part of one.
fn tyiyn(som: &str) -> Option<Decimal> {
    let som = som.replace(',', ".");
    if !som.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let tyiyn = amount::exact(&som)?.checked_mul(Decimal::ONE_HUNDRED)?;
    (tyiyn >= Decimal::ONE && tyiyn.fract().is_zero()).then(|| tyiyn.normalize())
}

fn ask_again(view: &View<'_>) -> Answer {
    let problem = match view.record.payment.amount {
        Some(_) => Problem::Missing,
        None => Problem::NotNumber,
    };
    Answer::Html(StatusCode::BAD_REQUEST, page(view, Some(problem)))
}

fn page(view: &View<'_>, problem: Option<Problem>) -> String {
    let open = view.record.payment.amount.is_none();
    let label = view.say(Message::AmountInSom);
    let alert = match problem {
        Some(problem) => {
            let subject = if open { &label } else { "action" };
            let text = escape(&view.language.explain(problem));
            format!("<p role=\"alert\">{subject}: {text}</p>\n")
        }
        None => String::new(),
    };
    let amount = if open {
        format!(
            "<label for=\"amount\">{label}</label>\n\
             <input id=\"amount\" name=\"amount\" inputmode=\"decimal\" autofocus>\n"
        )
    } else {
        String::new()
    };
    let content = format!(
        "{alert}{summary}<form method=\"post\">\n{amount}\
         <button name=\"action\" value=\"approve\">{approve}</button>\n\
         <button name=\"action\" value=\"decline\">{decline}</button>\n</form>",
        summary = finish::summary(view),
        approve = view.say(Message::Approve),
        decline = view.say(Message::Decline),
    );
    document(view.language, Message::QrTitle, &content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn som_become_tyiyn_exactly_or_not_at_all() {
        for (som, expected) in [
            ("1", Some("100")),
            ("12.50", Some("1250")),
            ("0,01", Some("1")),
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
