//! Routing of the dashboard: who is logged in, which page, which form.

use std::{sync::Arc, time::Instant};

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
    domain::Language,
    encoding::FormPairs,
    net::Line,
    staff::{
        dashboard::{
            analysis, deliveries, export, login,
            message::{failed, forbidden, not_found},
            payment, receiver, schedules, transactions,
            visit::{Answer, Visit},
        },
        layout::Visitor,
    },
    state::State,
    web::{Call, Document, Door},
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
            return login::login(&self.state, &self.door, call, document);
        }
        let Some(csrf) = self.door.csrf(call) else {
            return login::to_login(call, &document);
        };
        let visitor = Visitor { name: self.state.options.login.clone(), csrf };
        let visit = Visit { state: &self.state, document, visitor, query: &call.query };
        let answer = match &call.form {
            None => show(&visit, &segments),
            Some(form) if !is_same(form.get("csrf"), &visit.visitor.csrf) => Ok(forbidden(&visit)),
            Some(_) if segments == ["logout"] => return login::log_out(&self.door, call, &visit.document),
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
