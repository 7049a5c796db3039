//! The journal's part of one call: the entry is written before the request is sent, and the result is recorded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::{
    error::PaymentError,
    journal::{BeginError, EntryGuard, Journal, SendOutcome, entry::name_of},
    operations::{Effect, Operation},
    payment_entry::PaymentEntry,
    payment_ref::{PaymentRef, new_order_number},
    pipeline::outcome::{self, CallError},
    transport::{Request, Transport},
};

/// The kind of a call for the journal.
pub(crate) enum JournalKind {
    /// A payment: recorded before sending.
    Payment(PaymentRef),
    /// A confirmation of a recorded payment.
    Confirmation(PaymentRef),
    /// A pay-form or QR code: recorded before it is returned, because no one can pay it before that.
    Code,
}

/// The entry of a call.
pub(crate) struct Journaling {
    journal: Journal,
    kind: JournalKind,
    note: Option<Arc<str>>,
    /// Held from the write until the result is recorded.
    held: Mutex<Option<EntryGuard>>,
}

/// Cleanup of an aborted call (RAII guard): if the call had no connection yet, nothing was sent, so its entry is removed.
pub(crate) struct UnlessSent<'a>(pub(crate) &'a Journaling, pub(crate) &'a Request);

impl Drop for UnlessSent<'_> {
    fn drop(&mut self) {
        if self.1.give_up() {
            self.0.record_outcome(SendOutcome::NothingHappened);
        }
    }
}

impl Journaling {
    pub(crate) fn new(journal: &Journal, kind: JournalKind, note: Option<Arc<str>>) -> Self {
        Self { journal: journal.clone(), kind, note, held: Mutex::default() }
    }

    /// Records the call, durably. Nothing may be sent if that fails.
    pub(crate) fn begin(&self) -> Result<(), BeginError> {
        let held = match &self.kind {
            JournalKind::Payment(payment) => Some(self.journal.begin(payment, self.note.as_deref())?),
            JournalKind::Confirmation(payment) => self.journal.begin_confirmation(payment)?,
            JournalKind::Code => None,
        };
        *self.held() = held;
        Ok(())
    }

    /// Records the result, whether or not the caller still waits. A code that cannot be recorded is not returned.
    pub(crate) fn record<O: Operation>(
        &self,
        mut result: Result<O::Answer, CallError>,
    ) -> Result<O::Answer, CallError> {
        match &mut result {
            Ok(answer) => {
                if let Some(payment) = O::payment(answer) {
                    give_name(payment);
                    self.adopt_numbers(payment);
                }
                if let Some((entry, code)) = O::journal_entry(answer)
                    && let Err(error) = self.note_answer(&entry, code)
                {
                    return Err(error.into());
                }
            }
            Err(failed) => self.note_error(&mut failed.error),
        }
        result
    }

    fn note_answer(&self, entry: &PaymentEntry, code: Option<&str>) -> Result<(), PaymentError> {
        if let JournalKind::Code = self.kind {
            let added = self.journal.add(entry, self.note.as_deref());
            return added.map_err(|not_held| outcome::not_sent(Effect::Creates, not_held));
        }
        if let Some(page_url) = &entry.page_url
            && self.is_anothers_page(page_url)
        {
            let payment = PaymentRef { gateway_number: None, ..entry.payment.clone() };
            self.record_outcome(SendOutcome::Unanswered { payment: &payment, code });
            return Err(outcome::anothers_page(payment, code));
        }
        self.record_outcome(SendOutcome::Accepted { entry, code });
        Ok(())
    }

    fn note_error(&self, error: &mut PaymentError) {
        match error {
            PaymentError::OutcomeUnknown { payment, code, .. } => {
                self.adopt_numbers(payment);
                self.record_outcome(SendOutcome::Unanswered { payment, code: code.as_deref() });
            }
            _ => self.record_outcome(SendOutcome::NothingHappened),
        }
    }

    fn adopt_numbers(&self, payment: &mut PaymentRef) {
        if let Some(held) = self.held().as_ref() {
            self.journal.adopt_numbers(held, payment);
        }
    }

    fn is_anothers_page(&self, page_url: &str) -> bool {
        self.held().as_ref().is_some_and(|held| self.journal.is_anothers_page(held, page_url))
    }

    /// The data behind the lock is consistent after every step, so a poisoned lock is ignored.
    fn held(&self) -> MutexGuard<'_, Option<EntryGuard>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the outcome at most once.
    fn record_outcome(&self, outcome: SendOutcome<'_>) {
        let held = self.held().take();
        if let Some(held) = held {
            self.journal.record(&held, outcome);
        }
    }
}

/// Gives a payment without a number an id, by which its entry is found.
fn give_name(payment: &mut PaymentRef) {
    if name_of(payment).is_none() {
        payment.entry_id = Some(new_order_number());
    }
}

/// Runs blocking work (the disk) outside the network's threads; `None` if the runtime shuts down.
pub(crate) async fn run_blocking<T: Send + 'static>(
    transport: &dyn Transport,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, mut result) = oneshot::channel();
    transport.block(Box::new(move || drop(done.send(work())))).await;
    result.try_recv().ok()
}

/// Runs blocking work inside a detached task. A panic of the work ends the task.
pub(crate) fn in_task<T>(transport: &dyn Transport, work: impl FnOnce() -> T) -> T {
    let (mut work, mut done) = (Some(work), None);
    transport.block_in_task(&mut || done = work.take().map(|work| work()));
    done.expect("it was done just now")
}
