//! The files of a journal: which steps are done in which order.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::PoisonError,
    time::Duration,
};

use super::{
    Shared,
    claims::Taken,
    disk::Disk,
    lines::{History, Line, Step},
};
use crate::{
    journal::entry::{self, Exclusive, JournalState},
    payment_entry::PaymentEntry,
    payment_ref::PaymentRef,
};

/// How often a folder that another process removed is made again, or a file that it moved is looked for.
const TRIES: u32 = 5;

/// How much longer than its entry the note of what a number has paid for is kept: whoever claims it again for another order
/// may have waited.
const NOTES_KEPT: u32 = 10;

/// How many numbers are kept that were claimed for one payment. Nobody tries that often to pay for one order, and a file must not grow
/// without end: a further claim is refused, and never dropped in silence.
pub(super) const MOST_CLAIMS: usize = 1000;

/// Why a code is not handed on.
pub(super) const ANOTHERS_TRANSACTION: &str = "its transaction is another entry's";

/// An entry of which this call is the owner: it may send.
#[derive(Clone, Debug)]
pub(crate) struct EntryGuard {
    name: String,
    path: PathBuf,
    /// Who confirms, where it is a confirmation.
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

/// What the gateway's report told of a payment.
pub(super) struct ReportNote<'a> {
    pub(super) payment: &'a PaymentRef,
    pub(super) reason: Option<&'a str>,
}

/// Why nothing may be sent.
#[derive(Debug)]
pub(crate) enum BeginError {
    /// The journal could not be written or read.
    Unwritten { detail: String },
    /// It was sent before, or may have been; the reference that was sent then, where it can be read.
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

    /// Tries whether files can be made and removed in a folder, as each payment does: permissions alone do not tell that, and a
    /// shop must not learn it by its first payment. A full disk is no reason to read nothing, and may have room by then.
    fn check_writable(&self, folder: &Path) -> io::Result<()> {
        self.remove_trials(folder);
        let file = folder.join(format!("{}{}", entry::TRIAL, uuid::Uuid::now_v7()));
        let tried = self.disk.create(&file).and_then(|()| {
            let flushed = self.disk.sync_file(&file);
            match self.disk.remove_file(&file).and(flushed) {
                // Another process has opened the journal at the same moment.
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

    /// Those that a killed process has left.
    fn remove_trials(&self, folder: &Path) {
        let names = self.disk.names(folder).into_iter().flatten().flatten();
        for name in names.filter(|name| name.starts_with(entry::TRIAL)) {
            let _ = self.disk.remove_file(&folder.join(name));
        }
    }

    pub(super) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// The folders inside one that must be there, in the order of their names. That it is not there any more is an error: an empty
    /// journal would say that nothing was ever sent.
    pub(super) fn folders(&self, of: &Path) -> io::Result<Vec<PathBuf>> {
        let mut names = self.disk.names(of)?.collect::<io::Result<Vec<_>>>()?;
        names.retain(|name| entry::is_a_time(name));
        names.sort();
        Ok(names.into_iter().map(|name| of.join(name)).collect())
    }

    /// An entry's file, wherever it is. One may be moved while it is looked for, in either direction, so that what is done
    /// is looked at between two looks at what is open.
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
        // Whoever else began with this number has made its file by now, in whatever folder, or will find this one.
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

    /// Makes the empty file; or says where there is one already.
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

    /// Makes sure that a day's folder survives a loss of power, whoever made it: once in each process, as folders of today
    /// are never removed.
    fn flush_name_of(&self, folder: &Path) -> io::Result<()> {
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

    /// Where even this fails, an entry stays that is asked about in vain: nothing was sent.
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

    /// Of several who begin at once, the one whose line is the first goes on.
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
            // Its line may be there all the same, and would stop every other confirmation.
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

    /// Without a flush: where it is lost, less is known than could be, and the payment is asked about.
    fn append(&self, path: &Path, line: &Line<'_>) -> io::Result<()> {
        self.disk.append(path, line.text().as_bytes())
    }

    /// The same for an entry that may have been moved since it was begun.
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

    /// Frees a number of which nothing was sent, durably: else it could come back beside a later entry of the same name.
    fn release(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_file(path)?;
        path.parent().map_or(Ok(()), |folder| self.disk.sync_folder(folder))
    }

    /// Notes how a payment stands by the gateway's report. A report about something else than the entry is none of its
    /// business.
    pub(super) fn note_report(&self, name: &str, step: Step, told: &ReportNote<'_>) -> io::Result<()> {
        self.while_it_moves(|| self.note_report_once(name, step, told))
    }

    /// An entry may be moved between two steps of this: then they are done again, where it is now.
    fn while_it_moves<T>(&self, note: impl Fn() -> io::Result<T>) -> io::Result<T> {
        let mut tries = TRIES;
        loop {
            match note() {
                Err(problem) if problem.kind() == ErrorKind::NotFound && tries > 1 => tries -= 1,
                done => return done,
            }
        }
    }

    fn note_report_once(&self, name: &str, step: Step, told: &ReportNote<'_>) -> io::Result<()> {
        let ReportNote { payment, reason } = *told;
        let Some(mut path) = self.find(name)? else { return Ok(()) };
        let Ok(known) = History::read(name, &self.disk.read(&path)?) else { return Ok(()) };
        let is_rejected_again = step == Step::Rejected
            && known.after_end.is_some_and(|after_end| after_end.is_worth_a_line(self.disk.now()));
        let is_new = known.entry.state.can_become(step) || known.learns_from(payment) || is_rejected_again;
        if !known.entry.payment.is_same_request(payment) || !is_new {
            return Ok(());
        }
        // Only what is listed is dealt with. It may come to an end after it had one, as rejected or by a person.
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

    /// Notes a number that is claimed for a payment.
    pub(super) fn note_claim(&self, name: &str, payment: &PaymentRef) -> io::Result<()> {
        self.while_it_moves(|| {
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

    /// A transaction or a page of the merchant's own is its entry's alone, also where that is found by another name.
    pub(super) fn fence(&self, entry: &PaymentEntry, name: &str) -> io::Result<()> {
        let payment = &entry.payment;
        if payment.entry_id.is_some() && payment.transaction_id.is_some() && self.take_number(payment)? != Taken::Here {
            return Err(io::Error::other(ANOTHERS_TRANSACTION));
        }
        match &entry.page_url {
            Some(url) if !self.adopt(Exclusive::Page(url), name)? => {
                Err(io::Error::other("its page is another entry's"))
            }
            _ => Ok(()),
        }
    }

    /// Puts an entry that a person or a program is done with away. False where there is none.
    pub(super) fn finish(&self, name: &str) -> io::Result<bool> {
        let found = self.while_it_moves(|| {
            let Some(path) = self.find(name)? else { return Ok(None) };
            if !path.starts_with(&self.done) {
                self.append(&path, &Line::of(Step::Finished, self.disk.now()))?;
            }
            Ok(Some(path))
        })?;
        let Some(path) = found else { return Ok(false) };
        if path.starts_with(&self.done) {
            return Ok(true);
        }
        match self.put_away_finished(name, &path) {
            // Somebody who lists what is unfinished has just put it away.
            Err(problem) if problem.kind() == ErrorKind::NotFound => match self.find(name)? {
                Some(path) => self.disk.sync_file(&path)?,
                None => return Err(problem),
            },
            done => done?,
        }
        Ok(true)
    }

    fn put_away_finished(&self, name: &str, path: &Path) -> io::Result<()> {
        self.disk.sync_file(path)?;
        // A rejected one is still asked about.
        match History::read(name, &self.disk.read(path)?) {
            Ok(history) if !history.is_done_with(self.disk.now()) => Ok(()),
            _ => self.put_away(name, path),
        }
    }

    /// Moves an entry to what is done, durably.
    pub(super) fn put_away(&self, name: &str, path: &Path) -> io::Result<()> {
        let folder = self.folder_of_now(&self.done)?;
        self.move_to(name, path, &folder)?;
        // A charge may have been noted just before it was moved. Nobody has delivered that yet.
        let path = folder.join(name);
        let history = History::read(name, &self.disk.read(&path)?);
        if history.is_ok_and(|history| history.entry.state == JournalState::Charged && !history.entry.is_finished) {
            self.bring_back(name, &path)?;
        }
        Ok(())
    }

    /// The folder of this month.
    pub(super) fn folder_of_now(&self, place: &Path) -> io::Result<PathBuf> {
        // A clock that was set back must not put anything where it is pruned at once.
        let month = entry::of_month(self.disk.now());
        let newest = self.folders(place)?.pop();
        let folder = newest.into_iter().fold(place.join(month), Ord::max);
        self.disk.make_folder(&folder)?;
        self.disk.sync_folder(place)?;
        Ok(folder)
    }

    /// Moves an entry back to what is not done with, durably.
    fn bring_back(&self, name: &str, path: &Path) -> io::Result<PathBuf> {
        let folder = self.open.join(entry::of_day(self.disk.now()));
        self.disk.make_folder(&folder)?;
        self.flush_name_of(&folder)?;
        self.move_to(name, path, &folder)?;
        Ok(folder.join(name))
    }

    fn move_to(&self, name: &str, path: &Path, folder: &Path) -> io::Result<()> {
        let target = folder.join(name);
        let is_there = self.disk.exists(&target)?;
        if is_there && self.disk.exists(path)? {
            return Err(io::Error::new(ErrorKind::AlreadyExists, format!("there are two entries called {name}")));
        }
        match self.disk.rename(path, &target) {
            // Another process has just done it.
            Err(problem) if problem.kind() == ErrorKind::NotFound && self.disk.exists(&target)? => return Ok(()),
            done => done?,
        }
        self.disk.sync_folder(folder)?;
        path.parent().map_or(Ok(()), |folder| self.disk.sync_folder(folder))
    }

    /// Removes what was finished longer ago, and the notes of what has paid for something ten times as long ago.
    pub(super) fn prune(&self, older_than: Duration) -> io::Result<()> {
        self.prune_in(&self.done, older_than)?;
        self.prune_in(&self.paid, older_than.saturating_mul(NOTES_KEPT))
    }

    /// Removes the folders of months that ended before. A clock that runs ahead counts no further than the newest folder.
    fn prune_in(&self, place: &Path, older_than: Duration) -> io::Result<()> {
        let Some(then) = self.disk.now().checked_sub(older_than) else { return Ok(()) };
        let done = self.folders(place)?;
        let newest = [done.last().cloned(), self.folders(&self.open)?.pop()];
        let newest = newest.iter().flatten().filter_map(|folder| entry::end_of(folder)).max();
        let then = match newest.and_then(|newest| newest.checked_sub(older_than)) {
            Some(by_folders) => then.min(by_folders),
            None => return Ok(()),
        };
        let first_kept = place.join(entry::of_month(then));
        for folder in done.into_iter().filter(|folder| *folder < first_kept) {
            for name in self.disk.names(&folder)? {
                gone(self.disk.remove_file(&folder.join(name?)))?;
            }
            gone(self.disk.remove_folder(&folder))?;
        }
        Ok(())
    }
}

/// Another process may have removed it just before.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(problem) if problem.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

impl History {
    /// Whether a report or a claim names another number than is known.
    fn learns_from(&self, payment: &PaymentRef) -> bool {
        let numbers = |payment: &PaymentRef| (payment.order_number.clone(), payment.transaction_id.clone());
        let is_new = self.claims.iter().all(|known| numbers(known) != numbers(payment));
        payment.is_claimed && is_new && self.entry.state != JournalState::Charged
    }
}

impl JournalState {
    /// Whether a report changes what is known. Charged is absorbing; that it is open takes back a mismatch, and ends
    /// that nothing is known.
    fn can_become(self, step: Step) -> bool {
        match step {
            Step::Accepted => matches!(self, Self::Unknown | Self::Mismatch),
            step => self != Self::Charged && self != step.state(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Unknown => "and its outcome is not known: ask for its status",
            Self::Pending => "and the gateway has accepted it: ask for its status",
            Self::Charged => "and is charged",
            Self::Mismatch => "and the gateway's report contradicts it: a person has to look at it",
            Self::Rejected => "and was rejected",
        }
    }
}
