//! Client of the payment gateway: the asynchronous one here, the blocking (synchronous) one in [`blocking`].

pub(crate) mod blocking;
pub(crate) mod contract;
mod environment;

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    config::gateway_config::GatewayConfig,
    error::PaymentError,
    journal::{Journal, UnfinishedEntries},
    operations::{
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
    pipeline::{engine::Engine, journaling::run_blocking, outcome},
    status::{
        callback::Callback,
        check,
        delivery::{self, DeliveryHandler, DeliveryPolicy, DeliverySummary},
        recovery::{Recovery, RecoveryPolicy},
        redirect::ReturnRedirect,
        verdict::Verdict,
        verify,
        watch::{PollPolicy, StatusWatch},
    },
    transport::{Transport, http::HttpTransport},
};

/// The client of the payment gateway.
///
/// It is cheap to clone, and every clone is the same gateway. You can await its methods on any executor. Requests that
/// move money or create a pay-form or a QR code run on Kassa's own threads. A query in a task of a tokio runtime runs
/// in that task; on any other executor it runs on Kassa's threads, too. Like any tokio library, it never completes if
/// another executor blocks the task's thread: use a [`BlockingGateway`](crate::BlockingGateway) there. Kassa detects a
/// tokio runtime without I/O or timers by a panic, which is caught and printed once. A program that aborts on panics
/// must not call from such a runtime.
///
/// **Cancellation: dropping a future** ends a query, or the creation of a pay-form or a QR code, at once. It prevents a
/// payment if no connection was made yet. Afterwards the payment continues as a detached task, and you query it with
/// the [`PaymentRef`] that you stored before.
///
/// ```
/// use kassa::{Card, CardPayment, Credentials, Gateway, GatewayConfig, NextStep, PollPolicy, Verdict};
///
/// # // A card without 3DS, so that nobody needs to open a page.
/// # let sandbox = kassa_sandbox::Sandbox::start(Default::default()).unwrap();
/// # let (base_url, login, password) = (sandbox.url(), sandbox.login(), sandbox.password());
/// # let (pan, callback_url) = ("4000 0000 0000 2016", "http://127.0.0.1:9/callbacks".to_owned());
/// # pollster::block_on(async {
/// let gateway = Gateway::new(GatewayConfig::new(base_url, Credentials::basic(login, password)))?;
/// let card = Card::new(pan, "08", 2031, "123", "Aibek Usenov");
/// let amount = "100.10".parse().unwrap();
/// let payment = CardPayment::new(kassa::new_order_number(), amount, "KGS", card, callback_url)
///     .with_description("Two tickets")
///     .with_language("ky")
///     .with_ip("203.0.113.7")
///     .with_return_url("myshop://paid");
/// let stored = payment.payment_ref().to_string(); // keep this before sending
///
/// let created = gateway.create_card_payment(payment).await?;
/// if let NextStep::OpenConfirmation { url, .. } = &created.next_step {
///     println!("send the payer to {url}");
/// }
/// match gateway.watch(created.payment, PollPolicy::default())?.outcome().await? {
///     Some(Verdict::Charged { .. }) => println!("paid"),
///     Some(Verdict::Rejected { .. }) => println!("not paid"),
///     Some(other) => println!("a person should look: {other:?}"),
///     None => println!("stopped watching"),
/// }
/// # assert!(sandbox.payments()[0].is_charged());
/// # Ok::<(), kassa::PaymentError>(())
/// # }).unwrap();
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct Gateway {
    engine: Arc<Engine>,
}

impl Gateway {
    /// Creates a gateway from its configuration. Nothing is sent.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] for an invalid setting, which it names.
    pub fn new(config: GatewayConfig) -> Result<Self, PaymentError> {
        config.check()?;
        let transport = Arc::new(HttpTransport::new(config.peer()?)?);
        Self::over(transport, config)
    }

    /// Queries the status of a payment by the **gateway's** own number (the `token` of the confirmation page).
    ///
    /// `language` (ISO 639-1) is the language of the gateway's messages; by default the merchant's.
    ///
    /// # Errors
    /// An error says nothing about the payment itself. A number that the gateway does not know is
    /// [`PaymentError::Refused`].
    ///
    /// Source: `GET /api/v1.1.0/status` (`docs/interface.md#status-request`).
    pub async fn payment_status(
        &self,
        gateway_number: &str,
        language: Option<&str>,
    ) -> Result<StatusReport, PaymentError> {
        self.engine.execute(PaymentStatusQuery::new(gateway_number, language)).await.map(|status| status.report)
    }

    /// A gateway over any transport: the network, or a stub of it in tests (dependency injection).
    pub(crate) fn over(transport: Arc<dyn Transport>, config: GatewayConfig) -> Result<Self, PaymentError> {
        Ok(Self { engine: Arc::new(Engine::new(transport, config, outcome::again)?) })
    }

    /// Fault injection: a gateway with a wrong retry policy, so that tests can prove that they detect it.
    #[cfg(test)]
    pub(crate) fn with_policy(
        transport: Arc<dyn Transport>,
        config: GatewayConfig,
        policy: outcome::ResendPolicy,
    ) -> Result<Self, PaymentError> {
        Ok(Self { engine: Arc::new(Engine::new(transport, config, policy)?) })
    }
}

impl Gateway {
    /// Creates a card payment. **Moves money**; sent at most once.
    ///
    /// The answer means that the gateway accepted it, not that it is paid: follow its `next_step`, then query the
    /// status.
    ///
    /// # Errors
    /// [`PaymentError::OutcomeUnknown`] if the payment may exist: watch it, never send it again. Every other error
    /// means that no money moved.
    ///
    /// Source: `POST /api/v1.1.0/payment` (`docs/interface.md#card-payment`).
    pub async fn create_card_payment(&self, payment: CardPayment) -> Result<CardPaymentCreated, PaymentError> {
        self.engine.execute(payment).await
    }

    /// Creates a mobile-bank payment; the payer then receives a one-time password. **Moves money**; sent at most once.
    ///
    /// # Errors
    /// The errors of [`create_card_payment`](Self::create_card_payment).
    ///
    /// Source: `POST /api/v1.1.0/mbank/pay` (`docs/interface.md#mobile-bank-payment-request`).
    pub async fn create_mbank_payment(&self, payment: MbankPayment) -> Result<MbankPaymentCreated, PaymentError> {
        self.engine.execute(payment).await
    }

    /// Confirms a mobile-bank payment with the payer's one-time password. **Moves money**; sent at most once.
    ///
    /// `payment` is the reference in the answer of [`create_mbank_payment`](Self::create_mbank_payment): with the
    /// merchant's order number, and the identifier for the confirmation if the dialect names it.
    ///
    /// # Errors
    /// The errors of [`create_card_payment`](Self::create_card_payment). A wrong password is [`PaymentError::Refused`].
    ///
    /// Source: `POST /api/v1.1.0/mbank/confirm` (`docs/interface.md#mobile-bank-confirm-request`).
    pub async fn confirm_mbank_payment(&self, payment: &PaymentRef, otp: &str) -> Result<MbankConfirmed, PaymentError> {
        self.engine.execute(MbankConfirm::new(payment, otp)).await
    }

    /// Sends the payer of a MegaPay wallet a PIN, and returns the commission. **Treat it as moving money**: the gateway's interface does not
    /// say that it does not. It is sent at most once. Show the payer the total before you ask for the PIN.
    ///
    /// # Errors
    /// The errors of [`create_card_payment`](Self::create_card_payment). [`PaymentError::Misconfigured`] if the dialect has no MegaPay
    /// requests ([`Dialect::offers_megapay`](crate::Dialect::offers_megapay)).
    ///
    /// Source: `mega/check` (`docs/interface.md#megapay`).
    pub async fn check_megapay(&self, payment: MegapayPayment) -> Result<MegapayChecked, PaymentError> {
        self.engine.execute(MegapayCheck(payment)).await
    }

    /// Pays from a MegaPay wallet with the PIN that the payer received through [`check_megapay`](Self::check_megapay). **Moves money**;
    /// sent at most once.
    ///
    /// # Errors
    /// The errors of [`check_megapay`](Self::check_megapay). A wrong PIN is [`PaymentError::Refused`].
    ///
    /// Source: `POST /api/v1.1.0/mega/pay` (`docs/interface.md#megapay`).
    pub async fn pay_by_megapay(&self, payment: MegapayPayment, pin: &str) -> Result<MegapayAccepted, PaymentError> {
        self.engine.execute(MegapayPay::new(payment, pin)).await
    }

    /// Creates a pay-form, the gateway's own page on which the payer chooses a method. Moves no money; sent once.
    ///
    /// # Errors
    /// An error never means that money moved.
    ///
    /// Source: `POST /api/v1.1.0/pay-form` (`docs/interface.md#pay-form`).
    pub async fn create_pay_form(&self, form: PayForm) -> Result<PayFormCreated, PaymentError> {
        self.engine.execute(form).await
    }

    /// Queries the status of a payment by the **merchant's** order number and the provider.
    ///
    /// # Errors
    /// The errors of [`payment_status`](Self::payment_status).
    ///
    /// Source: `POST /api/v1.1.0/get-status` (`docs/interface.md#get-status-request`).
    pub async fn provider_status(&self, order_number: &str, provider: Provider) -> Result<StatusReport, PaymentError> {
        self.engine.execute(ProviderStatusQuery::new(order_number, provider)).await.map(|status| status.report)
    }

    /// Creates a QR code as the gateway's own picture, 400x400. Moves no money; sent once.
    ///
    /// # Errors
    /// An error never means that money moved.
    ///
    /// Source: `POST /gen/qr/dynamic` (`docs/interface.md#dynamic-qr-request`).
    pub async fn create_qr_image(&self, payment: QrPayment) -> Result<QrImage, PaymentError> {
        self.engine.execute(QrImageRequest(payment)).await
    }

    /// Creates the data of a QR code, to be drawn with [`QrCode`](crate::QrCode). Moves no money; sent once.
    ///
    /// # Errors
    /// An error never means that money moved.
    ///
    /// Source: `POST /gen/qr/dynamic/data` (`docs/interface.md#dynamic-qr-request`).
    pub async fn create_qr_data(&self, payment: QrPayment) -> Result<QrData, PaymentError> {
        self.engine.execute(QrDataRequest(payment)).await
    }

    /// Queries the status of a QR payment by its transaction id.
    ///
    /// # Errors
    /// The errors of [`payment_status`](Self::payment_status).
    ///
    /// Source: `GET /gen/qr/transaction/status` (`docs/interface.md#qr-status-request`).
    pub async fn qr_status(&self, transaction_id: &str) -> Result<StatusReport, PaymentError> {
        self.engine.execute(QrStatusQuery::new(transaction_id)).await.map(|status| status.report)
    }

    /// Queries a payment once and compares the gateway's report with the request. It queries by the most reliable of
    /// the payment's numbers, and by the next one if that query is refused or its response cannot be understood.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if the reference has no number to query by, and the errors of
    /// [`payment_status`](Self::payment_status). An error says nothing about the payment.
    pub async fn check(&self, payment: &PaymentRef) -> Result<Verdict, PaymentError> {
        check::check(&self.engine, payment, self.engine.limits()).await
    }

    /// Verifies a callback (webhook): compares it with the request, and queries the gateway. **A callback is only a
    /// hint**: nothing proves who sent it.
    ///
    /// `payment` is the reference that you stored at the sale, **never one made from the callback**. If it has no number (a pay-form, the
    /// gateway's own QR picture), the callback's number is used as a claimed number. Then the gateway must report the requested amount, and the
    /// number must not be a QR payment's, whose amount may be in tyiyn (390 tyiyn must not pass as 390 som): `qr_numbers` in the
    /// [`Dialect`](crate::Dialect) tells how to exclude that. All queries share one deadline.
    ///
    /// # Errors
    /// An error if the query fails, or the gateway does not know the payment. It proves nothing: query again.
    pub async fn verify_callback(&self, callback: &Callback, payment: &PaymentRef) -> Result<Verdict, PaymentError> {
        verify::verify_callback(&self.engine, callback, payment).await
    }

    /// Verifies a payment when its payer comes back: queries the gateway. **A return is only a hint**: it passes through the payer's
    /// browser. For a pay-form, its order number is used as a claimed number, as in [`verify_callback`](Self::verify_callback).
    ///
    /// # Errors
    /// The errors of [`verify_callback`](Self::verify_callback).
    pub async fn verify_return(
        &self,
        redirect: &ReturnRedirect,
        payment: &PaymentRef,
    ) -> Result<Verdict, PaymentError> {
        verify::verify_return(&self.engine, redirect, payment).await
    }

    /// Finishes a payment of the gateway's journal: the goods were delivered, or a person has handled it. See [`Journal::finish`].
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] if the gateway has no journal, and the errors of [`Journal::finish`].
    pub async fn finish(&self, id: &str) -> Result<(), PaymentError> {
        let (journal, id) = (self.engine.required_journal()?.clone(), id.to_owned());
        self.engine.transport().check()?;
        let finished = run_blocking(self.engine.transport(), move || journal.finish(&id)).await;
        finished.unwrap_or_else(|| Err(PaymentError::unavailable("the journal was interrupted inside the SDK")))
    }

    /// Shuts down gracefully: rejects further calls, ends every watch and recovery at once, and waits until every payment in flight has its
    /// response, at most until that payment's deadline.
    ///
    /// A caller that waits in a watch or a recovery gets [`PaymentError::Misconfigured`], which is not about a payment. Other queries
    /// that are in flight continue to their own end.
    pub async fn close(&self) {
        self.engine.close().await;
    }

    /// Shuts down as [`close`](Self::close) does, and waits at most for `timeout`. Returns true if every payment has its response. **A
    /// payment without a response continues while the process lives, and its outcome is unknown**: if it is in a journal, the next
    /// [`recover`](Self::recover) polls it; without a journal, query it with the stored [`PaymentRef`]. With a timeout of zero it does not
    /// wait.
    ///
    /// ```
    /// # use kassa::{Credentials, Gateway, GatewayConfig};
    /// # let gateway = Gateway::new(GatewayConfig::new("https://pay.example.kg", Credentials::basic("shop", "secret")))?;
    /// # pollster::block_on(async {
    /// if !gateway.close_within(std::time::Duration::from_secs(5)).await {
    ///     println!("a payment is still on its way: recover the journal at the next start");
    /// }
    /// # });
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    pub async fn close_within(&self, timeout: Duration) -> bool {
        self.engine.close_within(timeout).await
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Gateway {
    /// Polls the status of a payment until there is a final [`Verdict`], or the policy's deadline passes. Nothing is sent
    /// until the watch is awaited.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if the reference has no number to query by.
    pub fn watch(&self, payment: PaymentRef, policy: PollPolicy) -> Result<StatusWatch, PaymentError> {
        StatusWatch::new(self.engine.clone(), payment, policy)
    }

    /// The same gateway with one deadline for every call, whether it moves money or not: for calls that may take more
    /// or less time than the configuration allows. Both share connections, requests in flight and closing. It is cheap
    /// enough to create for one call. In its watches, each query has this deadline.
    ///
    /// ```
    /// # use kassa::{Credentials, Gateway, GatewayConfig};
    /// use std::time::Duration;
    ///
    /// # let gateway = Gateway::new(GatewayConfig::new("https://pay.example.kg", Credentials::basic("shop", "secret")))?;
    /// let impatient = gateway.with_deadline(Duration::from_secs(5))?; // impatient.qr_status(...)
    /// assert!(gateway.with_deadline(Duration::ZERO).is_err());
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] for a deadline of zero.
    pub fn with_deadline(&self, deadline: Duration) -> Result<Self, PaymentError> {
        Ok(Self { engine: Arc::new(self.engine.with_deadline(deadline)?) })
    }

    /// Polls every unfinished payment of the gateway's journal until it is final: at the start, and repeatedly in a
    /// long-running program. It sends no query until it is awaited.
    ///
    /// ```
    /// # use kassa::{Credentials, Gateway, GatewayConfig, Journal, JournalState, Recovered, RecoveryPolicy};
    /// # async fn start(gateway: Gateway) -> Result<(), kassa::PaymentError> {
    /// let recovery = gateway.recover(RecoveryPolicy::default())?;
    /// while let Some(recovered) = recovery.next().await? {
    ///     match recovered {
    ///         Recovered::Payment { entry } if entry.state == JournalState::Charged => {
    ///             // Deliver what `entry.note` says, then:
    ///             gateway.finish(&entry.id).await?;
    ///         }
    ///         other => println!("for the payer, or for a person: {other:?}"),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] if the gateway has no journal, [`PaymentError::Invalid`] for a policy of zeros.
    pub fn recover(&self, policy: RecoveryPolicy) -> Result<Recovery, PaymentError> {
        Recovery::new(self.engine.clone(), policy)
    }
}

impl Gateway {
    /// The same gateway with a journal: it records every payment before sending it. See [`Journal`].
    #[must_use]
    pub fn with_journal(&self, journal: Journal) -> Self {
        Self { engine: Arc::new(self.engine.with_journal(journal)) }
    }

    /// The same gateway with a note, which it adds to the journal entries of its payments: your own order number, for
    /// example, so that you know after a crash what each payment is for. It is cheap enough to create for one call.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] for a note of more than 256 characters, [`PaymentError::Misconfigured`] if the gateway
    /// has no journal.
    pub fn with_note(&self, note: &str) -> Result<Self, PaymentError> {
        Ok(Self { engine: Arc::new(self.engine.with_note(note)?) })
    }

    /// Delivers charged payments while the program runs: recovers everything unfinished in the journal, also polls payments that other
    /// threads and processes begin, calls the handler for each charged payment, and finishes its entry when the call has returned `Ok`.
    ///
    /// ```
    /// # use kassa::{DeliveryPolicy, Gateway, JournalEntry, StopSignal};
    /// # async fn ship(_: &str) -> Result<(), std::io::Error> { Ok(()) }
    /// # async fn run(gateway: Gateway) -> Result<(), Box<dyn std::error::Error>> {
    /// let stop = StopSignal::new();
    /// let worker = {
    ///     let stopped = stop.stopped(); // or any other future, such as a signal of tokio's
    ///     let deliver = |entry: JournalEntry| async move { ship(entry.note.as_deref().unwrap_or_default()).await };
    ///     tokio::spawn(async move { gateway.deliver_forever(DeliveryPolicy::default(), stopped, deliver).await })
    /// };
    /// // The program runs. At its end:
    /// stop.stop();
    /// println!("{}", worker.await??);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// - **The handler is called only for charged payments**, one after the other. If it fails, it is retried after one second, then two,
    ///   up to five minutes; other payments do not wait for that. **It must be idempotent**: a program may die between delivering and
    ///   finishing.
    /// - All other results go to [`DeliveryHandler::otherwise`], once per run, or to the log.
    /// - It ends when `stop` completes or the gateway is closed, after the running call of the handler. Abandoned payments are polled less
    ///   and less often, down to once a day, and are never dropped: see [`DeliverySummary::left_open`].
    /// - Of all processes that share the folder, one delivers at a time; the others wait, and log that they do. After an error (no
    ///   connection, wrong credentials, a full disk) the recovery restarts within a minute.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] if the gateway has no journal, [`PaymentError::Invalid`] for a policy that breaks a rule.
    pub async fn deliver_forever<H: DeliveryHandler>(
        &self,
        policy: DeliveryPolicy,
        stop: impl Future<Output = ()>,
        handler: H,
    ) -> Result<DeliverySummary, PaymentError> {
        delivery::deliver_forever(self.engine.clone(), policy, stop, handler).await
    }

    /// Delivers charged payments, once: recovers everything unfinished in the journal, calls the handler for each charged payment, and
    /// finishes its entry when the call has returned `Ok`. It returns when no payment is open, or at the policy's deadline. For scripts,
    /// scheduled jobs and a program's start; for a long-running program use [`deliver_forever`](Self::deliver_forever).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use kassa::{Gateway, JournalEntry, RecoveryPolicy};
    /// # async fn ship(_: &str) -> Result<(), std::io::Error> { Ok(()) }
    /// # async fn run(gateway: Gateway) -> Result<(), kassa::PaymentError> {
    /// let policy = RecoveryPolicy::default().with_deadline(Duration::from_secs(15));
    /// let deliver = |entry: JournalEntry| async move { ship(entry.note.as_deref().unwrap_or_default()).await };
    /// println!("{}", gateway.deliver_unfinished(policy, deliver).await?); // 1 delivered; left open: nothing
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// - **The handler is called only for charged payments**, one after the other, and once for each. If it fails, the error is logged, and
    ///   the payment stays unfinished ([`DeliverySummary::undelivered`]): the next delivery retries it. **It must be idempotent**: a
    ///   program may die between delivering and finishing.
    /// - All other results go to [`DeliveryHandler::otherwise`], or to the log. Payments that are still open at the
    ///   deadline are in [`DeliverySummary::undecided`].
    /// - The time for handling a result does not count towards the deadline.
    /// - Of all processes that share the folder, one delivers at a time; this one waits for the other until its deadline.
    /// - Dropping the future ends it, also the handler's own future. The payment that the handler was called with stays unfinished.
    ///
    /// # Errors
    /// The errors of [`recover`](Self::recover), and of its [`next`](Recovery::next): the gateway does not accept the credentials, for
    /// example. Payments that were delivered before are finished.
    pub async fn deliver_unfinished<H: DeliveryHandler>(
        &self,
        policy: RecoveryPolicy,
        handler: H,
    ) -> Result<DeliverySummary, PaymentError> {
        delivery::deliver_unfinished(self.engine.clone(), policy, handler).await
    }

    /// The gateway's journal, if it has one.
    pub fn journal(&self) -> Option<&Journal> {
        self.engine.journal()
    }

    /// The unfinished entries of the gateway's journal. See [`Journal::unfinished`].
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] if the gateway has no journal.
    pub fn unfinished(&self) -> Result<UnfinishedEntries, PaymentError> {
        Ok(self.engine.required_journal()?.unfinished())
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("base_url", &self.engine.base_url()).finish_non_exhaustive()
    }
}
