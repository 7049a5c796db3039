//! Operations on checkouts: open, read, cancel, issue client tokens, and read events.

use std::time::Duration;

use super::Server;
use crate::{
    checkouts::{
        CheckoutView,
        new_checkout::{NewCheckout, TakenMethods},
    },
    events::Event,
    storage::inputs::{CheckoutLookup, NewToken, OpenCheckout},
    tokens::{ClientToken, DecidedBy, TokenHash},
    values::{CheckoutId, Cursor, Hidden, Method, error::ServerError, hex, millis},
};

/// The most events that are read at once.
const MOST_EVENTS: u32 = 1000;

impl Server {
    /// Opens a checkout. The same reference with the same content returns the same checkout.
    ///
    /// # Errors
    /// [`ServerError::Invalid`], [`ServerError::ReferenceUsed`], [`ServerError::Unavailable`].
    pub async fn open_checkout(&self, wanted: NewCheckout) -> Result<CheckoutView, ServerError> {
        wanted.check_by(self.methods_taken_for(&wanted).await?)?;
        let id = CheckoutId::from_random(self.random()?);
        let callback_secret = Hidden::new(hex(&self.random::<16>()?));
        let page_secret = Hidden::new(hex(&self.random::<16>()?));
        let methods = wanted.offered_methods(self.shared.settings.offer());
        let new = OpenCheckout { id, wanted, methods, callback_secret, page_secret };
        Ok(self.shared.storage.open_checkout(new).await?)
    }

    /// The accepted methods for a request. If its checkout was opened while a method was accepted, a repetition still returns it.
    async fn methods_taken_for(&self, wanted: &NewCheckout) -> Result<TakenMethods, ServerError> {
        let taken = self.shared.settings.taken_methods();
        let misses = |is_taken: bool, method| !is_taken && wanted.methods.contains(&method);
        if !misses(taken.cards, Method::Card) && !misses(taken.megapay, Method::Megapay) {
            return Ok(taken);
        }
        let lookup = CheckoutLookup::Reference(wanted.reference.clone());
        let known = self.shared.storage.checkout(lookup).await?;
        let had = |method| known.as_ref().is_some_and(|view| view.checkout.methods.contains(&method));
        Ok(TakenMethods { cards: taken.cards || had(Method::Card), megapay: taken.megapay || had(Method::Megapay) })
    }

    /// Reads a checkout with its payments.
    ///
    /// # Errors
    /// [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn checkout(&self, id: &CheckoutId) -> Result<CheckoutView, ServerError> {
        let found = self.shared.storage.checkout(CheckoutLookup::Id(id.clone())).await?;
        found.ok_or(ServerError::NotFound { what: "checkout" })
    }

    /// The checkout that the shop opened for this reference of its own.
    ///
    /// # Errors
    /// [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn checkout_of_reference(&self, reference: &str) -> Result<CheckoutView, ServerError> {
        let found = self.shared.storage.checkout(CheckoutLookup::Reference(reference.to_owned())).await?;
        found.ok_or(ServerError::NotFound { what: "checkout" })
    }

    /// The checkout that a client token opens.
    ///
    /// # Errors
    /// [`ServerError::NotFound`] if the token is unknown, has expired or was revoked; [`ServerError::Unavailable`].
    pub async fn checkout_of_token(&self, token: &str) -> Result<CheckoutView, ServerError> {
        let found = self.shared.storage.checkout(CheckoutLookup::Token(TokenHash::of(token))).await?;
        found.ok_or(ServerError::NotFound { what: "token" })
    }

    /// The checkout as soon as its version is above `after`, or as it is when `wait` is over (long poll). Waiting
    /// causes no query to the gateway.
    ///
    /// # Errors
    /// [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn checkout_after(
        &self,
        id: &CheckoutId,
        after: i64,
        wait: Duration,
    ) -> Result<CheckoutView, ServerError> {
        self.checkout_when(id, wait, &|view| view.checkout.version > after).await
    }

    /// Cancels an open checkout. A checkout with a payment in progress is not cancelled: wait for its end.
    ///
    /// # Errors
    /// [`ServerError::NotOpen`], [`ServerError::UnderWay`], [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn cancel(&self, checkout: &CheckoutId) -> Result<CheckoutView, ServerError> {
        self.cancel_for(checkout, None).await
    }

    /// Cancels a checkout, with the person who does it, if it is not the shop.
    pub(super) async fn cancel_for(
        &self,
        checkout: &CheckoutId,
        by: Option<DecidedBy>,
    ) -> Result<CheckoutView, ServerError> {
        let cancelled = self.shared.storage.cancel_checkout(checkout.clone(), by).await?;
        self.shared.changed(checkout);
        Ok(cancelled)
    }

    /// A new client token for a checkout. It is shown once; only its hash is stored.
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

    /// Whether a client token was valid before it expired or was revoked. Such a caller does not guess; it is an app that must
    /// renew its token. Expired and revoked tokens are remembered for a day.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn was_token(&self, token: &str) -> Result<bool, ServerError> {
        Ok(self.shared.storage.was_token(TokenHash::of(token)).await?)
    }

    /// Revokes all client tokens of a checkout, and returns how many. Waiting callers with such a token get an error.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn revoke_tokens(&self, checkout: &CheckoutId) -> Result<u64, ServerError> {
        let revoked = self.shared.storage.revoke_tokens(checkout.clone()).await?;
        self.shared.watchers.notify(checkout);
        self.shared.peer_notifications.note(checkout);
        Ok(revoked)
    }

    /// Reads the events after a cursor, at most a thousand, in the order in which they happened; none is ever skipped.
    ///
    /// # Errors
    /// [`ServerError::HistoryGone`] if the database was restored and lacks the cursor's event, [`ServerError::Unavailable`].
    pub async fn events_after(&self, cursor: &Cursor, most: u32) -> Result<Vec<Event>, ServerError> {
        let events = self.shared.storage.events_after(cursor.clone(), most.clamp(1, MOST_EVENTS)).await;
        let events = events.map_err(ServerError::from);
        if let Err(ServerError::HistoryGone { resume }) = &events {
            tracing::warn!(target: "kassa_server", %cursor, %resume, "a shop used a cursor of a lost history (restored backup)");
        }
        events
    }

    /// Delivers the events of a checkout, or of all, again: from the place where delivery was given up, or from the first refused
    /// event that was skipped. Events after it are delivered again. Returns the number of restarted streams.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn replay(&self, checkout: Option<&CheckoutId>) -> Result<u64, ServerError> {
        let started = self.shared.storage.replay(checkout.cloned()).await?;
        self.shared.delivery_due.notify_one();
        Ok(started)
    }
}
