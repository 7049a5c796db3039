//! The body of a callback as fields by their names, whatever form it has.

use std::borrow::Cow;

use crate::{
    json::{Document, Json},
    status::local_date_time::LocalDateTime,
};

/// The names of the order number: the interface's, and that of its sample client.
pub(super) const ORDER_NUMBER: [&str; 2] = ["orderNumber", "orderId"];

/// The member of an object that holds the fields where the object itself does not (envelope).
const ENVELOPE: &str = "data";

pub(super) enum Body<'a> {
    Json(Document<'a>),
    Form(Vec<(Cow<'a, str>, Cow<'a, str>)>),
    /// Neither an object nor a form.
    Unreadable,
}

impl<'a> Body<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        match Document::parse(text) {
            Ok(document) if document.root().is_object() => Self::Json(document),
            Err(_) if text.contains('=') && !text.trim_start().starts_with(['{', '[', '<']) => {
                Self::Form(form_urlencoded::parse(text.trim().as_bytes()).collect())
            }
            _ => Self::Unreadable,
        }
    }

    /// The text or the number of the first of these fields that has one.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        match self {
            Self::Json(document) => json_fields(document, names).find_map(text_of),
            Self::Form(pairs) => form_fields(pairs, names).next(),
            Self::Unreadable => None,
        }
    }

    /// The same as it came, also of a field that is neither a text nor a number.
    pub(super) fn source(&self, names: &[&str]) -> Option<String> {
        match self {
            Self::Json(document) => {
                let source = |value: Json<'_>| match value.text() {
                    Some(_) => text_of(value),
                    None => Some(value.source().to_owned()).filter(|_| !value.is_null()),
                };
                json_fields(document, names).find_map(source)
            }
            _ => self.text(names),
        }
    }

    pub(super) fn date(&self, names: &[&str]) -> Option<LocalDateTime> {
        match self {
            Self::Json(document) => json_fields(document, names).find_map(LocalDateTime::from_json),
            _ => LocalDateTime::parse(&self.text(names)?),
        }
    }

    /// The text at the first of these JSON pointers that has one, also inside the envelope. A form has members and nothing inside
    /// them.
    pub(super) fn at(&self, pointers: &[String]) -> Option<String> {
        match self {
            Self::Json(document) => {
                let root = document.root();
                let at = |pointer: &String| {
                    let inside = || root.at(&format!("/{ENVELOPE}{pointer}")).and_then(text_of);
                    root.at(pointer).and_then(text_of).or_else(inside)
                };
                pointers.iter().find_map(at)
            }
            Self::Form(pairs) => pointers.iter().find_map(|pointer| {
                let name = pointer.strip_prefix('/')?;
                pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone().into_owned())
            }),
            Self::Unreadable => None,
        }
    }
}

fn text_of(value: Json<'_>) -> Option<String> {
    value.text().filter(|text| !text.trim().is_empty()).map(Cow::into_owned)
}

/// The values of these fields: in the object itself, then in its envelope; by the name as it is spelled, then in any other way.
fn json_fields<'a>(document: &'a Document<'a>, names: &[&str]) -> impl Iterator<Item = Json<'a>> {
    let root = document.root();
    let envelope = root.members().filter(|(name, _)| is_called(name, ENVELOPE)).map(|(_, value)| value);
    let mut found = Vec::new();
    for object in std::iter::once(root).chain(envelope) {
        for name in names {
            found.extend(object.at(&format!("/{name}")).filter(|_| object.is_object()));
            found.extend(object.members().filter(|(known, _)| is_called(known, name)).map(|(_, value)| value));
        }
    }
    found.into_iter()
}

fn form_fields(pairs: &[(Cow<'_, str>, Cow<'_, str>)], names: &[&str]) -> impl Iterator<Item = String> {
    let given = |name: &str| {
        let values = pairs.iter().filter(move |(known, _)| is_called(known, name)).map(|(_, value)| value.trim());
        values.filter(|value| !value.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    names.iter().flat_map(|name| given(name)).collect::<Vec<_>>().into_iter()
}

/// Whether two names are the same but for case, underscores and hyphens: `orderNumber`, `OrderNumber`, `order_number`.
fn is_called(known: &str, name: &str) -> bool {
    let letters = |text: &'_ str| {
        text.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect::<String>()
    };
    letters(known) == letters(name)
}
