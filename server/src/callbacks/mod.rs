//! Callbacks (webhooks) of the gateway. They are not signed, so a callback is a hint: it makes a poll of the payment
//! due, and proves nothing. **A hint needs only an order number**; unreadable callbacks are stored for the staff.

use std::{borrow::Cow, io::Read};

use flate2::read::GzDecoder;
use kassa::{Callback, Dialect};
use ring::digest::{SHA256, digest};
use strum::IntoStaticStr;

use crate::{
    payments::{exchange::Exchange, response::Secrets},
    storage::{
        inputs::{Claim, Hint},
        staff::UnknownCallback,
    },
    values::{Hidden, PaymentId, error::ServerError, is_hex_128},
};

/// The most of a body that is read, also after decompression.
const LONGEST_BODY: usize = 64 * 1024;
const LONGEST_NUMBER: usize = 128;
/// The placeholder for a missing order number. No order number can equal it: it is a control character.
const MISSING_NUMBER: &str = "\u{7f}";
const NO_NUMBER: &str = "no order number can be found in it";
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The end of the address to which callbacks about a payment go: 128 random bits of its checkout, and its number.
pub(crate) fn address(secret: &str, payment: &PaymentId) -> String {
    format!("{secret}/{}", payment.bare())
}

/// The whole address, under the server's own.
pub(crate) fn url(base: &str, secret: &Hidden, payment: &PaymentId) -> String {
    format!("{}/{}", base.trim_end_matches('/'), address(secret.expose(), payment))
}

/// How much of a callback was readable, as the metrics count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Readability {
    Whole,
    /// Fields that the interface requires are missing.
    Incomplete,
    /// There is no order number.
    Unreadable,
}

/// A callback, as it was received.
pub(crate) struct ReceivedCallback<'a> {
    /// The end of the address.
    pub(crate) address: &'a str,
    /// The query string of the address.
    pub(crate) query: &'a str,
    pub(crate) body: &'a [u8],
    /// Why the body was not received in full.
    pub(crate) problem: Option<&'a str>,
}

impl ReceivedCallback<'_> {
    /// Reads a callback by the gateway's dialect: the hint, and how much of it was readable.
    pub(crate) fn hint(&self, dialect: &Dialect) -> Result<(Hint, Readability), ServerError> {
        let nowhere = || ServerError::NotFound { what: "callback address" };
        let (secret, payment) = self.address.split_once('/').ok_or_else(nowhere)?;
        let payment: PaymentId = format!("pay_{payment}").parse().map_err(|_| nowhere())?;
        if !is_hex_128(secret) {
            return Err(nowhere());
        }
        let body = self.text();
        let callback = parse(&body, self.query);
        let callback = callback.as_ref();
        let status = callback.and_then(|callback| callback.status_by(dialect));
        let (reading, said) = match (callback, self.problem) {
            (_, Some(problem)) => (Readability::Unreadable, Some(problem.to_owned())),
            (None, None) => (Readability::Unreadable, Some(NO_NUMBER.to_owned())),
            (Some(callback), None) if callback.order_number == MISSING_NUMBER => {
                (Readability::Unreadable, Some(NO_NUMBER.to_owned()))
            }
            (Some(callback), None) if !can_be_number(&callback.order_number) => {
                let sentence =
                    format!("orderNumber must have at most {LONGEST_NUMBER} characters, and no control characters");
                (Readability::Unreadable, Some(sentence))
            }
            (Some(callback), None) if callback.missing.is_empty() => (Readability::Whole, None),
            (Some(callback), None) => {
                (Readability::Incomplete, Some(format!("absent or not readable: {}", callback.missing.join(", "))))
            }
        };
        let claimed = status.as_ref().map(|status| format!("it claims {status}"));
        let said = said.into_iter().chain(claimed).collect::<Vec<_>>().join("; ");
        let same = callback.and_then(Callback::dedup_key).map(|key| {
            let mut hash = [0; 32];
            hash.copy_from_slice(digest(&SHA256, key.as_bytes()).as_ref());
            hash
        });
        // A status counts even if its number cannot be used: for a payment without a number it may be the only report.
        let named = callback.filter(|callback| can_be_number(&callback.order_number));
        let number = named.map(|callback| callback.order_number.as_str());
        let whole = if self.query.is_empty() { body.clone() } else { format!("{body} ?{}", self.query).into() };
        let secrets = Secrets::of_addresses([&Hidden::new(secret)]);
        let exchange = Some(Box::new(Exchange::called_back(number, reading.into(), &said, &whole, &secrets)));
        let claim =
            named.map(|callback| Claim { number: callback.order_number.clone(), provider: callback.provider.clone() });
        let is_whole = reading == Readability::Whole;
        Ok((Hint::Callback { secret: secret.to_owned(), payment, claim, status, same, exchange, is_whole }, reading))
    }

    /// A callback to an address that no payment has, for a person to review; `None` if the address does not have our form.
    pub(crate) fn unknown(&self, dialect: &Dialect) -> Option<UnknownCallback> {
        let (hint, _) = self.hint(dialect).ok()?;
        let Hint::Callback { payment, status, exchange, .. } = hint else { return None };
        let amount = parse(&self.text(), self.query).and_then(|callback| callback.amount);
        let number = exchange.and_then(|exchange| exchange.claim);
        Some(UnknownCallback { payment, number, amount, status: status.map(|status| status.to_string()) })
    }

    /// The body as text. A body that is not text still says that something happened.
    fn text(&self) -> Cow<'_, str> {
        if !self.body.starts_with(&GZIP) {
            return String::from_utf8_lossy(self.body);
        }
        let mut unpacked = Vec::new();
        // The part that was unpacked before the error may contain the number.
        let _ = GzDecoder::new(self.body).take(LONGEST_BODY as u64).read_to_end(&mut unpacked);
        String::from_utf8_lossy(&unpacked).into_owned().into()
    }
}

/// Reads the fields of a callback. Some gateways put all of them, or only the order number, in the query of the address. A body
/// without an order number is still read, with [`MISSING_NUMBER`]: the address names the payment, and the status counts.
fn parse(body: &str, query: &str) -> Option<Callback> {
    let read = |text: &str| Callback::parse(text).ok();
    let in_query = read(query);
    let number = in_query.as_ref().map_or(MISSING_NUMBER, |callback| &callback.order_number);
    let completed =
        || with_number(body, number).and_then(|text| read(&text)).filter(|callback| callback.status.is_some());
    read(body).or_else(completed).or(in_query)
}

/// A body that has no order number, with this one: a JSON object or a form. The core reads no callback without one.
fn with_number(body: &str, number: &str) -> Option<String> {
    let body = body.trim();
    match body.strip_prefix('{') {
        Some(members) => Some(format!("{{\"orderNumber\":{},{members}", serde_json::Value::from(number))),
        None if body.contains('=') => {
            let number =
                url::form_urlencoded::Serializer::new(String::new()).append_pair("orderNumber", number).finish();
            Some(format!("{body}&{number}"))
        }
        None => None,
    }
}

fn can_be_number(text: &str) -> bool {
    text.chars().count() <= LONGEST_NUMBER && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use kassa::{PaymentStatus, Provider};

    use super::*;

    const WHOLE: &str = r#"{"orderNumber":"GW-1","amount":390.00,"currency":"KGS","status":"CHARGE",
        "dateCreated":"2026-11-26T21:05:07","provider":"Cards"}"#;

    fn secret() -> String {
        "0f".repeat(16)
    }

    fn payment() -> PaymentId {
        PaymentId::from_random([7; 16])
    }

    type Read = (Option<Claim>, Option<PaymentStatus>, Exchange, Readability);

    fn read(body: &[u8], query: &str, problem: Option<&str>) -> Read {
        let address = address(&secret(), &payment());
        let received = ReceivedCallback { address: &address, query, body, problem };
        let (Hint::Callback { secret: read, payment: payment_read, claim, status, exchange, is_whole, .. }, reading) =
            received.hint(&Dialect::default()).unwrap()
        else {
            panic!("it is an address")
        };
        assert_eq!((read, payment_read, is_whole), (secret(), payment(), reading == Readability::Whole));
        (claim, status, *exchange.unwrap(), reading)
    }

    fn packed(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn callback_to_malformed_address_is_not_found() {
        for address in ["", "/", "0f", "0f/0f", &format!("{}/x", secret())] {
            let received = ReceivedCallback { address, query: "", body: b"{}", problem: None };
            assert!(matches!(received.hint(&Dialect::default()), Err(ServerError::NotFound { .. })), "{address}");
        }
    }

    #[test]
    fn callback_number_is_read_despite_defects() {
        let charged = Some(PaymentStatus::Charged);
        let claim = Claim { number: "GW-1".into(), provider: Some(Provider::Cards) };
        for (body, query) in [(WHOLE.as_bytes(), ""), (&packed(WHOLE)[..], ""), (WHOLE.as_bytes(), "sign=1")] {
            let (claimed, status, exchange, reading) = read(body, query, None);
            assert_eq!((claimed.as_ref(), &status, reading), (Some(&claim), &charged, Readability::Whole), "{query}");
            assert_eq!(exchange.words.as_deref(), Some("it claims charged"));
        }
        for (body, query, status) in [
            ("OrderNumber=GW-1&amount=390,00&status=CHARGE", "", charged.clone()),
            (r#"{"data":{"order_number":"GW-1","amount":null}}"#, "x=1", None),
            ("", "orderNumber=GW-1&status=CHARGE", charged),
            ("nothing", "orderNumber=GW-1", None),
        ] {
            let (claim, claimed, exchange, reading) = read(body.as_bytes(), query, None);
            let expected = Claim { number: "GW-1".into(), provider: None };
            assert_eq!((claim, claimed), (Some(expected), status), "{body}?{query}");
            assert_eq!((reading, exchange.claim.as_deref()), (Readability::Incomplete, Some("GW-1")));
            assert!(exchange.words.unwrap().contains("dateCreated, provider"));
        }
    }

    #[test]
    fn callback_joins_body_status_and_query_number() {
        let claim = Claim { number: "GW&1".into(), provider: None };
        for body in
            [r#" {"status":"CHARGE","amount":390.00}"#, "status=CHARGE&amount=390", r#"{"data":{"status":"CHARGE"}}"#]
        {
            let (claimed, status, exchange, reading) = read(body.as_bytes(), "orderNumber=GW%261&sign=1", None);
            assert_eq!((claimed.as_ref(), status), (Some(&claim), Some(PaymentStatus::Charged)), "{body}");
            assert_eq!((reading, exchange.claim.as_deref()), (Readability::Incomplete, Some("GW&1")), "{body}");
        }
        // A body that says no status takes nothing away from what the query says.
        for body in ["{}", "{\"sign\":1}", "sign=1", "[1]", "{\"status\":"] {
            let (claimed, status, ..) = read(body.as_bytes(), "orderNumber=GW%261&status=REJECT", None);
            assert_eq!((claimed.as_ref(), status), (Some(&claim), Some(PaymentStatus::Rejected)), "{body}");
        }
    }

    #[test]
    fn callback_status_is_read_without_order_number() {
        for (body, query) in
            [(r#"{"status":"CHARGE","amount":1}"#, "sign=1"), ("status=CHARGE", ""), ("status=CHARGE", "sign=1")]
        {
            let (claim, status, exchange, reading) = read(body.as_bytes(), query, None);
            assert_eq!(
                (claim, status, reading),
                (None, Some(PaymentStatus::Charged), Readability::Unreadable),
                "{body}"
            );
            assert_eq!((exchange.claim, &*exchange.outcome), (None, "unreadable"));
            assert_eq!(exchange.words.as_deref(), Some("no order number can be found in it; it claims charged"));
        }
    }

    #[test]
    fn callback_status_is_read_by_dialect_words() {
        let dialect = Dialect::from_json(r#"{"charged_words": ["PAID"], "rejected_words": ["FAILED"]}"#).unwrap();
        let other = |word: &str| Some(PaymentStatus::Other(word.to_owned()));
        for (word, by_default, by_dialect) in [
            ("PAID", other("PAID"), Some(PaymentStatus::Charged)),
            ("failed", other("failed"), Some(PaymentStatus::Rejected)),
            ("Reject", Some(PaymentStatus::Rejected), other("Reject")),
        ] {
            let body = format!("orderNumber=GW-1&status={word}");
            let address = address(&secret(), &payment());
            let received = ReceivedCallback { address: &address, query: "", body: body.as_bytes(), problem: None };
            for (dialect, expected) in [(&Dialect::default(), by_default), (&dialect, by_dialect)] {
                let (Hint::Callback { status, .. }, _) = received.hint(dialect).unwrap() else { panic!("{word}") };
                assert_eq!(status, expected, "{word}");
            }
        }
    }

    #[test]
    fn unreadable_callback_is_masked_and_truncated() {
        let long = "x".repeat(LONGEST_NUMBER + 1);
        for body in ["", "nothing", "{}", "[]", "\u{1f}\u{8b}", &format!(r#"{{"orderNumber":"{long}"}}"#)] {
            let (claim, status, exchange, reading) = read(body.as_bytes(), "", None);
            assert_eq!((claim, status, reading), (None, None, Readability::Unreadable), "{body}");
            assert_eq!(exchange.outcome, "unreadable");
        }
        let card = format!(r#"{{"pan":"4000000000002016","text":"{}"}}"#, "ы".repeat(1000));
        let stored = read(card.as_bytes(), "", None).2.response.unwrap();
        assert!(stored.starts_with(r#"{"pan":"****************""#) && stored.len() < 1000, "{stored}");
        let (claim, status, exchange, reading) = read(b"", "", Some("the body is too large"));
        assert_eq!((claim, status, reading), (None, None, Readability::Unreadable));
        assert_eq!(exchange.words.as_deref(), Some("the body is too large"));
    }

    #[test]
    fn callback_status_is_read_without_usable_number() {
        let same = |body: &str| {
            let address = address(&secret(), &payment());
            let received = ReceivedCallback { address: &address, query: "", body: body.as_bytes(), problem: None };
            let (Hint::Callback { same, .. }, _) = received.hint(&Dialect::default()).unwrap() else {
                panic!("{body}")
            };
            same
        };
        for number in ["x".repeat(LONGEST_NUMBER + 1), "GW%071".to_owned()] {
            let body = format!("orderNumber={number}&status=CHARGE");
            let (claim, status, exchange, reading) = read(body.as_bytes(), "", None);
            assert_eq!(
                (claim, status, reading),
                (None, Some(PaymentStatus::Charged), Readability::Unreadable),
                "{body}"
            );
            assert_eq!((exchange.claim, &*exchange.outcome), (None, "unreadable"));
            let words = exchange.words.unwrap();
            assert!(words.starts_with("orderNumber must have") && words.ends_with("; it claims charged"), "{words}");
            // A copy is known again, and another status is no copy.
            assert_eq!(same(&body), same(&body));
            assert!(same(&body).is_some() && same(&body) != same(&body.replace("CHARGE", "DONE")));
        }
        let (_, status, exchange, _) = read(b"orderNumber=GW-1&status=CHARGE", "", Some("the body is too large"));
        assert_eq!(status, Some(PaymentStatus::Charged));
        assert_eq!(exchange.words.as_deref(), Some("the body is too large; it claims charged"));
    }
}
