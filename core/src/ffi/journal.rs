//! The journal for other languages: owned arguments, and what is unfinished in pages, as each crossing of the border costs
//! about as much as reading an entry.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{Gateway, Journal, PaymentError, Unfinished, UnfinishedEntries};

/// How many entries cross the border at once.
const PAGE: usize = 128;

/// The unfinished entries of a journal, in pages, the oldest first. It blocks its thread while it reads the disk.
#[derive(uniffi::Object)]
pub struct UnfinishedPages {
    state: Mutex<State>,
}

struct State {
    entries: UnfinishedEntries,
    /// What comes after the page that was handed on.
    failure: Option<PaymentError>,
}

impl UnfinishedPages {
    fn of(entries: UnfinishedEntries) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { entries, failure: None }) })
    }
}

#[uniffi::export]
impl UnfinishedPages {
    /// The next ones; none after the last one.
    ///
    /// # Errors
    /// [`PaymentError::Unavailable`] where the journal cannot be read. What was read before that is handed on first.
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
    /// Opens the journal in a folder, which is made if need be, and removes what was finished more than 90 days ago.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] where the folder cannot be made, read or written.
    #[uniffi::constructor(name = "open")]
    fn in_folder(folder: &str) -> Result<Self, PaymentError> {
        Self::open(folder)
    }

    /// All unfinished entries, in pages. See `unfinished`, which is made of it.
    fn unfinished_pages(&self) -> Arc<UnfinishedPages> {
        UnfinishedPages::of(self.unfinished())
    }
}

#[uniffi::export]
impl Gateway {
    /// The same gateway with a journal: what it sends from now on is written down first. See [`Journal`].
    #[uniffi::method(name = "with_journal")]
    fn and_journal(&self, journal: &Journal) -> Self {
        self.with_journal(journal.clone())
    }

    /// The same gateway, which writes this note into the journal's entries of the payments that it makes: the
    /// user's own order, for example, so that after a crash it is known what each payment is for. It costs next to
    /// nothing, so it can be made for one call.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] for a note of more than 256 characters,
    /// [`PaymentError::Misconfigured`] where the gateway has no journal.
    #[uniffi::method(name = "with_note")]
    fn and_note(&self, note: &str) -> Result<Self, PaymentError> {
        self.with_note(note)
    }

    /// The gateway's journal, where it has one.
    #[uniffi::method(name = "journal")]
    fn its_journal(&self) -> Option<Arc<Journal>> {
        self.journal().cloned().map(Arc::new)
    }

    /// The unfinished entries of the gateway's journal, in pages. See `unfinished`, which is made of it.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] where the gateway has no journal.
    fn unfinished_pages(&self) -> Result<Arc<UnfinishedPages>, PaymentError> {
        self.unfinished().map(UnfinishedPages::of)
    }
}
