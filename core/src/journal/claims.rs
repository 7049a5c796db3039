//! Numbers that belong to one entry: those in a gateway's response, and claimed numbers that were charged (replay protection). An owner
//! file, in the folder `paid`, names the entry of a number. It is written once, before the caller gets an answer.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{
    Shared,
    lines::{Line, Step, owner_of},
};
use crate::{
    journal::entry::{Exclusive, name_of},
    payment_ref::PaymentRef,
};

/// Which entry a claimed number pays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assigned {
    /// The payment's own entry, and no other from now on.
    Own,
    /// Another entry, or it is the number of a payment that the merchant made.
    Foreign,
    /// The reference names no entry, so the number could pay for several orders.
    NoEntry,
}

impl Shared {
    /// Records, durably, that the number of a payment pays for its entry.
    pub(super) fn assign_number(&self, payment: &PaymentRef) -> io::Result<Assigned> {
        let Some(number) = Exclusive::claimed_of(payment) else { return Ok(Assigned::NoEntry) };
        let entry = name_of(payment);
        if self.is_own_payment_of_another(number, entry.as_deref())? {
            return Ok(Assigned::Foreign);
        }
        let Some(entry) = entry else {
            let is_known = self.find_owner_file(&number.owner_file(), None)?.is_some();
            return Ok(if is_known { Assigned::Foreign } else { Assigned::NoEntry });
        };
        let is_own = self.assign(number, &entry, Durability::Flushed)?;
        Ok(if is_own { Assigned::Own } else { Assigned::Foreign })
    }

    /// The name of a payment's entry; also for a reference that has a QR transaction instead of the entry's id.
    pub(super) fn name_for(&self, payment: &PaymentRef) -> io::Result<Option<String>> {
        let Some(name) = name_of(payment) else { return Ok(None) };
        let by_transaction = payment.transaction_id.as_ref().filter(|_| payment.entry_id.is_none());
        if let (Some(id), None) = (by_transaction, self.find(&name)?)
            && let Some(file) = self.find_owner_file(&Exclusive::Transaction(id).owner_file(), None)?
        {
            return self.owner_in(&file);
        }
        Ok(Some(name))
    }

    /// Records a number from the gateway's response; false if another entry owns it. Without a flush: if the file is lost, a charge still
    /// has to be confirmed by the merchant's own number.
    pub(super) fn adopt(&self, number: Exclusive<'_>, entry: &str) -> io::Result<bool> {
        if self.is_own_payment_of_another(number, Some(entry))? {
            return Ok(false);
        }
        self.assign(number, entry, Durability::Written)
    }

    /// Whether it is the number of another payment that the merchant made.
    fn is_own_payment_of_another(&self, number: Exclusive<'_>, entry: Option<&str>) -> io::Result<bool> {
        let own = number.own_entry().filter(|own| entry != Some(own));
        own.map_or(Ok(false), |own| Ok(self.find(&own)?.is_some()))
    }

    /// Records the owner of a number that has none. If several processes write at once, the first line counts.
    fn assign(&self, number: Exclusive<'_>, entry: &str, durability: Durability) -> io::Result<bool> {
        let name = number.owner_file();
        let path = match self.find_owner_file(&name, None)? {
            Some(path) => path,
            None => self.create_owner_file(&name)?,
        };
        let line = Line { by: Some(entry), ..Line::of(Step::Paid, self.disk.now()) }.text();
        match (self.owner_in(&path)?, durability) {
            (None, Durability::Flushed) => self.write_durably(&path, &line)?,
            (None, Durability::Written) => self.disk.append(&path, line.as_bytes())?,
            // It may not be flushed yet.
            (Some(_), Durability::Flushed) => self.disk.sync_file(&path)?,
            (Some(_), Durability::Written) => {}
        }
        Ok(self.owner_in(&path)?.as_deref() == Some(entry) && !self.has_another_owner(&name, &path, entry)?)
    }

    fn owner_in(&self, path: &Path) -> io::Result<Option<String>> {
        Ok(owner_of(&self.disk.read(path)?))
    }

    /// A process whose clock is in another month creates another file. The process that writes later sees both.
    fn has_another_owner(&self, name: &str, path: &Path, entry: &str) -> io::Result<bool> {
        match self.find_owner_file(name, Some(path))? {
            Some(other_file) => Ok(self.owner_in(&other_file)?.is_some_and(|other| other != entry)),
            None => Ok(false),
        }
    }

    fn find_owner_file(&self, name: &str, own: Option<&Path>) -> io::Result<Option<PathBuf>> {
        self.find_in(&self.paid, name, own)
    }

    /// Creates an empty owner file, in a tree of its own: it is retained longer than the entry.
    fn create_owner_file(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder_of_now(&self.paid)?;
        let path = folder.join(name);
        match self.disk.create(&path) {
            Err(problem) if problem.kind() != io::ErrorKind::AlreadyExists => Err(problem),
            _ => Ok(path),
        }
    }
}

/// Whether an owner file is flushed to the disk when the call returns.
#[derive(Clone, Copy)]
enum Durability {
    Written,
    Flushed,
}
