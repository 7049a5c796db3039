//! The path of one call: check, journal, send, interpret, record, answer. Every operation takes it.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use tokio::sync::oneshot;

use crate::{
    config::dialect::Dialect,
    error::PaymentError,
    operations::{
        Effect, Kind, Operation, WireSettings,
        status_queries::{PaymentStatusQuery, ProviderStatusQuery, QrStatusQuery},
    },
    payment_ref::StatusQuery,
    pipeline::{
        attempts::{Attempts, Limits, RunningTask},
        engine::{Counted, Engine},
        journaling::{JournalKind, Journaling, UnlessSent, in_task},
        outcome::{self, CallError},
        spans::CallEnd,
        telemetry::Recording,
    },
    response::{
        Response,
        reader::{ParsedStatus, ResponseReader},
        redact::Redactor,
    },
    transport::{Boxed, Failure},
    validation::Checks,
};

impl Engine {
    /// One call, from its request to its answer, within the deadline of the configuration.
    pub(crate) async fn execute<O: Operation>(&self, operation: O) -> Result<O::Answer, PaymentError> {
        let limits = self.limits_of(&O::KIND);
        self.execute_within(operation, limits).await.map_err(|failed| failed.error)
    }

    /// The path of every call, from top to bottom (`docs/architecture.md#the-path-of-a-request`).
    ///
    /// A query runs in its caller's task. Any other call runs in a detached task: if its caller gives up after the request was sent, the
    /// task continues and records the result. A task that ends without a result, for example by a panic, also has an outcome.
    pub(crate) async fn execute_within<O: Operation>(
        &self,
        operation: O,
        limits: Limits,
    ) -> Result<O::Answer, CallError> {
        let recording = Recording::begin(O::ENDPOINT, &self.server, &self.transport);
        // Check: `Invalid` ends the call here.
        let call = self.check(&operation, limits, recording.clone());
        let admitted = call.and_then(|call| Ok((self.admit(call.effect())?, call)));
        let (counted, call) =
            admitted.inspect_err(|failed| end(recording.as_deref(), CallEnd::failed(&failed.error)))?;
        let effect = call.effect().clone();
        let is_in_place = O::KIND.is_query() && !limits.detached && self.transport().can_query_here();

        let path: Boxed<Result<O::Answer, CallError>> = Box::pin({
            let call = call.clone();
            async move {
                let answer = match call.begin_entry() {
                    Ok(()) => {
                        let sent = call.send(is_in_place).await;
                        let answer = call.interpret(&operation, sent);
                        call.record::<O>(answer)
                    }
                    Err(failed) => Err(failed),
                };
                call.end::<O>(&answer);
                answer
            }
        });

        let answer = if is_in_place { guarded(path).await } else { in_own_task(call, counted, path).await };
        answer.unwrap_or_else(|interrupted| {
            let error = outcome::without_response(effect, interrupted);
            end(recording.as_deref(), CallEnd::failed(&error));
            Err(error.into())
        })
    }

    /// Queries the status of a payment by one of its numbers.
    pub(crate) async fn query_status(&self, query: &StatusQuery, limits: Limits) -> Result<ParsedStatus, CallError> {
        match query {
            StatusQuery::GatewayNumber(number) => {
                self.execute_within(PaymentStatusQuery::new(number, None), limits).await
            }
            StatusQuery::OrderNumber(number, provider) => {
                self.execute_within(ProviderStatusQuery::new(number, provider.clone()), limits).await
            }
            StatusQuery::Transaction(id) => self.execute_within(QrStatusQuery::new(id), limits).await,
        }
    }

    /// Checks all rules of a request, and prepares what the steps share. The deadline starts here.
    fn check<O: Operation>(
        &self,
        operation: &O,
        limits: Limits,
        recording: Option<Arc<Recording>>,
    ) -> Result<Arc<Call>, CallError> {
        let mut checks = Checks::default();
        operation.check(&mut checks, &self.checks);
        checks.finish()?;
        let parts = operation.parts(&WireSettings { dialect: &self.dialect, status_query: self.status_query })?;
        let mut redactor = Redactor::new(self.credentials.clone());
        operation.hide_secrets(&mut redactor);
        let (effect, log_name) = (O::KIND.effect(operation), operation.log_name());
        if let (Some(recording), Some(order)) = (&recording, &log_name) {
            recording.is_about(order);
        }
        let attempts = Attempts::new(&self.transport, O::ENDPOINT, log_name, parts, effect, limits, self.policy);
        Ok(Arc::new(Call {
            attempts: attempts.recorded_in(recording),
            journaling: self.journal_part(operation),
            redactor,
            dialect: self.dialect.clone(),
        }))
    }

    fn journal_part<O: Operation>(&self, operation: &O) -> Option<Journaling> {
        let journal = self.journal()?;
        let kind = match O::KIND {
            Kind::Pays(payment) => JournalKind::Payment(payment(operation)),
            Kind::Confirms(payment) => JournalKind::Confirmation(payment(operation)),
            Kind::Creates => JournalKind::Code,
            Kind::Queries => return None,
        };
        Some(Journaling::new(journal, kind, self.note.clone()))
    }

    /// Rejects the call if the gateway is closed. A call that moves money is counted as in flight.
    fn admit(&self, effect: &Effect) -> Result<Option<Counted>, PaymentError> {
        self.transport.check()?;
        // Counted before the flag is read, so that a concurrent close either refuses this call or waits for it.
        let counted = effect.moves_money().then(|| self.in_flight.enter());
        self.not_closed()?;
        Ok(counted)
    }
}

/// The shared state of one call's steps. Nothing here depends on the operation's type, so the steps are compiled once.
struct Call {
    attempts: Attempts,
    journaling: Option<Journaling>,
    redactor: Redactor,
    dialect: Arc<Dialect>,
}

impl Call {
    fn effect(&self) -> &Effect {
        &self.attempts.effect
    }

    /// Write-ahead: records the payment durably before sending. If that fails, nothing is sent.
    fn begin_entry(&self) -> Result<(), CallError> {
        let Some(journaling) = &self.journaling else { return Ok(()) };
        let begun = in_task(&*self.attempts.transport, || journaling.begin());
        begun.map_err(|not_held| outcome::not_sent(self.effect().clone(), not_held).into())
    }

    /// Sends the request, with safe retries, until there is a response or the deadline passes.
    ///
    /// Boxed, so that the library contains this code once and not once per operation.
    fn send(self: &Arc<Self>, is_in_place: bool) -> Boxed<Result<Response, Failure>> {
        let call = self.clone();
        Box::pin(async move {
            if is_in_place {
                if let Some(result) = call.attempts.run_in_place().await {
                    return result;
                }
                let (own, attempts) = (call.clone(), call.clone());
                let work = Box::pin(async move { attempts.attempts.run().await });
                return in_own_task(own, None, work).await.unwrap_or_else(Err);
            }
            let _cleanup = call.journaling.as_ref().map(|entry| UnlessSent(entry, &call.attempts.request));
            call.attempts.run().await
        })
    }

    /// Turns the response, or its absence, into the operation's answer or an outcome. Compiled once per operation.
    #[inline(never)]
    fn interpret<O: Operation>(&self, operation: &O, sent: Result<Response, Failure>) -> Result<O::Answer, CallError> {
        let response = sent.map_err(|failure| outcome::without_response(self.effect().clone(), failure))?;
        let text = response.text();
        let reader = ResponseReader::new(&response, &text, O::ENDPOINT, &self.dialect, &self.redactor);
        outcome::with_response(operation, self.effect(), &response, &reader)
    }

    /// Records the result in the journal, whether or not the caller still waits.
    fn record<O: Operation>(&self, answer: Result<O::Answer, CallError>) -> Result<O::Answer, CallError> {
        match &self.journaling {
            Some(journaling) => in_task(&*self.attempts.transport, || journaling.record::<O>(answer)),
            None => answer,
        }
    }

    /// Ends the call's record, before its caller has the answer.
    fn end<O: Operation>(&self, answer: &Result<O::Answer, CallError>) {
        if let Some(recording) = &self.attempts.recording {
            recording.end(match answer {
                Ok(answer) => CallEnd::answered(O::outcome(answer)),
                Err(failed) => CallEnd::failed(&failed.error),
            });
        }
    }
}

fn end(recording: Option<&Recording>, end: CallEnd) {
    if let Some(recording) = recording {
        recording.end(end);
    }
}

/// Awaits a query in its caller's task, and catches a panic, which would otherwise reach the caller.
async fn guarded<T>(path: Boxed<T>) -> Result<T, Failure> {
    AssertUnwindSafe(path).catch_unwind().await.map_err(|_| Failure::interrupted(true))
}

/// Runs a call in a detached task. A payment stays counted as in flight until the task ends, even without a waiting caller.
async fn in_own_task<T: Send + 'static>(
    call: Arc<Call>,
    counted: Option<Counted>,
    work: Boxed<T>,
) -> Result<T, Failure> {
    let (answer, waiting) = oneshot::channel();
    let (transport, request) = (call.attempts.transport.clone(), call.attempts.request.clone());
    let moves_money = call.effect().moves_money();
    let waits_for = moves_money.then(|| call.clone());
    let task = transport.spawn(Box::pin(async move {
        let result = work.await;
        if answer.send(result).is_err() && moves_money {
            call.attempts.record_nobody_waits();
        }
        // The order matters: a caller that waits for the last payment in flight may then check which calls can still log.
        drop(call);
        drop(counted);
    }));
    let running = RunningTask { request, task, moves_money };
    let mut waiting = Waiting { answer: waiting, call: waits_for };
    (&mut waiting.answer).await.map_err(|_| running.vanished())
}

/// Waits for the answer of a task. If the caller gives up after a payment's answer arrived and before it reads it, that is logged as well.
struct Waiting<T> {
    answer: oneshot::Receiver<T>,
    /// Set for a payment.
    call: Option<Arc<Call>>,
}

impl<T> Drop for Waiting<T> {
    fn drop(&mut self) {
        // From here on the task knows that no caller waits, and logs it itself.
        self.answer.close();
        if let Some(call) = &self.call
            && self.answer.try_recv().is_ok()
        {
            call.attempts.record_nobody_waits();
        }
    }
}
