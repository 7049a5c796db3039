//! A journal entry, and the names of its file and of the folders it moves through.

use std::{path::Path, time::SystemTime};

use ring::digest::{SHA256, digest};
use time::{Date, Month, OffsetDateTime};

use crate::payment_ref::{PaymentKind, PaymentRef};

/// A payment in a [`Journal`](crate::Journal).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalEntry {
    /// The entry's id, for [`finish`](crate::Journal::finish).
    pub id: String,
    /// The payment reference, for status queries.
    pub payment: PaymentRef,
    /// When it was recorded: before anything was sent.
    #[cfg_attr(feature = "serde", serde(rename = "begun_ms", with = "crate::serialized::moment"))]
    pub begun: SystemTime,
    /// The known state of the payment.
    pub state: JournalState,
    /// Whether [`finish`](crate::Journal::finish) was called for it: its goods are delivered, or a person has handled
    /// it. A rejected payment is no longer listed, even unfinished.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub is_finished: bool,
    /// The gateway's message for the final status. If the report has a number that is not the payment's, it comes first. For a mismatch,
    /// the fields that differ from the request, such as `amount, currency`. At most 256 characters.
    pub reason: Option<String>,
    /// The gateway's code in the response to its creation, if any.
    pub code: Option<String>,
    /// The page that the payer opens: the 3DS confirmation, or the pay-form.
    pub page_url: Option<String>,
    /// The text of the QR code.
    pub qr_text: Option<String>,
    /// Your own note, such as the order in the shop.
    pub note: Option<String>,
}

/// The state of a payment in a journal.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalState {
    /// It was sent, or about to be sent, and no trustworthy response is known. **It may have happened**: query it.
    Unknown,
    /// The gateway accepted it. Query its status until it is final.
    Pending,
    /// The gateway reported that the money was taken. Deliver the goods, then finish the entry.
    Charged,
    /// The gateway's report does not match the request. Let a person look, then finish the entry.
    Mismatch,
    /// The payment ended without a charge.
    Rejected,
}

impl JournalState {
    /// Whether it is a final status of a report, or a mismatch.
    pub(super) fn is_an_end(self) -> bool {
        matches!(self, Self::Charged | Self::Mismatch | Self::Rejected)
    }
}

/// An unfinished entry of a journal.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfinished {
    /// A payment that is pending, unknown or mismatched, or charged and not yet finished.
    Payment {
        /// Its entry.
        entry: Box<JournalEntry>,
    },
    /// A file that cannot be read: torn, damaged, of a newer version, or foreign. It is kept, and blocks the order number of its entry.
    Unreadable {
        /// The file's name.
        id: String,
        /// The problem.
        why: String,
    },
}

// Names of an entry's file and of the folders it moves through.

/// The longest part of an order number that is shown in a name.
const SHOWN: usize = 40;

/// The name of a payment's entry, by its permanent identifier: the merchant's own number, an id that was made for it, or a QR transaction.
/// A claimed number is not used, because it may belong to another payment.
pub(crate) fn name_of(payment: &PaymentRef) -> Option<String> {
    let order_number = payment.order_number.as_deref().filter(|_| !payment.is_claimed);
    let transaction_id = payment.transaction_id.as_deref().filter(|_| !payment.is_claimed);
    let by_id = || payment.entry_id.as_deref().map(|id| of_number(NumberOf::Entry, id));
    match payment.kind {
        PaymentKind::Card | PaymentKind::Mbank | PaymentKind::Megapay => {
            order_number.map(|number| of_number(NumberOf::Order, number))
        }
        PaymentKind::Qr => by_id().or_else(|| transaction_id.map(|id| of_number(NumberOf::QrTransaction, id))),
        PaymentKind::PayForm => by_id(),
    }
}

/// A number of the gateway that belongs to one entry. Numbers of different kinds do not collide: an order may have the number of a QR
/// code's transaction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exclusive<'a> {
    /// The merchant's or the gateway's order number.
    Order(&'a str),
    Transaction(&'a str),
    /// The URL of the page that a payer opens.
    Page(&'a str),
}

impl<'a> Exclusive<'a> {
    /// The number that was claimed for a payment, if any.
    pub(super) fn claimed_of(payment: &'a PaymentRef) -> Option<Self> {
        match payment.kind {
            PaymentKind::Qr => payment.transaction_id.as_deref().map(Self::Transaction),
            _ => payment.order_number.as_deref().map(Self::Order),
        }
    }

    /// The entry of the merchant's own payment with this number, if there is one.
    pub(super) fn own_entry(self) -> Option<String> {
        match self {
            Self::Order(number) => Some(of_number(NumberOf::Order, number)),
            Self::Transaction(id) => Some(of_number(NumberOf::QrTransaction, id)),
            Self::Page(_) => None,
        }
    }

    /// The name of its owner file. A gateway may ignore the letter case of its numbers, and no payment may pay twice under two spellings.
    pub(super) fn owner_file(self) -> String {
        match self {
            Self::Order(number) => of_number(NumberOf::OwnedOrder, &number.to_lowercase()),
            Self::Transaction(id) => of_number(NumberOf::OwnedTransaction, &id.to_lowercase()),
            Self::Page(url) => of_number(NumberOf::OwnedPage, url),
        }
    }
}

/// The kind of identifier in a name.
#[derive(Clone, Copy)]
enum NumberOf {
    Order,
    QrTransaction,
    /// The id of an entry; not a number of the gateway.
    Entry,
    /// Order numbers of owner files.
    OwnedOrder,
    OwnedTransaction,
    OwnedPage,
}

impl NumberOf {
    /// Domain separation: an order may have the number of a transaction.
    fn domain(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::QrTransaction => "qr",
            Self::Entry => "entry",
            Self::OwnedOrder => "owned order",
            Self::OwnedTransaction => "owned qr",
            Self::OwnedPage => "owned page",
        }
    }
}

/// The name of a number's entry: the same in every process. The beginning is for people; the hash distinguishes names
/// that a file system would not, such as by capital letters.
fn of_number(of: NumberOf, number: &str) -> String {
    // The URL of a page gives access to it, and more people see the names of files than their content.
    let is_secret = matches!(of, NumberOf::OwnedPage);
    let shown = if is_secret { "page" } else { number };
    let shown: String =
        shown.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(SHOWN).collect();
    let hash = digest(&SHA256, format!("{}\0{number}", of.domain()).as_bytes());
    let hash: String = hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{hash}", shown.to_ascii_lowercase())
}

/// The folder of the entries that were begun on a day, so that the oldest are found first.
pub(super) fn of_day(moment: SystemTime) -> String {
    OffsetDateTime::from(moment).date().to_string()
}

/// The folder of the entries that were finished within a month.
pub(super) fn of_month(moment: SystemTime) -> String {
    let date = OffsetDateTime::from(moment).date();
    format!("{}-{:02}", date.year(), u8::from(date.month()))
}

/// The end of a day or a month, by its folder.
pub(super) fn end_of(folder: &Path) -> Option<SystemTime> {
    let name = folder.file_name()?.to_str()?;
    let mut parts = name.split('-');
    let (year, month) = (parts.next()?.parse().ok()?, Month::try_from(parts.next()?.parse::<u8>().ok()?).ok()?);
    let day = match parts.next() {
        Some(day) => day.parse().ok()?,
        None => month.length(year),
    };
    let end = Date::from_calendar_date(year, month, day).ok()?.next_day()?;
    Some(end.midnight().assume_utc().into())
}

/// Whether a name is a day or a month. Other names are foreign.
pub(super) fn is_a_time(name: &str) -> bool {
    matches!(name.len(), 7 | 10) && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// The prefix of a file that only tests whether its folder is writable. A crashed program may have left one.
pub(super) const TRIAL: &str = "writable-";

/// Whether a name stays inside its folder.
pub(super) fn is_a_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', ':', '\0'])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn different_order_numbers_have_different_names() {
        let numbers = ["a", "A", "a ", "a/b", "../a", "ab", "я", "", "a\0", "CON", &"x".repeat(300), &"x".repeat(301)];
        let names: std::collections::HashSet<String> = numbers
            .iter()
            .flat_map(|number| [of_number(NumberOf::Order, number), of_number(NumberOf::QrTransaction, number)])
            .collect();
        assert_eq!(names.len(), 2 * numbers.len());
        for name in names {
            assert!(name.len() <= 73 && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)), "{name}");
        }
    }

    #[test]
    fn folders_sort_by_time() {
        let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000);
        assert_eq!((of_day(moment).as_str(), of_month(moment).as_str()), ("2026-09-21", "2026-09"));
        assert!(of_day(moment) < of_day(moment + Duration::from_secs(10 * 24 * 3600)));
        let (day, month) = (end_of(Path::new("open/2026-09-21")).unwrap(), end_of(Path::new("done/2026-09")).unwrap());
        assert_eq!((of_day(day), of_day(month)), ("2026-09-22".to_owned(), "2026-10-01".to_owned()));
        assert_eq!(end_of(Path::new("done/2026-13")), None);
    }
}
