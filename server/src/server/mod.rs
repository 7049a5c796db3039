//! The server as a library: what HTTP will sit on. Every method is safe to call again, with the same reference or key.

mod long_poll;
mod peers;
mod readiness;
pub mod settings;
pub mod staff;
mod workers;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::{Either, join, select};
use kassa::PaymentGateway;
use long_poll::Watchers;
use peers::PendingNotifications;
use readiness::Probe;
use ring::digest::{SHA256, digest};
use settings::ServerSettings;
use staff::make_api_key;
use tokio::sync::{Notify, oneshot};
use tracing::Instrument;

use crate::{
    callbacks::{self, Readability, ReceivedCallback},
    checkouts::{CheckoutView, new_checkout::NewCheckout},
    dispatch::{Dispatcher, GatewayRequest, PaymentInput, SendSlots},
    events::Event,
    metrics::Metrics,
    payments::{PayerCard, Payment, exchange::Exchange},
    runtime::{Boxed, Runtime},
    storage::{
        Storage, StorageError,
        inputs::{BeginConfirmation, BeginPayment, CheckoutLookup, Hint, Key, NewToken, OpenCheckout, Resolve},
        outputs::{Decision, HintOutcome, Statistics},
    },
    tokens::{ApiKey, ClientToken, DecidedBy, KeyRole, Permission, TokenHash},
    values::{
        ApiKeyId, CheckoutId, Cursor, Hidden, Method, PaymentId, Resolution,
        error::{Checks, Rule, ServerError, Violation},
        hex, millis,
    },
    webhooks::WebhookSender,
};

pub(crate) use long_poll::Credential;

/// The longest idempotency key.
pub(crate) const LONGEST_KEY: usize = 64;
pub(crate) const LONGEST_REASON: usize = 200;
pub(crate) const LONGEST_NAME: usize = 100;
/// The most events that are read at once.
const MOST_EVENTS: u32 = 1000;
/// How long the figures for the metrics may take.
const LONGEST_FIGURES: Duration = Duration::from_secs(8);

/// The merchant's side: opens checkouts, sends their payments, follows them to their ends and tells the shop.
///
/// It is cheap to clone, and every clone is the same server. [`run`](Self::run) does what must be done in the background; the
/// other methods are for the shop, the payer's app and the gateway. **What was begun goes on when a caller gives up.**
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

struct Shared {
    storage: Arc<dyn Storage>,
    gateway: Arc<dyn PaymentGateway>,
    runtime: Arc<dyn Runtime>,
    settings: ServerSettings,
    post: Option<Arc<dyn WebhookSender>>,
    dispatcher: Dispatcher,
    metrics: Arc<Metrics>,
    watchers: Watchers,
    peer_notifications: PendingNotifications,
    probe: Probe,
    /// Something is due at once.
    poll_due: Notify,
    delivery_due: Notify,
    is_stopping: AtomicBool,
    stop: Notify,
    /// Tasks that send, and workers.
    tasks: AtomicUsize,
    task_ended: Notify,
}

impl Server {
    /// A server over a storage and a gateway. Nothing is done before it is asked, or [`run`](Self::run).
    ///
    /// # Errors
    /// [`ServerError::Invalid`] where a setting cannot work.
    pub fn new(
        storage: Arc<dyn Storage>,
        gateway: Arc<dyn PaymentGateway>,
        runtime: Arc<dyn Runtime>,
        settings: ServerSettings,
        post: Option<Arc<dyn WebhookSender>>,
    ) -> Result<Self, ServerError> {
        settings.check()?;
        let metrics = Arc::new(Metrics::default());
        let dispatcher = Dispatcher {
            storage: storage.clone(),
            gateway: gateway.clone(),
            runtime: runtime.clone(),
            metrics: metrics.clone(),
            slots: SendSlots::new(settings.max_concurrent_sends),
            max_send_delay: settings.send_margin / 2,
        };
        let shared = Shared {
            storage,
            gateway,
            runtime,
            settings,
            post,
            dispatcher,
            metrics,
            watchers: Watchers::default(),
            peer_notifications: PendingNotifications::default(),
            probe: Probe::default(),
            poll_due: Notify::new(),
            delivery_due: Notify::new(),
            is_stopping: AtomicBool::new(false),
            stop: Notify::new(),
            tasks: AtomicUsize::new(0),
            task_ended: Notify::new(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// What it was set to.
    pub fn settings(&self) -> &ServerSettings {
        &self.shared.settings
    }

    /// Whether it can work now: it is not stopping, and its database takes writes, as was tried within the last second.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn is_ready(&self) -> Result<(), ServerError> {
        if self.is_stopping() {
            return Err(ServerError::unavailable("the server is stopping"));
        }
        Ok(self.check_writable().await?)
    }

    async fn check_writable(&self) -> Result<(), StorageError> {
        let Shared { storage, runtime, probe, .. } = &*self.shared;
        let storage = storage.clone();
        probe.outcome(runtime, || Box::pin(async move { storage.check_writable().await })).await
    }

    /// What it counts; who serves it over HTTP counts there, too.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.shared.metrics
    }

    /// All that is counted, as Prometheus reads it. Where the database cannot be asked or written, the text says so.
    pub async fn metrics_text(&self) -> String {
        let (writable, storage) = join(self.check_writable(), self.statistics()).await;
        if let Err(problem) = &storage {
            tracing::warn!(target: "kassa_server", %problem, "the database cannot be asked for its figures");
        }
        self.shared.metrics.text(writable.is_ok(), storage.ok().as_ref())
    }

    /// In time for who reads metrics, who waits for 10 s.
    async fn statistics(&self) -> Result<Statistics, StorageError> {
        let late = self.shared.runtime.sleep(LONGEST_FIGURES);
        match select(self.shared.storage.statistics(), late).await {
            Either::Left((figures, _)) => figures,
            Either::Right(_) => Err(StorageError::failed(format!("no figures came within {LONGEST_FIGURES:?}"))),
        }
    }

    /// Opens a checkout. The same reference with the same content gives the same checkout.
    ///
    /// # Errors
    /// [`ServerError::Invalid`], [`ServerError::ReferenceUsed`], [`ServerError::Unavailable`].
    pub async fn open_checkout(&self, wanted: NewCheckout) -> Result<CheckoutView, ServerError> {
        let takes_cards = self.shared.settings.takes_cards || self.was_opened_with_cards(&wanted).await?;
        wanted.check_by(takes_cards)?;
        let id = CheckoutId::from_random(self.random()?);
        let callback_secret = Hidden::new(hex(&self.random::<16>()?));
        let page_secret = Hidden::new(hex(&self.random::<16>()?));
        let methods = wanted.offered_methods(self.shared.settings.offers_pay_forms);
        let new = OpenCheckout { id, wanted, methods, callback_secret, page_secret };
        Ok(self.shared.storage.open_checkout(new).await?)
    }

    /// Reads a checkout with its payments.
    ///
    /// # Errors
    /// [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn checkout(&self, id: &CheckoutId) -> Result<CheckoutView, ServerError> {
        let found = self.shared.storage.checkout(CheckoutLookup::Id(id.clone())).await?;
        found.ok_or(ServerError::NotFound { what: "checkout" })
    }

    /// The checkout as soon as its version is above `after`, or as it is when `wait` is over (long poll). Who waits costs no
    /// query to the gateway.
    ///
    /// # Errors
    /// [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn checkout_after(
        &self,
        id: &CheckoutId,
        after: i64,
        wait: Duration,
    ) -> Result<CheckoutView, ServerError> {
        let found = self.checkout_after_for(None, id, after, wait).await?;
        found.ok_or(ServerError::NotFound { what: "checkout" })
    }

    /// The checkout that a client token opens.
    ///
    /// # Errors
    /// [`ServerError::NotFound`] where the token is none, has expired or was revoked; [`ServerError::Unavailable`].
    pub async fn checkout_of_token(&self, token: &str) -> Result<CheckoutView, ServerError> {
        let found = self.shared.storage.checkout(CheckoutLookup::Token(TokenHash::of(token))).await?;
        found.ok_or(ServerError::NotFound { what: "token" })
    }

    /// Whether a client token that opens nothing is one that did: it has expired, or was revoked. Who brings it is no guesser, but an
    /// app that has to renew it. It is remembered for a day.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn was_token(&self, token: &str) -> Result<bool, ServerError> {
        Ok(self.shared.storage.was_token(TokenHash::of(token)).await?)
    }

    /// A new client token for a checkout. It is shown once; only its hash is kept.
    ///
    /// # Errors
    /// [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn new_token(&self, checkout: &CheckoutId) -> Result<ClientToken, ServerError> {
        let token = ClientToken::from_random(self.random()?);
        let lifetime_ms = millis(self.shared.settings.token_lifetime);
        let new = NewToken { checkout: checkout.clone(), hash: TokenHash::of(token.expose()), lifetime_ms };
        let was_added = self.shared.storage.add_token(new).await?;
        if was_added { Ok(token) } else { Err(ServerError::NotFound { what: "checkout" }) }
    }

    /// Revokes all client tokens of a checkout; how many. Who waits with one of them is told so.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn revoke_tokens(&self, checkout: &CheckoutId) -> Result<u64, ServerError> {
        let revoked = self.shared.storage.revoke_tokens(checkout.clone()).await?;
        self.shared.watchers.notify(checkout);
        self.shared.peer_notifications.note(checkout);
        Ok(revoked)
    }

    /// The checkout that the shop opened for this reference of its own.
    ///
    /// # Errors
    /// [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn checkout_of_reference(&self, reference: &str) -> Result<CheckoutView, ServerError> {
        let found = self.shared.storage.checkout(CheckoutLookup::Reference(reference.to_owned())).await?;
        found.ok_or(ServerError::NotFound { what: "checkout" })
    }

    /// A new API key for a shop's back end, with a name that people know it by. It is shown once; only its hash is kept.
    ///
    /// # Errors
    /// [`ServerError::Invalid`], [`ServerError::Unavailable`].
    pub async fn new_api_key(&self, name: &str) -> Result<ApiKey, ServerError> {
        make_api_key(&*self.shared.storage, &*self.shared.runtime, KeyRole::Shop, Permission::Decide, name).await
    }

    /// Whether this is a good API key of a shop's; its identifier, if so.
    ///
    /// # Errors
    /// [`ServerError::NotFound`] where it is none or was revoked; [`ServerError::Unavailable`].
    pub async fn api_key(&self, key: &str) -> Result<ApiKeyId, ServerError> {
        let nowhere = || ServerError::NotFound { what: "API key" };
        let key: ApiKey = key.parse().map_err(|_| nowhere())?;
        let kept = self.shared.storage.api_key(key.id().clone()).await?;
        match kept {
            Some(kept) if kept.role == KeyRole::Shop && key.is(&kept.hash) && kept.revoked_at.is_none() => Ok(kept.id),
            _ => Err(nowhere()),
        }
    }

    /// Cancels an open checkout. One of which a payment is under way is not cancelled: wait for its end.
    ///
    /// # Errors
    /// [`ServerError::NotOpen`], [`ServerError::UnderWay`], [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn cancel(&self, checkout: &CheckoutId) -> Result<CheckoutView, ServerError> {
        self.cancel_for(checkout, None).await
    }

    async fn cancel_for(&self, checkout: &CheckoutId, by: Option<DecidedBy>) -> Result<CheckoutView, ServerError> {
        let cancelled = self.shared.storage.cancel_checkout(checkout.clone(), by).await?;
        self.shared.changed(checkout);
        Ok(cancelled)
    }

    /// Begins a payment on the gateway's page, or gives the one whose page is open.
    ///
    /// # Errors
    /// [`ServerError::Invalid`], [`ServerError::NotOpen`], [`ServerError::UnderWay`], [`ServerError::KeyReused`],
    /// [`ServerError::NoAttemptsLeft`] of a checkout with fifty payments, [`ServerError::NotFound`],
    /// [`ServerError::Unavailable`]. That the gateway refused is no error: the payment's state says it.
    pub async fn pay_by_form(&self, checkout: &CheckoutId, key: Option<&str>) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::PayForm { back: None }, None, key).await
    }

    /// Begins a payment by a QR code, or gives the one whose code is shown.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form).
    pub async fn pay_by_qr(&self, checkout: &CheckoutId, key: Option<&str>) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Qr, None, key).await
    }

    /// Begins a payment by mobile bank; its payer gets a one-time password for [`confirm`](Self::confirm). However the phone is
    /// written, it is one request: what counts is the number.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form).
    pub async fn pay_by_mbank(
        &self,
        checkout: &CheckoutId,
        phone: &str,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Mbank { phone }, None, key).await
    }

    /// The same instead of another payment of the checkout's, whose payer typed somebody else's number, or has no app for its QR
    /// code. **From the commit on that writes this one down, the other is not confirmed any more**, whoever asks for it, and it is
    /// followed to its end as before. Where it cannot be left, as a one-time password of it is on its way or was taken, nothing is
    /// begun.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form); [`ServerError::UnderWay`] where the other one cannot be left,
    /// [`ServerError::NoAttemptsLeft`] also where five were left before.
    pub async fn pay_by_mbank_instead_of(
        &self,
        checkout: &CheckoutId,
        instead_of: &PaymentId,
        phone: &str,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Mbank { phone }, Some(instead_of), key).await
    }

    /// Begins a payment by a card, where the settings turn cards on and the checkout names them. Where the payment has a
    /// `page_url`, the payer confirms it there (3DS). **The card lives for this call**: where it cannot be sent now, the payment
    /// is not made, and the payer tries again. The same key with another card is the same try: nothing of a card is kept to
    /// tell the two apart.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form); [`ServerError::NoAttemptsLeft`] also where as many cards were tried as the settings
    /// say.
    pub async fn pay_by_card(
        &self,
        checkout: &CheckoutId,
        card: &PayerCard,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        self.pay(checkout, PaymentInput::Card(card), None, key).await
    }

    /// Sends the payer's one-time password, once, without the spaces and hyphens by which a message groups it. One without a digit
    /// is refused before it is sent, and uses up no try. A wrong one leaves the payment awaiting, with one attempt less; where it is
    /// not known what it did, the gateway's report ends the payment.
    ///
    /// # Errors
    /// As [`pay_by_form`](Self::pay_by_form), [`ServerError::NotAwaited`] and [`ServerError::NoAttemptsLeft`].
    pub async fn confirm(
        &self,
        checkout: &CheckoutId,
        payment: &PaymentId,
        otp: &str,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        let mut checks = Checks::default();
        let otp = checks.otp("otp", otp);
        checks.finish()?;
        // Nothing of the password goes into the fingerprint: six digits are found by trying.
        let key = self.key(key, checkout, &format!("confirm {payment}"))?;
        let sender = hex(&self.random::<16>()?);
        let begin = BeginConfirmation { checkout: checkout.clone(), payment: payment.clone(), key, sender };
        // Zeroization: our copy is wiped when it was sent, or the task ends without.
        let shared = self.shared.clone();
        self.spawn_detached(async move { shared.dispatcher.confirm(begin, otp).await }, checkout).await
    }

    /// A person decides what became of a payment that has not ended and is not being sent: one that is unknown, awaiting,
    /// confirming, mismatched or unverifiable. The event `payment.resolved` tells the state before, the reason, who
    /// decided, and through which key. One that was charged pays its checkout; after one that was not, another can be begun.
    /// The gateway is asked on for 30 days: if it reports a charge after all, that counts and is told.
    ///
    /// # Errors
    /// [`ServerError::Invalid`] without a reason of at most 200 characters, or a name of at most 100 in `by`;
    /// [`ServerError::NotInDoubt`], [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn resolve(
        &self,
        payment: &PaymentId,
        resolution: Resolution,
        reason: &str,
        by: impl Into<DecidedBy>,
    ) -> Result<Payment, ServerError> {
        Ok(self.decide(payment, resolution, reason, by, None).await?.into_payment())
    }

    /// The same for callers who need to know whether anything was recorded. With `seen`, the version of the checkout that the person
    /// saw, nothing is recorded if the checkout has changed since.
    pub(crate) async fn decide(
        &self,
        payment: &PaymentId,
        resolution: Resolution,
        reason: &str,
        by: impl Into<DecidedBy>,
        seen: Option<i64>,
    ) -> Result<Decision, ServerError> {
        let by = by.into();
        let mut checks = Checks::default();
        checks.required_text("reason", reason, LONGEST_REASON);
        checks.required_text("by", &by.name, LONGEST_NAME);
        checks.finish()?;
        let (payment, reason) = (payment.clone(), reason.to_owned());
        let decision = self.shared.storage.resolve(Resolve { payment, resolution, reason, by, seen }).await?;
        if let Decision::Recorded(payment) = &decision {
            self.shared.changed(&payment.checkout);
        }
        Ok(decision)
    }

    /// Takes a callback of the gateway's, by the end of the address that it came to. **It proves nothing**: the payment is
    /// asked about at once. What of it cannot be read is logged, and shown to the staff. True where it is news.
    ///
    /// # Errors
    /// [`ServerError::NotFound`] for an address that nobody was given, [`ServerError::Unavailable`].
    pub async fn hint(&self, address: &str, body: &[u8]) -> Result<bool, ServerError> {
        self.called_back(ReceivedCallback { address, query: "", body, problem: None }).await
    }

    /// The same, with all that came.
    pub(crate) async fn called_back(&self, received: ReceivedCallback<'_>) -> Result<bool, ServerError> {
        let (hint, reading) = received.hint(&self.shared.settings.dialect)?;
        let unread = match &hint {
            Hint::Callback { payment, exchange: Some(exchange), is_whole: false, .. } => {
                Some((payment.clone(), exchange.clone()))
            }
            _ => None,
        };
        // One with an unknown address is not counted here: it is logged where its caller is known.
        let outcome = self.shared.storage.record_hint(hint).await?;
        self.metrics().called_back(reading.into());
        if let Some((payment, exchange)) = unread {
            log_unread(&payment, reading, &exchange);
        }
        match outcome {
            HintOutcome::Due(due) => {
                self.shared.poll_due.notify_one();
                Ok(due > 0)
            }
            HintOutcome::SeenBefore => Ok(false),
            HintOutcome::TooManyClaims => {
                Err(ServerError::unavailable("callbacks claim more numbers for one payment than can be kept"))
            }
        }
    }

    /// Asks about all open payments of a checkout at once: its payer came back, or somebody looks.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn check_now(&self, checkout: &CheckoutId) -> Result<(), ServerError> {
        self.shared.storage.record_hint(Hint::Checkout { id: checkout.clone() }).await?;
        self.shared.poll_due.notify_one();
        Ok(())
    }

    /// Reads the events after a cursor, at most a thousand, in the order in which they happened; none is ever skipped.
    ///
    /// # Errors
    /// [`ServerError::HistoryGone`] where the database was restored and has not got the cursor's event,
    /// [`ServerError::Unavailable`].
    pub async fn events_after(&self, cursor: &Cursor, most: u32) -> Result<Vec<Event>, ServerError> {
        let events = self.shared.storage.events_after(cursor.clone(), most.clamp(1, MOST_EVENTS)).await;
        let events = events.map_err(ServerError::from);
        if let Err(ServerError::HistoryGone { resume }) = &events {
            tracing::warn!(target: "kassa_server", %cursor, %resume, "a shop reads events by a cursor of a history that is gone");
        }
        events
    }

    /// Delivers the events of a checkout, or of all, again from where their delivery was given up, or from the first one that the
    /// shop refused and that was stepped over; how many streams were. What came after that one comes again.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn replay(&self, checkout: Option<&CheckoutId>) -> Result<u64, ServerError> {
        let started = self.shared.storage.replay(checkout.cloned()).await?;
        self.shared.delivery_due.notify_one();
        Ok(started)
    }
}

impl Server {
    /// A checkout that was opened while cards were on is the same still, when its shop asks for it again.
    async fn was_opened_with_cards(&self, wanted: &NewCheckout) -> Result<bool, ServerError> {
        if !wanted.methods.contains(&Method::Card) {
            return Ok(false);
        }
        let lookup = CheckoutLookup::Reference(wanted.reference.clone());
        let known = self.shared.storage.checkout(lookup).await?;
        Ok(known.is_some_and(|view| view.checkout.methods.contains(&Method::Card)))
    }

    /// Begins a payment, also instead of one that its payer leaves.
    pub(crate) async fn pay(
        &self,
        checkout: &CheckoutId,
        way: PaymentInput<'_>,
        instead_of: Option<&PaymentId>,
        key: Option<&str>,
    ) -> Result<Payment, ServerError> {
        let phone;
        let way = match way {
            PaymentInput::Mbank { phone: typed } => {
                let mut checks = Checks::default();
                phone = checks.phone("phone", typed);
                checks.finish()?;
                PaymentInput::Mbank { phone: &phone }
            }
            PaymentInput::Card(_) if !self.shared.settings.takes_cards => {
                let sentence = "must not be card: this server takes no cards";
                return Err(ServerError::invalid(Violation::new("method", Rule::OneOf, sentence)));
            }
            PaymentInput::Card(card) => {
                card.check()?;
                way
            }
            PaymentInput::PayForm { .. } | PaymentInput::Qr => way,
        };
        let content = match instead_of {
            Some(other) => format!("{} instead of {other}", way.content()),
            None => way.content(),
        };
        let (key, method) = (self.key(key, checkout, &content)?, way.method());
        let view = self.checkout(checkout).await?;
        let of = &view.checkout;
        if !of.methods.contains(&method) {
            let sentence = "must be one of the checkout's";
            return Err(ServerError::invalid(Violation::new("method", Rule::OneOf, sentence)));
        }
        let settings = &self.shared.settings;
        let id = PaymentId::from_random(self.random()?);
        let address = callbacks::address(of.callback_secret.expose(), &id);
        let callback_url = format!("{}/{address}", settings.callback_base.trim_end_matches('/'));
        let request = GatewayRequest::new(&way, of, &id, callback_url)?;
        let begin = BeginPayment {
            checkout: checkout.clone(),
            id,
            method,
            reference: request.reference(),
            key,
            sender: hex(&self.random::<16>()?),
            is_sent_at_once: false,
            send_for_ms: millis(settings.payment_deadline.saturating_add(settings.send_margin)),
            wait_for_ms: millis(settings.longest_wait),
            attempts: settings.otp_attempts,
            card_attempts: settings.card_attempts,
            card_last4: request.card_last4(),
            phone_last2: request.phone_last2(),
            instead_of: instead_of.cloned(),
        };
        let shared = self.shared.clone();
        self.spawn_detached(async move { shared.dispatcher.begin(begin, request).await }, checkout).await
    }

    /// Runs on a task of its own what must not end with its caller: a request that is dropped half-way would leave a
    /// payment of which nobody knows.
    async fn spawn_detached<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, ServerError>> + Send + 'static,
        checkout: &CheckoutId,
    ) -> Result<T, ServerError> {
        if self.is_stopping() {
            return Err(ServerError::unavailable("the server is stopping"));
        }
        let (tell, told) = oneshot::channel();
        let (shared, checkout) = (self.shared.clone(), checkout.clone());
        let counted = TaskGuard::new(self.shared.clone());
        let work = work.in_current_span();
        let task: Boxed<'static, ()> = Box::pin(async move {
            let result = work.await;
            shared.changed(&checkout);
            shared.poll_due.notify_one();
            drop(counted);
            // Its caller may have given up.
            let _ = tell.send(result);
        });
        self.shared.runtime.spawn(task);
        told.await.unwrap_or_else(|_| Err(ServerError::unavailable("the server was interrupted")))
    }

    /// An idempotency key with the fingerprint of what came with it.
    fn key(&self, key: Option<&str>, checkout: &CheckoutId, content: &str) -> Result<Option<Key>, ServerError> {
        let Some(text) = key else { return Ok(None) };
        let mut checks = Checks::default();
        checks.required_text("idempotency_key", text, LONGEST_KEY);
        checks.finish()?;
        let fingerprint = digest(&SHA256, format!("{checkout} {content}").as_bytes()).as_ref().to_vec();
        Ok(Some(Key { text: text.to_owned(), fingerprint }))
    }

    fn random<const N: usize>(&self) -> Result<[u8; N], ServerError> {
        let mut bytes = [0; N];
        self.shared.runtime.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn is_stopping(&self) -> bool {
        self.shared.is_stopping.load(Ordering::Acquire)
    }
}

impl Shared {
    /// Something happened to a checkout: who waits for it is told, and its events go out.
    fn changed(&self, checkout: &CheckoutId) {
        self.watchers.notify(checkout);
        self.peer_notifications.note(checkout);
        self.delivery_due.notify_one();
    }
}

/// A task that stopping waits for.
struct TaskGuard(Arc<Shared>);

impl TaskGuard {
    fn new(shared: Arc<Shared>) -> Self {
        shared.tasks.fetch_add(1, Ordering::AcqRel);
        Self(shared)
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.tasks.fetch_sub(1, Ordering::AcqRel);
        self.0.task_ended.notify_waiters();
    }
}

/// What of a callback could not be read, masked and shortened.
fn log_unread(payment: &PaymentId, reading: Readability, exchange: &Exchange) {
    let (words, body) = (exchange.words.as_deref(), exchange.response.as_deref());
    let sentence = "a callback could not be read in full; its payment is asked about all the same";
    match reading {
        Readability::Unreadable => tracing::warn!(target: "kassa_server", %payment, words, body, "{sentence}"),
        _ => tracing::info!(target: "kassa_server", %payment, words, body, "{sentence}"),
    }
}
