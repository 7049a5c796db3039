//! Long polls. One may outlive the key or token that it was let in by, so each look at the checkout is a look at that, too.

use std::time::Duration;

use super::Server;
use crate::{
    checkouts::checkout::CheckoutView,
    storage::inputs::Whose,
    tokens::TokenHash,
    values::{
        error::ServerError,
        ids::{ApiKeyId, CheckoutId},
    },
};

/// What somebody was let in by.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// A client token.
    Token(TokenHash),
    /// An API key of a shop's.
    Key(ApiKeyId),
}

impl Server {
    /// [`checkout_after`](Self::checkout_after) for who was let in by a credential: nothing as soon as it is seen to have expired,
    /// or to be revoked.
    pub(crate) async fn checkout_after_for(
        &self,
        credential: Option<&Credential>,
        id: &CheckoutId,
        after: i64,
        wait: Duration,
    ) -> Result<Option<CheckoutView>, ServerError> {
        let until = self.shared.surroundings.monotonic().saturating_add(wait);
        loop {
            // Before it is read, so that no change falls between.
            let changed = self.shared.watchers.watch(id);
            let Some(view) = self.seen_by(credential, id).await? else { return Ok(None) };
            let left = until.saturating_sub(self.shared.surroundings.monotonic());
            if view.checkout.version > after || left.is_zero() || self.is_stopping() {
                return Ok(Some(view));
            }
            // Thousands may wait.
            drop(view);
            let pause = self.shared.surroundings.sleep(left.min(self.shared.settings.longest_unwatched));
            changed.or(pause).await;
        }
    }

    /// The checkout, where the credential opens it at this moment.
    async fn seen_by(
        &self,
        credential: Option<&Credential>,
        id: &CheckoutId,
    ) -> Result<Option<CheckoutView>, ServerError> {
        let storage = &self.shared.storage;
        match credential {
            None => self.checkout(id).await.map(Some),
            Some(Credential::Token(hash)) => Ok(storage.checkout(Whose::Token(*hash)).await?),
            Some(Credential::Key(key)) => {
                let view = self.checkout(id).await;
                // After the checkout was read: what happened after the key was revoked is not told.
                let kept = storage.api_key(key.clone()).await?;
                let is_good = kept.is_some_and(|kept| kept.revoked_at.is_none());
                if is_good { view.map(Some) } else { Ok(None) }
            }
        }
    }
}
