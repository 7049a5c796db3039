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

/// One checkout, as its payer's app pays it: what a payment screen shows ([`CheckoutState`]) and what the payer can do. It talks to
/// the merchant's server (`kassa-server`) with a client token that opens this one checkout, so **an app holds no secret of
/// the merchant's**.
///
/// It follows the checkout by itself, from when it is opened until it is [`close`](Self::close)d or every clone is dropped. Actions return
/// at once; what comes of them is a state. Whatever fails between app and server is tried again with the same idempotency key, and shown as
/// a message: **never is anything paid twice, and never is a payment called failed, because of the network.** An app that was killed opens
/// the checkout again with its token, and is where it was. Everybody who has it open sees the same.
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
/// The state [`CheckoutState::Paid`] is the server's word, which an app can show. **The shop delivers by the server's event, never because
/// an app says so.**
///
/// Source: the routes under `/v1/checkout` of the merchant's server (`docs/server.md#what-a-shop-does`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct Checkout {
    owner: Arc<Owner>,
}

/// Ends everything with the last handle.
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
    /// Opens a checkout of the merchant's server by a client token, and begins to follow it.
    ///
    /// # Errors
    /// [`PaymentError::Misconfigured`] where the address cannot be that of a server: it must be https, or http to a loopback
    /// address; and where the token can be no client token, such as an API key of the shop's. Whether the server is reached, and
    /// takes the token, the states tell.
    pub fn open(server_url: &str, client_token: &str) -> Result<Self, PaymentError> {
        Self::open_with(server_url, client_token, CheckoutSettings::default())
    }

    /// The same with settings.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and where a setting cannot work.
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

    /// The same, with a function of the app's that gets a new client token from the shop's back end, called when the one before is not good
    /// any more (it lives for 15 minutes unless the server is set up otherwise). Where the function fails, it is called again, after a
    /// while.
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

    /// Begins an action where it fits and its input is right, in one step: of two at once one fits.
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

    /// What an action works on: neither after the end, nor in a forked child.
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
    /// Where it stands now.
    pub fn state(&self) -> CheckoutState {
        self.owner.shared.state()
    }

    /// Pays by the mobile bank: it sends a one-time password to this phone. However it is written, what is sent is
    /// [`normalized_phone`](crate::normalized_phone) of it: show that to the payer before.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with [`Rule::State`](crate::Rule::State) where this does not fit the state, or where it is no
    /// phone number. Nothing was sent then.
    pub fn pay_by_mbank(&self, phone: &str) -> Result<(), PaymentError> {
        let (checks, phone) = checked_phone(phone);
        self.pay(PaymentMethod::Mbank, checks, &NewPayment::Mbank { phone: &phone })
    }

    /// Pays from a MegaPay wallet: a PIN is sent to this phone, and the gateway tells the commission, which the state
    /// [`EnterOtp`](CheckoutState::EnterOtp) has. However the phone is written, what is sent is
    /// [`normalized_phone`](crate::normalized_phone) of it: show that to the payer before.
    ///
    /// # Errors
    /// As for [`pay_by_mbank`](Self::pay_by_mbank).
    pub fn pay_by_megapay(&self, phone: &str) -> Result<(), PaymentError> {
        let (checks, phone) = checked_phone(phone);
        self.pay(PaymentMethod::Megapay, checks, &NewPayment::Megapay { phone: &phone })
    }

    /// Confirms the payment with the code that the payer got, the one-time password of the mobile bank or the PIN of the wallet, as the
    /// message shows it: spaces, hyphens and marks that are not seen are left out.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with [`Rule::State`](crate::Rule::State) where none is awaited, or where none is given or it
    /// has no digit. Nothing was sent then.
    pub fn confirm(&self, otp: &str) -> Result<(), PaymentError> {
        let mut checks = Checks::default();
        // Zeroization: our copy is wiped.
        let otp = Zeroizing::new(normalized_otp(otp));
        checks.otp("otp", &otp);
        self.act(Action::Confirm, checks, |model| Post::confirm(model.awaits_otp().unwrap_or_default(), &otp))
    }

    /// Pays by a card. **A form for card numbers in an app puts the merchant under PCI DSS**; on the gateway's own page
    /// ([`pay_by_form`](Self::pay_by_form)) payers pay by card too.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with [`Rule::State`](crate::Rule::State) where this does not fit the state (also where the server
    /// takes no cards), or with everything that is wrong with the card. Nothing was sent then.
    pub fn pay_by_card(&self, card: &Card) -> Result<(), PaymentError> {
        let mut checks = Checks::default();
        checks.card(card, true);
        checks.required("name", card.holder_name());
        let language = self.owner.language.map(|language| language.to_string());
        self.pay(PaymentMethod::Card, checks, &NewPayment::Card { card: card.into(), language: language.as_deref() })
    }

    /// Makes a QR code to pay by.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with [`Rule::State`](crate::Rule::State) where this does not fit the state.
    pub fn pay_by_qr(&self) -> Result<(), PaymentError> {
        self.pay(PaymentMethod::Qr, Checks::default(), &NewPayment::Qr)
    }

    /// Makes a page of the gateway's, where the payer chooses how to pay.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with [`Rule::State`](crate::Rule::State) where this does not fit the state.
    pub fn pay_by_form(&self) -> Result<(), PaymentError> {
        self.pay(PaymentMethod::PayForm, Checks::default(), &NewPayment::PayForm)
    }

    /// The payer wants another number, or another way to pay, than that of the open payment: the state becomes
    /// [`Ready`](CheckoutState::Ready) with `can_keep_method`. **Nothing is sent yet, and the open payment can still be paid**; the
    /// `pay_by_…` that follows replaces it. Its changes in the meantime are shown at once, as always. An app that was killed
    /// while its payer chose shows the open payment again.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with [`Rule::State`](crate::Rule::State) where the state has no `can_change_method`, or it is
    /// false.
    pub fn change_method(&self) -> Result<(), PaymentError> {
        self.usable()?.change(Model::change_method)
    }

    /// The payer stays with the open payment after all: its state is shown again.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with [`Rule::State`](crate::Rule::State) where nothing is being changed.
    pub fn keep_method(&self) -> Result<(), PaymentError> {
        self.usable()?.change(Model::keep_method)
    }

    /// The app has opened the page of the state [`OpenPage`](CheckoutState::OpenPage): it is not to be opened by itself again,
    /// whatever else of the state changes.
    pub fn page_opened(&self) {
        self.owner.shared.change(Model::page_opened);
    }

    /// The payer came back from a page, by a deep link or by closing it: the gateway is queried at once. **What the link says is
    /// not believed**, so it needs not be read.
    pub fn came_back(&self) {
        self.owner.shared.change(Model::came_back);
        self.check_now();
    }

    /// Has the gateway queried at once, and retries at once what waits for its next attempt: for an app that has come back to the
    /// front, and for a button.
    pub fn check_now(&self) {
        self.owner.shared.want_check();
    }

    /// Goes on with another client token of the same checkout. A text that can be none, such as an API key of the shop's, is sent to
    /// nobody, and counts as [`token_not_renewed`](Self::token_not_renewed).
    pub fn renew_token(&self, client_token: &str) {
        self.owner.shared.renew_token(client_token);
    }

    /// The new client token could not be had: it will be wanted again, after a while.
    pub fn token_not_renewed(&self, reason: Option<String>) {
        self.owner.shared.token_not_renewed(reason);
    }

    /// What is to be paid; nothing before the server has answered.
    pub fn details(&self) -> Option<CheckoutDetails> {
        self.owner.shared.known(Model::details)
    }

    /// The states as they come, the one of now first.
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
    /// Waits until a new client token is wanted; false when the checkout was closed. Whoever calls it promises to answer with
    /// [`renew_token`](Self::renew_token) or [`token_not_renewed`](Self::token_not_renewed), and the state
    /// [`TokenExpired`](CheckoutState::TokenExpired) does not come any more. [`with_token_renewal`](Self::with_token_renewal) does all of
    /// it.
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
        // Redaction: the token is not printed. Nor is the state: the addresses of its pages give access to them.
        let state = self.state();
        f.debug_struct("Checkout").field("server_url", &self.owner.server_url).field("state", &state.kind()).finish()
    }
}

/// The states of a checkout, as they come: the one of now first, then each that is another one. One that was replaced before anybody
/// took it is left out. They end when the checkout is closed or dropped.
///
/// The methods are cancellation safe. Each has all states for itself: take one for each screen.
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
pub struct CheckoutStates {
    transport: Arc<dyn Transport>,
    states: Mutex<watch::Receiver<Option<(u64, CheckoutState)>>>,
    /// No caller took the last one.
    is_given_back: AtomicBool,
}

impl CheckoutStates {
    /// The next state, when it is there; nothing after the end. In a forked child there is none: open the checkout there.
    pub async fn next(&self) -> Option<CheckoutState> {
        self.transport.check().ok()?;
        let mut states = self.states.lock().await;
        if self.is_given_back.swap(false, Ordering::AcqRel) {
            states.mark_changed();
        }
        // It fails where the checkout was dropped.
        states.changed().await.ok()?;
        let shown = states.borrow_and_update().clone();
        if shown.is_none() {
            // The end stays the end.
            states.mark_changed();
        }
        shown.map(|(_, state)| state)
    }

    /// Takes back a state that no caller took: the next call returns it, or a newer one.
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
