//! Access: authentication, rate limits and protection against guessing. A right key or token is never locked out.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use kassa_pages::{Lockout, Network};

use super::{
    problem::{Problem, ProblemKind},
    settings::HttpSettings,
};
use crate::{
    checkouts::CheckoutView,
    metrics::Metrics,
    rate_limit::LogLimit,
    rate_limit::{RateLimit, RecentCallers},
    server::{Credential, Server},
    tokens::{DecidedBy, KeyRole, TokenHash},
    values::{ApiKeyId, CheckoutId, error::Rule, error::ServerError},
};

/// The most addresses that are remembered as the gateway's, and for how long.
const MOST_GATEWAYS: usize = 1000;
const GATEWAY_FOR: Duration = Duration::from_secs(24 * 3600);

/// The callers that may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// The shop's back end, by an API key.
    Shop,
    /// A payer's app, by a client token.
    App,
    /// The gateway, by an address that only it knows.
    Gateway,
    /// Anyone.
    Public,
}

/// The caller.
#[derive(Clone)]
pub(super) enum Identity {
    /// The shop's back end, by this API key.
    Shop(ApiKeyId),
    /// A payer's app, by a token that opens this checkout and nothing else.
    App { view: Box<CheckoutView>, token: TokenHash },
    /// An unauthenticated caller.
    Anonymous,
}

/// The caller of an admitted request. The router authenticates it before it reads the body; handlers extract it.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) identity: Identity,
    /// The caller's address.
    pub(super) from: IpAddr,
    /// The header `Idempotency-Key`.
    pub(super) key: Option<String>,
}

impl Caller {
    /// The checkout that the token opens.
    pub(super) fn own_checkout(&self) -> Result<&CheckoutView, Problem> {
        match &self.identity {
            Identity::App { view, .. } => Ok(view),
            Identity::Shop(_) | Identity::Anonymous => Err(ServerError::NotFound { what: "checkout" }.into()),
        }
    }

    /// The credential that admitted the caller. It is checked again after a long poll.
    pub(super) fn credential(&self) -> Option<Credential> {
        match &self.identity {
            Identity::Shop(key) => Some(Credential::Key(key.clone())),
            Identity::App { token, .. } => Some(Credential::Token(*token)),
            Identity::Anonymous => None,
        }
    }

    /// A person named by the caller, with the caller's key.
    pub(super) fn by(&self, name: String) -> DecidedBy {
        match &self.identity {
            Identity::Shop(key) => DecidedBy::new(name).through(KeyRole::Shop, key.clone()),
            Identity::App { .. } | Identity::Anonymous => DecidedBy::new(name),
        }
    }

    /// The idempotency key, required for requests that move money: it makes a retry safe.
    pub(super) fn required_key(&self) -> Result<&str, Problem> {
        let missing =
            || Problem::field("Idempotency-Key", Rule::Required, "must be given, so that the request is safe to retry");
        self.key.as_deref().ok_or_else(missing)
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.remove().ok_or_else(|| Problem::new(ProblemKind::Internal))
    }
}

/// The limits, and the wrong guesses so far.
pub(super) struct Access {
    addresses: RateLimit<Network>,
    tokens: RateLimit<CheckoutId>,
    keys: RateLimit<ApiKeyId>,
    guesses: Lockout,
    /// Callbacks to addresses that no payment has.
    unknown_callbacks: RateLimit<Network>,
    /// Recent senders of callbacks about our payments.
    gateways: RecentCallers<Network>,
    metrics: Arc<Metrics>,
    wrong_key_log: LogLimit,
    unknown_callback_log: LogLimit,
}

impl Access {
    pub(super) fn new(settings: &HttpSettings, metrics: Arc<Metrics>) -> Self {
        Self {
            addresses: RateLimit::per_second(settings.per_address),
            tokens: RateLimit::per_second(settings.per_token),
            keys: RateLimit::per_second(settings.per_key),
            guesses: Lockout::default(),
            unknown_callbacks: RateLimit::per_second(settings.per_address),
            gateways: RecentCallers::new(MOST_GATEWAYS, GATEWAY_FOR),
            metrics,
            wrong_key_log: LogLimit::default(),
            unknown_callback_log: LogLimit::default(),
        }
    }

    /// Authenticates the caller, and checks the permission for the route.
    pub(super) async fn authenticate(
        &self,
        server: &Server,
        access: Audience,
        headers: &HeaderMap,
        from: IpAddr,
    ) -> Result<Identity, Problem> {
        match access {
            Audience::Public => self.check_address(from).map(|()| Identity::Anonymous),
            Audience::Gateway => self.check_gateway(from).map(|()| Identity::Anonymous),
            Audience::App => {
                self.check_address(from)?;
                let token = bearer(headers)?;
                let found = server.checkout_of_token(token).await;
                // Apps with expired tokens behind one address must not lock each other out.
                if matches!(found, Err(ServerError::NotFound { .. })) && server.was_token(token).await? {
                    return Err(Problem::new(ProblemKind::Unauthorized));
                }
                let view = self.check_guess(from, found)?;
                self.limit("requests_of_token", self.tokens.take(view.checkout.id.clone(), Instant::now()))?;
                Ok(Identity::App { view: view.into(), token: TokenHash::of(token) })
            }
            Audience::Shop => {
                let id = self.check_guess(from, server.api_key(bearer(headers)?).await)?;
                self.limit("requests_of_key", self.keys.take(id.clone(), Instant::now()))?;
                Ok(Identity::Shop(id))
            }
        }
    }

    /// Checks the rate limit of an address.
    pub(super) fn check_address(&self, from: IpAddr) -> Result<(), Problem> {
        self.limit("requests_of_address", self.addresses.take(from.into(), Instant::now()))
    }

    /// The called address is the secret, which is looked up. All callbacks may come from one machine, and a pay-form's only
    /// report is its callback, so only calls to unknown addresses are limited. A sender of callbacks about our payments is always
    /// admitted: a restored database has lost payments that the gateway still has.
    fn check_gateway(&self, from: IpAddr) -> Result<(), Problem> {
        // A proxy on this machine that the settings do not name: all callers have its address, the gateway too.
        if from.to_canonical().is_loopback() {
            return Ok(());
        }
        let (from, now) = (Network::from(from), Instant::now());
        match self.unknown_callbacks.peek(&from, now) {
            Err(wait) if !self.gateways.has(from, now) => self.limit("callbacks_of_address", Err(wait)),
            _ => Ok(()),
        }
    }

    /// Records a callback about one of our payments.
    pub(super) fn record_callback(&self, from: IpAddr) {
        self.gateways.note(from.into(), Instant::now());
    }

    /// Counts a callback to an address that no payment has.
    pub(super) fn record_unknown_callback(&self, from: IpAddr, problem: Problem) -> Problem {
        let now = Instant::now();
        self.metrics.called_back("unknown_address");
        if let Some(repeated) = self.unknown_callback_log.is_time(now) {
            tracing::warn!(
                target: "kassa_server", %from, repeated,
                "a callback came to an address that no payment has: a wrong address, or a payment that a restored \
                 database has forgotten"
            );
        }
        if self.gateways.has(from.into(), now) {
            return problem;
        }
        // The rest of the bucket decides about the next call.
        let _ = self.unknown_callbacks.take(from.into(), now);
        self.slow_down(from, problem)
    }

    /// Counts a wrong secret: guessing gets slower (brute force protection).
    fn record_wrong_credential(&self, from: IpAddr, problem: Problem) -> Problem {
        if let Some(repeated) = self.wrong_key_log.is_time(Instant::now()) {
            tracing::info!(target: "kassa_server", %from, repeated, "a wrong key or token");
        }
        self.slow_down(from, problem)
    }

    fn slow_down(&self, from: IpAddr, problem: Problem) -> Problem {
        match self.limit("guesses", self.guesses.wrong(from, Instant::now())) {
            Ok(()) => problem,
            Err(slowed) => slowed,
        }
    }

    fn check_guess<T>(&self, from: IpAddr, found: Result<T, ServerError>) -> Result<T, Problem> {
        match found {
            Ok(found) => {
                self.guesses.right(from);
                Ok(found)
            }
            Err(ServerError::NotFound { .. }) => {
                Err(self.record_wrong_credential(from, Problem::new(ProblemKind::Unauthorized)))
            }
            Err(other) => Err(other.into()),
        }
    }

    fn limit(&self, limit: &'static str, taken: Result<(), Duration>) -> Result<(), Problem> {
        taken.map_err(|wait| {
            self.metrics.limit_reached(limit);
            Problem::new(ProblemKind::TooManyRequests).retry_after(wait)
        })
    }
}

/// The key or token of `Authorization: Bearer`. A request without one is not counted as a guess.
fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let credential =
        value.and_then(|value| value.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    credential.map(|(_, text)| text.trim()).ok_or_else(|| Problem::new(ProblemKind::Unauthorized))
}
