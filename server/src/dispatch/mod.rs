//! Dispatch: one commit stores a payment, its writer sends it, and a second commit stores the result. Only dispatch needs
//! fencing, because a payment must not be sent twice; a repeated status query is harmless.

mod confirmation;
mod request;
mod slots;

use std::{sync::Arc, time::Duration};

use futures_util::future::{Either, select};
use kassa::PaymentGateway;
use slots::SendSlot;
use tracing::Instrument;

use crate::{
    metrics::Metrics,
    payments::{Failure, Payment, exchange::Exchange},
    runtime::Runtime,
    storage::{
        Storage, StorageError, Stored,
        inputs::{BeginPayment, SendOutcome, SendResult, TakePrepared},
        outputs::{RecordedPayment, SendTurn},
    },
    telemetry,
    values::{CheckoutId, Method, Millis, PaymentId, PaymentState, error::ServerError},
};

pub(crate) use request::{GatewayRequest, PaymentInput};
pub(crate) use slots::SendSlots;

/// The delays between attempts to store a result: they give a database some seconds to restart or fail over. If all
/// attempts fail, the payment is polled.
const RECORD_RETRY_DELAYS: [Duration; 4] =
    [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(5)];

/// The longest single sleep, because the clock may be set forward in the meantime.
const MAX_SLEEP: Duration = Duration::from_secs(1);

/// The time that a card payment waits for a slot before anything of it is stored. Its caller waits that much longer.
const CARD_SLOT_TIMEOUT: Duration = Duration::from_secs(2);

/// A payment to send, with its checkout and its sender.
#[derive(Clone)]
struct SendTarget {
    checkout: CheckoutId,
    payment: PaymentId,
    sender: String,
}

/// The result of sending a payment that waited.
enum SlotWait {
    /// It is sent now, in this slot.
    Ready(SendSlot, Duration),
    /// It is not sent.
    Abandoned,
}

/// Sends payments.
pub(crate) struct Dispatcher {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) gateway: Arc<dyn PaymentGateway>,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) metrics: Arc<Metrics>,
    /// The slots of concurrent sends.
    pub(crate) slots: SendSlots,
    /// The latest time of sending after storing began: the response must arrive before another process presumes the sender dead.
    pub(crate) max_send_delay: Duration,
    /// The base address of callbacks.
    pub(crate) callback_base: String,
    /// The merchant's requisite for MegaPay, if such payments are accepted.
    pub(crate) megapay_account: Option<String>,
}

/// The result and, if something was sent, the exchange.
type Outcome = (SendResult, Option<Exchange>);

/// The failure of a payment that the server did not send.
fn interrupted() -> Outcome {
    (SendResult::NothingHappened { failure: Failure::of_kind("Interrupted"), retry_after: None }, None)
}

impl Dispatcher {
    /// Records a payment and sends it. If the same request already began one, that one is returned unchanged.
    pub(crate) async fn begin(&self, mut begin: BeginPayment, request: GatewayRequest) -> Result<Payment, ServerError> {
        let method = request.method();
        let place = self.place(method).await;
        begin.is_sent_at_once = place.is_some();
        let sent =
            SendTarget { checkout: begin.checkout.clone(), payment: begin.id.clone(), sender: begin.sender.clone() };
        let (send_for_ms, wait_for_ms) = (begin.send_for_ms, begin.wait_for_ms);
        let started = self.runtime.monotonic();
        let RecordedPayment { payment, is_changed } = match self.storage.begin_payment(begin).await {
            Ok(begun) => begun,
            Err(problem) if problem.wrote_nothing() => return Err(problem.into()),
            Err(problem) => {
                // The payment was not sent, and its record may exist or still be written: it must not stay open.
                let _ = self.record(&sent, interrupted()).await;
                return Err(problem.into());
            }
        };
        if !is_changed {
            return Ok(payment);
        }
        match payment.state {
            PaymentState::Sending => self.send(&sent, started, request).await,
            PaymentState::Prepared => {
                let until = started.saturating_add(Duration::from_millis(wait_for_ms.unsigned_abs()));
                match self.wait(&sent, (method, place), send_for_ms, until).await? {
                    SlotWait::Ready(_place, started) => self.send(&sent, started, request).await,
                    SlotWait::Abandoned => self.record(&sent, interrupted()).await,
                }
            }
            // A card payment does not wait.
            _ => Ok(payment),
        }
    }

    /// A slot of concurrent sends, if one is free. A payment that cannot wait as prepared waits here, for a moment.
    async fn place(&self, method: Method) -> Option<SendSlot> {
        if let Some(place) = self.slots.free(method) {
            return Some(place);
        }
        self.metrics.limit_reached("sending_places");
        if method.may_wait() {
            return None;
        }
        let free = Box::pin(self.slots.wait(method));
        match select(free, self.runtime.sleep(CARD_SLOT_TIMEOUT)).await {
            Either::Left((place, _)) => place,
            Either::Right(_) => None,
        }
    }

    /// Waits for the payment's turn, and moves it from prepared to sending.
    async fn wait(
        &self,
        target: &SendTarget,
        (method, mut place): (Method, Option<SendSlot>),
        send_for_ms: Millis,
        until: Duration,
    ) -> Result<SlotWait, ServerError> {
        loop {
            let held = match place.take() {
                Some(held) => held,
                None => match self.slots.wait(method).await {
                    Some(held) => held,
                    None => return Ok(SlotWait::Abandoned),
                },
            };
            let started = self.runtime.monotonic();
            if started > until {
                return Ok(SlotWait::Abandoned);
            }
            let SendTarget { checkout, payment, sender } = target.clone();
            let take = TakePrepared { checkout, payment, sender, send_for_ms };
            match self.storage.take_prepared(take).await {
                Ok(SendTurn::Send) => return Ok(SlotWait::Ready(held, started)),
                Ok(SendTurn::Gone) => return Ok(SlotWait::Abandoned),
                Ok(SendTurn::Wait(wait)) => {
                    // While it waits, its slot is free for other methods.
                    drop(held);
                    let wait = Duration::from_millis(wait.max(1).unsigned_abs()).min(MAX_SLEEP);
                    self.runtime.sleep(wait).await;
                }
                Err(problem) => {
                    let _ = self.record(target, interrupted()).await;
                    return Err(problem.into());
                }
            }
        }
    }

    /// Sends the payment that is recorded as sending, if that is recent.
    async fn send(
        &self,
        target: &SendTarget,
        started: Duration,
        request: GatewayRequest,
    ) -> Result<Payment, ServerError> {
        let is_in_time = self.runtime.monotonic().saturating_sub(started) <= self.max_send_delay;
        let result = if is_in_time { self.send_now(target, request).await } else { interrupted() };
        self.record(target, result).await
    }

    async fn send_now(&self, target: &SendTarget, request: GatewayRequest) -> Outcome {
        let method = request.method();
        let span = telemetry::to_gateway("send", &target.payment);
        let (result, exchange) = request.send(&*self.gateway).instrument(span.clone()).await;
        let word = word(&result);
        telemetry::came_of(&span, word, matches!(result, SendResult::Unknown { .. }));
        self.metrics.sent(method, word);
        (result, Some(exchange))
    }

    async fn record(&self, target: &SendTarget, (result, exchange): Outcome) -> Result<Payment, ServerError> {
        let record = |SendTarget { checkout, payment, sender }| {
            let (result, exchange) = (result.clone(), exchange.clone());
            self.storage.record_send_outcome(SendOutcome { checkout, payment, sender, result, exchange })
        };
        self.record_with_retries(target, record).await
    }

    /// Stores the result, and retries after each of `RECORD_RETRY_DELAYS`.
    async fn record_with_retries<'a>(
        &'a self,
        target: &SendTarget,
        record: impl Fn(SendTarget) -> Stored<'a, RecordedPayment>,
    ) -> Result<Payment, ServerError> {
        let mut pauses = RECORD_RETRY_DELAYS.into_iter();
        loop {
            match (record(target.clone()).await, pauses.next()) {
                (Ok(recorded), _) => return Ok(recorded.payment),
                (Err(problem), None) => return Err(record_failed(&problem, target).into()),
                (Err(_), Some(pause)) => self.runtime.sleep(pause).await,
            }
        }
    }
}

/// The response could not be persisted.
fn record_failed(problem: &StorageError, target: &SendTarget) -> StorageError {
    let payment = target.payment.as_str();
    tracing::warn!(target: "kassa_server", payment, %problem, "a result could not be recorded: the gateway is queried again");
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
