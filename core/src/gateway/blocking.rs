//! The blocking (synchronous) client, for callers that wait.

use std::time::Duration;

use crate::{
    config::gateway_config::GatewayConfig,
    error::PaymentError,
    gateway::Gateway,
    journal::{Journal, UnfinishedEntries},
    operations::{
        Operation,
        card_payment::{CardPayment, CardPaymentCreated},
        mbank_confirm::{MbankConfirm, MbankConfirmed},
        mbank_payment::{MbankPayment, MbankPaymentCreated},
        megapay::{MegapayAccepted, MegapayCheck, MegapayChecked, MegapayPay, MegapayPayment},
        pay_form::{PayForm, PayFormCreated},
        qr_data::{QrData, QrDataRequest},
        qr_image::{QrImage, QrImageRequest},
        qr_payment::QrPayment,
        status_queries::{PaymentStatusQuery, ProviderStatusQuery, QrStatusQuery},
    },
    payment_ref::{
        PaymentRef,
        report::{Provider, StatusReport},
    },
    pipeline::telemetry::CallContext,
    status::{
        callback::Callback,
        delivery::{
            BlockingDeliveryHandler, DeliveryPolicy, DeliverySummary, StopSignal, deliver_forever_here,
            deliver_unfinished_here,
        },
        recovery::{Recovered, Recovery, RecoveryPolicy},
        redirect::ReturnRedirect,
        verdict::Verdict,
        watch::{PollPolicy, StatusWatch, WatchReport},
    },
    transport::calling_thread::{self, CallingThread, wait},
};

/// The blocking (synchronous) client, for scripts and other callers that wait: the methods of [`Gateway`], each of
/// which blocks its thread until the answer arrives.
///
/// It can be used from any thread. A query runs on the calling thread, which drives its connection. On a thread of an asynchronous runtime,
/// a query runs on Kassa's own threads, as every payment does.
///
/// ```
/// use kassa::{BlockingGateway, Credentials, GatewayConfig, PaymentError};
///
/// let config = GatewayConfig::new("https://pay.example.kg", Credentials::basic("shop", "secret"));
/// let gateway = BlockingGateway::new(config).unwrap();
/// // Nothing is sent if a field breaks a rule.
/// assert!(matches!(gateway.qr_status(""), Err(PaymentError::Invalid { .. })));
/// ```
#[derive(Clone, Debug)]
pub struct BlockingGateway {
    gateway: Gateway,
}

impl BlockingGateway {
    /// See [`Gateway::new`].
    ///
    /// # Errors
    /// See [`Gateway::new`].
    pub fn new(config: GatewayConfig) -> Result<Self, PaymentError> {
        Gateway::new(config).map(Self::from)
    }

    /// See [`Gateway::payment_status`].
    ///
    /// # Errors
    /// See [`Gateway::payment_status`].
    pub fn payment_status(&self, gateway_number: &str, language: Option<&str>) -> Result<StatusReport, PaymentError> {
        self.execute(PaymentStatusQuery::new(gateway_number, language)).map(|status| status.report)
    }

    /// Runs an operation to its end. Abandoning a query loses nothing, so the calling thread drives the network for it.
    fn execute<O: Operation>(&self, operation: O) -> Result<O::Answer, PaymentError> {
        let thread = if O::KIND.is_query() { CallingThread::that_drives() } else { CallingThread::that_waits() };
        CallContext::here().run(|| thread.run(self.gateway.engine.execute(operation)))
    }
}

/// Runs a query to its end on the calling thread, which has no `tracing` subscriber during the call.
fn run_query<F: Future>(query: F) -> F::Output {
    CallContext::here().run(|| calling_thread::run_query(query))
}

impl BlockingGateway {
    /// See [`Gateway::create_card_payment`].
    ///
    /// # Errors
    /// See [`Gateway::create_card_payment`].
    pub fn create_card_payment(&self, payment: CardPayment) -> Result<CardPaymentCreated, PaymentError> {
        self.execute(payment)
    }

    /// See [`Gateway::create_mbank_payment`].
    ///
    /// # Errors
    /// See [`Gateway::create_mbank_payment`].
    pub fn create_mbank_payment(&self, payment: MbankPayment) -> Result<MbankPaymentCreated, PaymentError> {
        self.execute(payment)
    }

    /// See [`Gateway::confirm_mbank_payment`].
    ///
    /// # Errors
    /// See [`Gateway::confirm_mbank_payment`].
    pub fn confirm_mbank_payment(&self, payment: &PaymentRef, otp: &str) -> Result<MbankConfirmed, PaymentError> {
        self.execute(MbankConfirm::new(payment, otp))
    }

    /// See [`Gateway::check_megapay`].
    ///
    /// # Errors
    /// See [`Gateway::check_megapay`].
    pub fn check_megapay(&self, payment: MegapayPayment) -> Result<MegapayChecked, PaymentError> {
        self.execute(MegapayCheck(payment))
    }

    /// See [`Gateway::pay_by_megapay`].
    ///
    /// # Errors
    /// See [`Gateway::pay_by_megapay`].
    pub fn pay_by_megapay(&self, payment: MegapayPayment, pin: &str) -> Result<MegapayAccepted, PaymentError> {
        self.execute(MegapayPay::new(payment, pin))
    }

    /// See [`Gateway::create_pay_form`].
    ///
    /// # Errors
    /// See [`Gateway::create_pay_form`].
    pub fn create_pay_form(&self, form: PayForm) -> Result<PayFormCreated, PaymentError> {
        self.execute(form)
    }

    /// See [`Gateway::provider_status`].
    ///
    /// # Errors
    /// See [`Gateway::provider_status`].
    pub fn provider_status(&self, order_number: &str, provider: Provider) -> Result<StatusReport, PaymentError> {
        self.execute(ProviderStatusQuery::new(order_number, provider)).map(|status| status.report)
    }

    /// See [`Gateway::create_qr_image`].
    ///
    /// # Errors
    /// See [`Gateway::create_qr_image`].
    pub fn create_qr_image(&self, payment: QrPayment) -> Result<QrImage, PaymentError> {
        self.execute(QrImageRequest(payment))
    }

    /// See [`Gateway::create_qr_data`].
    ///
    /// # Errors
    /// See [`Gateway::create_qr_data`].
    pub fn create_qr_data(&self, payment: QrPayment) -> Result<QrData, PaymentError> {
        self.execute(QrDataRequest(payment))
    }

    /// See [`Gateway::qr_status`].
    ///
    /// # Errors
    /// See [`Gateway::qr_status`].
    pub fn qr_status(&self, transaction_id: &str) -> Result<StatusReport, PaymentError> {
        self.execute(QrStatusQuery::new(transaction_id)).map(|status| status.report)
    }

    /// See [`Gateway::check`].
    ///
    /// # Errors
    /// See [`Gateway::check`].
    pub fn check(&self, payment: &PaymentRef) -> Result<Verdict, PaymentError> {
        run_query(self.gateway.check(payment))
    }

    /// See [`Gateway::watch`].
    ///
    /// # Errors
    /// See [`Gateway::watch`].
    pub fn watch(&self, payment: PaymentRef, policy: PollPolicy) -> Result<BlockingStatusWatch, PaymentError> {
        Ok(BlockingStatusWatch { watch: self.gateway.watch(payment, policy)? })
    }

    /// See [`Gateway::verify_callback`].
    ///
    /// # Errors
    /// See [`Gateway::verify_callback`].
    pub fn verify_callback(&self, callback: &Callback, payment: &PaymentRef) -> Result<Verdict, PaymentError> {
        run_query(self.gateway.verify_callback(callback, payment))
    }

    /// See [`Gateway::verify_return`].
    ///
    /// # Errors
    /// See [`Gateway::verify_return`].
    pub fn verify_return(&self, redirect: &ReturnRedirect, payment: &PaymentRef) -> Result<Verdict, PaymentError> {
        run_query(self.gateway.verify_return(redirect, payment))
    }

    /// See [`Gateway::with_deadline`].
    ///
    /// # Errors
    /// See [`Gateway::with_deadline`].
    pub fn with_deadline(&self, deadline: Duration) -> Result<Self, PaymentError> {
        self.gateway.with_deadline(deadline).map(Self::from)
    }

    /// See [`Gateway::recover`].
    ///
    /// # Errors
    /// See [`Gateway::recover`].
    pub fn recover(&self, policy: RecoveryPolicy) -> Result<BlockingRecovery, PaymentError> {
        self.gateway.recover(policy).map(|recovery| BlockingRecovery { recovery })
    }

    /// See [`Gateway::finish`].
    ///
    /// # Errors
    /// See [`Gateway::finish`].
    pub fn finish(&self, id: &str) -> Result<(), PaymentError> {
        wait(self.gateway.finish(id))
    }

    /// See [`Gateway::close`].
    pub fn close(&self) {
        wait(self.gateway.close());
    }

    /// See [`Gateway::close_within`].
    pub fn close_within(&self, timeout: Duration) -> bool {
        wait(self.gateway.close_within(timeout))
    }
}

impl BlockingGateway {
    /// See [`Gateway::with_journal`].
    #[must_use]
    pub fn with_journal(&self, journal: Journal) -> Self {
        self.gateway.with_journal(journal).into()
    }

    /// See [`Gateway::with_note`].
    ///
    /// # Errors
    /// See [`Gateway::with_note`].
    pub fn with_note(&self, note: &str) -> Result<Self, PaymentError> {
        self.gateway.with_note(note).map(Self::from)
    }

    /// See [`Gateway::deliver_forever`]. The handler runs on the calling thread; stop it from there, or from another one.
    ///
    /// ```
    /// use kassa::{BlockingGateway, DeliveryPolicy, FakeGateway, Journal, JournalEntry, MbankPayment, StopSignal};
    ///
    /// # let folder = std::env::temp_dir().join(format!("kassa-worker-{}", std::process::id()));
    /// # let fake = FakeGateway::new()?;
    /// let gateway = BlockingGateway::from(fake.gateway()).with_journal(Journal::open(&folder)?);
    /// # gateway.with_note("cart 17")?.create_mbank_payment(MbankPayment::new("order-1", 100, "996555000101", "tea"))?;
    /// # fake.charge("order-1")?;
    /// let stop = StopSignal::new();
    /// let deliver = |entry: JournalEntry| {
    ///     println!("paid: ship {:?}", entry.note); // doing it again must do nothing
    ///     stop.stop(); // a back end goes on until the program is to end
    ///     Ok::<(), std::io::Error>(())
    /// };
    /// let summary = gateway.deliver_forever(DeliveryPolicy::default(), &stop, deliver)?;
    /// assert_eq!(summary.to_string(), "1 delivered; left open: nothing");
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    ///
    /// # Errors
    /// See [`Gateway::deliver_forever`].
    pub fn deliver_forever<H: BlockingDeliveryHandler>(
        &self,
        policy: DeliveryPolicy,
        stop: &StopSignal,
        handler: H,
    ) -> Result<DeliverySummary, PaymentError> {
        deliver_forever_here(self.gateway.engine.clone(), policy, stop, handler)
    }

    /// Delivers what is charged, once, on the calling thread. See [`Gateway::deliver_unfinished`].
    ///
    /// ```
    /// # use kassa::{BlockingGateway, FakeGateway, Journal, JournalEntry, MbankPayment, RecoveryPolicy};
    /// # let folder = std::env::temp_dir().join("kassa-deliver-unfinished");
    /// # let fake = FakeGateway::new()?;
    /// let gateway = BlockingGateway::from(fake.gateway()).with_journal(Journal::open(&folder)?);
    /// # gateway.with_note("cart 17")?.create_mbank_payment(MbankPayment::new("order-1", 100, "996555000101", "tea"))?;
    /// # fake.charge("order-1")?;
    /// let deliver = |entry: JournalEntry| {
    ///     println!("paid: ship {:?}", entry.note); // doing it again must do nothing
    ///     Ok::<(), std::io::Error>(())
    /// };
    /// let summary = gateway.deliver_unfinished(RecoveryPolicy::default(), deliver)?;
    /// assert_eq!(summary.to_string(), "1 delivered; left open: nothing");
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    ///
    /// # Errors
    /// See [`Gateway::deliver_unfinished`].
    pub fn deliver_unfinished<H: BlockingDeliveryHandler>(
        &self,
        policy: RecoveryPolicy,
        handler: H,
    ) -> Result<DeliverySummary, PaymentError> {
        deliver_unfinished_here(&self.gateway.engine, policy, handler)
    }

    /// See [`Gateway::journal`].
    pub fn journal(&self) -> Option<&Journal> {
        self.gateway.journal()
    }

    /// See [`Gateway::unfinished`].
    ///
    /// # Errors
    /// See [`Gateway::unfinished`].
    pub fn unfinished(&self) -> Result<UnfinishedEntries, PaymentError> {
        self.gateway.unfinished()
    }
}

impl From<Gateway> for BlockingGateway {
    fn from(gateway: Gateway) -> Self {
        Self { gateway }
    }
}

impl From<StatusWatch> for BlockingStatusWatch {
    fn from(watch: StatusWatch) -> Self {
        Self { watch }
    }
}

/// A [`StatusWatch`] for callers that wait. It is an iterator over the reports.
#[derive(Clone, Debug)]
pub struct BlockingStatusWatch {
    watch: StatusWatch,
}

impl BlockingStatusWatch {
    /// See [`StatusWatch::outcome`].
    ///
    /// # Errors
    /// See [`StatusWatch::outcome`].
    pub fn outcome(&self) -> Result<Option<Verdict>, PaymentError> {
        wait(self.watch.outcome())
    }

    /// See [`StatusWatch::check_now`]. Call it from another thread.
    pub fn check_now(&self) {
        self.watch.check_now();
    }

    /// See [`StatusWatch::cancel`]. Call it from another thread.
    pub fn cancel(&self) {
        self.watch.cancel();
    }
}

impl Iterator for BlockingStatusWatch {
    type Item = Result<WatchReport, PaymentError>;

    fn next(&mut self) -> Option<Self::Item> {
        wait(self.watch.next()).transpose()
    }
}

/// A [`Recovery`] for callers that wait. It is an iterator over the results.
#[derive(Clone, Debug)]
pub struct BlockingRecovery {
    recovery: Recovery,
}

impl BlockingRecovery {
    /// See [`Recovery::cancel`]. Call it from another thread.
    pub fn cancel(&self) {
        self.recovery.cancel();
    }
}

impl Iterator for BlockingRecovery {
    type Item = Result<Recovered, PaymentError>;

    fn next(&mut self) -> Option<Self::Item> {
        wait(self.recovery.next()).transpose()
    }
}
