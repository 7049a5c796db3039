//! The journal for other languages: owned arguments, and unfinished entries in pages, because each crossing of the boundary costs about as
//! much as reading an entry.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{Gateway, Journal, PaymentError, Unfinished, UnfinishedEntries};

/// How many entries cross the boundary at once.
const PAGE: usize = 128;

/// The unfinished entries of a journal, in pages, the oldest first. It blocks its thread while it reads the disk.
#[derive(uniffi::Object)]
pub struct UnfinishedPages {
    state: Mutex<State>,
}

struct State {
    entries: UnfinishedEntries,
    /// The error to return after the page that was returned.
    failure: Option<PaymentError>,
}

impl UnfinishedPages {
    fn of(entries: UnfinishedEntries) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { entries, failure: None }) })
    }
}

#[uniffi::export]
impl UnfinishedPages {
    /// The next entries; empty after the last one.
    ///
    /// # Errors
    /// [`PaymentError::Unavailable`] if the journal cannot be read. Entries that were read before are returned first.
    fn next_page(&self) -> Result<Vec<Unfinished>, PaymentError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = state.failure.take() {
            return Err(failure);
        }
        let mut page = Vec::new();
        for item in state.entries.by_ref().take(PAGE) {
            match item {
                Ok(item) => page.push(item),
                Err(failure) if page.is_empty() => return Err(failure),
                Err(failure) => {
                    state.failure = Some(failure);
                    break;
                }
            }
        }
        Ok(page)
    }
}

#[uniffi::export]
impl Journal {
    /// Opens the journal in a folder, which it creates if needed, and removes entries that were finished more than 90 days ago.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] if the folder cannot be created, read or written.
    #[uniffi::constructor(name = "open")]
    fn in_folder(folder: &str) -> Result<Self, PaymentError> {
        Self::open(folder)
    }

    /// All unfinished entries, in pages. `unfinished` is built on it.
    fn unfinished_pages(&self) -> Arc<UnfinishedPages> {
        UnfinishedPages::of(self.unfinished())
    }
}

#[uniffi::export]
impl Gateway {
    /// The same gateway with a journal: it records every payment before sending it. See [`Journal`].
    #[uniffi::method(name = "with_journal")]
    fn and_journal(&self, journal: &Journal) -> Self {
        self.with_journal(journal.clone())
    }

    /// The same gateway with a note, which it adds to the journal entries of its payments: your own order number, for
    /// example, so that you know after a crash what each payment is for. It is cheap enough to create for one call.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] for a note of more than 256 characters, [`PaymentError::Misconfigured`] if the gateway
    /// has no journal.
    #[uniffi::method(name = "with_note")]
    fn and_note(&self, note: &str) -> Result<Self, PaymentError> {
        self.with_note(note)
    }

    /// The gateway's journal, if it has one.
    #[uniffi::method(name = "journal")]
    fn its_journal(&self) -> Option<Arc<Journal>> {
        self.journal().cloned().map(Arc::new)
    }

    /// The unfinished entries of the gateway's journal, in pages. `unfinished` is built on it.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] if the gateway has no journal.
    fn unfinished_pages(&self) -> Result<Arc<UnfinishedPages>, PaymentError> {
        self.unfinished().map(UnfinishedPages::of)
    }
}
