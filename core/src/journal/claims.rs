//! Numbers that belong to one entry alone: those that a gateway's response told, and those that were claimed and have paid (replay
//! protection). Which entry it is, is noted once and for all, before anybody is told.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{
    Shared,
    lines::{Line, Step, paid_for},
};
use crate::{
    journal::entry::{Exclusive, name_of},
    payment_ref::PaymentRef,
};

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
        let Some(number) = Exclusive::claimed_of(payment) else { return Ok(Taken::Nowhere) };
        let entry = name_of(payment);
        if self.is_own_payment_of_another(number, entry.as_deref())? {
            return Ok(Taken::Elsewhere);
        }
        let Some(entry) = entry else {
            let is_known = self.find_note(&number.note(), None)?.is_some();
            return Ok(if is_known { Taken::Elsewhere } else { Taken::Nowhere });
        };
        let is_own = self.own(number, &entry, Durability::Flushed)?;
        Ok(if is_own { Taken::Here } else { Taken::Elsewhere })
    }

    /// The name of a payment's entry, also by a reference that has a QR transaction and not the id.
    pub(super) fn name_for(&self, payment: &PaymentRef) -> io::Result<Option<String>> {
        let Some(name) = name_of(payment) else { return Ok(None) };
        let by_transaction = payment.transaction_id.as_ref().filter(|_| payment.entry_id.is_none());
        if let (Some(id), None) = (by_transaction, self.find(&name)?)
            && let Some(note) = self.find_note(&Exclusive::Transaction(id).note(), None)?
        {
            return self.paid_for(&note);
        }
        Ok(Some(name))
    }

    /// Whether a number that the gateway told of an entry is that one's alone. Without a flush: where the note is lost, a charge
    /// still has to be confirmed by the merchant's own number.
    pub(super) fn adopt(&self, number: Exclusive<'_>, entry: &str) -> io::Result<bool> {
        if self.is_own_payment_of_another(number, Some(entry))? {
            return Ok(false);
        }
        self.own(number, entry, Durability::Written)
    }

    /// Whether it is the number of another payment of the merchant's own.
    fn is_own_payment_of_another(&self, number: Exclusive<'_>, entry: Option<&str>) -> io::Result<bool> {
        let own = number.own_entry().filter(|own| entry != Some(own));
        own.map_or(Ok(false), |own| Ok(self.find(&own)?.is_some()))
    }

    /// Notes whose number it is, unless that is known. Of several who write at once, the first line counts.
    fn own(&self, number: Exclusive<'_>, entry: &str, durability: Durability) -> io::Result<bool> {
        let name = number.note();
        let path = match self.find_note(&name, None)? {
            Some(path) => path,
            None => self.make_note(&name)?,
        };
        let line = Line { by: Some(entry), ..Line::of(Step::Paid, self.disk.now()) }.text();
        match (self.paid_for(&path)?, durability) {
            (None, Durability::Flushed) => self.write_durably(&path, &line)?,
            (None, Durability::Written) => self.disk.append(&path, line.as_bytes())?,
            // It may not be on the disk yet.
            (Some(_), Durability::Flushed) => self.disk.sync_file(&path)?,
            (Some(_), Durability::Written) => {}
        }
        Ok(self.paid_for(&path)?.as_deref() == Some(entry) && !self.is_noted_beside(&name, &path, entry)?)
    }

    fn paid_for(&self, path: &Path) -> io::Result<Option<String>> {
        Ok(paid_for(&self.disk.read(path)?))
    }

    /// One whose clock is in another month makes a note of its own. Whoever writes later sees the other's.
    fn is_noted_beside(&self, name: &str, path: &Path, entry: &str) -> io::Result<bool> {
        match self.find_note(name, Some(path))? {
            Some(beside) => Ok(self.paid_for(&beside)?.is_some_and(|other| other != entry)),
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

/// How surely a note is on the disk when the call returns.
#[derive(Clone, Copy)]
enum Durability {
    Written,
    Flushed,
}
