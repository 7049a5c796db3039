//! The routing table: where, who may come, and how it is answered.

use axum::http::Method;

use super::{
    assets, checkout, checkouts, day, decisions, login,
    page::Refusal,
    reconciliation,
    route::{Access, Answering, Route, Visit},
};
use crate::tokens::permission::Permission;

const LOOK: Access = Access::Staff(Permission::Look);
const DECIDE: Access = Access::Staff(Permission::Decide);
const FORM: usize = 64 * 1024;
/// The gateway's statement of a month.
const STATEMENT: usize = 8 * 1024 * 1024;

const fn get(access: Access, path: &'static str, answer: fn(Visit) -> Answering) -> Route {
    Route { method: Method::GET, path, access, largest: 0, answer }
}

const fn post(access: Access, path: &'static str, largest: usize, answer: fn(Visit) -> Answering) -> Route {
    Route { method: Method::POST, path, access, largest, answer }
}

/// All of them.
pub(super) static ROUTES: [Route; 16] = [
    get(Access::Anybody, "/staff/assets/{name}", stylesheet),
    get(Access::Anybody, "/staff/login", login::form),
    post(Access::Anybody, "/staff/login", FORM, login::log_in),
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
    get(LOOK, "/staff/{*rest}", nowhere),
];

fn stylesheet(visit: Visit) -> Answering {
    Box::pin(async move { Ok(assets::serve(visit.parameter("name"), &visit.headers)) })
}

fn nowhere(_: Visit) -> Answering {
    Box::pin(async { Err(Refusal::nowhere()) })
}
