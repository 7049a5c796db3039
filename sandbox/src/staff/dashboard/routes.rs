//! Routing of the dashboard: login and logout of the merchant, pages, forms.

use std::{sync::Arc, time::Instant};

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
    domain::Language,
    encoding::FormPairs,
    net::ConnectionHandle,
    staff::{
        dashboard::{
            PageContext, PageResult, analysis, deliveries, export, failed, forbidden, not_found, payment, schedules,
            transactions,
        },
        layout::{Staff, Visitor},
    },
    state::State,
    web::{self, Access, Document, LoginRefusal, PageRequest, Policy},
};

const PREFIX: &str = "/dashboard";

/// What the dashboard's pages work with.
struct Dashboard {
    state: Arc<State>,
    access: Access,
}

/// Adds the dashboard to the routes.
pub(crate) fn routes(router: Router, state: &Arc<State>) -> Router {
    let dashboard = Arc::new(Dashboard {
        state: Arc::clone(state),
        access: Access::new(&state.public_url, state.options.tls.is_some(), "dashboard"),
    });
    let handler = move |ConnectInfo(connection): ConnectInfo<ConnectionHandle>, request: Request| {
        handle(Arc::clone(&dashboard), connection, request)
    };
    let router = router.route(PREFIX, any(handler.clone())).route("/dashboard/", any(handler.clone()));
    router.route("/dashboard/{*path}", any(handler))
}

async fn handle(dashboard: Arc<Dashboard>, connection: ConnectionHandle, request: Request) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let request = match PageRequest::read(request, connection).await {
        Ok(request) => request,
        Err(refused) => return refused,
    };
    let path = request.path.clone();
    let response = match spawn_blocking(move || dashboard.answer(&request)).await {
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
    fn answer(&self, request: &PageRequest) -> Response {
        let document = Document::at(&request.path, Language::English);
        let rest = request.path.strip_prefix(PREFIX).unwrap_or_default();
        let segments: Vec<&str> = rest.split('/').filter(|segment| !segment.is_empty()).collect();
        if segments == ["login"] {
            return login(&self.state, &self.access, request, document);
        }
        let Some(csrf) = self.access.csrf(request) else {
            return to_login(request, &document);
        };
        let visitor = Visitor { name: self.state.options.login.clone(), csrf };
        let context = PageContext { state: &self.state, document, visitor, query: &request.query };
        let answer = match &request.form {
            None => show(&context, &segments),
            Some(form) if !is_same(form.get("csrf"), &context.visitor.csrf) => Ok(forbidden(&context)),
            Some(_) if segments == ["logout"] => return log_out(&self.access, request, &context.document),
            Some(form) => change(&context, &segments, form),
        };
        answer.unwrap_or_else(|error| failed(&context, &error))
    }
}

/// The page under a path.
fn show(context: &PageContext<'_>, segments: &[&str]) -> PageResult {
    match segments {
        [] => transactions::page(context),
        ["transactions.csv"] => export::file(context),
        ["transactions", id] => payment::page(context, id),
        ["schedules"] => schedules::page(context),
        ["analysis"] => analysis::page(context),
        ["deliveries"] => deliveries::page(context),
        ["deliveries", id] => deliveries::attempt(context, id),
        ["receiver"] => deliveries::received_page(context),
        _ => Ok(not_found(context)),
    }
}

/// Executes a form.
fn change(context: &PageContext<'_>, segments: &[&str], form: &FormPairs) -> PageResult {
    match segments {
        ["deliveries", "again"] => deliveries::deliver_again(context, form),
        ["receiver", "forget"] => deliveries::forget_received(context),
        _ => Ok(not_found(context)),
    }
}

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
fn to_login(request: &PageRequest, document: &Document) -> Response {
    let mut url = format!("{}dashboard/login", document.root);
    let wanted = wanted(request);
    if request.form.is_none() && wanted != HOME {
        let next = form_urlencoded::Serializer::new(String::new()).append_pair("next", &wanted).finish();
        url = format!("{url}?{next}");
    }
    web::see_other(&url)
}

/// The page with the form, and what the form does.
pub(super) fn login(state: &State, access: &Access, request: &PageRequest, document: Document) -> Response {
    let Some(form) = &request.form else {
        return show_login(access, request, document);
    };
    let next = next_page(form);
    if let Err(refusal) = access.log_in(request, form, || is_merchant(state, form)) {
        return login_form(access, request, document, next, Some(&refusal));
    }
    let mut response = web::see_other(&format!("{}{next}", document.root));
    access.begin(request, &mut response);
    response
}

/// Ends the session, and shows where the next one begins.
fn log_out(access: &Access, request: &PageRequest, document: &Document) -> Response {
    let mut response = web::see_other(&format!("{}dashboard/login", document.root));
    access.end(request, &mut response);
    response
}

fn show_login(access: &Access, request: &PageRequest, document: Document) -> Response {
    let next = next_page(&request.query);
    if access.csrf(request).is_some() {
        return web::see_other(&format!("{}{next}", document.root));
    }
    login_form(access, request, document, next, None)
}

fn login_form(
    access: &Access,
    request: &PageRequest,
    document: Document,
    next: &str,
    refusal: Option<&LoginRefusal>,
) -> Response {
    let status = refusal.map_or(StatusCode::OK, LoginRefusal::status);
    let problem = refusal.map(|refusal| refusal.text("Wrong login or password."));
    access.login_page(request, refusal, |csrf| {
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

/// The page that was requested. For the CSV file it is the list: after a download nobody would see that the login had
/// worked.
fn wanted(request: &PageRequest) -> String {
    let path = match request.path.trim_matches('/') {
        "dashboard/transactions.csv" => HOME,
        path => path,
    };
    if request.raw_query.is_empty() { path.to_owned() } else { format!("{path}?{}", request.raw_query) }
}

/// Where to go after the login: only a page of the dashboard, never another site.
fn next_page(pairs: &FormPairs) -> &str {
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
    fn login_redirects_only_into_the_dashboard() {
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
            assert_eq!(next_page(&FormPairs::parse(wanted.as_bytes())), to, "{wanted}");
        }
    }
}
