//! The payments of this program: its gateway's journal, and where that is.
//!
//! A journal's folder serves one gateway and one merchant, because an order number says nothing of where it was sent. So
//! each has a folder of its own.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use kassa::{Journal, JournalEntry, JournalState, PaymentError, PaymentRef, Unfinished};
use tempfile::TempDir;
use url::Url;

use crate::failure::Failure;

/// The journal of the gateway that this run works with.
pub(crate) struct Payments {
    journal: Journal,
    folder: PathBuf,
    /// Where the folders of all gateways are.
    all: PathBuf,
    /// Payments in a sandbox in memory end with it, and their journal goes with them.
    temporary: Option<TempDir>,
}

impl Payments {
    /// Those of a gateway's merchant.
    pub(crate) fn of_merchant(all: &Path, base_url: &str, login: &str) -> Result<Self, Failure> {
        Self::open(all, all.join(folder_name(base_url, login)), None)
    }

    /// Those of a sandbox that keeps them in a file, whatever address it has today.
    pub(crate) fn of_sandbox_in(file: &Path, all: &Path) -> Result<Self, Failure> {
        let mut folder = file.to_owned().into_os_string();
        folder.push(".journal");
        Self::open(all, folder.into(), None)
    }

    /// Those of a sandbox in memory.
    pub(crate) fn of_sandbox_in_memory(all: &Path) -> Result<Self, Failure> {
        let temporary = TempDir::with_prefix("kassa-checkout-")
            .map_err(|error| Failure::System(format!("no folder for the sandbox's payments can be made: {error}")))?;
        Self::open(all, temporary.path().to_owned(), Some(temporary))
    }

    fn open(all: &Path, folder: PathBuf, temporary: Option<TempDir>) -> Result<Self, Failure> {
        Ok(Self { journal: Journal::open(&folder)?, folder, all: all.to_owned(), temporary })
    }

    /// The journal itself, for the gateway.
    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Where it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// True where no later run finds them.
    pub(crate) fn end_with_this_run(&self) -> bool {
        self.temporary.is_some()
    }

    /// The entry of the payment that was requested like that.
    pub(crate) fn entry(&self, payment: &PaymentRef) -> Result<Option<JournalEntry>, Failure> {
        let asked_for = |payment: &PaymentRef| (payment.kind, payment.amount, payment.currency.clone());
        let entry = self.journal.entry(payment)?;
        Ok(entry.filter(|entry| asked_for(&entry.payment) == asked_for(payment)))
    }

    /// The payment with the number that a callback has told since, where it had none.
    pub(crate) fn with_known_number(&self, payment: &PaymentRef) -> Result<PaymentRef, Failure> {
        let known = if payment.can_be_checked() { None } else { self.entry(payment)? };
        Ok(known.map_or_else(|| payment.clone(), |entry| entry.payment))
    }

    /// The entry of a mobile-bank payment, by the merchant's number.
    pub(crate) fn mbank(&self, order_number: &str) -> Result<Option<JournalEntry>, Failure> {
        let by_number = PaymentRef::mbank(order_number, 0);
        Ok(self.journal.entry(&by_number)?.filter(|entry| entry.payment.kind == by_number.kind))
    }

    /// The entry that a callback is about: the one whose reference is in the address that was called, or the one of the
    /// merchant's number that it names. The amounts are not looked at: the journal finds an entry by what names it.
    pub(crate) fn of_callback(&self, reference: &str, number: &str) -> Result<Option<JournalEntry>, PaymentError> {
        let by_reference = PaymentRef::pay_form(0.into()).with_entry_id(reference);
        match self.journal.entry(&by_reference)? {
            Some(entry) => Ok(Some(entry)),
            None => self.journal.entry(&PaymentRef::mbank(number, 0)),
        }
    }

    /// What is not done with, the oldest first.
    pub(crate) fn unfinished(&self) -> Result<Vec<Unfinished>, Failure> {
        Ok(self.journal.unfinished().collect::<Result<_, _>>()?)
    }

    /// A payment's entry while it is not done with.
    pub(crate) fn unfinished_entry(&self, payment: &PaymentRef) -> Result<Option<JournalEntry>, PaymentError> {
        let Some(known) = self.journal.entry(payment)? else { return Ok(None) };
        for item in self.journal.unfinished() {
            match item? {
                Unfinished::Payment { entry } if entry.id == known.id => return Ok(Some(*entry)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// A payment's entry while its money was taken and its goods were not delivered.
    pub(crate) fn undelivered(&self, payment: &PaymentRef) -> Result<Option<JournalEntry>, PaymentError> {
        Ok(self.unfinished_entry(payment)?.filter(|entry| entry.state == JournalState::Charged))
    }

    /// The other folders in which something is unfinished, and how much.
    pub(crate) fn elsewhere(&self) -> Result<Vec<(PathBuf, usize)>, Failure> {
        let Ok(folders) = fs::read_dir(&self.all) else { return Ok(Vec::new()) };
        let folders = folders.filter_map(Result::ok).map(|folder| folder.path());
        let others = folders.filter(|folder| *folder != self.folder && folder.join("open").is_dir());
        let counted = others.map(|folder| Ok((folder.clone(), Journal::open(&folder)?.unfinished().count())));
        let counted: Vec<_> = counted.collect::<Result<_, PaymentError>>()?;
        Ok(counted.into_iter().filter(|(_, count)| *count > 0).collect())
    }
}

/// A name for each merchant of each gateway, such as `shop@pay.example.kg`. What a file system may not take is escaped, so
/// that no two get one name.
fn folder_name(base_url: &str, login: &str) -> String {
    let url = Url::parse(base_url).map_or_else(|_| base_url.to_owned(), String::from);
    let address = url.trim_end_matches('/');
    let shown = address.strip_prefix("https://").unwrap_or(address);
    [escaped(login), escaped(shown)].join("@")
}

fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut name, byte| {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_' => name.push(char::from(byte)),
            // Capitals, too: some file systems do not tell them apart. Writing to a text cannot fail.
            _ => write!(name, "%{byte:02x}").unwrap_or_default(),
        }
        name
    })
}

#[cfg(test)]
mod tests {
    use super::folder_name;

    #[test]
    fn each_merchant_of_each_gateway_has_a_folder_of_its_own() {
        assert_eq!(folder_name("https://pay.example.kg/", "shop"), "shop@pay.example.kg");
        let merchants = [
            ("https://pay.example.kg", "shop"),
            ("https://pay.example.kg", "Shop"),
            ("https://pay.example.kg", "shop@pay.example.kg"),
            ("http://pay.example.kg", "shop"),
            ("https://pay.example.kg:444", "shop"),
            ("https://pay.example.kg/a/b-c", "shop"),
            ("https://pay.example.kg/a-b/c", "shop"),
            ("https://pay.example.kg", "../shop"),
        ];
        let names: std::collections::HashSet<_> =
            merchants.iter().map(|(url, login)| folder_name(url, login)).collect();
        assert_eq!(names.len(), merchants.len(), "{names:?}");
        assert!(names.iter().all(|name| !name.contains(['/', '\\', ':'])), "{names:?}");
        assert_eq!(folder_name("https://PAY.example.kg", "shop"), folder_name("https://pay.example.kg/", "shop"));
    }
}
