//! Where the control page sends the browser.

use axum::response::Response;
use url::form_urlencoded;

use crate::web::{self, Document};

/// Back to the page, which says what was done.
pub(super) fn to_the_page(document: &Document, done: &str) -> Response {
    let query = if done.is_empty() { String::new() } else { format!("?done={done}") };
    web::see_other(&format!("{}control{query}", document.root))
}

/// To the page, with the number of a payment to be decided.
pub(super) fn to_the_payment(document: &Document, number: &str) -> Response {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("number", number).finish();
    web::see_other(&format!("{}control?{query}#decide", document.root))
}
