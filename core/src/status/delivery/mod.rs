//! Delivery, by a program with a journal: passes charged payments to the shop's handler, and finishes them. A worker recovers without end,
//! a script once.

mod deliveries;
mod once;
mod worker;

use std::{
    fmt::{self, Display},
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::Duration,
};

use futures_util::FutureExt as _;
use tokio::sync::watch;

use crate::{
    error::PaymentError,
    journal::entry::{JournalEntry, JournalState, Unfinished},
    pipeline::engine::Engine,
    status::recovery::{Recovered, RecoveryPolicy},
    transport::calling_thread::wait,
    validation::Checks,
    violation::Rule,
};

use deliveries::record_unhandled;
use once::Once;
use worker::Worker;

/// The shop's handler for the results of [`Gateway::deliver_forever`](crate::Gateway::deliver_forever) and
/// [`Gateway::deliver_unfinished`](crate::Gateway::deliver_unfinished). A closure that takes the entry and returns a future is one, too.
///
/// ```
/// use kassa::{DeliveryHandler, JournalEntry, Recovered};
///
/// struct Shop;
///
/// impl DeliveryHandler for Shop {
///     type Error = std::io::Error;
///
///     async fn deliver(&mut self, entry: JournalEntry) -> std::io::Result<()> {
///         println!("paid: ship {:?}", entry.note); // doing it again must do nothing
///         Ok(())
///     }
///
///     async fn otherwise(&mut self, recovered: Recovered) -> std::io::Result<()> {
///         println!("for the payer, or for a person: {recovered:?}");
///         Ok(())
///     }
/// }
/// ```
pub trait DeliveryHandler {
    /// The handler's error. Its text is logged.
    type Error: Display;

    /// The money was taken: deliver the order in the entry's note. The entry is finished after this has returned `Ok`. **It must be
    /// idempotent**: a program may die between delivering and finishing.
    fn deliver(&mut self, entry: JournalEntry) -> impl Future<Output = Result<(), Self::Error>>;

    /// Any other result, as [`Recovered`] lists them: a rejected payment, a mismatch, an entry that cannot be read. **A rejected payment
    /// may still be delivered later.** The journal does not record this call, so it can be missed if the process ends. The default
    /// implementation logs the result.
    fn otherwise(&mut self, recovered: Recovered) -> impl Future<Output = Result<(), Self::Error>> {
        record_unhandled(&recovered);
        async { Ok(()) }
    }
}

impl<F, R, E> DeliveryHandler for F
where
    F: FnMut(JournalEntry) -> R,
    R: Future<Output = Result<(), E>>,
    E: Display,
{
    type Error = E;

    fn deliver(&mut self, entry: JournalEntry) -> impl Future<Output = Result<(), E>> {
        self(entry)
    }
}

/// The [`DeliveryHandler`] of [`BlockingGateway::deliver_forever`](crate::BlockingGateway::deliver_forever) and
/// [`BlockingGateway::deliver_unfinished`](crate::BlockingGateway::deliver_unfinished). A closure that takes the entry is one, too.
pub trait BlockingDeliveryHandler {
    /// The handler's error. Its text is logged.
    type Error: Display;

    /// See [`DeliveryHandler::deliver`].
    ///
    /// # Errors
    /// An error if it was not delivered. `deliver_forever` retries, and `deliver_unfinished` leaves the payment to the next delivery.
    fn deliver(&mut self, entry: JournalEntry) -> Result<(), Self::Error>;

    /// See [`DeliveryHandler::otherwise`].
    ///
    /// # Errors
    /// An error if it could not be handled. `deliver_forever` retries.
    fn otherwise(&mut self, recovered: Recovered) -> Result<(), Self::Error> {
        record_unhandled(&recovered);
        Ok(())
    }
}

impl<F, E> BlockingDeliveryHandler for F
where
    F: FnMut(JournalEntry) -> Result<(), E>,
    E: Display,
{
    type Error = E;

    fn deliver(&mut self, entry: JournalEntry) -> Result<(), E> {
        self(entry)
    }
}

/// How a worker polls and retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliveryPolicy {
    /// The time from one query of a new payment to the next. Default: 10 s. For older payments see
    /// [`RecoveryPolicy::interval`](crate::RecoveryPolicy::interval).
    pub interval: Duration,
    /// How many payments are queried at the same time. Default: 8.
    pub at_once: u32,
    /// The time until the handler is retried after a failure, and until a recovery restarts after an error. It doubles with each failure in
    /// a row. Default: 1 s.
    pub first_pause: Duration,
    /// The longest of these times. Default: 5 minutes; a recovery restarts within a minute.
    pub longest_pause: Duration,
}

impl Default for DeliveryPolicy {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { interval: seconds(10), at_once: 8, first_pause: seconds(1), longest_pause: seconds(300) }
    }
}

impl DeliveryPolicy {
    /// Sets the poll interval of new payments.
    #[must_use]
    pub fn with_interval(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// Sets how many payments are queried at the same time.
    #[must_use]
    pub fn with_at_once(self, at_once: u32) -> Self {
        Self { at_once, ..self }
    }

    /// Sets the pauses after an error: the first one, and the longest one.
    #[must_use]
    pub fn with_pauses(self, first: Duration, longest: Duration) -> Self {
        Self { first_pause: first, longest_pause: longest, ..self }
    }

    fn check(&self) -> Result<(), PaymentError> {
        let mut checks = Checks::default();
        for (field, value) in [("interval", self.interval), ("first_pause", self.first_pause)] {
            if value.is_zero() {
                checks.fail(field, Rule::Minimum, None, "must be longer than zero");
            }
        }
        if self.at_once == 0 {
            checks.fail("at_once", Rule::Minimum, Some("1"), "must be at least 1");
        }
        if self.longest_pause < self.first_pause {
            checks.fail("longest_pause", Rule::Minimum, None, "must be at least first_pause");
        }
        checks.finish()
    }
}

/// Stops a worker from any thread, for example from a handler of SIGTERM. Clones stop the same worker.
///
/// ```
/// # pollster::block_on(async {
/// let stop = kassa::StopSignal::new();
/// let of_the_worker = stop.stopped(); // a future, for `Gateway::deliver_forever`
/// stop.stop();
/// of_the_worker.await;
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct StopSignal {
    is_stopped: Arc<watch::Sender<bool>>,
}

impl Default for StopSignal {
    fn default() -> Self {
        Self::new()
    }
}

impl StopSignal {
    /// A signal that is not stopped yet.
    pub fn new() -> Self {
        Self { is_stopped: Arc::new(watch::channel(false).0) }
    }

    /// Stops the worker. It waits for a running call of its handler.
    pub fn stop(&self) {
        self.is_stopped.send_replace(true);
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        *self.is_stopped.borrow()
    }

    /// Waits until it is stopped.
    pub fn stopped(&self) -> impl Future<Output = ()> + Send + 'static {
        // Holds the sender, so that the wait continues if all other clones are dropped.
        let signal = self.clone();
        async move {
            let _ = signal.is_stopped.subscribe().wait_for(|is_stopped| *is_stopped).await;
        }
    }
}

/// The result of a delivery: the number of delivered payments, and the entries that it left open.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliverySummary {
    /// How many payments the handler delivered and the journal recorded as finished.
    pub delivered: u64,
    /// The journal's unfinished entries: the next delivery continues with them. `None` if the journal could not be read.
    pub left_open: Option<Vec<Unfinished>>,
}

impl DeliverySummary {
    /// Charged, and not delivered yet.
    pub fn undelivered(&self) -> impl Iterator<Item = &JournalEntry> {
        self.payments().filter(|entry| entry.state == JournalState::Charged)
    }

    /// Pending or unknown: money may have moved, or may still move.
    pub fn undecided(&self) -> impl Iterator<Item = &JournalEntry> {
        self.payments().filter(|entry| matches!(entry.state, JournalState::Pending | JournalState::Unknown))
    }

    /// Mismatches, and files that cannot be read.
    pub fn for_a_person(&self) -> impl Iterator<Item = &Unfinished> {
        self.left_open.iter().flatten().filter(|item| match item {
            Unfinished::Payment { entry } => entry.state == JournalState::Mismatch,
            Unfinished::Unreadable { .. } => true,
        })
    }

    fn payments(&self) -> impl Iterator<Item = &JournalEntry> {
        self.left_open.iter().flatten().filter_map(|item| match item {
            Unfinished::Payment { entry } => Some(&**entry),
            Unfinished::Unreadable { .. } => None,
        })
    }
}

/// Only the counts: the URL of a page in an entry must not be logged.
impl Display for DeliverySummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delivered = self.delivered;
        match &self.left_open {
            None => write!(f, "{delivered} delivered; the journal could not be read"),
            Some(left_open) if left_open.is_empty() => write!(f, "{delivered} delivered; left open: nothing"),
            Some(_) => {
                let (undelivered, undecided) = (self.undelivered().count(), self.undecided().count());
                let for_a_person = self.for_a_person().count();
                write!(
                    f,
                    "{delivered} delivered; left open: {undelivered} charged and not delivered, {undecided} undecided, \
                     {for_a_person} for a person"
                )
            }
        }
    }
}

/// Delivers until `stop` completes or the gateway is closed.
pub(crate) async fn deliver_forever<H: DeliveryHandler>(
    engine: Arc<Engine>,
    policy: DeliveryPolicy,
    stop: impl Future<Output = ()>,
    mut handler: H,
) -> Result<DeliverySummary, PaymentError> {
    let mut worker = Worker::new(engine, policy, stop)?;
    while let Some(task) = worker.next().await {
        let result = call(&mut handler, task.result.clone()).await;
        worker.handled(task, result).await;
    }
    Ok(worker.summary().await)
}

/// The blocking variant: it runs on the calling thread, as does the handler.
pub(crate) fn deliver_forever_here<H: BlockingDeliveryHandler>(
    engine: Arc<Engine>,
    policy: DeliveryPolicy,
    stop: &StopSignal,
    mut handler: H,
) -> Result<DeliverySummary, PaymentError> {
    let mut worker = Worker::new(engine, policy, stop.stopped())?;
    while let Some(task) = wait(worker.next()) {
        let result = call_here(&mut handler, task.result.clone());
        wait(worker.handled(task, result));
    }
    Ok(wait(worker.summary()))
}

/// Delivers until one recovery has ended.
pub(crate) async fn deliver_unfinished<H: DeliveryHandler>(
    engine: Arc<Engine>,
    policy: RecoveryPolicy,
    mut handler: H,
) -> Result<DeliverySummary, PaymentError> {
    let mut once = Once::new(&engine, policy)?;
    let error = loop {
        match once.next().await {
            Ok(Some(recovered)) => {
                let result = call(&mut handler, recovered.clone()).await;
                once.handled(recovered, result).await;
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let summary = once.summary().await;
    error.map_or(Ok(summary), Err)
}

/// The blocking variant: it runs on the calling thread, as does the handler.
pub(crate) fn deliver_unfinished_here<H: BlockingDeliveryHandler>(
    engine: &Arc<Engine>,
    policy: RecoveryPolicy,
    mut handler: H,
) -> Result<DeliverySummary, PaymentError> {
    let mut once = Once::new(engine, policy)?;
    let error = loop {
        match wait(once.next()) {
            Ok(Some(recovered)) => {
                let result = call_here(&mut handler, recovered.clone());
                wait(once.handled(recovered, result));
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let summary = wait(once.summary());
    error.map_or(Ok(summary), Err)
}

async fn call<H: DeliveryHandler>(handler: &mut H, recovered: Recovered) -> Result<(), String> {
    let handling = async {
        match recovered {
            Recovered::Payment { entry } if entry.state == JournalState::Charged => handler.deliver(*entry).await,
            other => handler.otherwise(other).await,
        }
    };
    problem_of(AssertUnwindSafe(handling).catch_unwind().await)
}

fn call_here<H: BlockingDeliveryHandler>(handler: &mut H, recovered: Recovered) -> Result<(), String> {
    problem_of(catch_unwind(AssertUnwindSafe(|| match recovered {
        Recovered::Payment { entry } if entry.state == JournalState::Charged => handler.deliver(*entry),
        other => handler.otherwise(other),
    })))
}

/// Why the handler failed. A panic is a failure of this payment, and does not end the worker: the panic hook has shown it.
fn problem_of<E: Display>(result: thread::Result<Result<(), E>>) -> Result<(), String> {
    match result {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("the handler panicked".to_owned()),
    }
}

#[cfg(test)]
mod tests;
