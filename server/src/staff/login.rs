//! Logging in by a staff key, and out.

use askama::Template;
use axum::{
    http::{StatusCode, header},
    response::Response,
};

use super::{
    cookie,
    page::{self, Frame, Refusal, see_other},
    route::{Answering, Visit},
};
use crate::values::error::ServerError;

#[derive(Template)]
#[template(path = "staff/login.html")]
struct Login<'a> {
    frame: Frame,
    problem: Option<&'a str>,
}

/// The page to log in on, in the place of what needs it.
pub(super) fn page(status: StatusCode, problem: Option<&str>) -> Response {
    page::page(status, &Login { frame: Frame::of(None, None), problem })
}

pub(super) fn form(_: Visit) -> Answering {
    Box::pin(async { Ok(page(StatusCode::OK, None)) })
}

pub(super) fn log_in(visit: Visit) -> Answering {
    Box::pin(async move {
        let desk = &visit.desk;
        match desk.server.log_in(visit.form.get("key")).await {
            Ok(token) => {
                desk.knew(visit.from);
                let mut response = see_other("/staff");
                response.headers_mut().insert(header::SET_COOKIE, cookie::set(token.expose(), desk.is_secure));
                Ok(response)
            }
            Err(ServerError::NotFound { .. }) => Ok(match desk.guessed(visit.from) {
                Ok(()) => {
                    page(StatusCode::UNAUTHORIZED, Some("This is no good staff key. Ask who runs the server for one."))
                }
                Err(wait) => {
                    let refusal = Refusal::too_often(wait);
                    refusal.waiting(page(refusal.status, Some(&refusal.sentence)))
                }
            }),
            Err(other) => Err(other.into()),
        }
    })
}

pub(super) fn log_out(visit: Visit) -> Answering {
    Box::pin(async move {
        if let Some(token) = cookie::read(&visit.headers, visit.desk.is_secure) {
            visit.desk.server.log_out(token).await?;
        }
        let mut response = see_other("/staff/login");
        response.headers_mut().insert(header::SET_COOKIE, cookie::set("", visit.desk.is_secure));
        Ok(response)
    })
}
