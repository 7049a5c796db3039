//! What all requests share.

use super::{
    access::Access,
    settings::HttpSettings,
    views::{self, ShopCheckout},
};
use crate::{checkouts::checkout::CheckoutView, server::Server};

/// What all requests share.
pub(super) struct ApiState {
    pub(super) server: Server,
    pub(super) settings: HttpSettings,
    pub(super) access: Access,
    /// The description of the interface, which is the same each time.
    pub(super) description: String,
}

impl ApiState {
    /// A checkout as its shop is told of it.
    pub(super) fn shop_checkout<'a>(&self, view: &'a CheckoutView) -> ShopCheckout<'a> {
        let page_url = self.settings.has_pay_page.then(|| self.settings.page_url(&view.checkout.page_secret));
        views::shop_checkout(view, page_url)
    }

    pub(super) fn new(server: Server, settings: HttpSettings, description: String) -> Self {
        let access = Access::new(&settings, server.metrics().clone());
        Self { server, settings, access, description }
    }
}
