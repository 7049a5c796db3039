//! Encodings of the wire: forms and queries, JSON objects (both with repeated names, in the order sent), and the text of QR codes.

pub(crate) mod elqr;
pub(crate) mod json_literal;

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, Visitor},
};
use url::form_urlencoded;

/// Names and values in order. No `Debug`, because it may contain card data or a password.
#[derive(Default)]
pub(crate) struct FormPairs(Vec<(String, String)>);

impl FormPairs {
    /// Parses a query or a body.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// The value without surrounding blanks. For a repeated name, the last one; empty if there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// Like `get`, with the blanks.
    pub(crate) fn raw(&self, name: &str) -> &str {
        self.0.iter().rev().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The unchanged value. For a repeated name, the first one.
    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl IntoIterator for FormPairs {
    type Item = (String, String);
    type IntoIter = std::vec::IntoIter<(String, String)>;

    /// All pairs, including repeated names.
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The members of a JSON object, each with its value read as `V`; a `RawValue` keeps every digit.
pub(crate) struct JsonObject<V>(pub(crate) Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for JsonObject<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

struct InOrder<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for InOrder<V> {
    type Value = JsonObject<V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(JsonObject(members))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn repeated_names_are_read_as_first_last_or_all() {
        let pairs = FormPairs::parse(b"a=+1+&b=%26&a=+2+");
        assert_eq!((pairs.get("a"), pairs.raw("a"), pairs.first("a")), ("2", " 2 ", Some(" 1 ")));
        assert_eq!((pairs.get("b"), pairs.get("c"), pairs.first("c")), ("&", "", None));
        assert_eq!(pairs.into_iter().count(), 3);
    }

    #[test]
    fn members_keep_order_digits_and_repetitions() {
        let object: JsonObject<&RawValue> =
            serde_json::from_str(r#"{"b": 1.00, "a": "x", "b": 2}"#).expect("an object");
        let members: Vec<_> = object.0.iter().map(|(name, value)| (name.as_str(), value.get())).collect();
        assert_eq!(members, [("b", "1.00"), ("a", "\"x\""), ("b", "2")]);
        for other in ["[]", "1", "", "{"] {
            assert!(serde_json::from_str::<JsonObject<&RawValue>>(other).is_err(), "{other}");
        }
    }
}
