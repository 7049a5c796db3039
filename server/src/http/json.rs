//! JSON that is wiped when it is dropped (zeroization), even if it is refused or incomplete: a body may contain a card.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::Number;
use zeroize::Zeroizing;

use crate::values::card_number::looks_like_card_number;

/// A value.
pub(super) enum Json {
    Null,
    Bool,
    Number(Number),
    Text(Zeroizing<String>),
    List(Vec<Json>),
    Object(Members),
}

/// The members of an object, in their order.
pub(super) type Members = Vec<(Zeroizing<String>, Json)>;

impl Json {
    /// Whether anything in it looks like a card number, with one exception: names, texts and numbers at any depth.
    pub(super) fn holds_card_number(&self, except: Option<&Self>) -> bool {
        match self {
            _ if except.is_some_and(|except| std::ptr::eq(except, self)) => false,
            Self::Null | Self::Bool => false,
            Self::Number(number) => looks_like_card_number(&Zeroizing::new(number.to_string())),
            Self::Text(text) => looks_like_card_number(text),
            Self::List(list) => list.iter().any(|value| value.holds_card_number(except)),
            Self::Object(members) => {
                members.iter().any(|(name, value)| looks_like_card_number(name) || value.holds_card_number(except))
            }
        }
    }

    /// Its string, if it is one.
    pub(super) fn into_text(self) -> Option<Zeroizing<String>> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Bool)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Json, E> {
        Number::from_f64(number).map(Json::Number).ok_or_else(|| E::custom("no number"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(Zeroizing::new(text.to_owned())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(Zeroizing::new(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = values.next_element()? {
            list.push(value);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some((name, value)) = entries.next_entry::<String, Json>()? {
            members.push((Zeroizing::new(name), value));
        }
        Ok(Json::Object(members))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::net::memory::holds_after;

    const NUMBER: &str = "4000000000002016 4000000000002016 4000000000002016";

    fn text_of(json: &Json) -> &str {
        match json {
            Json::Object(members) => text_of(&members[0].1),
            Json::Text(text) => text,
            _ => "",
        }
    }

    #[test]
    fn parsed_json_is_wiped_on_drop() {
        let json: Json = serde_json::from_str(&format!(r#"{{"card": {{"number": "{NUMBER}"}}}}"#)).unwrap();
        assert!(json.holds_card_number(None));
        let place = text_of(&json).as_ptr() as usize;
        assert!(!holds_after(|| drop(json), place, NUMBER.as_bytes()));
    }

    /// That the test sees what is not wiped.
    #[test]
    fn unwiped_memory_is_detected() {
        let text = NUMBER.to_owned();
        let place = text.as_ptr() as usize;
        assert!(holds_after(|| drop(text), place, NUMBER.as_bytes()));
    }
}
