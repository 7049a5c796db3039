//! The state that all staff pages share, and their sessions.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, header};
use kassa_pages::{
    Lockout, Network,
    token::{csrf_of, is_same},
};
use tokio::sync::Semaphore;
use url::Url;

use super::cookie;
use crate::{
    http::{HttpSettings, path_prefix},
    rate_limit::LogLimit,
    rate_limit::RateLimit,
    server::Server,
    storage::staff::StaffSession,
    tokens::Permission,
    values::{ApiKeyId, error::ServerError},
};

/// The state that all pages share.
pub(super) struct AdminState {
    pub(super) server: Server,
    pub(super) settings: HttpSettings,
    /// Whether the public URL is https.
    pub(super) is_secure: bool,
    /// The address of the first page, the prefix of all others: `/staff` under the path of the public address.
    pub(super) home: String,
    /// The origin of our own pages, which browsers send with forms.
    origin: String,
    /// Limits expensive work to one person at a time: reconciliation, charts of a day, CSV lists and searches.
    pub(super) reconciling: Arc<Semaphore>,
    pub(super) drawing: Arc<Semaphore>,
    pub(super) exporting: Arc<Semaphore>,
    pub(super) searching: Arc<Semaphore>,
    addresses: RateLimit<Network>,
    guesses: Lockout,
    wrong_key_log: LogLimit,
}

/// A logged-in person.
#[derive(Clone, Debug)]
pub(super) struct StaffUser {
    /// The name of the key, which is the person's.
    pub(super) name: String,
    pub(super) key: ApiKeyId,
    pub(super) permission: Permission,
    /// The CSRF token of the session's forms (synchronizer token): another site cannot know it.
    pub(super) csrf: String,
}

impl StaffUser {
    /// Whether a form belongs to this session.
    pub(super) fn owns_form(&self, csrf: &str) -> bool {
        is_same(&self.csrf, csrf)
    }
}

impl AdminState {
    pub(super) fn new(server: Server, settings: HttpSettings) -> Self {
        let addresses = RateLimit::per_second(settings.per_address);
        let origin = Url::parse(&settings.public_url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        let [reconciling, drawing, exporting, searching] = [(); 4].map(|()| Arc::new(Semaphore::new(1)));
        let is_secure = settings.public_url.starts_with("https://");
        let home = format!("{}/staff", path_prefix(&settings.public_url));
        let (guesses, wrong_key_log) = (Lockout::default(), LogLimit::default());
        Self {
            server,
            settings,
            is_secure,
            home,
            origin,
            reconciling,
            drawing,
            exporting,
            searching,
            addresses,
            guesses,
            wrong_key_log,
        }
    }

    /// Checks the rate limit of an address; the error is the time to wait.
    pub(super) fn check_address(&self, from: IpAddr) -> Result<(), Duration> {
        self.counted("requests_of_address", self.addresses.take(from.into(), Instant::now()))
    }

    fn counted(&self, limit: &'static str, taken: Result<(), Duration>) -> Result<(), Duration> {
        taken.inspect_err(|_| self.server.metrics().limit_reached(limit))
    }

    /// Counts a wrong key: guessing gets slower (brute force protection). A right one is never locked out.
    pub(super) fn record_wrong_key(&self, from: IpAddr) -> Result<(), Duration> {
        let now = Instant::now();
        if let Some(repeated) = self.wrong_key_log.is_time(now) {
            tracing::info!(target: "kassa_server", %from, repeated, "a wrong staff key");
        }
        self.counted("guesses", self.guesses.wrong(from, now))
    }

    pub(super) fn record_login(&self, from: IpAddr) {
        self.guesses.right(from);
    }

    /// The logged-in person.
    pub(super) async fn user(&self, headers: &HeaderMap) -> Result<Option<StaffUser>, ServerError> {
        let Some(token) = cookie::read(headers, self.is_secure, &self.home) else { return Ok(None) };
        let session = self.server.staff_session(token).await?;
        let user = |session: StaffSession| StaffUser {
            name: session.name,
            key: session.key,
            permission: session.permission,
            csrf: csrf_of(token),
        };
        Ok(session.map(user))
    }

    /// Whether a form came from our page, as far as the browser reports its origin.
    pub(super) fn is_same_origin(&self, headers: &HeaderMap) -> bool {
        headers.get(header::ORIGIN).is_none_or(|origin| origin.as_bytes() == self.origin.as_bytes())
    }
}
