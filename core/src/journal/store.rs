//! The files of a journal: the steps of beginning, confirming and recording a payment, in their order.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::PoisonError,
};

use super::{
    Shared,
    claims::Assigned,
    disk::Disk,
    lines::{History, Line, Step},
};
use crate::{
    journal::entry::{self, Exclusive, JournalState},
    payment_entry::PaymentEntry,
    payment_ref::PaymentRef,
};

/// How often a folder that another process removed is created again, or a moved file is searched for.
const TRIES: u32 = 5;

/// The most claimed numbers of one payment. No payer makes that many attempts for one order, and a file must not grow without limit. A
/// further claim is rejected, never dropped silently.
pub(super) const MOST_CLAIMS: usize = 1000;

/// Why a QR code is withheld.
pub(super) const ANOTHERS_TRANSACTION: &str = "its transaction is another entry's";

/// An entry of which this call is the owner: it may send.
#[derive(Clone, Debug)]
pub(crate) struct EntryGuard {
    name: String,
    path: PathBuf,
    /// The id of the confirming call, if it is a confirmation.
    confirms: Option<String>,
}

impl EntryGuard {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    #[cfg(test)]
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn confirms(&self) -> Option<&str> {
        self.confirms.as_deref()
    }
}

/// Why nothing may be sent.
#[derive(Debug)]
pub(crate) enum BeginError {
    /// The journal could not be written or read.
    Unwritten { detail: String },
    /// It was sent before, or may have been. `payment` is the earlier reference, if it can be read.
    SentBefore { payment: Option<Box<PaymentRef>>, detail: String },
}

impl From<io::Error> for BeginError {
    fn from(problem: io::Error) -> Self {
        Self::Unwritten { detail: format!("the journal cannot be written: {problem}") }
    }
}

impl Shared {
    pub(super) fn prepare(&self) -> io::Result<()> {
        self.disk.make_folders(&self.open)?;
        self.disk.make_folders(&self.done)?;
        self.disk.make_folders(&self.paid)?;
        [&self.open, &self.done, &self.paid].into_iter().try_for_each(|folder| self.check_writable(folder))
    }

    /// Tests whether files can be created and removed in a folder, as each payment does. Permissions alone do not show that, and a shop
    /// must not find out by its first payment. A full disk is not an error here: entries can still be read, and the disk may have room
    /// later.
    fn check_writable(&self, folder: &Path) -> io::Result<()> {
        self.remove_trials(folder);
        let file = folder.join(format!("{}{}", entry::TRIAL, uuid::Uuid::now_v7()));
        let tried = self.disk.create(&file).and_then(|()| {
            let flushed = self.disk.sync_file(&file);
            match self.disk.remove_file(&file).and(flushed) {
                // Another process opened the journal at the same time.
                Err(problem) if problem.kind() == ErrorKind::NotFound => Ok(()),
                done => done,
            }
        });
        match tried {
            Err(problem) if matches!(problem.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => Ok(()),
            Err(problem) => {
                Err(io::Error::new(problem.kind(), format!("{} cannot be written: {problem}", folder.display())))
            }
            Ok(()) => Ok(()),
        }
    }

    /// Removes the test files that a killed process left.
    fn remove_trials(&self, folder: &Path) {
        let names = self.disk.names(folder).into_iter().flatten().flatten();
        for name in names.filter(|name| name.starts_with(entry::TRIAL)) {
            let _ = self.disk.remove_file(&folder.join(name));
        }
    }

    pub(super) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// The folders inside one that must exist, sorted by name. A missing folder is an error: an empty journal would mean that nothing was
    /// ever sent.
    pub(super) fn folders(&self, of: &Path) -> io::Result<Vec<PathBuf>> {
        let mut names = self.disk.names(of)?.collect::<io::Result<Vec<_>>>()?;
        names.retain(|name| entry::is_a_time(name));
        names.sort();
        Ok(names.into_iter().map(|name| of.join(name)).collect())
    }

    /// An entry's file, in any folder. Another process may move it in either direction during the search, so `done` is searched between two
    /// searches of `open`.
    pub(super) fn find(&self, name: &str) -> io::Result<Option<PathBuf>> {
        self.find_beside(name, None)
    }

    pub(super) fn find_beside(&self, name: &str, own: Option<&Path>) -> io::Result<Option<PathBuf>> {
        for place in [&self.open, &self.done, &self.open] {
            if let Some(path) = self.find_in(place, name, own)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    pub(super) fn find_in(&self, place: &Path, name: &str, own: Option<&Path>) -> io::Result<Option<PathBuf>> {
        for folder in self.folders(place)? {
            let path = folder.join(name);
            if own != Some(path.as_path()) && self.disk.exists(&path)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    pub(super) fn begin(&self, name: &str, lines: &str) -> Result<EntryGuard, BeginError> {
        if let Some(path) = self.find(name)? {
            return Err(self.sent_before(name, &path));
        }
        let path = match self.claim(name)? {
            Ok(path) => path,
            Err(taken) => return Err(self.sent_before(name, &taken)),
        };
        // Another process that began with this number has created its file by now, in any folder, or will find this one.
        let done = self.find_beside(name, Some(&path)).and_then(|other| match other {
            Some(other) => Ok(Some(other)),
            None => self.write_durably(&path, lines).map(|()| None),
        });
        match done {
            Ok(None) => Ok(EntryGuard { name: name.to_owned(), path, confirms: None }),
            Ok(Some(other)) => {
                self.forget(&path);
                Err(self.sent_before(name, &other))
            }
            Err(problem) => {
                self.forget(&path);
                Err(problem.into())
            }
        }
    }

    /// Creates the empty file, or returns the path of the existing one.
    fn claim(&self, name: &str) -> io::Result<Result<PathBuf, PathBuf>> {
        let folder = self.open.join(entry::of_day(self.disk.now()));
        let path = folder.join(name);
        let mut tries = TRIES;
        loop {
            self.disk.make_folder(&folder)?;
            self.flush_name_of(&folder)?;
            match self.disk.create(&path) {
                Ok(()) => return Ok(Ok(path)),
                Err(problem) if problem.kind() == ErrorKind::AlreadyExists => return Ok(Err(path)),
                // Another process has just removed the empty folder.
                Err(problem) if problem.kind() == ErrorKind::NotFound && tries > 1 => tries -= 1,
                Err(problem) => return Err(problem),
            }
        }
    }

    /// Makes sure that a day's folder survives a loss of power, even if another process created it: once in each process, as folders of
    /// today are never removed.
    pub(super) fn flush_name_of(&self, folder: &Path) -> io::Result<()> {
        let mut flushed = self.flushed.lock().unwrap_or_else(PoisonError::into_inner);
        if flushed.as_deref() != Some(folder) {
            self.disk.sync_folder(&self.open)?;
            *flushed = Some(folder.to_owned());
        }
        Ok(())
    }

    pub(super) fn write_durably(&self, path: &Path, lines: &str) -> io::Result<()> {
        self.disk.append(path, lines.as_bytes())?;
        self.disk.sync_file(path)?;
        path.parent().map_or(Ok(()), |folder| self.disk.sync_folder(folder))
    }

    /// If this fails, too, the entry stays and is polled without result: nothing was sent.
    fn forget(&self, path: &Path) {
        let _ = self.release(path);
    }

    fn sent_before(&self, name: &str, path: &Path) -> BeginError {
        let read = self.disk.read(path).map_err(|problem| format!("cannot be read: {problem}"));
        match read.and_then(|bytes| History::read(name, &bytes)) {
            Ok(History { entry, .. }) => BeginError::SentBefore {
                detail: format!("not sent: {} was already sent {}", entry.payment, entry.state.words()),
                payment: Some(entry.payment.into()),
            },
            Err(why) => BeginError::SentBefore {
                detail: format!("not sent: it may have been sent before, as the journal's entry {name} {why}"),
                payment: None,
            },
        }
    }

    /// If several processes begin at once, the one with the first line continues.
    pub(super) fn begin_confirmation(&self, name: &str) -> Result<Option<EntryGuard>, BeginError> {
        let Some(mut path) = self.find(name)? else { return Ok(None) };
        let known = self.history(name, &path)?;
        if known.confirming.is_some() || known.entry.is_finished || known.entry.state == JournalState::Charged {
            return Err(self.sent_before(name, &path));
        }
        if path.starts_with(&self.done) {
            path = self.bring_back(name, &path)?;
        }
        let by = uuid::Uuid::now_v7().to_string();
        let line = Line { by: Some(&by), ..Line::of(Step::Confirming, self.disk.now()) };
        if let Err(problem) = self.write_durably(&path, &line.text()) {
            // Its line may still have been written, and would block every other confirmation.
            let _ = self.append(&path, &Line { by: Some(&by), ..Line::of(Step::NotConfirmed, self.disk.now()) });
            return Err(problem.into());
        }
        if self.history(name, &path)?.confirming.as_deref() != Some(by.as_str()) {
            return Err(self.sent_before(name, &path));
        }
        Ok(Some(EntryGuard { name: name.to_owned(), path, confirms: Some(by) }))
    }

    fn history(&self, name: &str, path: &Path) -> Result<History, BeginError> {
        let bytes = self.disk.read(path)?;
        History::read(name, &bytes).map_err(|_| self.sent_before(name, path))
    }

    /// Without a flush: if the line is lost, the entry is less final than the payment, which is polled.
    pub(super) fn append(&self, path: &Path, line: &Line<'_>) -> io::Result<()> {
        self.disk.append(path, line.text().as_bytes())
    }

    /// Appends to an entry that may have been moved since it was begun.
    pub(super) fn append_to(&self, held: &EntryGuard, line: &Line<'_>) -> io::Result<()> {
        match self.append(&held.path, line) {
            Err(problem) if problem.kind() == ErrorKind::NotFound => match self.find(&held.name)? {
                Some(path) => self.append(&path, line),
                None => Err(problem),
            },
            done => done,
        }
    }

    pub(super) fn release_held(&self, held: &EntryGuard) -> io::Result<()> {
        self.release(&held.path)
    }

    /// Frees a number of an unsent payment, durably: otherwise its file could reappear next to a later entry of the same name.
    fn release(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_file(path)?;
        path.parent().map_or(Ok(()), |folder| self.disk.sync_folder(folder))
    }

    /// Records the status that the gateway reported. A report about a request other than the entry's is ignored.
    pub(super) fn record_report(
        &self,
        name: &str,
        step: Step,
        payment: &PaymentRef,
        reason: Option<&str>,
    ) -> io::Result<()> {
        self.retry_if_moved(|| self.record_report_once(name, step, payment, reason))
    }

    /// Remembers a charge that could not be recorded until it is.
    pub(super) fn remember_charge(&self, name: &str, payment: &PaymentRef, is_recorded: bool) {
        let mut unrecorded = self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner);
        if is_recorded {
            unrecorded.remove(name);
        } else {
            unrecorded.insert(name.to_owned(), payment.clone());
        }
    }

    /// Records a charge of this entry that could not be recorded before, if there is one.
    pub(super) fn record_missed_charge(&self, name: &str) -> io::Result<()> {
        let missed = self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let Some(payment) = missed else { return Ok(()) };
        self.record_report(name, Step::Charged, &payment, None)?;
        self.remember_charge(name, &payment, true);
        Ok(())
    }

    /// Another process may move an entry between two steps. Then all steps are repeated at its new path.
    pub(super) fn retry_if_moved<T>(&self, work: impl Fn() -> io::Result<T>) -> io::Result<T> {
        let mut tries = TRIES;
        loop {
            match work() {
                Err(problem) if problem.kind() == ErrorKind::NotFound && tries > 1 => tries -= 1,
                done => return done,
            }
        }
    }

    fn record_report_once(&self, name: &str, step: Step, payment: &PaymentRef, reason: Option<&str>) -> io::Result<()> {
        let Some(mut path) = self.find(name)? else { return Ok(()) };
        let Ok(known) = History::read(name, &self.disk.read(&path)?) else { return Ok(()) };
        let is_rejected_again = step == Step::Rejected
            && known.after_end.is_some_and(|after_end| after_end.is_worth_a_line(self.disk.now()));
        let is_new = known.entry.state.can_become(step) || known.learns_from(payment) || is_rejected_again;
        if !known.entry.payment.is_same_request(payment) || !is_new {
            return Ok(());
        }
        // Only a listed entry is delivered. A payment can be charged after it was rejected or finished.
        if path.starts_with(&self.done) {
            if step != Step::Charged {
                return Ok(());
            }
            path = self.bring_back(name, &path)?;
        }
        let entry = PaymentEntry::new(payment.clone());
        self.append(&path, &Line { entry: Some(&entry), reason, ..Line::of(step, self.disk.now()) })?;
        if step == Step::Charged && !payment.is_claimed {
            let order = payment.order_number.as_deref().map(Exclusive::Order);
            let transaction = payment.transaction_id.as_deref().map(Exclusive::Transaction);
            for number in order.into_iter().chain(transaction) {
                self.adopt(number, name)?;
            }
        }
        Ok(())
    }

    /// Records a number that is claimed for a payment.
    pub(super) fn record_claim(&self, name: &str, payment: &PaymentRef) -> io::Result<()> {
        self.retry_if_moved(|| {
            let Some(path) = self.find(name)?.filter(|path| path.starts_with(&self.open)) else { return Ok(()) };
            let Ok(known) = History::read(name, &self.disk.read(&path)?) else { return Ok(()) };
            if !known.entry.payment.is_same_request(payment) || !known.learns_from(payment) {
                return Ok(());
            }
            if known.claims.len() >= MOST_CLAIMS {
                return Err(io::Error::other(format!("{MOST_CLAIMS} others were claimed for the payment before")));
            }
            let entry = PaymentEntry::new(payment.clone());
            self.append(&path, &Line { entry: Some(&entry), ..Line::of(Step::Claimed, self.disk.now()) })
        })
    }

    /// A transaction or a page belongs only to its own entry, also if that entry has another name.
    pub(super) fn fence(&self, entry: &PaymentEntry, name: &str) -> io::Result<()> {
        let payment = &entry.payment;
        if payment.entry_id.is_some()
            && payment.transaction_id.is_some()
            && self.assign_number(payment)? != Assigned::Own
        {
            return Err(io::Error::other(ANOTHERS_TRANSACTION));
        }
        match &entry.page_url {
            Some(url) if !self.adopt(Exclusive::Page(url), name)? => {
                Err(io::Error::other("its page is another entry's"))
            }
            _ => Ok(()),
        }
    }
}

impl History {
    /// Whether a report or a claim has a number that is not known yet.
    fn learns_from(&self, payment: &PaymentRef) -> bool {
        let numbers = |payment: &PaymentRef| (payment.order_number.clone(), payment.transaction_id.clone());
        let is_new = self.claims.iter().all(|known| numbers(known) != numbers(payment));
        payment.is_claimed && is_new && self.entry.state != JournalState::Charged
    }
}

impl JournalState {
    /// Whether a report changes the state. `Charged` is absorbing; `Pending` replaces a mismatch and an unknown state.
    fn can_become(self, step: Step) -> bool {
        match step {
            Step::Accepted => matches!(self, Self::Unknown | Self::Mismatch),
            step => self != Self::Charged && self != step.state(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Unknown => "and its outcome is unknown: query its status",
            Self::Pending => "and the gateway has accepted it: query its status",
            Self::Charged => "and is charged",
            Self::Mismatch => "and the gateway's report contradicts it: a person has to look at it",
            Self::Rejected => "and was rejected",
        }
    }
}
