//! The tags of the format, with what errors call them.

use std::fmt;

/// A tag of a code, or a sub-tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) number: &'static str,
    pub(super) name: &'static str,
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tag {} ({})", self.number, self.name)
    }
}

const fn tag(number: &'static str, name: &'static str) -> Tag {
    Tag { number, name }
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

/// The tags of further fields, which alone may stand in a code more than once.
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
        self.number.rsplit('.').next().unwrap_or(self.number)
    }
}
