//! Operations of the merchant's staff: login, lists, histories, reconciliation; and the keys of staff and shops.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{LONGEST_NAME, LONGEST_REASON, Server};
use crate::{
    checkouts::CheckoutView,
    events::EventKind,
    runtime::Runtime,
    storage::{
        Storage,
        inputs::{CheckoutLookup, NewApiKey},
        listing::{CheckoutFilter, CheckoutList, CheckoutTotals, ListCheckouts},
        outputs::ApiKeyRow,
        staff::{
            Charges, Ends, History, Need, NewStaffSession, Period, RecordRefund, RefundOutcome, StaffSession,
            StoredUnknownCallback,
        },
    },
    tokens::{ApiKey, DecidedBy, KeyRole, Permission, TokenHash},
    values::{
        ApiKeyId, CheckoutId, Hidden, Millis, PaymentId,
        error::{Checks, Rule, ServerError},
        hex, is_hex_128,
    },
};

/// The least time between two recorded uses of a session, so that browsing writes little.
const NOTED_EVERY: Millis = 60 * 1000;

impl Server {
    /// Logs a person in by a staff key. Returns the session's token, 256 random bits.
    pub(crate) async fn log_in(&self, key: &str) -> Result<Hidden, ServerError> {
        let nowhere = || ServerError::NotFound { what: "staff key" };
        let key: ApiKey = key.parse().map_err(|_| nowhere())?;
        let stored = self.shared.storage.api_key(key.id().clone()).await?.ok_or_else(nowhere)?;
        if stored.role != KeyRole::Staff || !key.is(&stored.hash) || stored.revoked_at.is_some() {
            return Err(nowhere());
        }
        let token = Hidden::new(URL_SAFE_NO_PAD.encode(self.random::<32>()?));
        let new = NewStaffSession { hash: TokenHash::of(token.expose()), key: stored.id };
        if self.shared.storage.add_staff_session(new).await? { Ok(token) } else { Err(nowhere()) }
    }

    /// The person logged in by this token. Each call extends the session.
    pub(crate) async fn staff_session(&self, token: &str) -> Result<Option<StaffSession>, ServerError> {
        let hash = TokenHash::of(token);
        let found = self.shared.storage.staff_session(hash).await?;
        if found.as_ref().is_some_and(|session| session.unused_for >= NOTED_EVERY) {
            // Pages must stay readable during incidents such as a full disk.
            if let Err(problem) = self.shared.storage.use_staff_session(hash).await {
                tracing::error!(target: "kassa_server", %problem, "the last use of a staff session could not be recorded");
            }
        }
        Ok(found)
    }

    pub(crate) async fn log_out(&self, token: &str) -> Result<(), ServerError> {
        Ok(self.shared.storage.end_staff_session(TokenHash::of(token)).await?)
    }

    pub(crate) async fn list_checkouts(&self, list: ListCheckouts) -> Result<CheckoutList, ServerError> {
        Ok(self.shared.storage.list_checkouts(list).await?)
    }

    pub(crate) async fn total_checkouts(
        &self,
        which: CheckoutFilter,
        most: u32,
    ) -> Result<CheckoutTotals, ServerError> {
        Ok(self.shared.storage.total_checkouts(which, most).await?)
    }

    /// The names of the people who may decide, each once.
    pub(crate) async fn who_decides(&self) -> Result<Vec<String>, ServerError> {
        let decides = |key: &ApiKeyRow| {
            key.role == KeyRole::Staff && key.permission >= Permission::Decide && key.revoked_at.is_none()
        };
        let keys = self.shared.storage.api_keys().await?;
        let mut names: Vec<String> = keys.into_iter().filter(decides).map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    pub(crate) async fn count_needs(&self) -> Result<Vec<(Need, u64)>, ServerError> {
        Ok(self.shared.storage.count_needs().await?)
    }

    /// Reads all that happened to a checkout, as the staff's pages show it: its payments, events, exchanges with the
    /// gateway, and the claims of callbacks.
    ///
    /// # Errors
    /// [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn history(&self, id: &CheckoutId) -> Result<History, ServerError> {
        self.shared.storage.history(id.clone()).await?.ok_or(ServerError::NotFound { what: "checkout" })
    }

    /// A person cancels a checkout; the event names that person.
    pub(crate) async fn cancel_by(&self, checkout: &CheckoutId, by: DecidedBy) -> Result<CheckoutView, ServerError> {
        self.cancel_for(checkout, Some(by)).await
    }

    /// Records that a person refunded one payment of an overpaid checkout at the gateway. The event `checkout.refund_recorded`
    /// has the reason and the person. When every surplus payment has one, the checkout needs no person any more. `version`
    /// is the checkout's version that the person saw: if it has changed since, nothing is recorded, so that two people
    /// never record one refund twice.
    ///
    /// # Errors
    /// [`ServerError::Invalid`] without a reason of at most 200 characters, or a name of at most 100 in `by`;
    /// [`ServerError::NotFound`], [`ServerError::Unavailable`].
    pub async fn record_refund(
        &self,
        checkout: &CheckoutId,
        version: i64,
        reason: &str,
        by: impl Into<DecidedBy>,
    ) -> Result<RefundOutcome, ServerError> {
        let by = by.into();
        let mut checks = Checks::default();
        checks.required_text("reason", reason, LONGEST_REASON);
        checks.required_text("by", &by.name, LONGEST_NAME);
        checks.finish()?;
        let refund = RecordRefund { checkout: checkout.clone(), version, reason: reason.to_owned(), by };
        let outcome = self.shared.storage.record_refund(refund).await?;
        if outcome == RefundOutcome::Recorded {
            self.shared.changed(checkout);
        }
        Ok(outcome)
    }

    /// Whether events of this kind are delivered, if any are. An unknown kind is delivered only if all kinds are.
    pub(crate) fn delivers_kind(&self, kind: Option<EventKind>) -> bool {
        self.shared.settings.event_kinds.as_ref().is_none_or(|kinds| kind.is_some_and(|kind| kinds.contains(&kind)))
    }

    /// Whether events are delivered; otherwise the shop reads the feed.
    pub(crate) fn delivers_events(&self) -> bool {
        self.shared.post.is_some()
    }

    pub(crate) async fn charges(&self, period: Period, most: u32) -> Result<Charges, ServerError> {
        Ok(self.shared.storage.charges(period, most).await?)
    }

    pub(crate) async fn ends(&self, period: Period, most: u32) -> Result<Ends, ServerError> {
        Ok(self.shared.storage.ends(period, most).await?)
    }

    pub(crate) async fn moment(&self) -> Result<Millis, ServerError> {
        Ok(self.shared.storage.moment().await?)
    }

    /// Callbacks to addresses that no payment has, the newest first: the gateway may know payments that a restored database lost.
    pub(crate) async fn unknown_callbacks(&self) -> Result<Vec<StoredUnknownCallback>, ServerError> {
        Ok(self.shared.storage.unknown_callbacks().await?)
    }

    /// The number of such callbacks.
    pub(crate) async fn count_unknown_callbacks(&self) -> Result<u64, ServerError> {
        Ok(self.shared.storage.count_unknown_callbacks().await?)
    }

    /// A person reviewed the callbacks up to a time. The log names that person.
    pub(crate) async fn remove_unknown_callbacks(&self, until: Millis, by: &DecidedBy) -> Result<(), ServerError> {
        let removed = self.shared.storage.remove_unknown_callbacks(until).await?;
        tracing::info!(target: "kassa_server", removed, by = %by.name, "a person reviewed callbacks of unknown payments");
        Ok(())
    }

    /// How the last statement of the gateway was read.
    pub(crate) async fn statement_mapping(&self) -> Result<Option<String>, ServerError> {
        Ok(self.shared.storage.statement_mapping().await?)
    }

    /// Stores how a statement was read, for all of the merchant's staff.
    pub(crate) async fn set_statement_mapping(&self, mapping: String) -> Result<(), ServerError> {
        Ok(self.shared.storage.set_statement_mapping(mapping).await?)
    }
}

// Operations of the hosted page that apps do not have.

impl Server {
    /// The time of the gateway's last report on a payment, if it was pending.
    pub(crate) async fn last_pending_report(&self, payment: &PaymentId) -> Result<Option<Millis>, ServerError> {
        Ok(self.shared.storage.last_pending_report(payment.clone()).await?)
    }

    /// The checkout of a hosted page's secret.
    pub(crate) async fn checkout_of_page(&self, secret: &str) -> Result<CheckoutView, ServerError> {
        let nowhere = ServerError::NotFound { what: "page" };
        if !is_hex_128(secret) {
            return Err(nowhere);
        }
        self.shared.storage.checkout(CheckoutLookup::Page(Hidden::new(secret))).await?.ok_or(nowhere)
    }

    /// A new idempotency key for a form: 128 random bits.
    pub(crate) fn new_form_key(&self) -> Result<String, ServerError> {
        Ok(hex(&self.random::<16>()?))
    }
}

// Keys, of shops and of staff.

impl Server {
    /// A new API key for a shop's back end, with a name for people. It is shown once; only its hash is stored.
    ///
    /// # Errors
    /// [`ServerError::Invalid`], [`ServerError::Unavailable`].
    pub async fn new_api_key(&self, name: &str) -> Result<ApiKey, ServerError> {
        make_api_key(&*self.shared.storage, &*self.shared.runtime, KeyRole::Shop, Permission::Decide, name).await
    }

    /// Checks a shop's API key. Returns its identifier.
    ///
    /// # Errors
    /// [`ServerError::NotFound`] if it is wrong or was revoked; [`ServerError::Unavailable`].
    pub async fn api_key(&self, key: &str) -> Result<ApiKeyId, ServerError> {
        let nowhere = || ServerError::NotFound { what: "API key" };
        let key: ApiKey = key.parse().map_err(|_| nowhere())?;
        let stored = self.shared.storage.api_key(key.id().clone()).await?;
        match stored {
            Some(stored) if stored.role == KeyRole::Shop && key.is(&stored.hash) && stored.revoked_at.is_none() => {
                Ok(stored.id)
            }
            _ => Err(nowhere()),
        }
    }

    /// A new key for a person of the staff, by that person's name and permission. It is shown once; only its hash is stored.
    ///
    /// # Errors
    /// [`ServerError::Invalid`], [`ServerError::Unavailable`].
    pub async fn new_staff_key(&self, name: &str, permission: Permission) -> Result<ApiKey, ServerError> {
        make_api_key(&*self.shared.storage, &*self.shared.runtime, KeyRole::Staff, permission, name).await
    }
}

/// A new key for a shop's back end or a person of the staff, with a name for people. It is shown once; only its hash is stored.
/// The permission belongs to the key; a shop's key can always decide. It needs only a storage, so that a key can be created
/// with or without a running server.
///
/// # Errors
/// [`ServerError::Invalid`], [`ServerError::Unavailable`].
pub async fn make_api_key(
    storage: &dyn Storage,
    runtime: &dyn Runtime,
    role: KeyRole,
    permission: Permission,
    name: &str,
) -> Result<ApiKey, ServerError> {
    let mut checks = Checks::default();
    checks.required_text("name", name, LONGEST_NAME);
    if role == KeyRole::Shop && permission != Permission::Decide {
        checks.fail("permission", Rule::OneOf, "applies only to staff keys: a shop's key opens all of /v1");
    }
    checks.finish()?;
    let (mut id, mut secret) = ([0; 16], [0; 32]);
    runtime.fill(&mut id)?;
    runtime.fill(&mut secret)?;
    let key = ApiKey::from_random(role, id, secret);
    storage
        .add_api_key(NewApiKey { id: key.id().clone(), role, permission, name: name.to_owned(), hash: key.hash() })
        .await?;
    Ok(key)
}
