//! The routing table: where, who may come, and how it is answered.

use axum::http::Method;

use super::{
    assets, checkout, checkouts, decisions, login,
    page::Refusal,
    reconciliation,
    route::{Access, Answering, Route, Visit},
};

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
pub(super) static ROUTES: [Route; 15] = [
    get(Access::Anybody, "/staff/assets/{name}", stylesheet),
    get(Access::Anybody, "/staff/login", login::form),
    post(Access::Anybody, "/staff/login", FORM, login::log_in),
    post(Access::Staff, "/staff/logout", FORM, login::log_out),
    get(Access::Staff, "/staff", checkouts::list),
    get(Access::Staff, "/staff/checkouts/{checkout}", checkout::show),
    post(Access::Staff, "/staff/checkouts/{checkout}/ask", FORM, decisions::ask),
    post(Access::Staff, "/staff/checkouts/{checkout}/cancel", FORM, decisions::cancel),
    post(Access::Staff, "/staff/checkouts/{checkout}/replay", FORM, decisions::replay),
    post(Access::Staff, "/staff/checkouts/{checkout}/refund", FORM, decisions::refund),
    post(Access::Staff, "/staff/checkouts/{checkout}/payments/{payment}/resolve", FORM, decisions::resolve),
    get(Access::Staff, "/staff/reconciliation", reconciliation::show),
    post(Access::Staff, "/staff/reconciliation", STATEMENT, reconciliation::compare),
    get(Access::Staff, "/staff/reconciliation.csv", reconciliation::download),
    get(Access::Staff, "/staff/{*rest}", nowhere),
];

fn stylesheet(visit: Visit) -> Answering {
    Box::pin(async move { Ok(assets::serve(visit.parameter("name"))) })
}

fn nowhere(_: Visit) -> Answering {
    Box::pin(async { Err(Refusal::nowhere()) })
}
