//! The text form of a reference, as apps store it (serialization): a version, then the fields that are there, encoded
//! as a query.

use std::{fmt, str::FromStr};

use form_urlencoded::Serializer;

use super::PaymentRef;
use crate::values::{error::PaymentError, provider::Provider, violation::Rule};

/// The version of the text form. A text of another version is refused, not guessed at.
const PREFIX: &str = "kassa1:";

/// The text form: a version, then the fields that are there, encoded as a query.
impl fmt::Display for PaymentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut query = Serializer::new(String::new());
        query.append_pair("kind", &self.kind.to_string());
        let fields = [
            ("order", self.order_number.as_deref()),
            ("gateway", self.gateway_number.as_deref()),
            ("provider", self.provider.as_ref().map(Provider::name)),
            ("transaction", self.transaction_id.as_deref()),
        ];
        for (name, value) in fields {
            value.into_iter().for_each(|value| {
                query.append_pair(name, value);
            });
        }
        write!(f, "{PREFIX}{}", query.finish())
    }
}

/// Reads the text form back.
///
/// # Errors
/// [`PaymentError::Invalid`] for a text of another version, with an unknown or doubled field, or without a kind.
impl FromStr for PaymentRef {
    type Err = PaymentError;

    fn from_str(text: &str) -> Result<Self, PaymentError> {
        let query = text.strip_prefix(PREFIX).ok_or_else(|| malformed("must begin with kassa1:"))?;
        let mut kind = None;
        let mut fields: [(&str, Option<String>); 4] =
            [("order", None), ("gateway", None), ("provider", None), ("transaction", None)];
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let place = if name == "kind" {
                &mut kind
            } else {
                let known = fields.iter_mut().find(|(known, _)| *known == name);
                &mut known.ok_or_else(|| malformed("has a field that this version does not know"))?.1
            };
            if place.replace(value.into_owned()).is_some() {
                return Err(malformed("has a field twice"));
            }
        }
        let kind = kind.and_then(|name| name.parse().ok());
        let [order, gateway, provider, transaction] = fields.map(|(_, value)| value);
        Ok(Self {
            kind: kind.ok_or_else(|| malformed("has no kind that this version knows"))?,
            order_number: order,
            gateway_number: gateway,
            provider: provider.map(|name| Provider::from_name(&name)),
            transaction_id: transaction,
        })
    }
}

fn malformed(sentence: &str) -> PaymentError {
    PaymentError::invalid("paymentRef", Rule::Format, None, sentence)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_that_are_not_understood_are_refused() {
        for text in [
            "",
            "order-1",
            "kassa2:kind=card",
            "kassa1:",
            "kassa1:kind=cheque&order=1",
            "kassa1:kind=card&order=1&order=2",
            "kassa1:kind=card&colour=red",
        ] {
            assert!(matches!(text.parse::<PaymentRef>(), Err(PaymentError::Invalid { .. })), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_reference_survives_its_text(
            order in any::<String>(), gateway in any::<Option<String>>(), other in "[^cCmM].*"
        ) {
            let mut payment = PaymentRef::pay_form(order, Provider::Other(other));
            payment.gateway_number = gateway;
            let text = payment.to_string();
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(text.parse::<PaymentRef>().unwrap(), payment);
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = text.parse::<PaymentRef>();
            let _ = format!("kassa1:{text}").parse::<PaymentRef>();
        }
    }
}
