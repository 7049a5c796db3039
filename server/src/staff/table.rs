//! The routing table: where, who may come, and how it is answered.

use axum::http::Method;

use super::{
    assets, checkout, checkouts, day, decisions, login,
    page::ErrorPage,
    reconciliation,
    route::{HandlerFuture, RequestContext, RequiredAccess, Route},
};
use crate::tokens::permission::Permission;

const LOOK: RequiredAccess = RequiredAccess::Staff(Permission::Look);
const DECIDE: RequiredAccess = RequiredAccess::Staff(Permission::Decide);
const FORM: usize = 64 * 1024;
/// The gateway's statement of a month.
const STATEMENT: usize = 8 * 1024 * 1024;

const fn get(access: RequiredAccess, path: &'static str, answer: fn(RequestContext) -> HandlerFuture) -> Route {
    Route { method: Method::GET, path, access, largest: 0, answer }
}

const fn post(
    access: RequiredAccess,
    path: &'static str,
    largest: usize,
    answer: fn(RequestContext) -> HandlerFuture,
) -> Route {
    Route { method: Method::POST, path, access, largest, answer }
}

/// All of them.
pub(super) static ROUTES: [Route; 16] = [
    get(RequiredAccess::Public, "/staff/assets/{name}", stylesheet),
    get(RequiredAccess::Public, "/staff/login", login::form),
    post(RequiredAccess::Public, "/staff/login", FORM, login::log_in),
    post(LOOK, "/staff/logout", FORM, login::log_out),
    get(LOOK, "/staff", checkouts::list),
    get(LOOK, "/staff/checkouts/{checkout}", checkout::show),
    post(DECIDE, "/staff/checkouts/{checkout}/ask", FORM, decisions::ask),
    post(DECIDE, "/staff/checkouts/{checkout}/cancel", FORM, decisions::cancel),
    post(DECIDE, "/staff/checkouts/{checkout}/replay", FORM, decisions::replay),
    post(DECIDE, "/staff/checkouts/{checkout}/refund", FORM, decisions::refund),
    post(DECIDE, "/staff/checkouts/{checkout}/payments/{payment}/resolve", FORM, decisions::resolve),
    get(LOOK, "/staff/day", day::show),
    get(LOOK, "/staff/reconciliation", reconciliation::show),
    post(LOOK, "/staff/reconciliation", STATEMENT, reconciliation::compare),
    get(LOOK, "/staff/reconciliation.csv", reconciliation::download),
    get(LOOK, "/staff/{*rest}", not_found),
];

fn stylesheet(context: RequestContext) -> HandlerFuture {
    Box::pin(async move { Ok(assets::serve(context.parameter("name"), &context.headers)) })
}

fn not_found(_: RequestContext) -> HandlerFuture {
    Box::pin(async { Err(ErrorPage::not_found()) })
}
