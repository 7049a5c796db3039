//! The values of a message by name: they distinguish payments, and are replaced by those of a new request.

use url::form_urlencoded;

use crate::recording::{
    json_text::{self, Step, is_json, name, pointer, value_text},
    mask::is_number_name,
};

/// The minimum length of a gateway's number that identifies a payment. The merchant's own may be shorter.
const SHORTEST_NUMBER: usize = 4;
/// The minimum length of a part of a URL that counts as a number.
const SHORTEST_PATH_NUMBER: usize = 16;

/// A value of a request or a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// Its place: a JSON pointer, or a name in a form or a query.
    pub(super) place: String,
    /// Its name in lower case, without separators.
    pub(super) name: String,
    /// The content of a string, or the written text of anything else.
    pub(super) value: String,
}

impl Field {
    /// Whether it is a number of a payment.
    pub(super) fn is_number(&self) -> bool {
        let is_own = matches!(self.name.as_str(), "ordernumber" | "orderid") && !self.value.is_empty();
        is_number_name(&self.name) && (is_own || self.value.len() >= SHORTEST_NUMBER)
    }
}

/// A name in lower case, without separators: `callbackUrl`, `callback_url` and `callbackURL` are the same.
pub(super) fn plain_name(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The values of a request: of its query and its body.
pub(super) fn of_request(target: &str, body: &str) -> Vec<Field> {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let mut fields = of_pairs(query, "?");
    fields.extend(of_text(body));
    fields
}

/// The values of a body: JSON, or the pairs of a form.
pub(super) fn of_text(body: &str) -> Vec<Field> {
    if !is_json(body) {
        let is_form = body.contains('=') && !body.contains(char::is_whitespace);
        return if is_form { of_pairs(body, "") } else { Vec::new() };
    }
    let field = |(path, raw): (Vec<Step>, String)| {
        Some(Field { place: pointer("", &path), name: plain_name(name(&path)), value: value_text(&raw)? })
    };
    json_text::scalars(body).into_iter().filter_map(field).collect()
}

fn of_pairs(text: &str, base: &str) -> Vec<Field> {
    let field = |(name, value): (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)| Field {
        place: format!("{base}{name}"),
        name: plain_name(&name),
        value: value.into_owned(),
    };
    form_urlencoded::parse(text.as_bytes()).map(field).collect()
}

/// The numbers of payments in values: fields with such a name, and numbers in the URLs of pages.
pub(super) fn numbers(fields: &[Field]) -> Vec<String> {
    let mut numbers = Vec::new();
    for field in fields {
        if field.is_number() {
            numbers.push(field.value.clone());
        } else if field.value.contains("://")
            && !field.name.starts_with("callback")
            && !field.name.starts_with("return")
        {
            numbers.extend(in_address(&field.value));
        }
    }
    numbers
}

fn in_address(address: &str) -> Vec<String> {
    let without_fragment = address.split('#').next().unwrap_or(address);
    let (path, query) = without_fragment.split_once('?').unwrap_or((without_fragment, ""));
    let named = of_pairs(query, "").into_iter().filter(Field::is_number).map(|field| field.value);
    let is_number = |part: &&str| {
        part.len() >= SHORTEST_PATH_NUMBER && part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    };
    named.chain(path.split('/').filter(is_number).map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_name_and_in_addresses() {
        let body = r#"{"data":{"orderNumber":"A-17","id":7,"ConfirmationUrl":"http://x/3ds?token=0c5f-1&language=en",
            "payFormUrl":"https://x/pay/0c5f1d9e-4111-4111-1111-111111111111","callbackUrl":"http://x?id=12345","amount":12345}}"#;
        assert_eq!(numbers(&of_text(body)), ["A-17", "0c5f-1", "0c5f1d9e-4111-4111-1111-111111111111"]);
        assert_eq!(numbers(&of_request("/status?transaction_id=QR-1", "")), ["QR-1"]);
        assert_eq!(numbers(&of_request("/x", "order_id=A-17&sum=5")), ["A-17"]);
        assert!(numbers(&of_text("iVBORw0KGgo=")).is_empty());
    }
}
