//! Routing of the control page: login, forms, and what they ask of the admin interface.

use std::sync::Arc;

use axum::{
    Router,
    extract::{ConnectInfo, Request},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::any,
};
use kassa_pages::token::is_same;
use tokio::task::spawn_blocking;

use crate::{
    admin,
    domain::Language,
    net::Line,
    rules::FieldError,
    staff::{
        control::{forms, links::to_the_page, login, page, posted::Posted},
        layout::Visitor,
    },
    state::State,
    web::{Call, Document, Door},
};

const PATH: &str = "/control";

/// What the page works with.
struct Control {
    state: Arc<State>,
    door: Door,
}

/// Adds the page to the routes.
pub(crate) fn routes(router: Router, state: &Arc<State>) -> Router {
    let control = Arc::new(Control {
        state: Arc::clone(state),
        door: Door::new(&state.public_url, state.options.tls.is_some(), "control"),
    });
    let handler =
        move |ConnectInfo(line): ConnectInfo<Line>, request: Request| exchange(Arc::clone(&control), line, request);
    let router = router.route(PATH, any(handler.clone())).route("/control/", any(handler.clone()));
    router.route("/control/{*path}", any(handler))
}

async fn exchange(control: Arc<Control>, line: Line, request: Request) -> Response {
    let call = match Call::read(request, line).await {
        Ok(call) => call,
        Err(refused) => return refused,
    };
    match spawn_blocking(move || control.answer(&call)).await {
        Ok(response) => response,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

impl Control {
    fn answer(&self, call: &Call) -> Response {
        let document = Document::at(&call.path, Language::English);
        let rest = call.path.strip_prefix(PATH).unwrap_or_default().trim_matches('/');
        let (Some(csrf), false) = (self.door.csrf(call), rest == "login") else {
            return login::login(&self.state, &self.door, call, document, rest == "login");
        };
        let visitor = Visitor { name: "admin".to_owned(), csrf };
        let show = |status, posted: &Posted<'_>| {
            page::show(&self.state, document.clone(), visitor.clone(), status, &call.query, posted)
        };
        let Some(form) = &call.form else {
            return if rest.is_empty() { show(StatusCode::OK, &Posted::NOTHING) } else { to_the_page(&document, "") };
        };
        let refuse = |status, errors: &[FieldError]| show(status, &Posted { place: rest, form: Some(form), errors });
        if !is_same(form.get("csrf"), &visitor.csrf) {
            let error = FieldError::new("form", "was made for another session; please send it once more");
            return refuse(StatusCode::FORBIDDEN, &[error]);
        }
        if rest == "logout" {
            let mut response = to_the_page(&document, "");
            self.door.end(call, &mut response);
            return response;
        }
        let Some(wish) = forms::read(rest, form) else {
            return refuse(StatusCode::NOT_FOUND, &[FieldError::new("page", "there is no such form")]);
        };
        match admin::ask(&self.state, &wish.method, &wish.path, &wish.body) {
            Ok(()) => to_the_page(&document, wish.done),
            Err(errors) => {
                let errors: Vec<_> = errors.into_iter().map(|error| forms::in_its_words(rest, error)).collect();
                refuse(StatusCode::BAD_REQUEST, &errors)
            }
        }
    }
}
