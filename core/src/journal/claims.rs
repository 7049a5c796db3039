//! Replay protection: a payment whose number was only claimed pays for one entry. Which one, is noted once and for all,
//! before anybody is told that it paid.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{
    Shared,
    lines::{Line, Step, paid_for},
    names::{Claimed, name_of, paid_by},
};
use crate::values::payment_ref::PaymentRef;

/// Whether a payment whose number was only claimed may pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// For its entry, and for nothing else from now on.
    Here,
    /// It has paid for something else, or is a payment of the merchant's own.
    Elsewhere,
    /// The reference names no entry, so that it could pay for one after the other.
    Nowhere,
}

impl Shared {
    /// Notes, durably, that the number of a payment pays for its entry.
    pub(super) fn take_number(&self, payment: &PaymentRef) -> io::Result<Taken> {
        let Some(Claimed { own, paid }) = Claimed::of(payment) else { return Ok(Taken::Nowhere) };
        let entry = name_of(payment);
        for name in own {
            if entry.as_ref() != Some(&name) && self.find(&name)?.is_some() {
                return Ok(Taken::Elsewhere);
            }
        }
        let known = self.find_note(&paid, None)?;
        let Some(entry) = entry else {
            return Ok(if known.is_some() { Taken::Elsewhere } else { Taken::Nowhere });
        };
        let path = match known {
            Some(path) => path,
            None => self.make_note(&paid)?,
        };
        // Of several who write at once, the first line counts. It may not be on the disk yet.
        match self.paid_for(&path)? {
            None => self.write_durably(&path, &self.paid_line(&entry))?,
            Some(_) => self.disk.sync_file(&path)?,
        }
        let is_own = self.paid_for(&path)?.as_ref() == Some(&entry) && !self.is_noted_beside(&paid, &path, &entry)?;
        Ok(if is_own { Taken::Here } else { Taken::Elsewhere })
    }

    /// The name of a payment's entry, also by a reference that has a QR transaction and not the id.
    pub(super) fn name_for(&self, payment: &PaymentRef) -> io::Result<Option<String>> {
        let Some(name) = name_of(payment) else { return Ok(None) };
        let by_transaction = payment.transaction_id.as_ref().filter(|_| payment.entry_id.is_none());
        if let (Some(id), None) = (by_transaction, self.find(&name)?)
            && let Some(note) = self.find_note(&paid_by(id), None)?
        {
            return self.paid_for(&note);
        }
        Ok(Some(name))
    }

    /// The gateway may know a payment of the merchant's own by its own number as well: nobody else pays with that. Without
    /// a flush, as it is a second fence.
    pub(super) fn reserve(&self, gateway_number: &str, entry: &str) -> io::Result<()> {
        let paid = paid_by(gateway_number);
        if self.find_note(&paid, None)?.is_some() {
            return Ok(());
        }
        let path = self.make_note(&paid)?;
        self.disk.append(&path, self.paid_line(entry).as_bytes())
    }

    fn paid_line(&self, entry: &str) -> String {
        Line { by: Some(entry), ..Line::of(Step::Paid, self.disk.now()) }.text()
    }

    fn paid_for(&self, path: &Path) -> io::Result<Option<String>> {
        Ok(paid_for(&self.disk.read(path)?))
    }

    /// One whose clock is in another month makes a note of its own. Whoever writes later sees the other's.
    fn is_noted_beside(&self, name: &str, path: &Path, entry: &String) -> io::Result<bool> {
        match self.find_note(name, Some(path))? {
            Some(beside) => Ok(self.paid_for(&beside)?.is_some_and(|other| other != *entry)),
            None => Ok(false),
        }
    }

    fn find_note(&self, name: &str, own: Option<&Path>) -> io::Result<Option<PathBuf>> {
        self.find_in(&self.paid, name, own)
    }

    /// An empty note, in a tree of its own: it is kept for longer than the entry.
    fn make_note(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder_of_now(&self.paid)?;
        let path = folder.join(name);
        match self.disk.create(&path) {
            Err(problem) if problem.kind() != io::ErrorKind::AlreadyExists => Err(problem),
            _ => Ok(path),
        }
    }
}
