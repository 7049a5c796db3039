//! Names of an entry's file and of the folders it goes through.

use std::{path::Path, time::SystemTime};

use ring::digest::{SHA256, digest};
use time::{Date, Month, OffsetDateTime};

use crate::values::payment_ref::{PaymentKind, PaymentRef};

/// The longest part of an order number that is seen in a name.
const SHOWN: usize = 40;

/// The name of a payment's entry, by what names it for good: a merchant's own number, an id that was made for it, or a QR
/// transaction. A number that was only claimed names somebody else's.
pub(crate) fn name_of(payment: &PaymentRef) -> Option<String> {
    let order_number = payment.order_number.as_deref().filter(|_| !payment.is_claimed);
    let transaction_id = payment.transaction_id.as_deref().filter(|_| !payment.is_claimed);
    let by_id = || payment.entry_id.as_deref().map(|id| of_number(NumberOf::Entry, id));
    match payment.kind {
        PaymentKind::Card | PaymentKind::Mbank => order_number.map(|number| of_number(NumberOf::Order, number)),
        PaymentKind::Qr => by_id().or_else(|| transaction_id.map(|id| of_number(NumberOf::QrTransaction, id))),
        PaymentKind::PayForm => by_id(),
    }
}

/// The names that go with a claimed number: of the merchant's own payments that may have it, and of the note of what it has
/// paid for. A gateway may know payments of all kinds by it.
pub(super) struct Claimed {
    pub(super) own: [String; 2],
    pub(super) paid: String,
}

impl Claimed {
    /// Nothing where there is no number.
    pub(super) fn of(payment: &PaymentRef) -> Option<Self> {
        let number = match payment.kind {
            PaymentKind::Qr => payment.transaction_id.as_deref()?,
            _ => payment.order_number.as_deref()?,
        };
        let own = [of_number(NumberOf::Order, number), of_number(NumberOf::QrTransaction, number)];
        Some(Self { own, paid: paid_by(number) })
    }
}

/// The name of the note of what a number has paid for. A gateway may take its own numbers in capital and small letters alike,
/// and no payment may pay twice by being spelled in both.
pub(super) fn paid_by(number: &str) -> String {
    of_number(NumberOf::Paid, &number.to_lowercase())
}

/// What an entry's number is.
#[derive(Clone, Copy)]
enum NumberOf {
    Order,
    QrTransaction,
    /// None of the gateway's.
    Entry,
    /// What was claimed, and has paid for something.
    Paid,
}

impl NumberOf {
    /// Domain separation: an order may have the number of a transaction.
    fn domain(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::QrTransaction => "qr",
            Self::Entry => "entry",
            Self::Paid => "paid",
        }
    }
}

/// The name of a number's entry: the same in every process. The beginning is for people; the hash keeps apart what
/// a file system would not, such as capital letters.
fn of_number(of: NumberOf, number: &str) -> String {
    let shown: String =
        number.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(SHOWN).collect();
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

/// Whether a name is that of a day or a month. Others are foreign.
pub(super) fn is_a_time(name: &str) -> bool {
    matches!(name.len(), 7 | 10) && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Whether a name stays inside its folder.
pub(super) fn is_a_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', ':', '\0'])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn order_numbers_that_differ_have_names_that_differ() {
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
