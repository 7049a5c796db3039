//! What a hosted page does beside what an app can.

use super::Server;
use crate::{
    checkouts::checkout::CheckoutView,
    storage::inputs::Whose,
    values::{
        error::ServerError,
        hidden::Hidden,
        ids::{hex, is_hex_128},
    },
};

impl Server {
    /// The checkout whose page has this address.
    pub(crate) async fn checkout_of_page(&self, secret: &str) -> Result<CheckoutView, ServerError> {
        let nowhere = ServerError::NotFound { what: "page" };
        if !is_hex_128(secret) {
            return Err(nowhere);
        }
        self.shared.storage.checkout(Whose::Page(Hidden::new(secret))).await?.ok_or(nowhere)
    }

    /// A new idempotency key for a form: 128 random bits.
    pub(crate) fn new_form_key(&self) -> Result<String, ServerError> {
        Ok(hex(&self.random::<16>()?))
    }
}
