//! The merchant's dashboard: what happened, for people who logged in with the issued credentials.

mod analysis;
mod charts;
mod deliveries;
mod export;
mod filter;
mod login;
mod payment;
mod receiver;
mod schedules;
pub(crate) mod text;
mod transactions;

use std::{sync::Arc, time::Instant};

use askama::Template;
use axum::{
    Router,
    extract::{ConnectInfo, Request},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::any,
};
use tokio::task::spawn_blocking;

use crate::{
    domain::Language,
    encoding::FormPairs,
    net::Line,
    state::State,
    store::StoreError,
    web::{self, Call, Document, Door, Policy, Section, Staff, Visitor, sessions::is_same_token},
};

const PREFIX: &str = "/dashboard";

/// What the dashboard's pages work with.
struct Dashboard {
    state: Arc<State>,
    door: Door,
}

/// Adds the dashboard to the routes.
pub(crate) fn routes(router: Router, state: &Arc<State>) -> Router {
    let dashboard = Arc::new(Dashboard {
        state: Arc::clone(state),
        door: Door::new(&state.public_url, state.options.tls.is_some(), "dashboard"),
    });
    let handler =
        move |ConnectInfo(line): ConnectInfo<Line>, request: Request| exchange(Arc::clone(&dashboard), line, request);
    let router = router.route(PREFIX, any(handler.clone())).route("/dashboard/", any(handler.clone()));
    router.route("/dashboard/{*path}", any(handler))
}

/// What somebody who is logged in asks for.
struct Visit<'a> {
    state: &'a Arc<State>,
    document: Document,
    visitor: Visitor,
    query: &'a FormPairs,
}

impl Visit<'_> {
    fn staff(&self, section: Section) -> Staff {
        Staff::of(section, Some(self.visitor.clone()))
    }
}

/// A page, or a failure of the store.
type Answer = Result<Response, StoreError>;

async fn exchange(dashboard: Arc<Dashboard>, line: Line, request: Request) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let call = match Call::read(request, line).await {
        Ok(call) => call,
        Err(refused) => return refused,
    };
    let path = call.path.clone();
    let response = match spawn_blocking(move || dashboard.answer(&call)).await {
        Ok(response) => response,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    tracing::info!(
        %method,
        path,
        status = response.status().as_u16(),
        ms = started.elapsed().as_millis(),
        "dashboard"
    );
    response
}

impl Dashboard {
    fn answer(&self, call: &Call) -> Response {
        let document = Document::at(&call.path, Language::English);
        let rest = call.path.strip_prefix(PREFIX).unwrap_or_default();
        let segments: Vec<&str> = rest.split('/').filter(|segment| !segment.is_empty()).collect();
        if segments == ["login"] {
            return self.login(call, document);
        }
        let Some(csrf) = self.door.csrf(call) else {
            return self.to_login(call, &document);
        };
        let visitor = Visitor { name: self.state.options.login.clone(), csrf };
        let visit = Visit { state: &self.state, document, visitor, query: &call.query };
        let answer = match &call.form {
            None => show(&visit, &segments),
            Some(form) if !is_same_token(form.get("csrf"), &visit.visitor.csrf) => Ok(forbidden(&visit)),
            Some(_) if segments == ["logout"] => return self.log_out(call, &visit.document),
            Some(form) => change(&visit, &segments, form),
        };
        answer.unwrap_or_else(|error| failed(&visit, &error))
    }
}

/// The page of a path.
fn show(visit: &Visit<'_>, segments: &[&str]) -> Answer {
    match segments {
        [] => transactions::page(visit),
        ["transactions.csv"] => export::file(visit),
        ["transactions", id] => payment::page(visit, id),
        ["schedules"] => schedules::page(visit),
        ["analysis"] => analysis::page(visit),
        ["deliveries"] => deliveries::page(visit),
        ["deliveries", id] => deliveries::attempt(visit, id),
        ["receiver"] => receiver::page(visit),
        _ => Ok(not_found(visit)),
    }
}

/// What a form does.
fn change(visit: &Visit<'_>, segments: &[&str], form: &FormPairs) -> Answer {
    match segments {
        ["deliveries", "again"] => deliveries::deliver_again(visit, form),
        ["receiver", "forget"] => receiver::forget(visit),
        _ => Ok(not_found(visit)),
    }
}

#[derive(Template)]
#[template(path = "staff/message.html")]
struct Message {
    document: Document,
    staff: Staff,
    title: &'static str,
    text: &'static str,
}

fn message(visit: &Visit<'_>, status: StatusCode, title: &'static str, text: &'static str) -> Response {
    let staff = Staff { section: None, visitor: Some(visit.visitor.clone()) };
    web::page(status, Policy::Staff, &Message { document: visit.document.clone(), staff, title, text })
}

fn not_found(visit: &Visit<'_>) -> Response {
    message(visit, StatusCode::NOT_FOUND, "Nothing here", "There is no page, or no payment, under this address.")
}

fn forbidden(visit: &Visit<'_>) -> Response {
    let text = "The form was made for another session. Go back, load the page again, and send it once more.";
    message(visit, StatusCode::FORBIDDEN, "This form is out of date", text)
}

fn failed(visit: &Visit<'_>, error: &StoreError) -> Response {
    tracing::error!(%error, "a page of the dashboard failed inside the sandbox");
    message(visit, StatusCode::INTERNAL_SERVER_ERROR, "The sandbox failed", "Its log says why.")
}
