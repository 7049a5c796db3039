//! The response bytes of a gateway in memory, in the envelope that the interface shows (`docs/interface.md#envelope`).

use std::fmt::Write;

use crate::{response::Response, secret::SecretBytes};

/// A JSON object, member by member.
#[derive(Default)]
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn text(self, name: &str, text: &str) -> Self {
        self.json(name, &quoted(text))
    }

    /// A member that is JSON already: a number, an object.
    pub(crate) fn json(mut self, name: &str, json: &str) -> Self {
        let comma = if self.0.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{comma}{}:{json}", quoted(name));
        self
    }

    pub(crate) fn optional(self, name: &str, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(name, text),
            None => self,
        }
    }

    pub(crate) fn finish(self) -> String {
        format!("{{{}}}", self.0)
    }
}

/// Strings always serialize.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

pub(crate) fn response(http_status: u16, body: &[u8]) -> Response {
    let mut bytes = SecretBytes::default();
    bytes.append(body);
    Response { http_status, retry_after: None, body: bytes, over_limit: false, coding: None }
}

pub(crate) fn created(data: Object) -> Response {
    envelope("110", "CREATED", data)
}

pub(crate) fn envelope(code: &str, message: &str, data: Object) -> Response {
    let body = Object::default().text("code", code).text("message", message).json("data", &data.finish());
    response(200, body.finish().as_bytes())
}

/// An error in the envelope, without data.
pub(crate) fn refused(http_status: u16, code: &str, message: &str) -> Response {
    let body = Object::default().text("code", code).text("message", message);
    response(http_status, body.finish().as_bytes())
}
