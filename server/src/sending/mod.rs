//! Sending: a payment is written down in one commit, sent by whoever wrote it, and what came back is the second commit. Only
//! this needs fencing; asking twice does no harm.

mod confirm;
mod places;
mod request;

use std::{sync::Arc, time::Duration};

use futures_util::future::{Either, select};
use kassa::PaymentGateway;
use tracing::Instrument;

use places::Place;
pub(crate) use places::SendingPlaces;
pub(crate) use request::{Request, Way};

use crate::{
    metrics::Metrics,
    payments::{
        exchange::Exchange,
        payment::{Failure, Payment},
    },
    spans,
    storage::{
        Storage, Stored,
        error::StorageError,
        inputs::{BeginPayment, SendResult, Sent, TakePrepared},
        outputs::{Begun, Recorded, Taken},
    },
    surroundings::Surroundings,
    values::{Millis, error::ServerError, ids::CheckoutId, ids::PaymentId, method::Method, states::PaymentState},
};

/// How long is waited before what came back is tried to be written down again: a database that starts again, or another one that takes
/// over, has some seconds. Where it fails to the end, the payment is asked about.
const BEFORE_NEXT_TRY: [Duration; 4] =
    [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(5)];

/// How long is waited at once: the calendar may be put forward meanwhile.
const LONGEST_NAP: Duration = Duration::from_secs(1);

/// How long a card waits for a place before anything of it is written down. Its caller waits that much longer.
const CARD_WAITS: Duration = Duration::from_secs(2);

/// What is sent, of which checkout, and by whom.
#[derive(Clone)]
struct About {
    checkout: CheckoutId,
    payment: PaymentId,
    sender: String,
}

/// What became of a payment that waited.
enum Turn {
    /// It is sent now, as one of those that are sent at once.
    Come(Place, Duration),
    /// It is not sent.
    NeverCame,
}

/// Who sends payments.
pub(crate) struct Sender {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) gateway: Arc<dyn PaymentGateway>,
    pub(crate) surroundings: Arc<dyn Surroundings>,
    pub(crate) metrics: Arc<Metrics>,
    /// How many are sent at once.
    pub(crate) places: SendingPlaces,
    /// How late one may be sent after it began to be written down: it must have an answer before anybody takes its sender
    /// for dead.
    pub(crate) in_time: Duration,
}

/// What came back, and where something was sent, what was said.
type Outcome = (SendResult, Option<Exchange>);

/// The failure of what the server itself did not send.
fn interrupted() -> Outcome {
    (SendResult::NothingHappened { failure: Failure::of_kind("Interrupted"), retry_after: None }, None)
}

impl Sender {
    /// Writes a payment down and sends it.
    pub(crate) async fn begin(&self, mut begin: BeginPayment, request: Request) -> Result<Begun, ServerError> {
        let method = request.method();
        let place = self.place(method).await;
        begin.is_sent_at_once = place.is_some();
        let sent = About { checkout: begin.checkout.clone(), payment: begin.id.clone(), sender: begin.sender.clone() };
        let (send_for_ms, wait_for_ms) = (begin.send_for_ms, begin.wait_for_ms);
        let started = self.surroundings.monotonic();
        let begun = match self.storage.begin_payment(begin).await {
            Ok(begun) => begun,
            Err(problem) if problem.wrote_nothing() => return Err(problem.into()),
            Err(problem) => {
                // Whether it was written is not known; that it was not sent, is. It may be written at any moment still.
                let _ = self.note(&sent, interrupted()).await;
                return Err(problem.into());
            }
        };
        let Begun::New(payment) = &begun else { return Ok(begun) };
        if payment.state == PaymentState::Sending {
            let payment = self.send(&sent, started, request).await?;
            return Ok(Begun::New(payment.into()));
        }
        // A card does not wait.
        if payment.state != PaymentState::Prepared {
            return Ok(begun);
        }
        let until = started.saturating_add(Duration::from_millis(wait_for_ms.unsigned_abs()));
        let payment = match self.wait(&sent, (method, place), send_for_ms, until).await? {
            Turn::Come(_place, started) => self.send(&sent, started, request).await?,
            Turn::NeverCame => self.note(&sent, interrupted()).await?,
        };
        Ok(Begun::New(payment.into()))
    }

    /// A place among those that are sent at once, where one is free. What cannot wait prepared waits here, for a moment.
    async fn place(&self, method: Method) -> Option<Place> {
        if let Some(place) = self.places.free(method) {
            return Some(place);
        }
        self.metrics.limit_reached("sending_places");
        if method.may_wait() {
            return None;
        }
        let free = Box::pin(self.places.wait(method));
        match select(free, self.surroundings.sleep(CARD_WAITS)).await {
            Either::Left((place, _)) => place,
            Either::Right(_) => None,
        }
    }

    /// Waits for its turn, and takes it from prepared to sending.
    async fn wait(
        &self,
        about: &About,
        (method, mut place): (Method, Option<Place>),
        send_for_ms: Millis,
        until: Duration,
    ) -> Result<Turn, ServerError> {
        loop {
            let held = match place.take() {
                Some(held) => held,
                None => match self.places.wait(method).await {
                    Some(held) => held,
                    None => return Ok(Turn::NeverCame),
                },
            };
            let started = self.surroundings.monotonic();
            if started > until {
                return Ok(Turn::NeverCame);
            }
            let About { checkout, payment, sender } = about.clone();
            let take = TakePrepared { checkout, payment, sender, send_for_ms };
            match self.storage.take_prepared(take).await {
                Ok(Taken::Send) => return Ok(Turn::Come(held, started)),
                Ok(Taken::Gone) => return Ok(Turn::NeverCame),
                Ok(Taken::Wait(wait)) => {
                    // Its place is free meanwhile, for methods that the gateway takes.
                    drop(held);
                    let wait = Duration::from_millis(wait.max(1).unsigned_abs()).min(LONGEST_NAP);
                    self.surroundings.sleep(wait).await;
                }
                Err(problem) => {
                    let _ = self.note(about, interrupted()).await;
                    return Err(problem.into());
                }
            }
        }
    }

    /// Sends what is written down as sending, if that is not long ago.
    async fn send(&self, about: &About, started: Duration, request: Request) -> Result<Payment, ServerError> {
        let is_in_time = self.surroundings.monotonic().saturating_sub(started) <= self.in_time;
        let result = if is_in_time { self.send_now(about, request).await } else { interrupted() };
        self.note(about, result).await
    }

    async fn send_now(&self, about: &About, request: Request) -> Outcome {
        let method = request.method();
        let span = spans::to_gateway("send", &about.payment);
        let (result, exchange) = request.send(&*self.gateway).instrument(span.clone()).await;
        let word = word(&result);
        spans::came_of(&span, word, matches!(result, SendResult::Unknown { .. }));
        self.metrics.sent(method, word);
        (result, Some(exchange))
    }

    async fn note(&self, about: &About, (result, exchange): Outcome) -> Result<Payment, ServerError> {
        let record = |About { checkout, payment, sender }| {
            let (result, exchange) = (result.clone(), exchange.clone());
            self.storage.record_send_outcome(Sent { checkout, payment, sender, result, exchange })
        };
        self.note_in_the_end(about, record).await
    }

    /// Writes down what came back, again where that fails, for as long as the pauses last.
    async fn note_in_the_end<'a>(
        &'a self,
        about: &About,
        record: impl Fn(About) -> Stored<'a, Recorded>,
    ) -> Result<Payment, ServerError> {
        let mut pauses = BEFORE_NEXT_TRY.into_iter();
        loop {
            match (record(about.clone()).await, pauses.next()) {
                (Ok(recorded), _) => return Ok(recorded.payment),
                (Err(problem), None) => return Err(not_noted(&problem, about).into()),
                (Err(_), Some(pause)) => self.surroundings.sleep(pause).await,
            }
        }
    }
}

/// The response could not be persisted.
fn not_noted(problem: &StorageError, about: &About) -> StorageError {
    let payment = about.payment.as_str();
    tracing::warn!(target: "kassa_server", payment, %problem, "an answer could not be written down: the gateway is asked again");
    problem.clone()
}

/// As the metrics call it.
fn word(result: &SendResult) -> &'static str {
    match result {
        SendResult::Accepted { .. } => "accepted",
        SendResult::NothingHappened { .. } => "nothing_happened",
        SendResult::Unknown { .. } => "unknown",
    }
}
