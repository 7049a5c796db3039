//! What all pages share: the server, how the merchant is shown, the limits, and the wrong guesses so far.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, header};
use kassa_pages::{Lockout, Network};
use url::Url;

use super::{assets::Assets, merchant::Merchant};
use crate::{
    checkouts::checkout::CheckoutView,
    http::HttpSettings,
    limits::RateLimit,
    rarely::Rarely,
    server::Server,
    values::{error::ServerError, ids::CheckoutId},
};

/// What all pages share.
pub(super) struct PageState {
    pub(super) server: Server,
    pub(super) settings: HttpSettings,
    /// The merchant's name, where the settings say it.
    pub(super) name: Option<String>,
    pub(super) assets: Assets,
    /// Whether the public URL is https.
    pub(super) is_secure: bool,
    /// What a browser names as the origin of our own forms.
    origin: String,
    addresses: RateLimit<Network>,
    checkouts: RateLimit<CheckoutId>,
    guesses: Lockout,
    wrong_key_log: Rarely,
}

/// Why nobody is let in.
pub(super) enum AccessDenied {
    /// For so long.
    RateLimited(Duration),
    Failed(ServerError),
}

impl PageState {
    pub(super) fn new(server: Server, settings: HttpSettings, merchant: &Merchant) -> Self {
        let origin = Url::parse(&settings.public_url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        Self {
            addresses: RateLimit::per_second(settings.per_address),
            checkouts: RateLimit::per_second(settings.per_token),
            guesses: Lockout::default(),
            wrong_key_log: Rarely::default(),
            is_secure: settings.public_url.starts_with("https://"),
            name: merchant.name.clone(),
            assets: Assets::of(merchant),
            server,
            settings,
            origin,
        }
    }

    /// Whether an address may call once more; else how long it waits.
    pub(super) fn check_address(&self, from: IpAddr) -> Result<(), Duration> {
        self.counted("requests_of_address", self.addresses.take(from.into(), Instant::now()))
    }

    fn counted(&self, limit: &'static str, taken: Result<(), Duration>) -> Result<(), Duration> {
        taken.inspect_err(|_| self.server.metrics().limit_reached(limit))
    }

    /// The checkout of a page. A right address is never locked out; guessing gets slower (brute force protection).
    pub(super) async fn checkout(&self, secret: &str, from: IpAddr) -> Result<CheckoutView, AccessDenied> {
        match self.server.checkout_of_page(secret).await {
            Ok(view) => {
                self.guesses.right(from);
                let taken = self.checkouts.take(view.checkout.id.clone(), Instant::now());
                self.counted("requests_of_token", taken).map_err(AccessDenied::RateLimited)?;
                Ok(view)
            }
            Err(problem @ ServerError::NotFound { .. }) => {
                let now = Instant::now();
                if let Some(repeated) = self.wrong_key_log.is_time(now) {
                    // The address itself is never logged: one that is mistyped may be nearly right.
                    tracing::info!(target: "kassa_server", %from, repeated, "a wrong address of a hosted page");
                }
                self.counted("guesses", self.guesses.wrong(from, now)).map_err(AccessDenied::RateLimited)?;
                Err(AccessDenied::Failed(problem))
            }
            Err(problem) => Err(AccessDenied::Failed(problem)),
        }
    }

    /// Whether a form came from a page of ours, as far as the browser says where it came from.
    pub(super) fn is_same_origin(&self, headers: &HeaderMap) -> bool {
        headers.get(header::ORIGIN).is_none_or(|origin| origin.as_bytes() == self.origin.as_bytes())
    }
}
