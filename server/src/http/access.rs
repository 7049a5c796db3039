//! Access: who is let in, how often, and what guessing costs. A right key or token is never locked out.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, header};
use kassa_pages::{Lockout, Network};

use super::{
    call::Who,
    problem::{Kind, Problem},
    settings::HttpSettings,
};
use crate::{
    limits::RateLimit,
    server::Server,
    values::{
        error::ServerError,
        ids::{ApiKeyId, CheckoutId},
    },
};

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// The shop's back end, by an API key.
    Shop,
    /// A payer's app, by a client token.
    App,
    /// The gateway, by an address that nobody else knows.
    Gateway,
    /// Anybody.
    Anybody,
}

/// The limits, and the wrong guesses so far.
pub(super) struct Gate {
    addresses: RateLimit<Network>,
    tokens: RateLimit<CheckoutId>,
    keys: RateLimit<ApiKeyId>,
    guesses: Lockout,
}

impl Gate {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        Self {
            addresses: RateLimit::per_second(settings.per_address),
            tokens: RateLimit::per_second(settings.per_token),
            keys: RateLimit::per_second(settings.per_key),
            guesses: Lockout::default(),
        }
    }

    /// Who calls, where they may call what they call.
    pub(super) async fn let_in(
        &self,
        server: &Server,
        access: Access,
        headers: &HeaderMap,
        from: IpAddr,
    ) -> Result<Who, Problem> {
        match access {
            Access::Anybody => self.let_in_anybody(from).map(|()| Who::Anybody),
            // Its address is its secret, which is looked up; all of its callbacks may come from one machine.
            Access::Gateway => Ok(Who::Anybody),
            Access::App => {
                self.let_in_anybody(from)?;
                let token = bearer(headers)?;
                let found = server.checkout_of_token(token).await;
                // Old screens behind one address must not keep each other from renewing.
                if matches!(found, Err(ServerError::NotFound { .. })) && server.was_token(token).await? {
                    return Err(Problem::new(Kind::Unauthorized));
                }
                let view = self.known(from, found)?;
                within(self.tokens.take(view.checkout.id.clone(), Instant::now()))?;
                Ok(Who::App(view.into()))
            }
            Access::Shop => {
                let id = self.known(from, server.api_key(bearer(headers)?).await)?;
                within(self.keys.take(id.clone(), Instant::now()))?;
                Ok(Who::Shop(id))
            }
        }
    }

    /// Whether an address may call once more.
    pub(super) fn let_in_anybody(&self, from: IpAddr) -> Result<(), Problem> {
        within(self.addresses.take(from.into(), Instant::now()))
    }

    /// Counts a secret that was looked up and is none: guessing gets slower (brute force protection).
    pub(super) fn guessed(&self, from: IpAddr, problem: Problem) -> Problem {
        match self.guesses.wrong(from, Instant::now()) {
            Ok(()) => {
                tracing::info!(target: "kassa_server", %from, "a wrong key, token or address of callbacks");
                problem
            }
            Err(wait) => Problem::new(Kind::TooManyRequests).retry_after(wait),
        }
    }

    fn known<T>(&self, from: IpAddr, found: Result<T, ServerError>) -> Result<T, Problem> {
        match found {
            Ok(found) => {
                self.guesses.right(from);
                Ok(found)
            }
            Err(ServerError::NotFound { .. }) => Err(self.guessed(from, Problem::new(Kind::Unauthorized))),
            Err(other) => Err(other.into()),
        }
    }
}

fn within(taken: Result<(), Duration>) -> Result<(), Problem> {
    taken.map_err(|wait| Problem::new(Kind::TooManyRequests).retry_after(wait))
}

/// The key or token of `Authorization: Bearer`. Who brings none guesses nothing.
fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let credential =
        value.and_then(|value| value.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    credential.map(|(_, text)| text.trim()).ok_or_else(|| Problem::new(Kind::Unauthorized))
}
