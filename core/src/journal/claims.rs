//! Replay protection: a payment whose number was only claimed pays for one entry. Which one, is noted once and for all,
//! before anybody is told that it paid.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{
    Shared,
    lines::{Line, Step, paid_for},
    names::{name_of, of_claimed},
};
use crate::values::payment_ref::PaymentRef;

impl Shared {
    /// Notes, durably, that the number of a payment pays for its entry; false where it has paid for something else, or is
    /// that of a payment of the merchant's own.
    pub(super) fn take_number(&self, payment: &PaymentRef) -> io::Result<bool> {
        let Some((own, paid)) = of_claimed(payment) else { return Ok(true) };
        let entry = name_of(payment);
        if self.find(&own)?.is_some() && entry.as_ref() != Some(&own) {
            return Ok(false);
        }
        let known = self.find(&paid)?;
        // A reference without an entry takes nothing, and must not take what is taken.
        let Some(entry) = entry else { return Ok(known.is_none()) };
        let path = match known {
            Some(path) => path,
            None => self.make_note(&paid)?,
        };
        // Of several who write at once, the first line counts.
        if self.paid_for(&path)?.is_none() {
            self.write_durably(&path, &Line { by: Some(&entry), ..Line::of(Step::Paid, self.disk.now()) }.text())?;
        }
        let is_own = self.paid_for(&path)?.as_ref() == Some(&entry);
        // One whose clock is in another month makes a note of its own.
        Ok(is_own && self.find_beside(&paid, Some(&path))?.is_none())
    }

    fn paid_for(&self, path: &Path) -> io::Result<Option<String>> {
        Ok(paid_for(&self.disk.read(path)?))
    }

    /// An empty note, among what is done with, and pruned with it.
    fn make_note(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder_of_done()?;
        let path = folder.join(name);
        match self.disk.create(&path) {
            Err(problem) if problem.kind() != io::ErrorKind::AlreadyExists => Err(problem),
            _ => Ok(path),
        }
    }
}
