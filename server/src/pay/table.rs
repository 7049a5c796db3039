//! The routing table: where, and how it is answered.

use axum::http::Method;

use super::{
    context::{HandlerFuture, RequestContext, Route},
    paying, show,
};

const fn get(path: &'static str, answer: fn(RequestContext) -> HandlerFuture) -> Route {
    Route { method: Method::GET, path, takes_foreign_posts: false, answer }
}

const fn post(path: &'static str, answer: fn(RequestContext) -> HandlerFuture) -> Route {
    Route { method: Method::POST, path, takes_foreign_posts: false, answer }
}

/// For what does no more than the same path by GET.
const fn post_by_anybody(path: &'static str, answer: fn(RequestContext) -> HandlerFuture) -> Route {
    Route { method: Method::POST, path, takes_foreign_posts: true, answer }
}

/// All of them, but for what pages load.
pub(super) static ROUTES: [Route; 14] = [
    get("/pay/{page}", show::show),
    post_by_anybody("/pay/{page}", paying::to_page),
    get("/pay/{page}/state", show::state),
    get("/pay/{page}/go", show::go),
    get("/pay/{page}/back", paying::back),
    post_by_anybody("/pay/{page}/back", paying::back),
    post("/pay/{page}/pay", paying::pay),
    get("/pay/{page}/pay", paying::to_page),
    post("/pay/{page}/confirm", paying::confirm),
    get("/pay/{page}/confirm", paying::to_page),
    post("/pay/{page}/check", paying::check),
    get("/pay/{page}/check", paying::to_page),
    // A return address that a gateway put together carelessly, such as `back&OrderNumber=1`, where no query began before.
    get("/pay/{page}/{*end}", paying::back),
    post_by_anybody("/pay/{page}/{*end}", paying::back),
];
