//! Login and logout of the merchant.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use subtle::ConstantTimeEq;
use url::form_urlencoded;

use crate::{
    encoding::FormPairs,
    staff::layout::Staff,
    state::State,
    web::{self, Call, Document, Door, LoginRefusal, Policy},
};

/// Where a login leads to, unless something else was asked for before.
const HOME: &str = "dashboard";

#[derive(Template)]
#[template(path = "staff/login.html")]
struct Login<'a> {
    document: Document,
    staff: Staff,
    problem: Option<String>,
    csrf: &'a str,
    next: &'a str,
}

/// To the login, and back afterwards.
pub(super) fn to_login(call: &Call, document: &Document) -> Response {
    let mut url = format!("{}dashboard/login", document.root);
    let wanted = wanted(call);
    if call.form.is_none() && wanted != HOME {
        let next = form_urlencoded::Serializer::new(String::new()).append_pair("next", &wanted).finish();
        url = format!("{url}?{next}");
    }
    web::see_other(&url)
}

/// The page with the form, and what the form does.
pub(super) fn login(state: &State, door: &Door, call: &Call, document: Document) -> Response {
    let Some(form) = &call.form else {
        return show_login(door, call, document);
    };
    let next = next(form);
    if let Err(refusal) = door.knock(call, form, || is_merchant(state, form)) {
        return ask(door, call, document, next, Some(&refusal));
    }
    let mut response = web::see_other(&format!("{}{next}", document.root));
    door.begin(call, &mut response);
    response
}

/// Ends the session, and shows where the next one begins.
pub(super) fn log_out(door: &Door, call: &Call, document: &Document) -> Response {
    let mut response = web::see_other(&format!("{}dashboard/login", document.root));
    door.end(call, &mut response);
    response
}

fn show_login(door: &Door, call: &Call, document: Document) -> Response {
    let next = next(&call.query);
    if door.csrf(call).is_some() {
        return web::see_other(&format!("{}{next}", document.root));
    }
    ask(door, call, document, next, None)
}

fn ask(door: &Door, call: &Call, document: Document, next: &str, refusal: Option<&LoginRefusal>) -> Response {
    let status = refusal.map_or(StatusCode::OK, LoginRefusal::status);
    let problem = refusal.map(|refusal| refusal.text("Wrong login or password."));
    door.login_page(call, refusal, |csrf| {
        web::page(status, Policy::Staff, &Login { document, staff: Staff::default(), problem, csrf, next })
    })
}

/// Both are looked at in any case, in constant time.
fn is_merchant(state: &State, form: &FormPairs) -> bool {
    let options = &state.options;
    let login = form.get("login").as_bytes().ct_eq(options.login.as_bytes());
    let password = form.raw("password").as_bytes().ct_eq(options.password.as_bytes());
    (login & password).into()
}

/// The page that was asked for. Of a file it is the list that the file is made of: nobody would see that the login had
/// ended in one.
fn wanted(call: &Call) -> String {
    let path = match call.path.trim_matches('/') {
        "dashboard/transactions.csv" => HOME,
        path => path,
    };
    if call.raw_query.is_empty() { path.to_owned() } else { format!("{path}?{}", call.raw_query) }
}

/// Where to go after the login: a page of the dashboard, and nothing that a browser could take for another site.
fn next(pairs: &FormPairs) -> &str {
    let wanted = pairs.get("next");
    let is_ours = wanted == HOME || wanted.starts_with("dashboard/") || wanted.starts_with("dashboard?");
    let path = wanted.split('?').next().unwrap_or_default();
    let is_plain = wanted.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') && !path.contains("..");
    if is_ours && is_plain && wanted.len() < 2000 { wanted } else { HOME }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_into_the_dashboard_and_nowhere_else() {
        for (wanted, to) in [
            ("next=dashboard%2Ftransactions%2F7", "dashboard/transactions/7"),
            ("next=dashboard%3Fq%3Da..b", "dashboard?q=a..b"),
            ("next=https%3A%2F%2Fevil.example", HOME),
            ("next=%2F%2Fevil.example", HOME),
            ("next=dashboard%2F..%2F..%2F%2Fevil.example", HOME),
            ("next=dashboardx", HOME),
            ("next=dashboard%2F%0Ax", HOME),
            ("", HOME),
        ] {
            assert_eq!(next(&FormPairs::parse(wanted.as_bytes())), to, "{wanted}");
        }
    }
}
