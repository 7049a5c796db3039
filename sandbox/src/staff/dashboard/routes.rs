//! Routing of the dashboard: login and logout of the merchant, pages, forms.

use std::sync::Arc;

use askama::Template;
use axum::{
    Extension, Router,
    extract::{self, Path, Request, rejection::PathRejection},
    http::{Method, StatusCode},
    middleware::{Next, from_fn, from_fn_with_state},
    response::Response,
    routing::{MethodRouter, any, get, post},
};
use kassa_pages::token::is_same;
use subtle::ConstantTimeEq;
use url::form_urlencoded;

use crate::{
    domain::Language,
    encoding::FormPairs,
    staff::{
        dashboard::{
            PageContext, PageResult, analysis, charts, deliveries, export, failed, forbidden, not_found, payment,
            transactions,
        },
        layout::{Staff, Visitor},
    },
    state::State,
    web::{self, Access, Document, LoginRejection, PageRequest, Policy},
};

/// The shared state, and the login of the dashboard.
struct Dashboard {
    state: Arc<State>,
    access: Access,
}

/// The routes of the dashboard.
pub(crate) fn routes(state: &Arc<State>) -> Router {
    let dashboard = Arc::new(Dashboard {
        state: Arc::clone(state),
        access: Access::new(&state.public_url, state.options.tls.is_some(), "dashboard"),
    });
    let pages = [
        ("/dashboard", page(transactions::page)),
        ("/dashboard/transactions.csv", page(export::file)),
        ("/dashboard/transactions/{id}", page_of(payment::page)),
        ("/dashboard/charts", page(charts::page)),
        ("/dashboard/analysis", page(analysis::page)),
        ("/dashboard/deliveries", page(deliveries::page)),
        ("/dashboard/deliveries/{id}", page_of(deliveries::attempt)),
        ("/dashboard/deliveries/again", form(deliveries::deliver_again)),
        ("/dashboard/receiver", page(deliveries::received_page)),
        ("/dashboard/receiver/forget", form(deliveries::forget_received)),
        ("/dashboard/logout", post(log_out)),
    ];
    with_slashes(pages)
        .route("/dashboard/{*path}", any(show_not_found))
        .method_not_allowed_fallback(show_not_found)
        .layer(from_fn_with_state(Arc::clone(&dashboard), require_login))
        .merge(with_slashes([("/dashboard/login", get(show_login).post(log_in))]))
        .layer(from_fn(web::read_page_request))
        .layer(from_fn_with_state("dashboard", web::log_request))
        .with_state(dashboard)
}

/// Each route, also with a trailing slash.
fn with_slashes<const N: usize>(routes: [(&str, MethodRouter<Arc<Dashboard>>); N]) -> Router<Arc<Dashboard>> {
    routes.into_iter().fold(Router::new(), |router, (path, methods)| {
        router.route(path, methods.clone()).route(&format!("{path}/"), methods)
    })
}

/// A page.
fn page(work: fn(&PageContext) -> PageResult) -> MethodRouter<Arc<Dashboard>> {
    get(move |Extension(context): Extension<PageContext>| respond(context, work))
}

/// The page of one record.
fn page_of(work: fn(&PageContext, i64) -> PageResult) -> MethodRouter<Arc<Dashboard>> {
    get(move |id: Result<Path<i64>, PathRejection>, Extension(context): Extension<PageContext>| {
        respond(context, move |context| match id {
            Ok(Path(id)) => work(context, id),
            Err(_) => Ok(not_found(context)),
        })
    })
}

/// The execution of a form.
fn form(work: fn(&PageContext) -> PageResult) -> MethodRouter<Arc<Dashboard>> {
    post(move |Extension(context): Extension<PageContext>| respond(context, work))
}

async fn respond(context: PageContext, work: impl FnOnce(&PageContext) -> PageResult + Send + 'static) -> Response {
    web::respond_blocking(move || work(&context).unwrap_or_else(|error| failed(&context, &error))).await
}

async fn show_not_found(Extension(context): Extension<PageContext>) -> Response {
    not_found(&context)
}

/// Middleware: without a session, it redirects to the login; a form needs the session's CSRF token.
async fn require_login(
    extract::State(dashboard): extract::State<Arc<Dashboard>>,
    Extension(page_request): Extension<Arc<PageRequest>>,
    mut request: Request,
    next: Next,
) -> Response {
    let is_form = request.method() == Method::POST;
    let document = Document::at(&page_request.path, Language::English);
    let Some(csrf) = dashboard.access.csrf(&page_request) else {
        return to_login(&page_request, is_form, &document);
    };
    let visitor = Visitor { name: dashboard.state.options.login.clone(), csrf };
    let context = PageContext { state: Arc::clone(&dashboard.state), document, visitor, request: page_request };
    if is_form && !is_same(context.request.form.get("csrf"), &context.visitor.csrf) {
        return forbidden(&context);
    }
    request.extensions_mut().insert(context);
    next.run(request).await
}

/// The page after a login, unless another one was requested before.
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

/// Redirects to the login, and back afterwards.
fn to_login(request: &PageRequest, is_form: bool, document: &Document) -> Response {
    let mut url = format!("{}dashboard/login", document.root);
    let wanted = wanted(request);
    if !is_form && wanted != HOME {
        let next = form_urlencoded::Serializer::new(String::new()).append_pair("next", &wanted).finish();
        url = format!("{url}?{next}");
    }
    web::see_other(&url)
}

async fn show_login(
    extract::State(dashboard): extract::State<Arc<Dashboard>>,
    Extension(request): Extension<Arc<PageRequest>>,
) -> Response {
    let document = Document::at(&request.path, Language::English);
    let next = next_page(&request.query);
    if dashboard.access.csrf(&request).is_some() {
        return web::see_other(&format!("{}{next}", document.root));
    }
    login_form(&dashboard.access, &request, document, next, None)
}

async fn log_in(
    extract::State(dashboard): extract::State<Arc<Dashboard>>,
    Extension(request): Extension<Arc<PageRequest>>,
) -> Response {
    let document = Document::at(&request.path, Language::English);
    let next = next_page(&request.form);
    if let Err(rejection) = dashboard.access.log_in(&request, || is_merchant(&dashboard.state, &request.form)) {
        return login_form(&dashboard.access, &request, document, next, Some(&rejection));
    }
    let mut response = web::see_other(&format!("{}{next}", document.root));
    dashboard.access.begin(&request, &mut response);
    response
}

/// Ends the session, and redirects to the login.
async fn log_out(
    extract::State(dashboard): extract::State<Arc<Dashboard>>,
    Extension(context): Extension<PageContext>,
) -> Response {
    let mut response = web::see_other(&format!("{}dashboard/login", context.document.root));
    dashboard.access.end(&context.request, &mut response);
    response
}

fn login_form(
    access: &Access,
    request: &PageRequest,
    document: Document,
    next: &str,
    rejection: Option<&LoginRejection>,
) -> Response {
    let status = rejection.map_or(StatusCode::OK, LoginRejection::status);
    let problem = rejection.map(|rejection| rejection.text("Wrong login or password."));
    access.login_page(request, rejection, |csrf| {
        web::page(status, Policy::Staff, &Login { document, staff: Staff::default(), problem, csrf, next })
    })
}

/// Both are always compared, in constant time.
fn is_merchant(state: &State, form: &FormPairs) -> bool {
    let options = &state.options;
    let login = form.get("login").as_bytes().ct_eq(options.login.as_bytes());
    let password = form.raw("password").as_bytes().ct_eq(options.password.as_bytes());
    (login & password).into()
}

/// The requested page. For the CSV file, the list: after a download, the login page would still be visible.
fn wanted(request: &PageRequest) -> String {
    let path = match request.path.trim_matches('/') {
        "dashboard/transactions.csv" => HOME,
        path => path,
    };
    if request.raw_query.is_empty() { path.to_owned() } else { format!("{path}?{}", request.raw_query) }
}

/// The target after the login: only a page of the dashboard, never another site.
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
