//! Journal (write-ahead log) of payments: each payment is recorded before it is sent, so that a crash loses none.
//!
//! A folder of small files, one for each payment, as in a Maildir; no database. `open/<day>/<name>` has the unfinished entries,
//! `done/<month>/<name>` the finished ones, and `paid/<month>/<name>` the entry that a number has paid for. An empty file is created
//! exclusively; then the other folders are searched; only then is the first line written and flushed. So of two callers with the same order
//! number, at any time and in any process, at most one continues. An empty file was never sent.

mod archive;
mod claims;
pub(crate) mod disk;
pub(crate) mod entry;
mod lines;
mod store;
mod walk;

use std::{
    collections::HashMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use disk::{Disk, RealDisk};
use entry::{Exclusive, JournalEntry, name_of};
use lines::{History, Line, Step};

use crate::{error::PaymentError, payment_entry::PaymentEntry, payment_ref::PaymentRef, violation::Rule};

pub(crate) use claims::Assigned;
pub(crate) use disk::Guard as RecoveryLock;
pub(crate) use lines::AfterEnd;
pub(crate) use store::{BeginError, EntryGuard};
pub use walk::UnfinishedEntries;

/// The longest note, in characters.
const LONGEST_NOTE: usize = 256;

/// The default retention of finished entries.
const RETENTION: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// A folder in which a [`Gateway`](crate::Gateway) records payments **before** it sends them.
///
/// Give it to the gateway ([`Gateway::with_journal`](crate::Gateway::with_journal)); then
/// - every payment has an entry, flushed to the disk, before a byte of it is sent; the gateway records the response and the final
///   status;
/// - **the same order number is never sent twice**, by any thread, process or program that shares the folder, living or dead: a second
///   attempt fails with [`PaymentError::OutcomeUnknown`], which describes the first. If the first failed with an error that means that
///   nothing happened, the number is free again. The confirmation of a mobile-bank payment is not sent again while the outcome of the first
///   one is unknown;
/// - [`unfinished`](Self::unfinished) lists everything unfinished: after a crash, query each
///   ([`Gateway::check`](crate::Gateway::check)), deliver the charged payments, and [`finish`](Self::finish) them.
///
/// If an entry cannot be written, nothing is sent ([`PaymentError::Unavailable`]). Entries hold no secret, and only the
/// owner can read them. One folder serves any number of processes, for **one gateway and one merchant**: an order
/// number does not show where it was sent. The folder must be on a local file system.
///
/// Pay-forms and QR codes have no number of the merchant, so their reference has the id of their entry
/// ([`PaymentRef::entry_id`]). Store the reference, or sign it into the URLs ([`CallbackKey`](crate::CallbackKey)): a
/// callback finds the entry by it. A number that a callback claims pays for only one entry.
///
/// ```
/// use kassa::{Journal, Unfinished};
///
/// # let folder = std::env::temp_dir().join(format!("kassa-journal-{}", std::process::id()));
/// let journal = Journal::open(&folder)?;
/// for item in journal.unfinished() {
///     match item? {
///         Unfinished::Payment { entry } => println!("{} is {:?}", entry.payment, entry.state),
///         Unfinished::Unreadable { id, why } => println!("a person should look at {id}: it {why}"),
///         _ => {}
///     }
/// }
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), kassa::PaymentError>(())
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct Journal {
    shared: Arc<Shared>,
}

struct Shared {
    disk: Box<dyn Disk>,
    open: PathBuf,
    done: PathBuf,
    paid: PathBuf,
    folder: PathBuf,
    /// The day's folder that this process last flushed.
    flushed: Mutex<Option<PathBuf>>,
    /// The charges that could not be recorded, by the names of their entries. The caller that gets the report may deliver it and finish its
    /// entry, which must hold the charge then. Otherwise a later report would look like a charge after the end, and be delivered again.
    unrecorded: Mutex<HashMap<String, PaymentRef>>,
}

impl Journal {
    /// Opens the journal in a folder, which it creates if needed, and removes entries that were finished more than 90 days ago.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] if the folder cannot be created, read or written. To test this, a file is created and removed.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, PaymentError> {
        // A program that changes its working directory later must not begin another journal.
        let folder = std::path::absolute(folder.as_ref()).map_err(|problem| {
            PaymentError::misconfigured(format!("the journal's folder cannot be used: {problem}"))
        })?;
        Self::on(Box::new(RealDisk), &folder)
    }

    pub(crate) fn on(disk: Box<dyn Disk>, folder: &Path) -> Result<Self, PaymentError> {
        let [open, done, paid] = ["open", "done", "paid"].map(|name| folder.join(name));
        let journal = Self {
            shared: Arc::new(Shared {
                disk,
                open,
                done,
                paid,
                folder: folder.to_owned(),
                flushed: Mutex::default(),
                unrecorded: Mutex::default(),
            }),
        };
        journal.shared.prepare().map_err(|problem| {
            PaymentError::misconfigured(format!("the journal in {} cannot be used: {problem}", folder.display()))
        })?;
        // A failure is only logged: old entries do no harm.
        report("done", journal.shared.prune(RETENTION));
        Ok(journal)
    }

    /// All unfinished entries: pending, unknown or mismatched payments, and charged ones that are not finished. The oldest day comes first.
    /// They are read on demand, so that any number of them needs little memory.
    pub fn unfinished(&self) -> UnfinishedEntries {
        UnfinishedEntries::of(self.clone(), Rejected::LeftOut)
    }

    /// All unfinished entries, and payments that were rejected recently, which are still polled.
    pub(crate) fn unfinished_and_rejected(&self) -> UnfinishedEntries {
        UnfinishedEntries::of(self.clone(), Rejected::Listed)
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Journal {
    /// The entry of a payment, finished or not; absent if it has no entry.
    ///
    /// # Errors
    /// [`PaymentError::Unavailable`] if the entry cannot be read.
    pub fn entry(&self, payment: &PaymentRef) -> Result<Option<JournalEntry>, PaymentError> {
        let Some(name) = self.shared.name_for(payment).map_err(unreadable)? else { return Ok(None) };
        match self.shared.find(&name).map_err(unreadable)? {
            None => Ok(None),
            Some(path) => match History::read(&name, &self.shared.disk.read(&path).map_err(unreadable)?) {
                Ok(history) => Ok(Some(history.entry)),
                Err(why) => Err(PaymentError::unavailable(format!("the journal's entry {name} {why}"))),
            },
        }
    }

    /// Finishes a payment: the goods were delivered, or a person has handled it. Its entry is no longer listed, and is kept for 90 days;
    /// its order number stays used. Finishing it again does nothing. A rejected payment is still polled for three days, and listed again if
    /// the gateway reports a charge after all.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if there is no such entry, [`PaymentError::Unavailable`] if it cannot be written: then the payment is
    /// still unfinished.
    pub fn finish(&self, id: &str) -> Result<(), PaymentError> {
        self.shared.record_missed_charge(id).map_err(unwritten)?;
        if !entry::is_a_name(id) || !self.shared.finish(id).map_err(unwritten)? {
            return Err(PaymentError::invalid("id", Rule::OneOf, None, "names no entry of this journal"));
        }
        Ok(())
    }

    /// Permanently removes the finished entries of months that ended longer ago than this. Their order numbers are forgotten with them, and
    /// no longer block a second payment. The record of which number paid for which entry is kept ten times as long, so that the number
    /// cannot pay again.
    ///
    /// # Errors
    /// [`PaymentError::Unavailable`] if they cannot be removed.
    pub fn prune(&self, older_than: Duration) -> Result<(), PaymentError> {
        self.shared.prune(older_than).map_err(unwritten)
    }
}

impl Journal {
    /// Records, durably, that a payment is about to be sent.
    pub(crate) fn begin(&self, payment: &PaymentRef, note: Option<&str>) -> Result<EntryGuard, BeginError> {
        let Some(name) = name_of(payment) else {
            return Err(BeginError::Unwritten { detail: "a payment without a number has no entry".to_owned() });
        };
        let entry = PaymentEntry::new(payment.clone());
        let line = Line { entry: Some(&entry), note, ..Line::of(Step::Sending, self.shared.disk.now()) };
        self.shared.begin(&name, &line.text())
    }

    /// Records, durably, that the confirmation of a payment is about to be sent. A payment without an entry, which was made without this
    /// journal, is allowed.
    pub(crate) fn begin_confirmation(&self, payment: &PaymentRef) -> Result<Option<EntryGuard>, BeginError> {
        let Some(name) = name_of(payment) else { return Ok(None) };
        self.shared.begin_confirmation(&name)
    }

    /// Records the result of a request that moves money. If that fails, the entry is less final than the payment, so that the payment is
    /// polled.
    pub(crate) fn record(&self, held: &EntryGuard, step: SendOutcome<'_>) {
        let (by, now) = (held.confirms(), self.shared.disk.now());
        let line = |step, confirmed| Line { by, ..Line::of(if by.is_some() { confirmed } else { step }, now) };
        let done = match step {
            SendOutcome::Accepted { entry, code } => {
                let line = Line { entry: Some(entry), code, ..line(Step::Accepted, Step::Confirmed) };
                self.shared.append_to(held, &line)
            }
            // A confirmation without a known result keeps its state.
            SendOutcome::Unanswered { .. } if by.is_some() => Ok(()),
            SendOutcome::Unanswered { payment, code } => {
                let entry = PaymentEntry::new(payment.clone());
                let line = Line { entry: Some(&entry), code, ..Line::of(Step::Unanswered, now) };
                self.shared.append_to(held, &line)
            }
            SendOutcome::NothingHappened if by.is_some() => {
                self.shared.append_to(held, &line(Step::NotConfirmed, Step::NotConfirmed))
            }
            SendOutcome::NothingHappened => self.shared.release_held(held),
        };
        report(held.name(), done);
    }

    /// Removes the gateway's number from the reference if it belongs to another entry, or if its owner could not be recorded. The payment
    /// is then queried by the merchant's own number.
    pub(crate) fn adopt_numbers(&self, held: &EntryGuard, payment: &mut PaymentRef) {
        if let Some(number) = payment.gateway_number.as_deref()
            && !self.is_own(held.name(), Exclusive::Order(number)).unwrap_or(false)
        {
            payment.gateway_number = None;
        }
    }

    /// Whether the page of a response belongs to another entry, so that a second payer must not see it.
    pub(crate) fn is_anothers_page(&self, held: &EntryGuard, page_url: &str) -> bool {
        self.is_own(held.name(), Exclusive::Page(page_url)) == Some(false)
    }

    /// `None` if the owner could not be recorded.
    fn is_own(&self, entry: &str, number: Exclusive<'_>) -> Option<bool> {
        let adopted = self.shared.adopt(number, entry);
        let what = || match number {
            Exclusive::Page(_) => "its page's address",
            Exclusive::Order(_) | Exclusive::Transaction(_) => "its number at the gateway",
        };
        match adopted {
            Ok(true) => {}
            Ok(false) => tracing::warn!(target: "kassa", entry, "{} is another entry's, and is not used", what()),
            Err(ref problem) => {
                tracing::warn!(target: "kassa", entry, %problem, "the owner of {} could not be recorded", what())
            }
        }
        adopted.ok()
    }

    /// The lock for recovery, which one process at a time can hold; `None` if another process holds it.
    pub(crate) fn lock_for_recovery(&self) -> Result<Option<RecoveryLock>, PaymentError> {
        let file = self.shared.folder.join("recovery.lock");
        self.shared.disk.lock(&file).map_err(unwritten)
    }

    /// An entry with the references by which its payment is queried; `None` if it is no longer polled.
    pub(crate) fn queries(&self, name: &str) -> Result<Option<EntryQueries>, PaymentError> {
        let now = self.shared.disk.now();
        let history = self.history(name)?.filter(|history| !history.is_done_with(now));
        Ok(history.map(|History { entry, confirming, claims, after_end, .. }| {
            let payments = if claims.is_empty() { vec![entry.payment.clone()] } else { claims };
            EntryQueries { entry, payments, after_end, is_unconfirmed: confirming.is_none() }
        }))
    }

    /// The content of an entry's file; `None` if there is none, if it was moved to the finished ones, or if it cannot be read.
    fn history(&self, name: &str) -> Result<Option<History>, PaymentError> {
        let Some(path) = self.shared.find(name).map_err(unreadable)? else { return Ok(None) };
        if path.starts_with(&self.shared.done) {
            return Ok(None);
        }
        let bytes = self.shared.disk.read(&path).map_err(unreadable)?;
        Ok(History::read(name, &bytes).ok())
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.shared.folder
    }

    pub(crate) fn now(&self) -> SystemTime {
        self.shared.disk.now()
    }

    /// Records the status that the gateway reported, if the payment has an entry.
    pub(crate) fn record_report(&self, payment: &PaymentRef, status: ReportedStatus, reason: Option<&str>) {
        let name = match self.shared.name_for(payment) {
            Ok(Some(name)) => name,
            Ok(None) => return,
            Err(problem) => return report("unnamed", Err(problem)),
        };
        let step = match status {
            ReportedStatus::Pending => Step::Accepted,
            ReportedStatus::Charged => Step::Charged,
            ReportedStatus::Rejected => Step::Rejected,
            ReportedStatus::Mismatch => Step::Mismatch,
        };
        let recorded = self.shared.record_report(&name, step, payment, reason);
        if status == ReportedStatus::Charged {
            self.shared.remember_charge(&name, payment, recorded.is_ok());
        }
        report(&name, recorded);
    }

    /// Records a payment by a QR code or a pay-form, durably, before the payer can see and pay it.
    pub(crate) fn add(&self, entry: &PaymentEntry, note: Option<&str>) -> Result<(), BeginError> {
        let payment = &entry.payment;
        let Some(name) = name_of(payment) else { return Ok(()) };
        let now = self.shared.disk.now();
        let sending = Line { entry: Some(entry), note, ..Line::of(Step::Sending, now) };
        let added = self.shared.begin(&name, &(sending.text() + &Line::of(Step::Accepted, now).text()));
        let withheld = |detail| {
            let detail = format!(
                "the code was created, but is not returned, because its payment could not be recorded: {detail}"
            );
            Err(BeginError::Unwritten { detail })
        };
        match added {
            Ok(held) => {
                let followed = self.shared.fence(entry, held.name());
                if followed.is_err() {
                    report(held.name(), self.shared.release_held(&held));
                }
                followed.or_else(|problem| withheld(problem.to_string()))
            }
            Err(taken @ BeginError::SentBefore { .. }) if payment.entry_id.is_some() => Err(taken),
            // The gateway returned a transaction twice: a charge of it pays for the first entry.
            Err(BeginError::SentBefore { payment: Some(_), .. }) => withheld(store::ANOTHERS_TRANSACTION.to_owned()),
            Err(BeginError::SentBefore { detail, .. } | BeginError::Unwritten { detail }) => withheld(detail),
        }
    }

    /// Records a number that is claimed for a payment before the gateway is queried, so that the query can be repeated after a crash.
    pub(crate) fn record_claim(&self, payment: &PaymentRef) -> Result<(), PaymentError> {
        let Some(name) = name_of(payment) else { return Ok(()) };
        self.shared.record_claim(&name, payment).map_err(|problem| {
            PaymentError::unavailable(format!("the claimed number could not be recorded: {problem}"))
        })
    }

    /// Assigns a claimed number to its entry: one payment pays for one entry.
    pub(crate) fn assign_number(&self, payment: &PaymentRef) -> Result<Assigned, PaymentError> {
        self.shared.assign_number(payment).map_err(|problem| {
            let why = "the owner of its claimed number could not be recorded";
            PaymentError::unavailable(format!("{why}: {problem}"))
        })
    }
}

/// An entry, and the references by which its payment is queried.
pub(crate) struct EntryQueries {
    pub(crate) entry: JournalEntry,
    /// The payment by its own number, or by each of its claimed numbers, the newest first.
    pub(crate) payments: Vec<PaymentRef>,
    /// Set if it was rejected.
    pub(crate) after_end: Option<AfterEnd>,
    /// No confirmation that may have taken effect was sent. An unreadable line may be one.
    pub(crate) is_unconfirmed: bool,
}

/// Whether recently rejected entries are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rejected {
    Listed,
    LeftOut,
}

/// The status of a payment in the gateway's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportedStatus {
    Pending,
    Charged,
    Rejected,
    Mismatch,
}

/// The result of a request that moves money.
pub(crate) enum SendOutcome<'a> {
    Accepted { entry: &'a PaymentEntry, code: Option<&'a str> },
    Unanswered { payment: &'a PaymentRef, code: Option<&'a str> },
    NothingHappened,
}

/// Checks a user's note.
pub(crate) fn checked_note(note: &str) -> Result<String, PaymentError> {
    if note.chars().count() > LONGEST_NOTE {
        let limit = LONGEST_NOTE.to_string();
        return Err(PaymentError::invalid("note", Rule::Length, Some(&limit), "must have at most 256 characters"));
    }
    Ok(note.to_owned())
}

fn report(name: &str, done: io::Result<()>) {
    if let Err(problem) = done {
        tracing::warn!(target: "kassa", entry = name, %problem, "the result could not be recorded in the journal");
    }
}

fn unwritten(problem: io::Error) -> PaymentError {
    PaymentError::unavailable(format!("the journal cannot be written: {problem}"))
}

fn unreadable(problem: io::Error) -> PaymentError {
    PaymentError::unavailable(format!("the journal cannot be read: {problem}"))
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("folder", &self.shared.folder).finish()
    }
}

#[cfg(test)]
pub(crate) mod tests;
