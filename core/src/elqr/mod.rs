//! ELQR, the national format of QR codes for payments in Kyrgyzstan: reading, building and checking the text of a code.

mod build;
mod parse;

use std::fmt;

use ring::digest::{SHA256, digest};
use strum::Display;

use crate::{error::PaymentError, validation::Checks, violation::Rule};

pub use build::BankLink;

/// The currency of ELQR: the som, by its number in ISO 4217.
const SOM: &str = "417";

/// Whether a code is for one payment.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
// Exhaustive: the format has these two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display)]
#[strum(serialize_all = "snake_case")]
pub enum ElqrKind {
    /// A code for any number of payments, such as a sticker at a cash desk.
    Static,
    /// A code for one payment.
    Dynamic,
}

/// A further field of a code (tags 35 to 39), such as the number of a table; or a field with an unknown tag.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElqrField {
    /// Its tag and sub-tag, such as `35.00`.
    pub tag: String,
    /// The whole text. For a further field it is `key:label:value:title:visible`, where `visible` is `11` for yes and `12` for no.
    pub text: String,
}

/// A payment code in ELQR, the format that the apps of all banks in Kyrgyzstan read.
///
/// The text of a code is a link: the part before its `#` opens an app, and the code itself comes after it.
/// [`parse`](Self::parse) reads a text, [`text`](Self::text) writes one, and [`check`](Self::check) says whether the
/// code is for the right amount.
///
/// ```
/// use kassa::{Elqr, ElqrKind};
///
/// let mut code = Elqr::new(ElqrKind::Dynamic, "qr.example.kg", "SHOP", "5812");
/// code.service_code = Some("02".to_owned());
/// code.amount_tyiyn = Some(39_000);
/// let text = code.text()?;
/// assert!(text.starts_with("https://pay.payqr.kg/#000201"));
///
/// let read = Elqr::parse(&text)?;
/// assert_eq!(read, code);
/// read.check(39_000)?;
/// assert!(read.check(39_100).is_err());
/// # Ok::<(), kassa::PaymentError>(())
/// ```
///
/// **The checksum finds accidental errors, not forgeries**: anyone can make a code with a right checksum. Show only
/// codes that your gateway returned.
///
/// Source: `docs/elqr.md`.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Elqr {
    /// The link before the `#`; empty if a code has none. It decides which app opens: see [`bank_links`](Self::bank_links). A plain http
    /// link, as test gateways use, is read and never written.
    pub link: String,
    /// Whether it is for one payment (tag 01).
    pub kind: ElqrKind,
    /// The payment system of the payee, such as `qr.example.kg` (tag 32.00).
    pub provider: String,
    /// The service that is paid for, by the provider's own codes (tag 32.01).
    pub service_code: Option<String>,
    /// The payee's number at the provider: a phone number or an account (tag 32.10).
    pub recipient: Option<String>,
    /// The number of the transaction, for the provider; some providers write another text here (tag 32.11).
    pub transaction: Option<String>,
    /// Whether the payer may change the amount (tag 32.12).
    pub amount_editable: Option<bool>,
    /// Whether the payer may change the payee's number (tag 32.13).
    pub recipient_editable: Option<bool>,
    /// The merchant's number (tag 33.00).
    pub merchant_id: Option<String>,
    /// The name of the merchant's service (tag 33.01).
    pub merchant_service: Option<String>,
    /// A comment on the payment (tag 34).
    pub comment: Option<String>,
    /// Further fields (tags 35 to 39).
    pub fields: Vec<ElqrField>,
    /// The merchant category code (MCC) of ISO 18245 (tag 52).
    pub mcc: String,
    /// The currency by its number in ISO 4217: `417` is the som (tag 53).
    pub currency: String,
    /// The amount in **tyiyn** (tag 54). Some codes without an amount have 0.
    pub amount_tyiyn: Option<i64>,
    /// The payee's name, as the payer sees it (tag 59).
    pub payee: String,
    /// All other elements of a code, by tag. [`text`](Self::text) does not write them.
    pub other: Vec<ElqrField>,
    /// Whether the checksum matches the text (tag 63). If it is false, the code was damaged or changed.
    pub checksum_ok: bool,
}

impl Elqr {
    /// A code with the values that every code has: the kind, the payee's payment system, the payee's name and the
    /// merchant category code. To be written, it also needs a service code or a merchant's number, and a dynamic code
    /// needs an amount.
    pub fn new(kind: ElqrKind, provider: impl Into<String>, payee: impl Into<String>, mcc: impl Into<String>) -> Self {
        Self {
            link: build::ANY_BANK.to_owned(),
            kind,
            provider: provider.into(),
            service_code: None,
            recipient: None,
            transaction: None,
            amount_editable: None,
            recipient_editable: None,
            merchant_id: None,
            merchant_service: None,
            comment: None,
            fields: Vec::new(),
            mcc: mcc.into(),
            currency: SOM.to_owned(),
            amount_tyiyn: None,
            payee: payee.into(),
            other: Vec::new(),
            checksum_ok: true,
        }
    }

    /// Reads the text of a code: a link with the code after its `#`, percent-encoded or not, or the code alone.
    ///
    /// A wrong checksum and a foreign currency are not errors. They are reported in [`checksum_ok`](Self::checksum_ok)
    /// and [`currency`](Self::currency): [`check`](Self::check) rejects both.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if the text is not an ELQR code, or damaged; it names the tag and the rule.
    pub fn parse(text: &str) -> Result<Self, PaymentError> {
        parse::parse(text).map_err(|sentence| PaymentError::invalid("elqr", Rule::Format, None, &sentence))
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Elqr {
    /// The text of the code, with a new checksum: to be drawn with [`QrCode`](crate::QrCode), or opened as a link.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with every violation of the format, and for a code with a wrong checksum: a damaged
    /// code would get a right one.
    pub fn text(&self) -> Result<String, PaymentError> {
        build::text(self)
    }

    /// Checks that the code is for this amount in **tyiyn**: the checksum is right, the currency is the som, and the amount is this one. If
    /// [`amount_editable`](Self::amount_editable) is true, the payer may still pay another amount.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with everything that differs.
    pub fn check(&self, amount_tyiyn: i64) -> Result<(), PaymentError> {
        let mut checks = Checks::default();
        self.check_text(&mut checks);
        if self.amount_tyiyn != Some(amount_tyiyn) {
            let sentence = match self.amount_tyiyn {
                Some(amount) => format!("has the amount {amount} (in tyiyn), and {amount_tyiyn} was requested"),
                None => format!("has no amount, and {amount_tyiyn} (in tyiyn) was requested"),
            };
            checks.fail("elqr", Rule::Exact, Some(&amount_tyiyn.to_string()), &sentence);
        }
        checks.finish()
    }

    /// Links that each open the code in one bank's app, for a phone that shows the code itself. The first is for any
    /// bank.
    ///
    /// Some of the addresses are known only from public lists: `docs/elqr.md` says which.
    ///
    /// # Errors
    /// The errors of [`text`](Self::text), and [`PaymentError::Invalid`] for a code with elements in [`other`](Self::other), which a link
    /// would leave out.
    pub fn bank_links(&self) -> Result<Vec<BankLink>, PaymentError> {
        if let Some(field) = self.other.first() {
            let sentence = format!("has tag {}, which is not known and would be missing in a link", field.tag);
            return Err(PaymentError::invalid("other", Rule::OneOf, None, &sentence));
        }
        let code = build::code(self)?;
        Ok(build::links(&code))
    }
}

impl Elqr {
    /// The text of a field that could identify a payment, by its tag. `None` if the code has the tag more than once, as is possible for 35
    /// to 39: a wrong choice would query another payment.
    pub(crate) fn field(&self, tag: &str) -> Option<&str> {
        let own = [
            (RECIPIENT, &self.recipient),
            (TRANSACTION, &self.transaction),
            (MERCHANT_ID, &self.merchant_id),
            (COMMENT, &self.comment),
        ];
        if let Some((_, text)) = own.into_iter().find(|(known, _)| known.number == tag) {
            return text.as_deref();
        }
        let mut further = self.fields.iter().chain(&self.other).filter(|field| field.tag == tag);
        let first = further.next()?;
        further.next().is_none().then_some(first.text.as_str())
    }

    /// Checks the rules that do not depend on the amount.
    pub(crate) fn check_text(&self, checks: &mut Checks) {
        if !self.checksum_ok {
            checks.fail("elqr", Rule::Format, None, "has a wrong checksum: it was damaged or changed");
        }
        if self.currency != SOM {
            let sentence = format!("has the currency {}, which is not the som ({SOM})", self.currency);
            checks.fail("elqr", Rule::OneOf, Some(SOM), &sentence);
        }
    }
}

/// Tags with a text that the format fixes, or with further tags inside. None of them distinguishes payments.
const NAMES_NO_PAYMENT: [Tag; 12] = [
    VERSION,
    KIND,
    SERVICE,
    MERCHANT,
    MCC,
    CURRENCY,
    AMOUNT,
    PAYEE,
    CHECKSUM,
    PROVIDER,
    AMOUNT_EDITABLE,
    RECIPIENT_EDITABLE,
];

/// Tags that name the payee's service, and so have the same text in every code: two payments would share one transaction.
const SAME_IN_EVERY_CODE: [Tag; 2] = [SERVICE_CODE, MERCHANT_SERVICE];

/// Whether a text is the tag of a field that normally names the payee. A provider may use it to identify a payment.
pub(crate) fn is_of_the_payee(tag: &str) -> bool {
    [RECIPIENT, MERCHANT_ID].iter().any(|known| known.number == tag)
}

/// Whether a text is the tag of a field that has the same text in every code of a payee.
pub(crate) fn is_same_in_every_code(tag: &str) -> bool {
    SAME_IN_EVERY_CODE.iter().any(|known| known.number == tag)
}

/// Whether a text is a tag, such as `34`, or a tag and a sub-tag, such as `32.11`, whose field could name a payment.
pub(crate) fn may_name_a_payment(tag: &str) -> bool {
    let is_tag = match tag.split_once('.') {
        Some((outer, inner)) => is_digits(outer, 2) && is_digits(inner, 2),
        None => is_digits(tag, 2),
    };
    is_tag && NAMES_NO_PAYMENT.iter().all(|known| known.number != tag)
}

/// The last four hexadecimal digits of SHA-256 over the code before its checksum.
fn checksum(code: &str) -> [u8; 2] {
    match digest(&SHA256, code.as_bytes()).as_ref() {
        [.., first, second] => [*first, *second],
        _ => [0, 0],
    }
}

/// Whether a text is so many ASCII digits.
fn is_digits(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// In UTF-16 code units, as the format counts.
fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests;

// The tags of the format, with what errors call them.

/// A tag of a code, or a sub-tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) number: &'static str,
    pub(super) name: &'static str,
    /// The two digits in a code: for a sub-tag, those after the point.
    pub(super) digits: [u8; 2],
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tag {} ({})", self.number, self.name)
    }
}

const fn tag(number: &'static str, name: &'static str) -> Tag {
    let [.., tens, ones] = number.as_bytes() else { panic!("a tag has two digits") };
    Tag { number, name, digits: [*tens, *ones] }
}

pub(super) const VERSION: Tag = tag("00", "version");
pub(super) const KIND: Tag = tag("01", "kind");
pub(super) const SERVICE: Tag = tag("32", "service");
pub(super) const MERCHANT: Tag = tag("33", "merchant");
pub(super) const COMMENT: Tag = tag("34", "comment");
pub(super) const MCC: Tag = tag("52", "merchant category code");
pub(super) const CURRENCY: Tag = tag("53", "currency");
pub(super) const AMOUNT: Tag = tag("54", "amount");
pub(super) const PAYEE: Tag = tag("59", "payee's name");
pub(super) const CHECKSUM: Tag = tag("63", "checksum");

pub(super) const PROVIDER: Tag = tag("32.00", "provider");
pub(super) const SERVICE_CODE: Tag = tag("32.01", "service code");
pub(super) const RECIPIENT: Tag = tag("32.10", "recipient");
pub(super) const TRANSACTION: Tag = tag("32.11", "transaction");
pub(super) const AMOUNT_EDITABLE: Tag = tag("32.12", "whether the amount may be edited");
pub(super) const RECIPIENT_EDITABLE: Tag = tag("32.13", "whether the recipient may be edited");
pub(super) const MERCHANT_ID: Tag = tag("33.00", "merchant's number");
pub(super) const MERCHANT_SERVICE: Tag = tag("33.01", "name of the merchant's service");

/// The tags of further fields. Only these may occur in a code more than once.
pub(super) const FURTHER: [&str; 5] = ["35", "36", "37", "38", "39"];

/// The one version there is.
pub(super) const THE_VERSION: &str = "01";
pub(super) const STATIC: &str = "11";
pub(super) const DYNAMIC: &str = "12";
pub(super) const YES: &str = "11";
pub(super) const NO: &str = "12";

/// In digits.
pub(super) const LONGEST_AMOUNT: usize = 13;
pub(super) const LARGEST_AMOUNT: i64 = 9_999_999_999_999;
/// In bytes: as much as the largest QR code holds.
pub(super) const LONGEST_CODE: usize = 2953;
/// In UTF-16 code units, of a value that is written.
pub(super) const LONGEST_PAYEE: usize = 25;
/// In UTF-16 code units.
pub(super) const LONGEST_VALUE: usize = 99;

impl Tag {
    /// The part behind the point of a sub-tag.
    pub(super) fn last(self) -> &'static str {
        self.number.get(3..).unwrap_or(self.number)
    }
}
