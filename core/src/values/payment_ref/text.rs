//! The text form of a reference, as apps store it (serialization): a version, then the fields that are there, encoded
//! as a query.

use std::{borrow::Cow, fmt, str::FromStr};

use form_urlencoded::Serializer;
use percent_encoding::percent_decode_str;

use super::{PaymentKind, PaymentRef};
use crate::values::{error::PaymentError, provider::Provider, violation::Rule};

/// The version of the text form. A text of another version is refused, not guessed at.
const PREFIX: &str = "kassa1:";

/// The text form: a version, then the fields that are there, encoded as a query.
impl fmt::Display for PaymentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut query = Serializer::new(String::new());
        // One of another kind would be refused when it is read, and with it the numbers by which its payment is found.
        let transaction = self.transaction_id.as_deref().filter(|_| self.kind == PaymentKind::Qr);
        query.append_pair("kind", &self.kind.to_string());
        let fields = [
            ("order", self.order_number.as_deref()),
            ("gateway", self.gateway_number.as_deref()),
            ("provider", self.provider.as_ref().map(Provider::name)),
            ("transaction", transaction),
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
/// [`PaymentError::Invalid`] for a text of another version, with an unknown or doubled field, without a kind, with
/// characters that are not encoded as they must be, or with the transaction id of a QR payment in one of another kind.
impl FromStr for PaymentRef {
    type Err = PaymentError;

    fn from_str(text: &str) -> Result<Self, PaymentError> {
        let query = text.strip_prefix(PREFIX).ok_or_else(|| malformed("must begin with kassa1:"))?;
        let mut kind = None;
        let mut fields: [(&str, Option<String>); 4] =
            [("order", None), ("gateway", None), ("provider", None), ("transaction", None)];
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let place = if name == "kind" {
                &mut kind
            } else {
                let known = fields.iter_mut().find(|(known, _)| *known == name);
                &mut known.ok_or_else(|| malformed("has a field that this version does not know"))?.1
            };
            let value =
                decode(value).ok_or_else(|| malformed("has characters that are not encoded as they must be"))?;
            if place.replace(value).is_some() {
                return Err(malformed("has a field twice"));
            }
        }
        let kind = kind.and_then(|name| name.parse().ok());
        let kind = kind.ok_or_else(|| malformed("has no kind that this version knows"))?;
        let [order, gateway, provider, transaction] = fields.map(|(_, value)| value);
        if transaction.is_some() && kind != PaymentKind::Qr {
            return Err(malformed("has a transaction, which a QR payment alone can have"));
        }
        Ok(Self {
            kind,
            order_number: order,
            gateway_number: gateway,
            provider: provider.map(|name| Provider::from_name(&name)),
            transaction_id: transaction,
        })
    }
}

/// The value behind its percent-encoding, or nothing where that is damaged. Parsers of forms make U+FFFD of what is not
/// UTF-8, and leave half an escape as it is; either would be the number of another payment.
fn decode(value: &str) -> Option<String> {
    let is_hex =
        |digits: Option<&str>| digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let is_whole = value.split('%').skip(1).all(|rest| is_hex(rest.get(..2)));
    let value = value.replace('+', " ");
    is_whole.then(|| percent_decode_str(&value).decode_utf8().ok().map(Cow::into_owned))?
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
            // Not UTF-8; no escape, or half of one.
            "kassa1:kind=card&order=%FF&provider=Cards",
            "kassa1:kind=card&order=%D0&provider=Cards",
            "kassa1:kind=card&order=1%ZZ&provider=Cards",
            "kassa1:kind=card&order=%D0%9",
            "kassa1:kind=card&order=%",
            "kassa1:kind=card&order=1&provider=Cards&transaction=tx-1",
            "kassa1:kind=mbank&transaction=tx-1",
            "kassa1:kind=pay_form&transaction=",
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
        fn a_transaction_survives_in_the_text_of_a_qr_payment_alone(id in any::<String>()) {
            let mut payment = PaymentRef::qr(id);
            prop_assert_eq!(payment.to_string().parse::<PaymentRef>().unwrap(), payment.clone());
            payment.kind = PaymentKind::Card;
            let read = payment.to_string().parse::<PaymentRef>().unwrap();
            prop_assert_eq!(read, PaymentRef::unnumbered(PaymentKind::Card));
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = text.parse::<PaymentRef>();
            let _ = format!("kassa1:{text}").parse::<PaymentRef>();
        }
    }
}
