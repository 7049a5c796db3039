//! The source of a watch's statuses, and its clock: a Kassa gateway, or the caller's function.

use std::{
    pin::pin,
    sync::{Arc, Weak},
    time::Duration,
};

use futures_util::future::{Either, select};
use tokio::{runtime::Handle, time::Instant};

use crate::{
    error::PaymentError,
    payment_ref::PaymentRef,
    pipeline::{attempts::Limits, engine::Engine, timers::Due},
    status::{check::check, verdict::Verdict},
    transport::{Boxed, after, runtime},
};

pub(crate) trait StatusSource: Send + Sync {
    /// Queries once, within the time limit.
    fn query_once(&self, payment: Arc<PaymentRef>, patience: Duration) -> Boxed<Result<Verdict, PaymentError>>;

    /// An error if no query can be answered any more.
    fn usable(&self) -> Result<(), PaymentError>;

    fn now(&self) -> Instant;

    /// Schedules a call of `waiting` for this moment, if the source has a timer list.
    fn call_at(&self, moment: Instant, waiting: Weak<dyn Due>);

    /// A timer for the caller to await, if the source has no such list.
    fn timer(&self, moment: Instant) -> Option<Boxed<()>>;
}

impl StatusSource for Arc<Engine> {
    fn query_once(&self, payment: Arc<PaymentRef>, patience: Duration) -> Boxed<Result<Verdict, PaymentError>> {
        let engine = self.clone();
        // Detached, so that it continues if no caller waits for the next report.
        let limits = Limits { deadline: engine.limits().deadline.min(patience), retries: 0, detached: true };
        Box::pin(async move { check(&engine, &payment, limits).await })
    }

    fn usable(&self) -> Result<(), PaymentError> {
        Engine::usable(self)
    }

    fn now(&self) -> Instant {
        self.transport().now()
    }

    fn call_at(&self, moment: Instant, waiting: Weak<dyn Due>) {
        Engine::call_at(self, moment, waiting);
    }

    fn timer(&self, _moment: Instant) -> Option<Boxed<()>> {
        None
    }
}

/// A function that answers queries, such as a test stub's.
pub(crate) struct Answerer<F> {
    answer: F,
    runtime: Handle,
}

impl<F> Answerer<F> {
    pub(crate) fn new(answer: F) -> Result<Self, PaymentError> {
        Ok(Self { answer, runtime: runtime::handle()? })
    }

    fn sleep_until(&self, moment: Instant) -> Boxed<()> {
        // A timer belongs to the runtime in which it is made; it may be awaited anywhere.
        let _inside = self.runtime.enter();
        Box::pin(tokio::time::sleep_until(moment))
    }
}

impl<F, A> StatusSource for Answerer<F>
where
    F: Fn(PaymentRef) -> A + Send + Sync,
    A: Future<Output = Result<Verdict, PaymentError>> + Send + 'static,
{
    fn query_once(&self, payment: Arc<PaymentRef>, patience: Duration) -> Boxed<Result<Verdict, PaymentError>> {
        let answer = (self.answer)(PaymentRef::clone(&payment));
        let too_late = self.sleep_until(after(self.now(), patience));
        Box::pin(async move {
            match select(pin!(answer), too_late).await {
                Either::Left((verdict, _)) => verdict,
                Either::Right(_) => Err(PaymentError::unavailable("no answer came before the deadline")),
            }
        })
    }

    fn usable(&self) -> Result<(), PaymentError> {
        Ok(())
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    /// The function may block or panic, so only its caller runs it.
    fn call_at(&self, _moment: Instant, _waiting: Weak<dyn Due>) {}

    fn timer(&self, moment: Instant) -> Option<Boxed<()>> {
        Some(self.sleep_until(moment))
    }
}
