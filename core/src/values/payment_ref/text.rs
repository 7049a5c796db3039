//! The text form of a reference, as apps store it (serialization): a version, then the fields that are there, encoded
//! as a query.

use std::{borrow::Cow, collections::BTreeMap, fmt, str::FromStr};

use form_urlencoded::Serializer;
use percent_encoding::percent_decode_str;
use rust_decimal::Decimal;

use super::{PaymentKind, PaymentRef};
use crate::values::{error::PaymentError, provider::Provider, violation::Rule};

/// The version of the text form. A text of another version is refused, not guessed at.
const PREFIX: &str = "kassa1:";

const NAMES: [&str; 10] =
    ["kind", "order", "gateway", "provider", "transaction", "confirm", "amount", "currency", "claimed", "entry"];

const CLAIMED: &str = "yes";

/// The text form: a version, then the fields that are there, encoded as a query.
impl fmt::Display for PaymentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut query = Serializer::new(String::new());
        // One of another kind would be refused when it is read, and with it the numbers by which its payment is found.
        let transaction = self.transaction_id.as_deref().filter(|_| self.kind == PaymentKind::Qr);
        let amount = self.amount.map(|amount| amount.to_string());
        query.append_pair("kind", &self.kind.to_string());
        let fields = [
            // Before the rest, so that a text that was cut short does not pass as the merchant's own number.
            ("claimed", self.is_claimed.then_some(CLAIMED)),
            ("entry", self.entry_id.as_deref()),
            ("order", self.order_number.as_deref()),
            ("gateway", self.gateway_number.as_deref()),
            ("provider", self.provider.as_ref().map(Provider::name)),
            ("transaction", transaction),
            ("confirm", self.confirm_identifier.as_deref()),
            ("amount", amount.as_deref()),
            ("currency", self.currency.as_deref()),
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
/// characters that are not encoded as they must be, with an amount that is no decimal number, or with the transaction
/// id of a QR payment in one of another kind.
impl FromStr for PaymentRef {
    type Err = PaymentError;

    fn from_str(text: &str) -> Result<Self, PaymentError> {
        let query = text.strip_prefix(PREFIX).ok_or_else(|| malformed("must begin with kassa1:"))?;
        let mut fields = decoded_pairs(query, &NAMES).map_err(malformed)?;
        let kind = fields.remove("kind").and_then(|name| name.parse().ok());
        let kind = kind.ok_or_else(|| malformed("has no kind that this version knows"))?;
        let transaction_id = fields.remove("transaction");
        if transaction_id.is_some() && kind != PaymentKind::Qr {
            return Err(malformed("has a transaction, which a QR payment alone can have"));
        }
        Ok(Self {
            kind,
            order_number: fields.remove("order"),
            gateway_number: fields.remove("gateway"),
            provider: fields.remove("provider").map(|name| Provider::from_name(&name)),
            transaction_id,
            confirm_identifier: fields.remove("confirm"),
            amount: fields.remove("amount").map(|amount| exact(&amount)).transpose()?,
            currency: fields.remove("currency"),
            is_claimed: fields.remove("claimed").map(|claimed| is_claimed(&claimed)).transpose()?.unwrap_or(false),
            entry_id: fields.remove("entry"),
        })
    }
}

/// The fields of a text in the form of a query, each known and at most once.
pub(crate) fn decoded_pairs(
    query: &str,
    names: &[&'static str],
) -> Result<BTreeMap<&'static str, String>, &'static str> {
    let mut fields = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let known = names.iter().find(|known| **known == name);
        let known = known.ok_or("has a field that this version does not know")?;
        let value = decode(value).ok_or("has characters that are not encoded as they must be")?;
        if fields.insert(*known, value).is_some() {
            return Err("has a field twice");
        }
    }
    Ok(fields)
}

/// An amount as it was written, so that no damaged text passes as another sum.
fn exact(text: &str) -> Result<Decimal, PaymentError> {
    let amount = Decimal::from_str_exact(text).ok().filter(|amount| amount.to_string() == text);
    amount.ok_or_else(|| malformed("has an amount that is not an exact decimal number"))
}

fn is_claimed(text: &str) -> Result<bool, PaymentError> {
    if text == CLAIMED { Ok(true) } else { Err(malformed("says in a way that is not known whether it is claimed")) }
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
            "kassa1:kind=card&order=1&amount=1,5",
            "kassa1:kind=card&order=1&amount=1e2",
            "kassa1:kind=card&order=1&amount=+5",
            "kassa1:kind=card&order=1&amount=007",
            "kassa1:kind=card&order=1&amount=",
            "kassa1:kind=card&order=1&claimed=no",
            "kassa1:kind=card&order=1&claimed=",
        ] {
            assert!(matches!(text.parse::<PaymentRef>(), Err(PaymentError::Invalid { .. })), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_reference_survives_its_text(
            order in any::<String>(), gateway in any::<Option<String>>(), other in "[^cCmM].*",
            confirm in any::<Option<String>>(), mantissa in any::<i64>(), scale in 0u32..=28,
            currency in any::<Option<String>>(), is_claimed in any::<bool>(),
        ) {
            let payment = PaymentRef {
                order_number: Some(order),
                gateway_number: gateway,
                provider: Some(Provider::Other(other)),
                confirm_identifier: confirm,
                currency,
                is_claimed,
                ..PaymentRef::pay_form(Decimal::new(mantissa, scale))
            };
            let text = payment.to_string();
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic()));
            let read = text.parse::<PaymentRef>().unwrap();
            prop_assert_eq!(read.to_string(), text);
            prop_assert_eq!(read, payment);
        }

        #[test]
        fn a_transaction_survives_in_the_text_of_a_qr_payment_alone(id in any::<String>()) {
            let mut payment = PaymentRef::qr(Some(150)).with_transaction_id(id);
            prop_assert_eq!(payment.to_string().parse::<PaymentRef>().unwrap(), payment.clone());
            payment.kind = PaymentKind::Card;
            let read = payment.to_string().parse::<PaymentRef>().unwrap();
            prop_assert_eq!(read, PaymentRef { transaction_id: None, ..payment });
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = text.parse::<PaymentRef>();
            let _ = format!("kassa1:{text}").parse::<PaymentRef>();
        }
    }
}
