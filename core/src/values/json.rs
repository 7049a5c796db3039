//! JSON parsing, lenient about the shape of a reply and strict about its text: numbers keep their digits, and a
//! document with duplicate names is not read at all.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// A JSON value inside a reply, kept as its own text.
#[derive(Clone, Copy)]
pub(crate) struct Json<'a>(&'a RawValue);

impl<'a> Json<'a> {
    /// The document of a text, or why it has none.
    pub(crate) fn parse(text: &'a str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        serde_json::from_str::<Unambiguous>(text).map_err(|problem| problem.to_string())?;
        serde_json::from_str(text).map(Self).map_err(|problem| problem.to_string())
    }

    pub(crate) fn is_object(self) -> bool {
        self.0.get().starts_with('{')
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.get() == "null"
    }

    /// A string with nothing in it.
    pub(crate) fn is_blank(self) -> bool {
        self.text().is_some_and(|text| text.trim().is_empty())
    }

    /// The value's own text.
    pub(crate) fn source(self) -> &'a str {
        self.0.get()
    }

    /// The value at a JSON pointer (RFC 6901).
    pub(crate) fn at(self, pointer: &str) -> Option<Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, token| value.child(token))
    }

    /// A string's text, or a number's digits as they stand.
    pub(crate) fn text(self) -> Option<String> {
        let raw = self.0.get();
        match raw.as_bytes().first()? {
            b'"' => serde_json::from_str(raw).ok(),
            b'-' | b'0'..=b'9' => Some(raw.to_owned()),
            _ => None,
        }
    }

    pub(crate) fn items(self) -> Option<Vec<Self>> {
        serde_json::from_str::<Vec<&RawValue>>(self.0.get()).ok().map(|items| items.into_iter().map(Self).collect())
    }

    fn child(self, token: &str) -> Option<Self> {
        let name =
            if token.contains('~') { Cow::from(token.replace("~1", "/").replace("~0", "~")) } else { Cow::from(token) };
        if self.is_object() {
            let mut object = serde_json::Deserializer::from_str(self.0.get());
            Member(&name).deserialize(&mut object).ok()?.map(Self)
        } else {
            self.items()?.get(name.parse::<usize>().ok()?).copied()
        }
    }
}

/// Finds one member of an object by its name, without keeping the others: every field of every reply is looked for in
/// this way.
struct Member<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<Name<'de>>()? {
            if found.is_none() && name.0 == self.0 {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// The name of a member: borrowed from the text, unless it has an escape in it.
#[derive(PartialEq, Eq, Hash)]
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(text.to_owned().into()))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Accepts any JSON in which no object has the same name twice: which of two values counts could decide whether a
/// payment is charged.
struct Unambiguous;

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Unambiguous {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<Name<'de>>()? {
            map.next_value::<Self>()?;
            if !names.insert(name) {
                return Err(A::Error::custom("an object has the same name twice"));
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_find_what_they_name() {
        let text = r#"{"a":{"b/c":[10,{"d~e":"x"}]},"n":100.10,"s":"\u0041"}"#;
        let json = Json::parse(text).unwrap();
        let found = |pointer| json.at(pointer).and_then(Json::text);
        assert_eq!(found("/a/b~1c/0").as_deref(), Some("10"));
        assert_eq!(found("/a/b~1c/1/d~0e").as_deref(), Some("x"));
        assert_eq!(found("/n").as_deref(), Some("100.10"));
        assert_eq!(found("/s").as_deref(), Some("A"));
        assert_eq!(found("/a"), None);
        assert!(json.at("/a/b~1c/2").is_none() && json.at("/x").is_none() && json.at("n").is_none());
        assert!(json.at("").unwrap().is_object());
    }

    #[test]
    fn what_is_not_one_unambiguous_document_is_not_read() {
        for text in ["", "{", "{} {}", r#"{"a":1,"a":2}"#, r#"{"x":[{"a":1,"\u0061":2}]}"#, "nope", "1e999"] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
        assert!(Json::parse("\u{feff}{}").is_ok());
    }
}
