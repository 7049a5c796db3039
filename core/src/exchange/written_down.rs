//! The journal's part of one call: written down before it is sent, and what came back noted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use crate::{
    exchange::{in_flight::Counted, outcome::Failed},
    journal::{Held, Journal, NotHeld, Noted},
    operations::operation::Operation,
    transport::{Connection, Transport},
    values::{error::PaymentError, payment_ref::PaymentRef},
};

/// The entry of a call that moves money.
pub(crate) struct WrittenDown {
    journal: Journal,
    payment: PaymentRef,
    note: Option<Arc<str>>,
    confirms: bool,
    /// From when it was written until what came back was noted.
    entry: Mutex<Entry>,
}

#[derive(Default)]
struct Entry {
    held: Option<Held>,
    /// The call ended before it was written down.
    is_abandoned: bool,
}

/// Cleanup of a call that is aborted (RAII guard): where it had no connection yet, it never will, and its entry goes.
pub(crate) struct UnlessSent<'a>(pub(crate) &'a WrittenDown, pub(crate) &'a Connection);

impl Drop for UnlessSent<'_> {
    fn drop(&mut self) {
        if self.1.give_up() {
            self.0.abandon();
        }
    }
}

impl WrittenDown {
    pub(crate) fn new(journal: &Journal, payment: &PaymentRef, note: Option<Arc<str>>, confirms: bool) -> Arc<Self> {
        Arc::new(Self { journal: journal.clone(), payment: payment.clone(), note, confirms, entry: Mutex::default() })
    }

    /// Writes it down, durably. Nothing may be sent where that fails. The call counts as in flight until that is done, also
    /// where it is aborted meanwhile.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        transport: &dyn Transport,
        counted: Option<Arc<Counted>>,
    ) -> Result<(), NotHeld> {
        let this = self.clone();
        on_disk(transport, move || {
            let begun = this.begin_now();
            drop(counted);
            begun
        })
        .await
    }

    fn begin_now(&self) -> Result<(), NotHeld> {
        if self.entry().is_abandoned {
            return Err(NotHeld::Unwritten { detail: "the caller gave up".to_owned() });
        }
        let held = if self.confirms {
            self.journal.begin_confirmation(&self.payment)?
        } else {
            Some(self.journal.begin(&self.payment, self.note.as_deref())?)
        };
        let mut entry = self.entry();
        entry.held = held;
        let is_abandoned = entry.is_abandoned;
        drop(entry);
        if is_abandoned {
            self.abandon();
        }
        Ok(())
    }

    /// Nothing was sent, and nothing will be.
    fn abandon(&self) {
        self.entry().is_abandoned = true;
        self.note(Noted::NothingHappened);
    }

    /// Notes what came of it, whether its caller still waits or not.
    pub(crate) fn note_result<O: Operation>(&self, result: &Result<O::Answer, Failed>) {
        match result {
            Ok(answer) => {
                if let Some((entry, code)) = O::noted(answer) {
                    self.note(Noted::Accepted { entry: &entry, code });
                }
            }
            Err(Failed { error: PaymentError::OutcomeUnknown { payment, code, .. }, .. }) => {
                self.note(Noted::Unanswered { payment, code: code.as_deref() });
            }
            Err(_) => self.note(Noted::NothingHappened),
        }
    }

    /// What is behind the lock is whole after every step, whatever panicked.
    fn entry(&self) -> MutexGuard<'_, Entry> {
        self.entry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At most once.
    fn note(&self, noted: Noted<'_>) {
        let held = self.entry().held.take();
        if let Some(held) = held {
            self.journal.note(&held, noted);
        }
    }
}

/// Does what blocks (the disk) apart from the network's threads; nothing where they go down.
pub(crate) async fn apart<T: Send + 'static>(
    transport: &dyn Transport,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = mpsc::channel();
    transport.block(Box::new(move || drop(done.send(work())))).await;
    result.try_recv().ok()
}

/// The same with the journal.
pub(crate) async fn on_disk<T: Send + 'static>(
    transport: &dyn Transport,
    work: impl FnOnce() -> Result<T, NotHeld> + Send + 'static,
) -> Result<T, NotHeld> {
    let interrupted = || Err(NotHeld::Unwritten { detail: "the journal was interrupted inside the SDK".to_owned() });
    apart(transport, work).await.unwrap_or_else(interrupted)
}
