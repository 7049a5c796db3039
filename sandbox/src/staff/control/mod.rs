//! The control page: the admin interface for people, protected by the admin
//! token. This file has its routes, the login, and the redirects after a form.

mod forms;
mod page;

use std::sync::Arc;

use askama::Template;
use axum::{
    Extension, Router,
    extract::{self, Request},
    http::{Method, StatusCode},
    middleware::{Next, from_fn, from_fn_with_state},
    response::Response,
    routing::get,
};
use kassa_pages::token::is_same;
use subtle::ConstantTimeEq;
use url::form_urlencoded;

use crate::{
    domain::Language,
    rules::FieldError,
    staff::{
        control::forms::SubmittedForm,
        layout::{Section, Staff, Visitor},
    },
    state::State,
    web::{self, Access, Document, LoginRejection, PageRequest, Policy},
};

/// The shared state, and the login of the page.
struct Control {
    state: Arc<State>,
    access: Access,
}

/// The routes of the page and its forms.
pub(crate) fn routes(state: &Arc<State>) -> Router {
    let control = Arc::new(Control {
        state: Arc::clone(state),
        access: Access::new(&state.public_url, state.options.tls.is_some(), "control"),
    });
    Router::new()
        .route("/control", get(show).post(submit))
        .route("/control/", get(show).post(submit))
        .route("/control/logout", get(redirect).post(log_out))
        .route("/control/{*place}", get(redirect).post(submit))
        .layer(from_fn_with_state(Arc::clone(&control), require_login))
        .route("/control/login", get(show_login).post(log_in))
        .layer(from_fn(web::read_page_request))
        .with_state(control)
}

/// A request by a logged-in user.
#[derive(Clone)]
struct Context {
    document: Document,
    visitor: Visitor,
    request: Arc<PageRequest>,
}

/// Middleware: without a session, it shows the login; a form needs the session's CSRF token.
async fn require_login(
    extract::State(control): extract::State<Arc<Control>>,
    Extension(page_request): Extension<Arc<PageRequest>>,
    mut request: Request,
    next: Next,
) -> Response {
    let document = Document::at(&page_request.path, Language::English);
    let Some(csrf) = control.access.csrf(&page_request) else {
        return login_form(&control.access, &page_request, document, page_request.query.get("number"), None);
    };
    let visitor = Visitor { name: "admin".to_owned(), csrf };
    let context = Context { document, visitor, request: page_request };
    if request.method() == Method::POST && !is_same(context.request.form.get("csrf"), &context.visitor.csrf) {
        let error = FieldError::new("form", "was made for another session; please send it once more");
        return control.reject(context, StatusCode::FORBIDDEN, &[error]);
    }
    request.extensions_mut().insert(context);
    next.run(request).await
}

async fn show(
    extract::State(control): extract::State<Arc<Control>>,
    Extension(context): Extension<Context>,
) -> Response {
    control.show(context, StatusCode::OK, &SubmittedForm::NOTHING)
}

/// A form's own address has no page.
async fn redirect(Extension(context): Extension<Context>) -> Response {
    to_the_page(&context.document, "")
}

async fn submit(
    extract::State(control): extract::State<Arc<Control>>,
    Extension(context): Extension<Context>,
) -> Response {
    web::respond_blocking(move || control.submit(context)).await
}

async fn log_out(
    extract::State(control): extract::State<Arc<Control>>,
    Extension(context): Extension<Context>,
) -> Response {
    let mut response = to_the_page(&context.document, "");
    control.access.end(&context.request, &mut response);
    response
}

impl Control {
    fn show(&self, context: Context, status: StatusCode, posted: &SubmittedForm<'_>) -> Response {
        page::show(&self.state, context.document, context.visitor, status, &context.request.query, posted)
    }

    /// Shows the page with the form that was posted, and its errors.
    fn reject(&self, context: Context, status: StatusCode, errors: &[FieldError]) -> Response {
        let request = Arc::clone(&context.request);
        self.show(context, status, &SubmittedForm { place: place(&request), form: Some(&request.form), errors })
    }

    fn submit(&self, context: Context) -> Response {
        match forms::execute(&self.state, place(&context.request), &context.request.form) {
            Some(Ok(done)) => to_the_page(&context.document, done),
            Some(Err(errors)) => self.reject(context, StatusCode::BAD_REQUEST, &errors),
            None => self.reject(context, StatusCode::NOT_FOUND, &[FieldError::new("page", "there is no such form")]),
        }
    }
}

/// The form's path under the page.
fn place(request: &PageRequest) -> &str {
    request.path.strip_prefix("/control").unwrap_or_default().trim_matches('/')
}

#[derive(Template)]
#[template(path = "staff/control_login.html")]
struct Login<'a> {
    document: Document,
    staff: Staff,
    problem: Option<String>,
    csrf: &'a str,
    /// The number of the payment to decide after the login, if any.
    number: &'a str,
}

async fn show_login(
    extract::State(control): extract::State<Arc<Control>>,
    Extension(request): Extension<Arc<PageRequest>>,
) -> Response {
    let document = Document::at(&request.path, Language::English);
    login_form(&control.access, &request, document, request.query.get("number"), None)
}

/// Logs in with the posted token.
async fn log_in(
    extract::State(control): extract::State<Arc<Control>>,
    Extension(request): Extension<Arc<PageRequest>>,
) -> Response {
    let document = Document::at(&request.path, Language::English);
    let number = request.form.get("number");
    let is_admin = || request.form.get("token").as_bytes().ct_eq(control.state.admin_token.as_bytes()).into();
    if let Err(rejection) = control.access.log_in(&request, is_admin) {
        return login_form(&control.access, &request, document, number, Some(&rejection));
    }
    let mut response = match number {
        "" => to_the_page(&document, ""),
        number => to_the_payment(&document, number),
    };
    control.access.begin(&request, &mut response);
    response
}

fn login_form(
    access: &Access,
    request: &PageRequest,
    document: Document,
    number: &str,
    rejection: Option<&LoginRejection>,
) -> Response {
    let status = rejection.map_or(StatusCode::OK, LoginRejection::status);
    let problem = rejection.map(|rejection| rejection.text("This is not the admin token."));
    access.login_page(request, rejection, |csrf| {
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
