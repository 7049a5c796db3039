//! Payment entry: the record that an app stores of an unfinished payment, with the page or QR code that the payer saw.

pub(crate) mod ref_text;

use std::{fmt, str::FromStr};

use form_urlencoded::Serializer;

use crate::{error::PaymentError, payment_entry::ref_text::decoded_pairs, payment_ref::PaymentRef, violation::Rule};

/// The version of the text form. A text of another version is rejected, and its meaning never guessed.
const PREFIX: &str = "kassa-entry1:";

const NAMES: [&str; 4] = ["payment", "page", "qr", "check"];

/// The record of an unfinished payment: its reference, and the page or the QR code that the payer saw. An app that
/// stores it **can show them again** after it was killed or crashed, and queries the payment with the same record.
///
/// Every answer to a request that creates a payment has one (`entry()`), except the gateway's own QR picture. It holds no secret, but anyone who has the
/// page's URL can open it. Its text form ends with a checksum, so that a truncated or changed text is rejected:
///
/// ```
/// use kassa::{Decimal, PaymentEntry, PaymentRef};
///
/// let entry = PaymentEntry::new(PaymentRef::card("order-1", Decimal::TEN, "KGS")).with_page_url("https://pay.kg/3ds");
/// let stored = entry.to_string();
/// assert_eq!(stored.parse::<PaymentEntry>().unwrap(), entry);
/// assert!(stored[..stored.len() - 1].parse::<PaymentEntry>().is_err());
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PaymentEntry {
    /// The payment reference, for status queries.
    pub payment: PaymentRef,
    /// The page that the payer opens: the 3DS confirmation, or the pay-form.
    pub page_url: Option<String>,
    /// The text of the QR code, to be drawn with [`QrCode`](crate::QrCode).
    pub qr_text: Option<String>,
}

impl PaymentEntry {
    /// An entry of a payment without a page or QR code.
    pub fn new(payment: PaymentRef) -> Self {
        Self { payment, page_url: None, qr_text: None }
    }

    /// Sets the page that the payer opens.
    #[must_use]
    pub fn with_page_url(self, page_url: impl Into<String>) -> Self {
        Self { page_url: Some(page_url.into()), ..self }
    }

    /// Sets the text of the QR code.
    #[must_use]
    pub fn with_qr_text(self, qr_text: impl Into<String>) -> Self {
        Self { qr_text: Some(qr_text.into()), ..self }
    }
}

/// The text form: a version, the present fields, encoded as a query, and a checksum of all before it.
impl fmt::Display for PaymentEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut query = Serializer::new(String::new());
        query.append_pair("payment", &self.payment.to_string());
        for (name, value) in [("page", &self.page_url), ("qr", &self.qr_text)] {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        let text = format!("{PREFIX}{}", query.finish());
        write!(f, "{text}&check={}", checksum(&text))
    }
}

/// Reads the text form back. Surrounding white space, as files and fixed-width columns add, is ignored.
///
/// # Errors
/// [`PaymentError::Invalid`] for a text of another version, a truncated or changed text, and a text with an invalid
/// payment.
impl FromStr for PaymentEntry {
    type Err = PaymentError;

    fn from_str(text: &str) -> Result<Self, PaymentError> {
        let text = text.trim_ascii();
        let query = text.strip_prefix(PREFIX).ok_or_else(|| malformed("must begin with kassa-entry1:"))?;
        let whole = text.rsplit_once("&check=").filter(|(before, check)| checksum(before) == *check);
        whole.ok_or_else(|| malformed("is not whole: its checksum is another one"))?;
        let mut fields = decoded_pairs(query, &NAMES).map_err(malformed)?;
        let payment = fields.remove("payment").ok_or_else(|| malformed("has no payment"))?;
        Ok(Self { payment: payment.parse()?, page_url: fields.remove("page"), qr_text: fields.remove("qr") })
    }
}

/// CRC-32, against accidental errors and not against forgery.
fn checksum(text: &str) -> String {
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

fn malformed(sentence: &str) -> PaymentError {
    PaymentError::invalid("paymentEntry", Rule::Format, None, sentence)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Decimal;

    fn entry() -> PaymentEntry {
        let payment = PaymentRef::card("a&b=я", Decimal::new(10010, 2), "KGS").with_gateway_number("g+1");
        PaymentEntry::new(payment).with_page_url("https://pay.kg/3ds?token=1&a=%20").with_qr_text("000201…")
    }

    #[test]
    fn text_that_was_cut_or_changed_is_refused() {
        let text = entry().to_string();
        assert_eq!(text.parse::<PaymentEntry>().unwrap(), entry());
        assert_eq!(format!(" {text}\r\n").parse::<PaymentEntry>().unwrap(), entry());
        for end in 0..text.len() {
            assert!(text[..end].parse::<PaymentEntry>().is_err(), "{}", &text[..end]);
        }
        for (at, byte) in text.bytes().enumerate() {
            let other = if byte == b'1' { '2' } else { '1' };
            let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            assert!(changed.parse::<PaymentEntry>().is_err(), "{changed}");
        }
    }

    proptest! {
        #[test]
        fn any_entry_survives_its_text(page in any::<Option<String>>(), qr in any::<Option<String>>()) {
            let entry = PaymentEntry { page_url: page, qr_text: qr, ..entry() };
            prop_assert_eq!(entry.to_string().parse::<PaymentEntry>().unwrap(), entry);
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = text.parse::<PaymentEntry>();
            let sealed = format!("{PREFIX}{text}");
            let _ = format!("{sealed}&check={}", checksum(&sealed)).parse::<PaymentEntry>();
        }
    }
}
