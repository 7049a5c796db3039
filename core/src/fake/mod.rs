//! A gateway in memory (test double, fake), so that users test their own code without a socket: the same [`Gateway`]
//! with all its rules, outcomes and verdicts, and a simulated gateway behind its transport, on a virtual clock.
//!
//! It is small, and behaves well unless a test injects a fault. To build a checkout against real pages, callbacks and
//! faults, use the sandbox.

pub(crate) mod books;
mod endpoints;
pub(crate) mod responses;
mod transport;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use books::{Books, FakeFault, FakeNotification, FakePayment, FakePlan};
use transport::{Clock, FakeTransport};

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

/// A gateway in memory for tests of **your own** code: nothing is sent, waits take no time, and the test decides what
/// happens.
///
/// [`gateway`](Self::gateway) is a [`Gateway`] like any other, with the same rules, errors and verdicts; the other methods are the payer's
/// side, and faults. Methods find a payment by any identifier that the code under test knows: an order number, a gateway number, a
/// transaction id, a page's URL or a QR code's text.
///
/// **The clock** is virtual. While it runs, every wait ends at once, also a watch of 20 minutes. To test the time
/// between, stop the clock ([`stop_clock`](Self::stop_clock)) and move it ([`advance`](Self::advance)).
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
    /// The data behind the lock is consistent after every step, so a poisoned lock is ignored.
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl FakeGateway {
    /// A fake gateway without payments and with a running clock.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] if Kassa's threads cannot be started.
    #[cfg_attr(feature = "uniffi", uniffi::constructor)]
    pub fn new() -> Result<Self, PaymentError> {
        let state = Arc::new(State { clock: Clock::new(), books: Mutex::default() });
        let mut config = GatewayConfig::new("https://fake.example", Credentials::basic("fake", "fake"));
        config.dialect = Dialect::from_json(DIALECT)?.into();
        // A fault affects a whole call, not only its first attempt.
        config.query_retries = 0;
        let gateway = Gateway::over(Arc::new(FakeTransport::to(state.clone())?), config)?;
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

    /// The payer pays. `payment` is one of its numbers, the URL of its page, or the text of its code. Returns the
    /// notifications that the gateway would send to the merchant, for the test to pass on.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if there is no such payment, or it is final.
    pub fn charge(&self, payment: &str) -> Result<FakeNotification, PaymentError> {
        self.decide(payment, PaymentStatus::Charged)
    }

    /// The payer declines, or the bank does. `payment` is named as in [`charge`](Self::charge).
    ///
    /// # Errors
    /// The errors of [`charge`](Self::charge).
    pub fn reject(&self, payment: &str) -> Result<FakeNotification, PaymentError> {
        self.decide(payment, PaymentStatus::Rejected)
    }

    /// Sets the outcome of new payments. By default they stay pending.
    pub fn plan(&self, plan: FakePlan) {
        self.state.books().plan = plan;
    }

    /// Injects a fault into one call: the next one, or the one after the faults that are already queued.
    pub fn fail_next(&self, fault: FakeFault) {
        self.state.books().faults.push_back(fault);
    }

    /// The one-time password of every payer, and the PIN of every MegaPay wallet: it confirms and charges a payment.
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

    /// Stops the clock: from now on only [`advance`](Self::advance) moves it.
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
