//! JSON objects as they are written: every member in its order, repeated names too, which a map would lose.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, Visitor},
};

/// The members of a JSON object, each with its value read as `V`; as a `RawValue` it stays digit for digit.
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
    fn members_keep_their_order_their_digits_and_their_repetitions() {
        let object: JsonObject<&RawValue> =
            serde_json::from_str(r#"{"b": 1.00, "a": "x", "b": 2}"#).expect("an object");
        let members: Vec<_> = object.0.iter().map(|(name, value)| (name.as_str(), value.get())).collect();
        assert_eq!(members, [("b", "1.00"), ("a", "\"x\""), ("b", "2")]);
        for other in ["[]", "1", "", "{"] {
            assert!(serde_json::from_str::<JsonObject<&RawValue>>(other).is_err(), "{other}");
        }
    }
}
