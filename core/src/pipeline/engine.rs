//! The pipeline from a request to its answer: validation, exchange with retries, redaction of what the gateway echoes,
//! verdict.
//!
//! Every operation goes this one way.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{Arc, Weak},
    time::Duration,
};

use futures_util::future::{Either, select};
use tokio::sync::oneshot;

use crate::{
    config::{
        dialect::Dialect,
        gateway_config::{GatewayConfig, StatusQueryForm, check_time},
    },
    error::PaymentError,
    journal::{Journal, checked_note},
    operations::{
        operation::{CheckSettings, Effect, Operation, WireSettings},
        payment_status::PaymentStatusQuery,
        provider_status::ProviderStatusQuery,
        qr_status::QrStatusQuery,
    },
    payment_ref::Question,
    pipeline::{
        attempts::{AttemptResult, Attempts, Call, Limits, RunningCall},
        closing::{Closing, EndsAtClose},
        in_flight::{Counted, InFlight},
        inline,
        journaling::{Journaling, What},
        outcome::{self, CallError, ResendPolicy},
    },
    response::{
        reader::{ParsedStatus, ResponseReader},
        redact::{HiddenCredentials, Redactor},
    },
    transport::{Failure, Transport, after},
    validation::Checks,
};

/// What all clones of a gateway share. A clone of the engine itself is the same gateway with deadlines of its own.
#[derive(Clone)]
pub(crate) struct Engine {
    transport: Arc<dyn Transport>,
    base_url: String,
    /// Of everything that moves no money.
    limits: Limits,
    payment_deadline: Duration,
    policy: ResendPolicy,
    dialect: Arc<Dialect>,
    checks: CheckSettings,
    status_query: StatusQueryForm,
    credentials: Arc<HiddenCredentials>,
    in_flight: InFlight,
    closing: Arc<Closing>,
    journal: Option<Journal>,
    /// Written into the entries of payments that are made by this clone.
    note: Option<Arc<str>>,
}

impl Engine {
    pub(crate) fn new(
        transport: Arc<dyn Transport>,
        config: GatewayConfig,
        policy: ResendPolicy,
    ) -> Result<Self, PaymentError> {
        Ok(Self {
            transport,
            policy,
            base_url: config.checked_base_url()?.into(),
            limits: Limits { deadline: config.query_deadline, retries: config.query_retries, detached: false },
            payment_deadline: config.payment_deadline,
            checks: CheckSettings {
                luhn: config.check_luhn,
                mbank_identifier: config.dialect.mbank_identifier().is_some(),
            },
            status_query: config.status_query,
            credentials: Arc::new(HiddenCredentials::new(
                config.credentials.password().clone(),
                config.credentials.basic_token(),
            )),
            dialect: config.dialect,
            in_flight: InFlight::default(),
            closing: Arc::default(),
            journal: None,
            note: None,
        })
    }

    /// The same gateway, with one deadline for every call: connections, closing and what is in flight are shared.
    pub(crate) fn with_deadline(&self, deadline: Duration) -> Result<Self, PaymentError> {
        check_time("deadline", deadline)?;
        let limits = Limits { deadline, ..self.limits };
        Ok(Self { limits, payment_deadline: deadline, ..self.clone() })
    }

    pub(crate) async fn execute<O: Operation>(&self, operation: O) -> Result<O::Answer, PaymentError> {
        let limits = match operation.effect() {
            Effect::MovesMoney(_) => Limits { deadline: self.payment_deadline, ..self.limits },
            Effect::Creates | Effect::Asks => self.limits,
        };
        self.execute_within(operation, limits).await.map_err(|failed| failed.error)
    }

    async fn execute_within<O: Operation>(&self, operation: O, limits: Limits) -> Result<O::Answer, CallError> {
        let (mut attempts, interpreter) = self.prepare(operation, limits)?;
        let counted = self.admit(&interpreter.effect)?;
        if O::ASKS && !limits.detached && self.transport.can_ask_here() {
            match inline::ask(attempts).await {
                Ok(result) => return interpreter.guarded(Ok(result)),
                Err(to_be_asked_elsewhere) => attempts = to_be_asked_elsewhere,
            }
        }
        let Execution { effect, underway, waiting } = Execution::begin(attempts, interpreter, counted);
        waiting.await.unwrap_or_else(|_| Err(outcome::without_response(effect, underway.vanished()).into()))
    }

    /// Not a part of the future, which would hold all of it once more for each way in.
    fn prepare<O: Operation>(&self, operation: O, limits: Limits) -> Result<(Attempts, Interpreter<O>), CallError> {
        let mut checks = Checks::default();
        operation.check(&mut checks, &self.checks);
        checks.finish()?;
        let parts = operation.parts(&WireSettings { dialect: &self.dialect, status_query: self.status_query })?;
        let effect = operation.effect();
        debug_assert_eq!(O::ASKS, effect == Effect::Asks, "{}", O::ENDPOINT.name);
        let call = Call {
            endpoint: O::ENDPOINT,
            log_name: operation.log_name(),
            parts,
            effect: effect.clone(),
            limits,
            policy: self.policy,
            journaling: self.journaling(&effect, O::CONFIRMS),
        };
        let redactor = self.redactor(&operation);
        Ok((call.attempts(&self.transport), Interpreter { operation, effect, redactor, dialect: self.dialect.clone() }))
    }

    fn journaling(&self, effect: &Effect, confirms: bool) -> Option<Arc<Journaling>> {
        let journal = self.journal.as_ref()?;
        let what = match effect {
            Effect::MovesMoney(payment) if confirms => What::Confirmation(payment.clone()),
            Effect::MovesMoney(payment) => What::Payment(payment.clone()),
            Effect::Creates => What::Code,
            Effect::Asks => return None,
        };
        Some(Journaling::new(journal, what, self.note.clone()))
    }

    pub(crate) fn with_journal(&self, journal: Journal) -> Self {
        Self { journal: Some(journal), ..self.clone() }
    }

    pub(crate) fn with_note(&self, note: &str) -> Result<Self, PaymentError> {
        let note = checked_note(note)?.into();
        // It would be lost without a word.
        self.required_journal()?;
        Ok(Self { note: Some(note), ..self.clone() })
    }

    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    pub(crate) fn required_journal(&self) -> Result<&Journal, PaymentError> {
        self.journal()
            .ok_or_else(|| PaymentError::misconfigured("the gateway has no journal: give it one (with_journal)"))
    }

    pub(crate) async fn ask(&self, question: &Question, limits: Limits) -> Result<ParsedStatus, CallError> {
        match question {
            Question::GatewayNumber(number) => self.execute_within(PaymentStatusQuery::new(number, None), limits).await,
            Question::OrderNumber(number, provider) => {
                self.execute_within(ProviderStatusQuery::new(number, provider.clone()), limits).await
            }
            Question::Transaction(id) => self.execute_within(QrStatusQuery::new(id), limits).await,
        }
    }

    /// Whether a call may be made; and counts it as in flight where it moves money.
    fn admit(&self, effect: &Effect) -> Result<Option<Counted>, PaymentError> {
        self.transport.check()?;
        // Counted before the flag is read, so that a concurrent close either refuses this call or waits for it.
        let counted = matches!(effect, Effect::MovesMoney(_)).then(|| self.in_flight.enter());
        self.not_closed()?;
        Ok(counted)
    }

    /// Graceful shutdown: refuses further calls, ends watches and recoveries, and waits for the payments in flight.
    pub(crate) async fn close(&self) {
        if self.begin_close() {
            self.in_flight.none_left().await;
        }
    }

    /// The same, with a limit to the wait: whether no payment is left in flight.
    pub(crate) async fn close_within(&self, longest: Duration) -> bool {
        if !self.begin_close() || self.in_flight.is_empty() {
            return true;
        }
        if longest.is_zero() {
            return false;
        }
        let too_late = self.transport.sleep_until(after(self.transport.now(), longest));
        matches!(select(pin!(self.in_flight.none_left()), too_late).await, Either::Left(_))
    }

    /// Whether there are payments to wait for.
    ///
    /// Fork safety: in a forked child there are none. The count came along, but what it counts are tasks of the parent,
    /// which go on there.
    fn begin_close(&self) -> bool {
        let is_here = self.transport.check().is_ok();
        if is_here {
            self.closing.close();
        } else {
            self.closing.refuse();
        }
        is_here
    }

    /// Why no call can succeed any more: the gateway belongs to another process, or was closed.
    pub(crate) fn usable(&self) -> Result<(), PaymentError> {
        self.transport.check()?;
        self.not_closed()
    }

    fn not_closed(&self) -> Result<(), PaymentError> {
        if self.closing.is_closed() {
            return Err(PaymentError::misconfigured("the gateway was closed"));
        }
        Ok(())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closing.is_closed()
    }

    /// Waits until it is closed.
    pub(crate) async fn closed(&self) {
        self.closing.closed().await;
    }

    /// Hears of the close, as long as it lives. Nobody closes a gateway of another process.
    pub(crate) fn tell_of_close(&self, listener: Weak<dyn EndsAtClose>) {
        if self.transport.check().is_ok() {
            self.closing.tell(listener);
        }
    }

    fn redactor<O: Operation>(&self, operation: &O) -> Redactor {
        let mut redactor = Redactor::new(self.credentials.clone());
        operation.hide_secrets(&mut redactor);
        redactor
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    pub(crate) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.transport
    }

    /// The limits of everything that moves no money.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }
}

/// One operation on its way.
struct Execution<O: Operation> {
    effect: Effect,
    underway: RunningCall,
    waiting: oneshot::Receiver<Result<O::Answer, CallError>>,
}

impl<O: Operation> Execution<O> {
    /// On a task of its own.
    fn begin(attempts: Attempts, interpreter: Interpreter<O>, counted: Option<Counted>) -> Self {
        let effect = interpreter.effect.clone();
        let journaling = attempts.journaling();
        let (answer, waiting) = oneshot::channel();
        // A part of the task, so that it is noted also where the caller has gone.
        let finish = Box::new(move |result| {
            let result = interpreter.interpret(result);
            let noted = match journaling {
                Some(journaling) => journaling.noted::<O>(result),
                None => result,
            };
            answer.send(noted).is_ok()
        });
        Self { effect, underway: attempts.start(counted, finish), waiting }
    }
}

/// Reads what came back of one operation.
struct Interpreter<O> {
    operation: O,
    effect: Effect,
    redactor: Redactor,
    dialect: Arc<Dialect>,
}

impl<O: Operation> Interpreter<O> {
    /// In the caller's own task, where a panic would be the caller's.
    fn guarded(self, result: AttemptResult) -> Result<O::Answer, CallError> {
        let effect = self.effect.clone();
        catch_unwind(AssertUnwindSafe(|| self.interpret(result)))
            .unwrap_or_else(|_| Err(outcome::without_response(effect, Failure::interrupted(true)).into()))
    }

    /// Compiled once, for both ways to it.
    #[inline(never)]
    fn interpret(self, result: AttemptResult) -> Result<O::Answer, CallError> {
        match result {
            Err(not_held) => Err(outcome::not_sent(self.effect, not_held).into()),
            Ok(Err(failure)) => Err(outcome::without_response(self.effect, failure).into()),
            Ok(Ok(response)) => {
                let text = response.text();
                let reader = ResponseReader::new(&response, &text, O::ENDPOINT, &self.dialect, &self.redactor);
                outcome::with_response(&self.operation, self.effect, &response, &reader)
            }
        }
    }
}
