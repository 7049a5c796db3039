//! What all pages share: the document around them, their headers, and escaping.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::{language::Language, messages::Message, pages::Answer};

/// Where the pages' style is, seen from any of them.
pub(crate) const STYLE_PATH: &str = "/page.css";

/// There is no `form-action` on purpose: browsers apply it to the redirect after a form, too, and that leads to
/// the merchant's return URL, which may be any site or app.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";

const STYLE: &str = "\
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 28rem; margin: 2rem auto; padding: 0 1rem }
label, input, button { display: block; font: inherit }
input:not([type=radio]), button { width: 100%; box-sizing: border-box; padding: .6rem; margin: .2rem 0 1rem }
fieldset { margin: 0 0 1rem }
label:has([type=radio]) { display: flex; gap: .5rem }
dt { font-weight: bold } dd { margin: 0 0 .5rem }
[role=alert] { border-left: .3rem solid #c00; padding-left: .8rem }
";

/// A text that is safe between tags and inside quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A whole page. `content` is HTML that its maker escaped.
pub(super) fn document(language: Language, title: Message, content: &str) -> String {
    let title = escape(&language.say(title));
    let notice = escape(&language.say(Message::TestMode));
    let code = language.code();
    format!(
        "<!doctype html>\n<html lang=\"{code}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"stylesheet\" href=\"page.css\">\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n{content}\n</main>\n<footer><small>{notice}</small></footer>\n</body>\n</html>\n"
    )
}

/// A page with the headers that all of them carry.
pub(super) fn response(status: StatusCode, document: String) -> Response {
    let mut response = Response::new(Body::from(document));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in
        [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY)]
    {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.extend(guards());
    response
}

/// 303 to a URL, with the same care: the token in this page's URL is no business of the next site.
pub(super) fn see_other(url: &str) -> Response {
    let Ok(location) = HeaderValue::from_str(url) else {
        tracing::error!("a redirect's target is no header value");
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = StatusCode::SEE_OTHER.into_response();
    response.headers_mut().insert(header::LOCATION, location);
    response.headers_mut().extend(guards());
    response
}

fn guards() -> [(HeaderName, HeaderValue); 3] {
    [
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)))
}

/// 405 for a page.
pub(super) fn method_not_allowed() -> Response {
    let allow = [(header::ALLOW, "GET, HEAD, POST")];
    (StatusCode::METHOD_NOT_ALLOWED, allow).into_response()
}

/// The page for a link that leads to no payment.
pub(super) fn not_found(language: Language) -> Answer {
    let text = escape(&language.say(Message::PageNotFoundText));
    let content = format!("<p>{text}</p>");
    let page = document(language, Message::PageNotFoundTitle, &content);
    Answer::Html(StatusCode::NOT_FOUND, page)
}

/// The page for a form that is too large or never arrived whole.
pub(super) fn unreadable(language: Language) -> Response {
    let page = document(language, Message::UnreadableForm, "");
    response(StatusCode::BAD_REQUEST, page)
}

/// The page for a failure of the sandbox itself.
pub(super) fn internal_error(language: Language) -> Answer {
    let page = document(language, Message::InternalError, "");
    Answer::Html(StatusCode::INTERNAL_SERVER_ERROR, page)
}

/// The pages' style.
pub(crate) async fn stylesheet() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_breaks_out_of_text_or_attribute() {
        assert_eq!(
            super::escape("<a href=\"x\" onclick='y'>&"),
            "&lt;a href=&quot;x&quot; onclick=&#39;y&#39;&gt;&amp;"
        );
    }
}
