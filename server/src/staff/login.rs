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
pub(super) fn page(home: &str, status: StatusCode, problem: Option<&str>) -> Response {
    page::page(status, &Login { frame: Frame::of(home, None, None), problem })
}

pub(super) fn form(visit: Visit) -> Answering {
    Box::pin(async move { Ok(page(&visit.desk.home, StatusCode::OK, None)) })
}

pub(super) fn log_in(visit: Visit) -> Answering {
    Box::pin(async move {
        let desk = &visit.desk;
        match desk.server.log_in(visit.form.get("key")).await {
            Ok(token) => {
                desk.knew(visit.from);
                let mut response = see_other(&desk.home);
                let cookie = cookie::set(token.expose(), desk.is_secure, &desk.home);
                response.headers_mut().insert(header::SET_COOKIE, cookie);
                Ok(response)
            }
            Err(ServerError::NotFound { .. }) => Ok(match desk.guessed(visit.from) {
                Ok(()) => {
                    let problem = "Wrong or revoked key. Ask the person who runs the server for a new one.";
                    page(&desk.home, StatusCode::UNAUTHORIZED, Some(problem))
                }
                Err(wait) => {
                    let refusal = Refusal::too_often(wait);
                    refusal.waiting(page(&desk.home, refusal.status, Some(&refusal.sentence)))
                }
            }),
            Err(other) => Err(other.into()),
        }
    })
}

pub(super) fn log_out(visit: Visit) -> Answering {
    Box::pin(async move {
        let desk = &visit.desk;
        if let Some(token) = cookie::read(&visit.headers, desk.is_secure, &desk.home) {
            desk.server.log_out(token).await?;
        }
        let mut response = see_other(&format!("{}/login", desk.home));
        response.headers_mut().insert(header::SET_COOKIE, cookie::set("", desk.is_secure, &desk.home));
        Ok(response)
    })
}
