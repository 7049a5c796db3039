//! A request to a page of the merchant's side.

use axum::{
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::{encoding::FormPairs, net::Line, web::read_body};

/// What a page needs to know of a request, read whole.
pub(crate) struct Call {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) query: FormPairs,
    /// The query as it stands, without a question mark.
    pub(crate) raw_query: String,
    /// Of a POST.
    pub(crate) form: Option<FormPairs>,
    pub(crate) line: Line,
}

impl Call {
    /// Reads a request, or says what is wrong with it.
    pub(crate) async fn read(request: Request, line: Line) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let form = match parts.method {
            Method::GET | Method::HEAD => None,
            Method::POST => match read_body(body).await {
                Ok(body) => Some(FormPairs::parse(&body)),
                Err(_) => return Err((StatusCode::BAD_REQUEST, "The form could not be read\n").into_response()),
            },
            _ => return Err((StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD, POST")]).into_response()),
        };
        let raw_query = parts.uri.query().unwrap_or_default().to_owned();
        let query = FormPairs::parse(raw_query.as_bytes());
        Ok(Self { path: parts.uri.path().to_owned(), headers: parts.headers, query, raw_query, form, line })
    }
}
