//! The payer's side: the state machine of a payment screen, over the merchant's server and without any of the merchant's secrets.

mod calls;
pub(crate) mod message;
mod model;
pub(crate) mod screen_texts;
pub(crate) mod settings;
mod shared;
pub(crate) mod state;
pub(crate) mod tasks;
mod view;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures_util::{Stream, stream};
use tokio::sync::{Mutex, watch};
use zeroize::Zeroizing;

use crate::{
    card::Card,
    checkout::{
        calls::{NewPayment, Post},
        model::{Action, Model},
        settings::CheckoutSettings,
        shared::Shared,
        state::{CheckoutDetails, CheckoutState, PaymentMethod},
    },
    error::PaymentError,
    i18n::Language,
    secret::Secret,
    transport::{Transport, http::HttpTransport},
    validation::{
        Checks,
        phone_and_otp::{normalized_otp, normalized_phone},
    },
};

/// One checkout in the payer's app: the state that a payment screen shows ([`CheckoutState`]) and the payer's actions. It calls the
/// merchant's server (`kassa-server`) with a client token for this one checkout, so **the app holds no secret of the merchant**.
///
/// It polls the checkout from when it is opened until it is [`close`](Self::close)d or every clone is dropped. Actions return at once;
/// their results are states. Failed calls between app and server are retried with the same idempotency key, and shown as a message: **a
/// network failure never causes a second payment, and a payment is never reported as failed because of one.** After it was killed or
/// crashed, the app opens the checkout again with its token and continues from the current state. All devices that have it open see the same state.
///
/// ```
/// use kassa::{Checkout, CheckoutState};
///
/// async fn pay(server_url: &str, client_token: &str) -> Result<bool, kassa::PaymentError> {
///     let checkout = Checkout::open(server_url, client_token)?;
///     let states = checkout.states();
///     while let Some(state) = states.next().await {
///         match state {
///             // What the payer's button does:
///             CheckoutState::Ready { message: None, .. } => checkout.pay_by_mbank("996700000001")?,
///             CheckoutState::EnterOtp { message: None, .. } => checkout.confirm("123456")?,
///             CheckoutState::Paid { .. } => return Ok(true),
///             CheckoutState::NotPaid { .. } | CheckoutState::Expired => return Ok(false),
///             other => println!("{other:?}"),
///         }
///     }
///     Ok(false)
/// }
/// ```
///
/// The app can show the state [`CheckoutState::Paid`], which the server reports. **The shop delivers after the server's event, never
/// because an app reports it.**
///
/// Source: the routes under `/v1/checkout` of the merchant's server (`docs/server.md#what-a-shop-does`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct Checkout {
    owner: Arc<Owner>,
}

/// Ends both tasks with the last handle.
struct Owner {
    shared: Arc<Shared>,
    server_url: String,
    language: Option<Language>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl Checkout {
    /// Opens a checkout of the merchant's server with a client token, and begins to poll it.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] if the address cannot be a server's: it must be https, or http to a loopback address; or if the
    /// token cannot be a client token, such as a shop's API key. Later failures to connect or authenticate appear as states.
    pub fn open(server_url: &str, client_token: &str) -> Result<Self, PaymentError> {
        Self::open_with(server_url, client_token, CheckoutSettings::default())
    }

    /// Opens a checkout as [`open`](Self::open) does, with settings.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), and [`PaymentError::Misconfigured`] for an invalid setting.
    pub fn open_with(server_url: &str, client_token: &str, settings: CheckoutSettings) -> Result<Self, PaymentError> {
        let peer = settings.peer(server_url)?;
        let token = settings::checked_token(client_token).map_err(PaymentError::misconfigured)?;
        let transport = Arc::new(HttpTransport::new(peer)?);
        Ok(Self::over(transport, server_url, token, settings.language))
    }

    fn over(transport: Arc<dyn Transport>, server_url: &str, token: Secret, language: Option<Language>) -> Self {
        let shared = Arc::new(Shared::new(transport, token));
        shared.transport.spawn(Box::pin(tasks::follow(shared.clone())));
        Self { owner: Arc::new(Owner { shared, server_url: server_url.to_owned(), language }) }
    }

    /// Sets the app's function that gets a new client token from the shop's back end. It is called when the previous token has expired (by
    /// default after 15 minutes) or is invalid or revoked. If the function fails, it is called again later.
    ///
    /// ```
    /// # fn new_token_from_the_shop() -> impl Future<Output = Result<String, std::io::Error>> { async { Ok(String::new()) } }
    /// let checkout = kassa::Checkout::open("https://pay.shop.example.kg", "ct_...")?
    ///     .with_token_renewal(new_token_from_the_shop);
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    #[must_use]
    pub fn with_token_renewal<F, A, E>(self, renew: F) -> Self
    where
        F: Fn() -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, E>> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        let shared = self.owner.shared.clone();
        shared.token_is_renewed(true);
        self.owner.shared.transport.spawn(Box::pin(async move {
            while shared.token_wanted().await {
                match renew().await {
                    Ok(token) => shared.renew_token(&Zeroizing::new(token)),
                    Err(problem) => shared.token_not_renewed(Some(problem.to_string())),
                }
            }
        }));
        self
    }

    fn pay(&self, method: PaymentMethod, checks: Checks, payment: &NewPayment<'_>) -> Result<(), PaymentError> {
        self.act(Action::Pay(method), checks, |model| Post::new_payment(payment, model.instead_of()))
    }

    /// Begins an action if it fits the state and its input is valid, in one step: of two concurrent actions only one begins.
    fn act(
        &self,
        action: Action,
        checks: Checks,
        post: impl FnOnce(&Model) -> Result<Post, PaymentError>,
    ) -> Result<(), PaymentError> {
        let shared = self.usable()?;
        let post = shared.change(|model| {
            model.check(action)?;
            checks.finish()?;
            let post = post(model)?;
            model.sends();
            Ok::<_, PaymentError>(post)
        })?;
        shared.transport.spawn(Box::pin(tasks::send(shared.clone(), action, post)));
        Ok(())
    }

    /// The shared state for an action; an error after the end and in a forked child.
    fn usable(&self) -> Result<&Arc<Shared>, PaymentError> {
        let shared = &self.owner.shared;
        shared.transport.check()?;
        if shared.is_closed() {
            return Err(PaymentError::misconfigured("the checkout was closed"));
        }
        Ok(shared)
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Checkout {
    /// The current state.
    pub fn state(&self) -> CheckoutState {
        self.owner.shared.state()
    }

    /// Pays by the mobile bank, which sends a one-time password to this phone. The phone is normalized with
    /// [`normalized_phone`](crate::normalized_phone) before sending: show the result to the payer first.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if the text is not a phone number, or with [`Rule::State`](crate::Rule::State) if this does not fit the
    /// state. Nothing is sent then.
    pub fn pay_by_mbank(&self, phone: &str) -> Result<(), PaymentError> {
        let (checks, phone) = checked_phone(phone);
        self.pay(PaymentMethod::Mbank, checks, &NewPayment::Mbank { phone: &phone })
    }

    /// Pays from a MegaPay wallet: a PIN is sent to this phone, and the gateway reports the commission, which the state
    /// [`EnterOtp`](CheckoutState::EnterOtp) has. The phone is normalized with
    /// [`normalized_phone`](crate::normalized_phone) before sending: show the result to the payer first.
    ///
    /// # Errors
    /// The errors of [`pay_by_mbank`](Self::pay_by_mbank).
    pub fn pay_by_megapay(&self, phone: &str) -> Result<(), PaymentError> {
        let (checks, phone) = checked_phone(phone);
        self.pay(PaymentMethod::Megapay, checks, &NewPayment::Megapay { phone: &phone })
    }

    /// Confirms the payment with the payer's code: the one-time password of the mobile bank or the PIN of the wallet. Spaces, hyphens and
    /// invisible characters are removed.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if the code has no digit, or with [`Rule::State`](crate::Rule::State) if no code is awaited. Nothing is
    /// sent then.
    pub fn confirm(&self, otp: &str) -> Result<(), PaymentError> {
        let mut checks = Checks::default();
        // Zeroization: Kassa's copy is wiped.
        let otp = Zeroizing::new(normalized_otp(otp));
        checks.otp("otp", &otp);
        self.act(Action::Confirm, checks, |model| Post::confirm(model.awaits_otp().unwrap_or_default(), &otp))
    }

    /// Pays by a card. **A form for card numbers in an app puts the merchant under PCI DSS**; on the gateway's own page
    /// ([`pay_by_form`](Self::pay_by_form)) payers pay by card too.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with [`Rule::State`](crate::Rule::State) if this does not fit the state (also if the server accepts no
    /// cards), or with all violations of the card. Nothing is sent then.
    pub fn pay_by_card(&self, card: &Card) -> Result<(), PaymentError> {
        let mut checks = Checks::default();
        checks.card(card, true);
        checks.required("name", card.holder_name());
        let language = self.owner.language.map(|language| language.to_string());
        self.pay(PaymentMethod::Card, checks, &NewPayment::Card { card: card.into(), language: language.as_deref() })
    }

    /// Creates a QR code to pay by.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with [`Rule::State`](crate::Rule::State) if this does not fit the state.
    pub fn pay_by_qr(&self) -> Result<(), PaymentError> {
        self.pay(PaymentMethod::Qr, Checks::default(), &NewPayment::Qr)
    }

    /// Creates a pay-form, the gateway's own page where the payer chooses a method.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with [`Rule::State`](crate::Rule::State) if this does not fit the state.
    pub fn pay_by_form(&self) -> Result<(), PaymentError> {
        self.pay(PaymentMethod::PayForm, Checks::default(), &NewPayment::PayForm)
    }

    /// Lets the payer choose another phone number or method than the open payment has: the state becomes [`Ready`](CheckoutState::Ready)
    /// with `can_keep_method`. **Nothing is sent yet, and the open payment can still be paid**; the next `pay_by_…` replaces it. Changes of
    /// the open payment are shown at once, as always. If the app restarts during the choice, it shows the open payment again.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with [`Rule::State`](crate::Rule::State) if the state has no `can_change_method`, or it is false.
    pub fn change_method(&self) -> Result<(), PaymentError> {
        self.usable()?.change(Model::change_method)
    }

    /// Keeps the open payment after [`change_method`](Self::change_method): its state is shown again.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with [`Rule::State`](crate::Rule::State) if nothing is being changed.
    pub fn keep_method(&self) -> Result<(), PaymentError> {
        self.usable()?.change(Model::keep_method)
    }

    /// The app has opened the page of the state [`OpenPage`](CheckoutState::OpenPage). Later states no longer ask the app to open it
    /// automatically.
    pub fn page_opened(&self) {
        self.owner.shared.change(Model::page_opened);
    }

    /// The payer came back from a page, by a deep link or by closing it: the gateway is queried at once. **The content of the link is not
    /// trusted**, and need not be parsed.
    pub fn came_back(&self) {
        self.owner.shared.change(Model::came_back);
        self.check_now();
    }

    /// Makes the merchant's server query the gateway at once, and retries a waiting call at once: for an app that returns to the foreground,
    /// and for a button.
    pub fn check_now(&self) {
        self.owner.shared.want_check();
    }

    /// Continues with another client token of the same checkout. A text that cannot be a client token, such as a shop's API key, is never
    /// sent, and counts as [`token_not_renewed`](Self::token_not_renewed).
    pub fn renew_token(&self, client_token: &str) {
        self.owner.shared.renew_token(client_token);
    }

    /// The app could not get a new client token. Kassa asks for one again later.
    pub fn token_not_renewed(&self, reason: Option<String>) {
        self.owner.shared.token_not_renewed(reason);
    }

    /// The amount and description of the checkout; absent before the server has answered.
    pub fn details(&self) -> Option<CheckoutDetails> {
        self.owner.shared.known(Model::details)
    }

    /// The states as they change, beginning with the current one.
    pub fn states(&self) -> CheckoutStates {
        let shared = &self.owner.shared;
        CheckoutStates {
            transport: shared.transport.clone(),
            states: Mutex::new(shared.subscribe()),
            is_given_back: AtomicBool::new(false),
        }
    }

    /// Stops polling. The states end. An action that was sent continues at the server, and opening the checkout again shows its result.
    pub fn close(&self) {
        self.owner.shared.close();
    }
}

impl Checkout {
    /// Waits until a new client token is needed; false if the checkout was closed. The caller must answer with
    /// [`renew_token`](Self::renew_token) or [`token_not_renewed`](Self::token_not_renewed). The state
    /// [`TokenExpired`](CheckoutState::TokenExpired) no longer occurs. [`with_token_renewal`](Self::with_token_renewal) does all of this.
    pub async fn token_wanted(&self) -> bool {
        let shared = self.owner.shared.clone();
        shared.transport.check().is_ok() && shared.token_wanted().await
    }
}

fn checked_phone(phone: &str) -> (Checks, String) {
    let mut checks = Checks::default();
    checks.phone("phone", phone);
    (checks, normalized_phone(phone).unwrap_or_default())
}

impl fmt::Debug for Checkout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Redaction: neither the token nor the state is printed. The URLs of the state's pages give access to them.
        let state = self.state();
        f.debug_struct("Checkout").field("server_url", &self.owner.server_url).field("state", &state.kind()).finish()
    }
}

/// The states of a checkout: the current one first, then each different one. A state that is replaced before a caller takes it is skipped.
/// The states end when the checkout is closed or dropped.
///
/// The methods are cancellation safe. Each object receives all states: create one for each screen.
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
pub struct CheckoutStates {
    transport: Arc<dyn Transport>,
    states: Mutex<watch::Receiver<Option<(u64, CheckoutState)>>>,
    /// The last state reached no caller.
    is_given_back: AtomicBool,
}

impl CheckoutStates {
    /// The next state; `None` after the end. A forked child gets none: open the checkout there.
    pub async fn next(&self) -> Option<CheckoutState> {
        self.transport.check().ok()?;
        let mut states = self.states.lock().await;
        if self.is_given_back.swap(false, Ordering::AcqRel) {
            states.mark_changed();
        }
        // It fails if the checkout was dropped.
        states.changed().await.ok()?;
        let shown = states.borrow_and_update().clone();
        if shown.is_none() {
            // The end stays the end.
            states.mark_changed();
        }
        shown.map(|(_, state)| state)
    }

    /// Takes back a state that reached no caller: the next call returns it, or a newer one.
    #[cfg(feature = "uniffi")]
    pub(crate) fn give_back(&self) {
        self.is_given_back.store(true, Ordering::Release);
    }
}

impl CheckoutStates {
    /// The states as a stream, which ends with the checkout.
    pub fn stream(self) -> impl Stream<Item = CheckoutState> + Send + Unpin + 'static {
        Box::pin(stream::unfold(self, |states| async move { Some((states.next().await?, states)) }))
    }
}

impl fmt::Debug for CheckoutStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CheckoutStates")
    }
}
