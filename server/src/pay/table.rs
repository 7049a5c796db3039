//! The routing table: where, and how it is answered.

use axum::http::Method;

use super::{
    paying, show,
    visit::{Answering, Route, Visit},
};

const fn get(path: &'static str, answer: fn(Visit) -> Answering) -> Route {
    Route { method: Method::GET, path, answer }
}

const fn post(path: &'static str, answer: fn(Visit) -> Answering) -> Route {
    Route { method: Method::POST, path, answer }
}

/// All of them, but for what pages load.
pub(super) static ROUTES: [Route; 10] = [
    get("/pay/{page}", show::show),
    get("/pay/{page}/state", show::state),
    get("/pay/{page}/go", show::go),
    get("/pay/{page}/back", paying::back),
    post("/pay/{page}/pay", paying::pay),
    get("/pay/{page}/pay", paying::to_page),
    post("/pay/{page}/confirm", paying::confirm),
    get("/pay/{page}/confirm", paying::to_page),
    post("/pay/{page}/check", paying::check),
    get("/pay/{page}/check", paying::to_page),
];
