//! What all requests share.

use super::{
    access::Gate,
    settings::HttpSettings,
    views::{self, ShopCheckout},
};
use crate::{checkouts::checkout::CheckoutView, server::Server};

/// What all requests share.
pub(super) struct Http {
    pub(super) server: Server,
    pub(super) settings: HttpSettings,
    pub(super) gate: Gate,
    /// The description of the interface, which is the same each time.
    pub(super) description: String,
}

impl Http {
    /// A checkout as its shop is told of it.
    pub(super) fn for_shop<'a>(&self, view: &'a CheckoutView) -> ShopCheckout<'a> {
        let page_url = self.settings.has_pay_page.then(|| self.settings.page_url(&view.checkout.page_secret));
        views::for_shop(view, page_url)
    }

    pub(super) fn new(server: Server, settings: HttpSettings, description: String) -> Self {
        let gate = Gate::new(&settings, server.metrics().clone());
        Self { server, settings, gate, description }
    }
}
