//! A gateway in memory (test double, fake), so that users test their own code without a socket: the same [`Gateway`]
//! with all its rules, outcomes and verdicts, and the gateway's side played behind its transport, on a virtual clock.
//!
//! It is small, and always well-behaved unless a test injects a fault. To build a checkout against real pages, callbacks
//! and faults, there is the sandbox.

pub(crate) mod books;
mod endpoints;
mod line;
pub(crate) mod responses;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use books::{Books, FakeFault, FakeNotification, FakePayment, FakePlan};
use line::{Clock, Line};

use crate::{
    config::{
        dialect::Dialect,
        gateway_config::{Credentials, GatewayConfig},
    },
    error::PaymentError,
    gateway::Gateway,
    payment_ref::report::PaymentStatus,
};

/// Amounts of QR payments are in som here, so that they differ from a pay-form's (`docs/dialect.md`).
const DIALECT: &str = r#"{ "qr_amount_unit": "som", "megapay": { "check_method": "POST" } }"#;

/// A gateway in memory for tests of **your own** code: nothing is sent, no time is waited, and what happens is what the
/// test says.
///
/// [`gateway`](Self::gateway) is a [`Gateway`] like any other, with the same rules, errors and verdicts; the other methods
/// are the payer's side, and what goes wrong. Payments are named by what the code under test knows of them: an order
/// number, a gateway's number, a transaction, a page's address or a QR code's text.
///
/// **The clock** is virtual. While it runs, every wait ends at once: a watch of 20 minutes ends at
/// once. A test that wants to see the time between stops it ([`stop_clock`](Self::stop_clock)) and moves it
/// ([`advance`](Self::advance)).
///
/// ```
/// use kassa::{FakeFault, FakeGateway, MbankPayment, PaymentError, PollPolicy, Verdict};
///
/// # pollster::block_on(async {
/// let fake = FakeGateway::new()?;
/// let gateway = fake.gateway(); // hand this to the code under test
///
/// // The answer is lost, so it is unknown whether the payment was made.
/// fake.fail_next(FakeFault::ResponseLost);
/// let tea = MbankPayment::new("order-1", 100, "996555000101", "tea");
/// let lost = gateway.create_mbank_payment(tea).await.unwrap_err();
/// let PaymentError::OutcomeUnknown { payment, .. } = lost else { panic!("{lost}") };
///
/// // It was. The payer pays, and the watch finds it out.
/// fake.charge("order-1")?;
/// let end = gateway.watch(*payment, PollPolicy::default())?.outcome().await?;
/// assert!(matches!(end, Some(Verdict::Charged { .. })));
/// # Ok::<(), PaymentError>(())
/// # }).unwrap();
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct FakeGateway {
    state: Arc<State>,
    gateway: Gateway,
}

struct State {
    clock: Clock,
    books: Mutex<Books>,
}

impl State {
    /// What is behind the lock is whole after every step, whatever panicked.
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl FakeGateway {
    /// A fake gateway without payments, whose clock runs.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] where Kassa's threads cannot be started.
    #[cfg_attr(feature = "uniffi", uniffi::constructor)]
    pub fn new() -> Result<Self, PaymentError> {
        let state = Arc::new(State { clock: Clock::new(), books: Mutex::default() });
        let mut config = GatewayConfig::new("https://fake.example", Credentials::basic("fake", "fake"));
        config.dialect = Dialect::from_json(DIALECT)?.into();
        // One fault strikes one call, and not the first of its attempts.
        config.query_retries = 0;
        let gateway = Gateway::over(Arc::new(Line::to(state.clone())?), config)?;
        Ok(Self { state, gateway })
    }

    /// The gateway for the code under test; always the same one.
    pub fn gateway(&self) -> Gateway {
        self.gateway.clone()
    }

    /// All payments so far, the oldest first.
    pub fn payments(&self) -> Vec<FakePayment> {
        let mut books = self.state.books();
        books.catch_up(self.state.clock.passed());
        books.entries.iter().map(|entry| entry.payment.clone()).collect()
    }

    /// The payer pays. `payment` is one of its numbers, the address of its page, or the text of its code. The answer is
    /// what the gateway would send to the merchant, for a test to hand on.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] where there is no such payment, or it is final.
    pub fn charge(&self, payment: &str) -> Result<FakeNotification, PaymentError> {
        self.decide(payment, PaymentStatus::Charged)
    }

    /// The payer declines, or the bank does. `payment` is named as in [`charge`](Self::charge).
    ///
    /// # Errors
    /// As for [`charge`](Self::charge).
    pub fn reject(&self, payment: &str) -> Result<FakeNotification, PaymentError> {
        self.decide(payment, PaymentStatus::Rejected)
    }

    /// Sets the outcome of new payments. By default they stay pending.
    pub fn plan(&self, plan: FakePlan) {
        self.state.books().plan = plan;
    }

    /// Lets one call go wrong: the next one, or the one after those that were given before.
    pub fn fail_next(&self, fault: FakeFault) {
        self.state.books().faults.push_back(fault);
    }

    /// The one-time password of every payer, and the PIN of every MegaPay wallet: with it a payment is confirmed and charged.
    pub fn otp(&self) -> String {
        endpoints::OTP.to_owned()
    }

    /// The time on the clock since the fake gateway was made.
    pub fn now(&self) -> Duration {
        self.state.clock.passed()
    }

    /// Moves the clock forward. All waits up to that time end.
    pub fn advance(&self, by: Duration) {
        self.state.clock.advance(by);
    }

    /// Stops the clock: from now on time passes by [`advance`](Self::advance) alone.
    pub fn stop_clock(&self) {
        self.state.clock.stop();
    }

    /// Lets the clock run again.
    pub fn start_clock(&self) {
        self.state.clock.run();
    }
}

impl FakeGateway {
    fn decide(&self, payment: &str, end: PaymentStatus) -> Result<FakeNotification, PaymentError> {
        let now = self.state.clock.passed();
        let mut books = self.state.books();
        books.catch_up(now);
        books.decide(payment, end, now)
    }
}

impl fmt::Debug for FakeGateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeGateway").field("payments", &self.payments()).field("now", &self.now()).finish()
    }
}

#[cfg(test)]
mod tests;
