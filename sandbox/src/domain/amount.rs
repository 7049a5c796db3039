//! Exact decimals: an amount keeps the digits of its JSON text, and is never converted to a float.

use std::borrow::Cow;

use rust_decimal::Decimal;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer, ser::Error};
use serde_json::value::RawValue;

/// An amount on the wire: a JSON number with its exact digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount(pub(crate) Decimal);

impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.to_string()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// The exact value of a JSON number; `None` if it has more digits than a decimal can hold.
pub(crate) fn exact(number: &str) -> Option<Decimal> {
    let Some((digits, exponent)) = number.split_once(['e', 'E']) else {
        return Decimal::from_str_exact(number).ok();
    };
    shift(Decimal::from_str_exact(digits).ok()?, exponent.parse().ok()?)
}

/// `digits` times ten to the `exponent`, exactly.
fn shift(mut digits: Decimal, exponent: i32) -> Option<Decimal> {
    let scale = i32::try_from(digits.scale()).ok()?.checked_sub(exponent)?;
    if let Ok(scale) = u32::try_from(scale) {
        digits.set_scale(scale).ok()?;
        return Some(digits);
    }
    digits.set_scale(0).ok()?;
    let power = 10_i128.checked_pow(scale.unsigned_abs())?;
    digits.checked_mul(Decimal::try_from_i128_with_scale(power, 0).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_survive() {
        for text in ["100.10", "1", "0.1", "79228162514264337593543950335", "1.000"] {
            let amount = Amount(exact(text).expect(text));
            assert_eq!(serde_json::to_string(&amount).expect(text), text);
        }
    }

    #[test]
    fn exponents_are_exact() {
        for (text, plain) in [("1e2", "100"), ("1.50E1", "15.0"), ("25e-2", "0.25"), ("1E+3", "1000")] {
            assert_eq!(exact(text).map(|d| d.to_string()).as_deref(), Some(plain));
        }
    }

    #[test]
    fn too_many_digits_are_rejected_not_rounded() {
        for text in [
            "79228162514264337593543950336",
            "1.00000000000000000000000000001",
            "1e29",
            "1e999999999999",
            "1e2147483647",
            "1e-2147483648",
        ] {
            assert_eq!(exact(text), None, "{text}");
        }
    }
}
