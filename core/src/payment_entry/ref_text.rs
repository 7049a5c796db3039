//! The text form of a reference, as apps store it (serialization): a version, then the present fields, encoded as a
//! query.

use std::{borrow::Cow, collections::BTreeMap, fmt, str::FromStr};

use form_urlencoded::Serializer;
use percent_encoding::percent_decode_str;
use rust_decimal::Decimal;

use crate::{
    error::PaymentError,
    payment_ref::{PaymentKind, PaymentRef, report::Provider},
    violation::Rule,
};

/// The version of the text form. A text of another version is refused, not guessed at.
const PREFIX: &str = "kassa1:";

const NAMES: [&str; 11] = [
    "kind",
    "order",
    "gateway",
    "provider",
    "transaction",
    "from_code",
    "confirm",
    "amount",
    "currency",
    "claimed",
    "entry",
];

/// The value of a flag, which is present only if it is true.
const YES: &str = "yes";

const KINDS: [PaymentKind; 5] =
    [PaymentKind::Card, PaymentKind::Mbank, PaymentKind::Megapay, PaymentKind::PayForm, PaymentKind::Qr];

const NOT_WHOLE: &str = "is not whole: its end is missing";

/// The text form: a version, then the present fields, encoded as a query.
impl fmt::Display for PaymentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut query = Serializer::new(String::new());
        // A transaction id of another kind of payment would make the text unreadable, and the payment's numbers would be lost.
        let transaction = self.transaction_id.as_deref().filter(|_| self.kind == PaymentKind::Qr);
        let amount = self.amount.map(|amount| amount.to_string());
        query.append_pair("kind", &self.kind.to_string());
        let fields = [
            // Before the rest, so that a text that was cut short does not pass as the merchant's own number.
            ("claimed", self.is_claimed.then_some(YES)),
            ("entry", self.entry_id.as_deref()),
            ("order", self.order_number.as_deref()),
            ("gateway", self.gateway_number.as_deref()),
            ("provider", self.provider.as_ref().map(Provider::name)),
            ("transaction", transaction),
            ("from_code", self.has_transaction_from_code().then_some(YES)),
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

/// Reads the text form back. Surrounding white space, as files and fixed-width columns add, is ignored.
///
/// # Errors
/// [`PaymentError::Invalid`] for a text of another version, one that is visibly incomplete, with white space or another
/// character inside that the text form never has, with an unknown or doubled field, without a kind, with characters
/// that are not encoded as they must be, with an amount that is not a decimal number, or with the transaction id of a
/// QR payment in one of another kind.
impl FromStr for PaymentRef {
    type Err = PaymentError;

    fn from_str(text: &str) -> Result<Self, PaymentError> {
        let text = text.trim_ascii();
        let query = text.strip_prefix(PREFIX).ok_or_else(|| match PREFIX.starts_with(text) && !text.is_empty() {
            true => malformed(NOT_WHOLE),
            false => malformed("must begin with kassa1:"),
        })?;
        // Otherwise such a character would become part of a field: a currency with a trailing space is a different currency.
        if !query.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(malformed("has white space or another character inside that its text never has"));
        }
        if is_cut(query) {
            return Err(malformed(NOT_WHOLE));
        }
        let mut fields = decoded_pairs(query, &NAMES).map_err(malformed)?;
        let kind = fields.remove("kind").and_then(|name| name.parse().ok());
        let kind = kind.ok_or_else(|| malformed("has no kind that this version knows"))?;
        let transaction_id = fields.remove("transaction");
        if transaction_id.is_some() && kind != PaymentKind::Qr {
            return Err(malformed("has a transaction, which a QR payment alone can have"));
        }
        let mut flag =
            |name: &str| fields.remove(name).map(|text| is_yes(&text)).transpose().map(Option::unwrap_or_default);
        let (is_claimed, transaction_from_code) = (flag("claimed")?, flag("from_code")?);
        if transaction_from_code && transaction_id.is_none() {
            return Err(malformed("has no transaction that could be from a code"));
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
            is_claimed,
            entry_id: fields.remove("entry"),
            transaction_from_code,
        })
    }
}

/// Whether the last field shows that the text was cut there. A text that was cut elsewhere lacks at least its currency,
/// and then no charge is confirmed.
fn is_cut(query: &str) -> bool {
    let last = query.rsplit('&').next().unwrap_or_default();
    let begins = |whole: &str, part: &str| part != whole && whole.starts_with(part);
    match last.split_once('=') {
        // Also if nothing follows `&` or the version.
        None => NAMES.iter().any(|name| name.starts_with(last)),
        Some(("kind", value)) => {
            let kinds = KINDS.map(|kind| kind.to_string());
            kinds.iter().all(|kind| kind != value) && kinds.iter().any(|kind| begins(kind, value))
        }
        Some(("claimed" | "from_code", value)) => begins(YES, value),
        Some(("amount", value)) => value.is_empty() || value.ends_with('.'),
        Some((_, value)) => ends_within_a_character(value),
    }
}

/// Whether a value ends with half an escape, or with the first bytes of a character.
fn ends_within_a_character(value: &str) -> bool {
    let half = value.rsplit_once('%').is_some_and(|(_, digits)| digits.len() < 2 && are_hex(digits));
    half || percent_decode_str(value).decode_utf8().is_err_and(|error| error.error_len().is_none())
}

fn are_hex(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The fields of a text in the form of a query, each known and at most once.
pub(crate) fn decoded_pairs(
    query: &str,
    names: &[&'static str],
) -> Result<BTreeMap<&'static str, String>, &'static str> {
    let mut fields = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or("has a field without a value")?;
        let known = names.iter().find(|known| **known == name);
        let known = known.ok_or("has a field that this version does not know")?;
        let value = decode(value).ok_or("has characters that are not encoded as they must be")?;
        if fields.insert(*known, value).is_some() {
            return Err("has a field twice");
        }
    }
    Ok(fields)
}

/// An amount in exactly its written form, so that a damaged text is not read as another amount.
fn exact(text: &str) -> Result<Decimal, PaymentError> {
    let amount = Decimal::from_str_exact(text).ok().filter(|amount| amount.to_string() == text);
    amount.ok_or_else(|| malformed("has an amount that is not an exact decimal number"))
}

fn is_yes(text: &str) -> Result<bool, PaymentError> {
    let sentence = "has an unknown value for whether its number is claimed or its transaction is from a code";
    if text == YES { Ok(true) } else { Err(malformed(sentence)) }
}

/// The percent-decoded value, or `None` if the encoding is damaged. Form parsers replace invalid UTF-8 with U+FFFD and
/// keep half an escape; either would be the number of another payment.
fn decode(value: &str) -> Option<String> {
    let is_whole = value.split('%').skip(1).all(|rest| rest.get(..2).is_some_and(are_hex));
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
            "kassa1:kind=qr&transaction=tx-1&from_code=no",
            "kassa1:kind=qr&transaction=tx-1&from_code=",
            "kassa1:kind=qr&from_code=yes&amount=1&currency=KGS",
            "kassa1:kind=card&order=1&from_code=yes",
        ] {
            assert!(matches!(text.parse::<PaymentRef>(), Err(PaymentError::Invalid { .. })), "{text}");
        }
    }

    fn refused(text: &str) -> String {
        text.parse::<PaymentRef>().map_or_else(|error| error.to_string(), |payment| panic!("{payment} was read"))
    }

    #[test]
    fn ref_text_allows_white_space_only_around_it() {
        let payment = PaymentRef::card("order 1", Decimal::new(10025, 2), "KGS");
        let text = payment.to_string();
        for around in [" ", "\n", "\r\n", "\t", "                "] {
            for padded in [format!("{text}{around}"), format!("{around}{text}"), format!("{around}{text}{around}")] {
                assert_eq!(padded.parse::<PaymentRef>().unwrap(), payment, "{padded:?}");
            }
        }
        // A no-break space and a zero-width one come with pasting; a zero byte pads in some databases.
        for inside in [" ", "\n", "\t", "\u{a0}", "\u{200b}", "\0", "я"] {
            for damaged in [text.replace("&", &format!("{inside}&")), format!("{text}{inside}&entry=1")] {
                assert!(refused(&damaged).contains("white space or another character inside"), "{damaged:?}");
            }
        }
        for at_the_end in ["\u{a0}", "\u{200b}", "\0"] {
            assert!(refused(&format!("{text}{at_the_end}")).contains("white space or another character inside"));
        }
    }

    #[test]
    fn truncated_ref_text_is_reported_as_incomplete() {
        let claimed = PaymentRef::pay_form(Decimal::new(10025, 2)).with_claimed_number("№ 1", Some(Provider::MegaPay));
        let text = claimed.to_string();
        for end in 1..text.len() {
            let cut = &text[..end];
            match cut.parse::<PaymentRef>() {
                // Cut within a value that could be one: the currency is missing, or another one.
                Ok(payment) => assert_ne!(payment.currency, claimed.currency, "{cut}"),
                Err(error) => assert!(error.to_string().contains(NOT_WHOLE), "{cut}: {error}"),
            }
        }
        for cut in ["kassa1:kind=card&amount=100.", "kassa1:kind=card&order=1&currency", "kassa1:kind=card&"] {
            assert!(refused(cut).contains(NOT_WHOLE), "{cut}");
        }
        assert!(refused("kassa1:kind=card&currency&order=1").contains("has a field without a value"));
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
        fn transaction_is_stored_only_for_qr_payment(id in any::<String>()) {
            let mut payment = PaymentRef::qr(Some(150)).with_transaction_id(id);
            for transaction_from_code in [false, true] {
                payment.transaction_from_code = transaction_from_code;
                prop_assert_eq!(payment.to_string().parse::<PaymentRef>().unwrap(), payment.clone());
            }
            payment.kind = PaymentKind::Card;
            let read = payment.to_string().parse::<PaymentRef>().unwrap();
            prop_assert_eq!(read, PaymentRef { transaction_id: None, transaction_from_code: false, ..payment });
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = text.parse::<PaymentRef>();
            let _ = format!("kassa1:{text}").parse::<PaymentRef>();
        }
    }
}
