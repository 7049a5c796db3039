//! Login by the admin token.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use subtle::ConstantTimeEq;

use crate::{
    staff::{
        control::links::{to_the_page, to_the_payment},
        layout::{Section, Staff},
    },
    state::State,
    web::{self, Call, Document, Door, LoginRefusal, Policy},
};

#[derive(Template)]
#[template(path = "staff/control_login.html")]
struct Login<'a> {
    document: Document,
    staff: Staff,
    problem: Option<String>,
    csrf: &'a str,
    /// Of the payment that is to be decided afterwards, if one was named.
    number: &'a str,
}

/// The form for the token, and what it does where it was sent.
pub(super) fn login(state: &State, door: &Door, call: &Call, document: Document, is_login: bool) -> Response {
    let Some(form) = call.form.as_ref().filter(|_| is_login) else {
        return ask_for_token(door, call, document, call.query.get("number"), None);
    };
    let number = form.get("number");
    let is_admin = || form.get("token").as_bytes().ct_eq(state.admin_token.as_bytes()).into();
    if let Err(refusal) = door.knock(call, form, is_admin) {
        return ask_for_token(door, call, document, number, Some(&refusal));
    }
    let mut response = match number {
        "" => to_the_page(&document, ""),
        number => to_the_payment(&document, number),
    };
    door.begin(call, &mut response);
    response
}

fn ask_for_token(
    door: &Door,
    call: &Call,
    document: Document,
    number: &str,
    refusal: Option<&LoginRefusal>,
) -> Response {
    let status = refusal.map_or(StatusCode::OK, LoginRefusal::status);
    let problem = refusal.map(|refusal| refusal.text("This is not the admin token."));
    door.login_page(call, refusal, |csrf| {
        let staff = Staff::of(Section::Control, None);
        web::page(status, Policy::Staff, &Login { document, staff, problem, csrf, number })
    })
}
