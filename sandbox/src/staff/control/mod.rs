//! The control page: for people what the admin interface is for programs. Guarded by the admin token. This file has its routes, the
//! login, and the redirects after a form.

mod forms;
mod page;

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    extract::{ConnectInfo, Request},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::any,
};
use kassa_pages::token::is_same;
use subtle::ConstantTimeEq;
use tokio::task::spawn_blocking;
use url::form_urlencoded;

use crate::{
    admin,
    domain::Language,
    net::ConnectionHandle,
    rules::FieldError,
    staff::{
        control::forms::SubmittedForm,
        layout::{Section, Staff, Visitor},
    },
    state::State,
    web::{self, Access, Document, LoginRefusal, PageRequest, Policy},
};

const PATH: &str = "/control";

/// What the page works with.
struct Control {
    state: Arc<State>,
    access: Access,
}

/// Adds the page to the routes.
pub(crate) fn routes(router: Router, state: &Arc<State>) -> Router {
    let control = Arc::new(Control {
        state: Arc::clone(state),
        access: Access::new(&state.public_url, state.options.tls.is_some(), "control"),
    });
    let handler = move |ConnectInfo(connection): ConnectInfo<ConnectionHandle>, request: Request| {
        handle(Arc::clone(&control), connection, request)
    };
    let router = router.route(PATH, any(handler.clone())).route("/control/", any(handler.clone()));
    router.route("/control/{*path}", any(handler))
}

async fn handle(control: Arc<Control>, connection: ConnectionHandle, request: Request) -> Response {
    let request = match PageRequest::read(request, connection).await {
        Ok(request) => request,
        Err(refused) => return refused,
    };
    match spawn_blocking(move || control.answer(&request)).await {
        Ok(response) => response,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

impl Control {
    fn answer(&self, request: &PageRequest) -> Response {
        let document = Document::at(&request.path, Language::English);
        let rest = request.path.strip_prefix(PATH).unwrap_or_default().trim_matches('/');
        let (Some(csrf), false) = (self.access.csrf(request), rest == "login") else {
            return login(&self.state, &self.access, request, document, rest == "login");
        };
        let visitor = Visitor { name: "admin".to_owned(), csrf };
        let show = |status, posted: &SubmittedForm<'_>| {
            page::show(&self.state, document.clone(), visitor.clone(), status, &request.query, posted)
        };
        let Some(form) = &request.form else {
            return if rest.is_empty() {
                show(StatusCode::OK, &SubmittedForm::NOTHING)
            } else {
                to_the_page(&document, "")
            };
        };
        let refuse =
            |status, errors: &[FieldError]| show(status, &SubmittedForm { place: rest, form: Some(form), errors });
        if !is_same(form.get("csrf"), &visitor.csrf) {
            let error = FieldError::new("form", "was made for another session; please send it once more");
            return refuse(StatusCode::FORBIDDEN, &[error]);
        }
        if rest == "logout" {
            let mut response = to_the_page(&document, "");
            self.access.end(request, &mut response);
            return response;
        }
        let Some(command) = forms::read(rest, form) else {
            return refuse(StatusCode::NOT_FOUND, &[FieldError::new("page", "there is no such form")]);
        };
        match admin::execute(&self.state, &command.method, &command.path, &command.body) {
            Ok(()) => to_the_page(&document, command.done),
            Err(errors) => {
                let errors: Vec<_> = errors.into_iter().map(|error| forms::to_form_error(rest, error)).collect();
                refuse(StatusCode::BAD_REQUEST, &errors)
            }
        }
    }
}

#[derive(Template)]
#[template(path = "staff/control_login.html")]
struct Login<'a> {
    document: Document,
    staff: Staff,
    problem: Option<String>,
    csrf: &'a str,
    /// The number of the payment to decide after the login, if one was named.
    number: &'a str,
}

/// Shows the login form, or logs in with the posted token.
pub(super) fn login(
    state: &State,
    access: &Access,
    request: &PageRequest,
    document: Document,
    is_login: bool,
) -> Response {
    let Some(form) = request.form.as_ref().filter(|_| is_login) else {
        return ask_for_token(access, request, document, request.query.get("number"), None);
    };
    let number = form.get("number");
    let is_admin = || form.get("token").as_bytes().ct_eq(state.admin_token.as_bytes()).into();
    if let Err(refusal) = access.log_in(request, form, is_admin) {
        return ask_for_token(access, request, document, number, Some(&refusal));
    }
    let mut response = match number {
        "" => to_the_page(&document, ""),
        number => to_the_payment(&document, number),
    };
    access.begin(request, &mut response);
    response
}

fn ask_for_token(
    access: &Access,
    request: &PageRequest,
    document: Document,
    number: &str,
    refusal: Option<&LoginRefusal>,
) -> Response {
    let status = refusal.map_or(StatusCode::OK, LoginRefusal::status);
    let problem = refusal.map(|refusal| refusal.text("This is not the admin token."));
    access.login_page(request, refusal, |csrf| {
        let staff = Staff::of(Section::Control, None);
        web::page(status, Policy::Staff, &Login { document, staff, problem, csrf, number })
    })
}

/// Redirects to the page, which shows a message.
fn to_the_page(document: &Document, done: &str) -> Response {
    let query = if done.is_empty() { String::new() } else { format!("?done={done}") };
    web::see_other(&format!("{}control{query}", document.root))
}

/// Redirects to the page, with the number of a payment to decide.
fn to_the_payment(document: &Document, number: &str) -> Response {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("number", number).finish();
    web::see_other(&format!("{}control?{query}#decide", document.root))
}
