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
/// It is cheap to clone, and every clone is the same gateway. Its methods may be awaited on any executor. What moves
/// money, or makes a code, runs on Kassa's own threads; a query in a task of a tokio runtime runs in that task, and on
/// any other executor on Kassa's threads, too. Like any library of tokio's, it waits in vain where the task's thread is
/// blocked by another executor: block on a [`BlockingGateway`](crate::BlockingGateway) there. A runtime without I/O or
/// timers is found out by a panic, which is caught and printed once; a program that aborts on panics must not call from
/// one.
///
/// **Cancellation: dropping a future** ends a query, or the making of a pay-form or a QR code, at once. A payment is
/// prevented where no connection was made yet; afterwards it goes on as a detached task, and its caller queries it
/// with the [`PaymentRef`] that was stored before.
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
    /// Makes a gateway from its configuration. Nothing is sent.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] where a setting cannot work, naming it.
    pub fn new(config: GatewayConfig) -> Result<Self, PaymentError> {
        config.check()?;
        let transport = Arc::new(HttpTransport::new(config.peer()?)?);
        Self::over(transport, config)
    }

    /// Queries the status of a payment by the **gateway's** own number (the `token` of the confirmation page).
    ///
    /// `language` (ISO 639-1) is that of the gateway's messages; the merchant's default without it.
    ///
    /// # Errors
    /// None of them says anything about the payment itself. A number that the gateway does not know is
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

    /// Fault injection: a gateway with a wrong retry policy, so that tests can show that they would notice it.
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
    /// [`PaymentError::OutcomeUnknown`] where the payment may exist all the same: watch it, never send it again. Every
    /// other error says that no money moved.
    ///
    /// Source: `POST /api/v1.1.0/payment` (`docs/interface.md#card-payment`).
    pub async fn create_card_payment(&self, payment: CardPayment) -> Result<CardPaymentCreated, PaymentError> {
        self.engine.execute(payment).await
    }

    /// Creates a mobile-bank payment; the payer then receives a one-time password. **Moves money**; sent at most once.
    ///
    /// # Errors
    /// As for [`create_card_payment`](Self::create_card_payment).
    ///
    /// Source: `POST /api/v1.1.0/mbank/pay` (`docs/interface.md#mobile-bank-payment-request`).
    pub async fn create_mbank_payment(&self, payment: MbankPayment) -> Result<MbankPaymentCreated, PaymentError> {
        self.engine.execute(payment).await
    }

    /// Confirms a mobile-bank payment with the payer's one-time password. **Moves money**; sent at most once.
    ///
    /// `payment` is the one that the create answer holds: with the merchant's order number, and the identifier that the
    /// gateway wants back where the dialect names it.
    ///
    /// # Errors
    /// As for [`create_card_payment`](Self::create_card_payment). A wrong password is [`PaymentError::Refused`].
    ///
    /// Source: `POST /api/v1.1.0/mbank/confirm` (`docs/interface.md#mobile-bank-confirm-request`).
    pub async fn confirm_mbank_payment(&self, payment: &PaymentRef, otp: &str) -> Result<MbankConfirmed, PaymentError> {
        self.engine.execute(MbankConfirm::new(payment, otp)).await
    }

    /// Sends the payer of a MegaPay wallet a PIN, and returns the commission. **Treat it as moving money**: the gateway's interface does not
    /// say that it does not. It is sent at most once. Show the payer the total before you ask for the PIN.
    ///
    /// # Errors
    /// As for [`create_card_payment`](Self::create_card_payment). [`PaymentError::Misconfigured`] where the dialect has no MegaPay
    /// requests ([`Dialect::offers_megapay`](crate::Dialect::offers_megapay)).
    ///
    /// Source: `mega/check` (`docs/interface.md#megapay`).
    pub async fn check_megapay(&self, payment: MegapayPayment) -> Result<MegapayChecked, PaymentError> {
        self.engine.execute(MegapayCheck(payment)).await
    }

    /// Pays from a MegaPay wallet with the payer's PIN, which [`check_megapay`](Self::check_megapay) had sent. **Moves money**; sent at
    /// most once.
    ///
    /// # Errors
    /// As for [`check_megapay`](Self::check_megapay). A wrong PIN is [`PaymentError::Refused`].
    ///
    /// Source: `POST /api/v1.1.0/mega/pay` (`docs/interface.md#megapay`).
    pub async fn pay_by_megapay(&self, payment: MegapayPayment, pin: &str) -> Result<MegapayAccepted, PaymentError> {
        self.engine.execute(MegapayPay::new(payment, pin)).await
    }

    /// Creates a pay-form, the gateway's own page on which the payer chooses a method. Moves no money; sent once.
    ///
    /// # Errors
    /// None of them moved money.
    ///
    /// Source: `POST /api/v1.1.0/pay-form` (`docs/interface.md#pay-form`).
    pub async fn create_pay_form(&self, form: PayForm) -> Result<PayFormCreated, PaymentError> {
        self.engine.execute(form).await
    }

    /// Queries the status of a payment by the **merchant's** order number and the provider.
    ///
    /// # Errors
    /// As for [`payment_status`](Self::payment_status).
    ///
    /// Source: `POST /api/v1.1.0/get-status` (`docs/interface.md#get-status-request`).
    pub async fn provider_status(&self, order_number: &str, provider: Provider) -> Result<StatusReport, PaymentError> {
        self.engine.execute(ProviderStatusQuery::new(order_number, provider)).await.map(|status| status.report)
    }

    /// Makes a QR code as the gateway's own picture, 400x400. Moves no money; sent once.
    ///
    /// # Errors
    /// None of them moved money.
    ///
    /// Source: `POST /gen/qr/dynamic` (`docs/interface.md#dynamic-qr-request`).
    pub async fn create_qr_image(&self, payment: QrPayment) -> Result<QrImage, PaymentError> {
        self.engine.execute(QrImageRequest(payment)).await
    }

    /// Makes the data of a QR code, to be drawn with [`QrCode`](crate::QrCode). Moves no money; sent once.
    ///
    /// # Errors
    /// None of them moved money.
    ///
    /// Source: `POST /gen/qr/dynamic/data` (`docs/interface.md#dynamic-qr-request`).
    pub async fn create_qr_data(&self, payment: QrPayment) -> Result<QrData, PaymentError> {
        self.engine.execute(QrDataRequest(payment)).await
    }

    /// Queries the status of a QR payment by its transaction id.
    ///
    /// # Errors
    /// As for [`payment_status`](Self::payment_status).
    ///
    /// Source: `GET /gen/qr/transaction/status` (`docs/interface.md#qr-status-request`).
    pub async fn qr_status(&self, transaction_id: &str) -> Result<StatusReport, PaymentError> {
        self.engine.execute(QrStatusQuery::new(transaction_id)).await.map(|status| status.report)
    }

    /// Queries a payment once and compares the gateway's report with the request. It queries by the most reliable of
    /// the payment's numbers, and by the next one if that query is refused or its answer not understood.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] where the reference has nothing to query with; otherwise as for
    /// [`payment_status`](Self::payment_status). None of them says anything about the payment.
    pub async fn check(&self, payment: &PaymentRef) -> Result<Verdict, PaymentError> {
        check::check(&self.engine, payment, self.engine.limits()).await
    }

    /// Verifies a callback (webhook): compares it with the request, and queries the gateway. **A callback is only a
    /// hint**: nothing proves who sent it.
    ///
    /// `payment` is the reference that was stored at the sale, **never one made from the callback**. Where it has no
    /// number of its own (a pay-form, the gateway's own QR picture), the callback's is taken as a claim: then the gateway
    /// must report the requested amount, and it must be ruled out that the number is that of a QR payment, whose
    /// amount may be in tyiyn (390 tyiyn must not pass as 390 som): `qr_numbers` in the [`Dialect`](crate::Dialect) says
    /// how. All queries share one deadline.
    ///
    /// # Errors
    /// If the query failed, or the gateway does not know the payment. Nothing is proved then: query again.
    pub async fn verify_callback(&self, callback: &Callback, payment: &PaymentRef) -> Result<Verdict, PaymentError> {
        verify::verify_callback(&self.engine, callback, payment).await
    }

    /// Verifies that a payment is made when its payer comes back: queries the gateway. **A return is only a hint**: it passes
    /// through the payer's browser. For a pay-form, its order number is taken as a claim, as
    /// [`verify_callback`](Self::verify_callback) takes a callback's.
    ///
    /// # Errors
    /// As for [`verify_callback`](Self::verify_callback).
    pub async fn verify_return(
        &self,
        redirect: &ReturnRedirect,
        payment: &PaymentRef,
    ) -> Result<Verdict, PaymentError> {
        verify::verify_return(&self.engine, redirect, payment).await
    }

    /// Says that a payment of the gateway's journal is done with: the goods were delivered, or a person has dealt with it.
    /// See [`Journal::finish`].
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] where the gateway has no journal; otherwise as for [`Journal::finish`].
    pub async fn finish(&self, id: &str) -> Result<(), PaymentError> {
        let (journal, id) = (self.engine.required_journal()?.clone(), id.to_owned());
        self.engine.transport().check()?;
        let finished = run_blocking(self.engine.transport(), move || journal.finish(&id)).await;
        finished.unwrap_or_else(|| Err(PaymentError::unavailable("the journal was interrupted inside the SDK")))
    }

    /// Shuts down gracefully: refuses further calls, ends every watch and recovery at once, and waits until every payment
    /// on its way has its response, for as long as that payment's deadline at most.
    ///
    /// A caller that waits in a watch or a recovery gets [`PaymentError::Misconfigured`], which is not about a payment. Other queries
    /// that are in flight continue to their own end.
    pub async fn close(&self) {
        self.engine.close().await;
    }

    /// The same, and waits for so long at most: true where every payment has its response. **A payment that has none goes on while
    /// the process lives, and its outcome is unknown**: a journal has it, and the next [`recover`](Self::recover) follows it;
    /// without a journal, query with the [`PaymentRef`] that was stored. With a timeout of zero it waits for nothing.
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
    /// [`PaymentError::Invalid`] where the reference has nothing to query with.
    pub fn watch(&self, payment: PaymentRef, policy: PollPolicy) -> Result<StatusWatch, PaymentError> {
        StatusWatch::new(self.engine.clone(), payment, policy)
    }

    /// The same gateway with one deadline for every call, whether it moves money or not: for calls that may take more or
    /// less time than the configuration says. The connections, what is in flight and closing are shared, and it costs
    /// next to nothing, so it can be made for one call. A watch made by it gives each of its queries that long.
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

    /// Polls every unfinished payment of the gateway's journal until it is final: at the start, and again and again in a
    /// program that runs for long. It sends no query until it is awaited.
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
    /// [`PaymentError::Misconfigured`] where the gateway has no journal, [`PaymentError::Invalid`] for a policy of zeros.
    pub fn recover(&self, policy: RecoveryPolicy) -> Result<Recovery, PaymentError> {
        Recovery::new(self.engine.clone(), policy)
    }
}

impl Gateway {
    /// The same gateway with a journal: what it sends from now on is written down first. See [`Journal`].
    #[must_use]
    pub fn with_journal(&self, journal: Journal) -> Self {
        Self { engine: Arc::new(self.engine.with_journal(journal)) }
    }

    /// The same gateway, which writes this note into the journal's entries of the payments that it makes: the user's own
    /// order, for example, so that after a crash it is known what each payment is for. It costs next to nothing, so it
    /// can be made for one call.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] for a note of more than 256 characters,
    /// [`PaymentError::Misconfigured`] where the gateway has no journal.
    pub fn with_note(&self, note: &str) -> Result<Self, PaymentError> {
        Ok(Self { engine: Arc::new(self.engine.with_note(note)?) })
    }

    /// Delivers what is charged, for as long as the program runs: recovers everything unfinished in the journal, follows also what
    /// other threads and processes begin meanwhile, calls the handler for each charged payment, and finishes its entry when the call
    /// has returned `Ok`.
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
    /// - **The handler is called for charged payments alone**, one after the other. If it fails, it is called again, after a second,
    ///   then two, up to five minutes; other payments do not wait for that. **It must do nothing when it is repeated**: a program may
    ///   die between delivering and finishing.
    /// - Everything else goes to [`DeliveryHandler::otherwise`], once a run, or to the log.
    /// - It ends when `stop` is there, or the gateway was closed, after the call of the handler that runs. Abandoned payments are polled
    ///   less and less often, down to once a day, and are never dropped: see [`DeliverySummary::left_open`].
    /// - Of all processes that share the folder, one delivers at a time; another one waits, and logs that it does. After an error (no
    ///   connection, wrong credentials, a disk that is full) the recovery begins again, after a minute at most.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] where the gateway has no journal, [`PaymentError::Invalid`] for a policy that breaks a rule.
    pub async fn deliver_forever<H: DeliveryHandler>(
        &self,
        policy: DeliveryPolicy,
        stop: impl Future<Output = ()>,
        handler: H,
    ) -> Result<DeliverySummary, PaymentError> {
        delivery::deliver_forever(self.engine.clone(), policy, stop, handler).await
    }

    /// Delivers what is charged, once: recovers everything unfinished in the journal, calls the handler for each charged payment, and
    /// finishes its entry when the call has returned `Ok`. It returns when nothing is open any more, or at the deadline of the policy. For
    /// scripts, scheduled jobs and a program's start; a program that runs long has [`deliver_forever`](Self::deliver_forever).
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
    /// - **The handler is called for charged payments alone**, one after the other, and once for each. If it fails, this is logged, and the
    ///   payment stays unfinished ([`DeliverySummary::undelivered`]): the next delivery brings it again. **It must do nothing when it is
    ///   repeated**: a program may die between delivering and finishing.
    /// - Everything else goes to [`DeliveryHandler::otherwise`], or to the log. What is still open at the deadline is in
    ///   [`DeliverySummary::undecided`].
    /// - The time in which a result is handled does not count towards the deadline.
    /// - Of all processes that share the folder, one delivers at a time; this one waits for another one until its deadline.
    /// - Dropping the future ends it, also the handler's own future. The payment that the handler was called with stays unfinished.
    ///
    /// # Errors
    /// As for [`recover`](Self::recover), and those of its [`next`](Recovery::next): the gateway does not accept the credentials, for
    /// example. What was delivered before is finished.
    pub async fn deliver_unfinished<H: DeliveryHandler>(
        &self,
        policy: RecoveryPolicy,
        handler: H,
    ) -> Result<DeliverySummary, PaymentError> {
        delivery::deliver_unfinished(self.engine.clone(), policy, handler).await
    }

    /// The gateway's journal, where it has one.
    pub fn journal(&self) -> Option<&Journal> {
        self.engine.journal()
    }

    /// The unfinished entries of the gateway's journal. See [`Journal::unfinished`].
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] where the gateway has no journal.
    pub fn unfinished(&self) -> Result<UnfinishedEntries, PaymentError> {
        Ok(self.engine.required_journal()?.unfinished())
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("base_url", &self.engine.base_url()).finish_non_exhaustive()
    }
}
