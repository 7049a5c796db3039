//! Logging in by a staff key, and out.

use askama::Template;
use axum::{
    http::{StatusCode, header},
    response::Response,
};

use super::{
    context::RequestContext,
    cookie,
    page::{ErrorPage, Frame, View},
};
use crate::{
    net::{page, see_other},
    values::error::ServerError,
};

#[derive(Template)]
#[template(path = "staff/login.html")]
struct Login<'a> {
    frame: Frame,
    problem: Option<&'a str>,
}

/// The login page, shown in place of a page that needs it.
pub(super) fn login_page(view: &View, status: StatusCode, problem: Option<&str>) -> Response {
    page(status, &Login { frame: Frame::of(&view.of_login(), None, None), problem })
}

pub(super) async fn form(context: RequestContext) -> Result<Response, ErrorPage> {
    Ok(login_page(&context.view, StatusCode::OK, None))
}

pub(super) async fn log_in(context: RequestContext) -> Result<Response, ErrorPage> {
    let admin = &context.admin;
    match admin.server.log_in(context.form.get("key")).await {
        Ok(token) => {
            admin.record_login(context.from);
            let mut response = see_other(&admin.home);
            let cookie = cookie::set(token.expose(), admin.is_secure, &admin.home);
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            Ok(response)
        }
        Err(ServerError::NotFound { .. }) => Ok(match admin.record_wrong_key(context.from) {
            Ok(()) => login_page(&context.view, StatusCode::UNAUTHORIZED, Some(context.t().wrong_key)),
            Err(wait) => {
                let error = ErrorPage::too_many_requests(wait);
                let sentence = error.sentence(context.t());
                error.waiting(login_page(&context.view, error.status, Some(&sentence)))
            }
        }),
        Err(other) => Err(other.into()),
    }
}

pub(super) async fn log_out(context: RequestContext) -> Result<Response, ErrorPage> {
    let admin = &context.admin;
    if let Some(token) = cookie::read(&context.headers, admin.is_secure, &admin.home) {
        admin.server.log_out(token).await?;
    }
    let mut response = see_other(&format!("{}/login", admin.home));
    response.headers_mut().insert(header::SET_COOKIE, cookie::set("", admin.is_secure, &admin.home));
    Ok(response)
}
