//! The journal's part of one call: written down before it is sent, and what came back noted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::{
    exchange::{
        in_flight::Counted,
        outcome::{self, Failed},
    },
    journal::{Held, Journal, NotHeld, Noted, names::name_of},
    operations::operation::{Effect, Operation},
    transport::{Connection, Transport},
    values::{
        error::PaymentError, order_number::new_order_number, payment_entry::PaymentEntry, payment_ref::PaymentRef,
    },
};

/// What a call is to the journal.
pub(crate) enum What {
    /// Written down before it is sent.
    Payment(PaymentRef),
    /// Of a payment that was written down.
    Confirmation(PaymentRef),
    /// Nobody can pay what nobody saw, so it is written down before it is handed on.
    Code,
}

/// The entry of a call.
pub(crate) struct WrittenDown {
    journal: Journal,
    what: What,
    note: Option<Arc<str>>,
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
    pub(crate) fn new(journal: &Journal, what: What, note: Option<Arc<str>>) -> Arc<Self> {
        Arc::new(Self { journal: journal.clone(), what, note, entry: Mutex::default() })
    }

    /// Writes it down, durably. Nothing may be sent where that fails. The call counts as in flight until that is done, also
    /// where it is aborted meanwhile.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        transport: &dyn Transport,
        counted: Option<Arc<Counted>>,
    ) -> Result<(), NotHeld> {
        if let What::Code = self.what {
            return Ok(());
        }
        let this = self.clone();
        let begun = apart(transport, move || {
            let begun = this.begin_now();
            drop(counted);
            begun
        });
        let interrupted =
            || Err(NotHeld::Unwritten { detail: "the journal was interrupted inside the SDK".to_owned() });
        begun.await.unwrap_or_else(interrupted)
    }

    fn begin_now(&self) -> Result<(), NotHeld> {
        if self.entry().is_abandoned {
            return Err(NotHeld::Unwritten { detail: "the caller gave up".to_owned() });
        }
        let held = match &self.what {
            What::Payment(payment) => Some(self.journal.begin(payment, self.note.as_deref())?),
            What::Confirmation(payment) => self.journal.begin_confirmation(payment)?,
            What::Code => None,
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

    /// Notes what came of it, whether its caller still waits or not. A code that cannot be written down is not handed on.
    pub(crate) fn noted<O: Operation>(&self, mut result: Result<O::Answer, Failed>) -> Result<O::Answer, Failed> {
        match &mut result {
            Ok(answer) => {
                if let Some(payment) = O::unnamed(answer) {
                    give_name(payment);
                }
                if let Some((entry, code)) = O::noted(answer) {
                    self.note_answer(&entry, code)?;
                }
            }
            Err(failed) => self.note_error(&failed.error),
        }
        result
    }

    fn note_answer(&self, entry: &PaymentEntry, code: Option<&str>) -> Result<(), PaymentError> {
        if let What::Code = self.what {
            let added = self.journal.add(entry, self.note.as_deref());
            return added.map_err(|not_held| outcome::not_sent(Effect::Creates, not_held));
        }
        self.note(Noted::Accepted { entry, code });
        Ok(())
    }

    fn note_error(&self, error: &PaymentError) {
        match error {
            PaymentError::OutcomeUnknown { payment, code, .. } => {
                self.note(Noted::Unanswered { payment, code: code.as_deref() });
            }
            _ => self.note(Noted::NothingHappened),
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

/// What has no number has an id, by which its entry is found.
fn give_name(payment: &mut PaymentRef) {
    if name_of(payment).is_none() {
        payment.entry_id = Some(new_order_number());
    }
}

/// Does what blocks (the disk) apart from the network's threads; nothing where they go down.
pub(crate) async fn apart<T: Send + 'static>(
    transport: &dyn Transport,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, mut result) = oneshot::channel();
    transport.block(Box::new(move || drop(done.send(work())))).await;
    result.try_recv().ok()
}
