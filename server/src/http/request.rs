//! A request that was let through: who calls, and what with.

use std::{collections::HashMap, net::IpAddr};

use axum::body::Bytes;

use super::{problem::Problem, query::QueryFields};
use crate::{
    checkouts::checkout::CheckoutView,
    net::BodyError,
    server::Credential,
    tokens::{TokenHash, decided_by::DecidedBy, role::KeyRole},
    values::{
        error::ServerError,
        ids::{ApiKeyId, CheckoutId, PaymentId},
        violation::Rule,
    },
};

/// Who calls.
pub(super) enum Identity {
    /// The shop's back end, by this API key.
    Shop(ApiKeyId),
    /// A payer's app, by a token that opens this checkout and nothing else.
    App { view: Box<CheckoutView>, token: TokenHash },
    /// Nobody who is known.
    Anonymous,
}

/// A request.
pub(super) struct ApiRequest {
    pub(super) identity: Identity,
    /// The caller's address.
    pub(super) from: IpAddr,
    pub(super) path: HashMap<String, String>,
    pub(super) query: QueryFields,
    pub(super) body: Bytes,
    /// Why the body was not received in full, where the route takes any.
    pub(super) body_problem: Option<BodyError>,
    /// The query as it came, where the route takes any body.
    pub(super) whole_query: String,
    /// The header `Idempotency-Key`.
    pub(super) key: Option<String>,
}

impl ApiRequest {
    /// The checkout that the path names.
    pub(super) fn checkout(&self) -> Result<CheckoutId, Problem> {
        let not_found = || ServerError::NotFound { what: "checkout" };
        self.parameter("checkout").parse().map_err(|_| not_found().into())
    }

    /// The payment that the path names.
    pub(super) fn payment(&self) -> Result<PaymentId, Problem> {
        let not_found = || ServerError::NotFound { what: "payment" };
        self.parameter("payment").parse().map_err(|_| not_found().into())
    }

    /// A part of the path.
    pub(super) fn parameter(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The checkout that the token opens.
    pub(super) fn own_checkout(&self) -> Result<&CheckoutView, Problem> {
        match &self.identity {
            Identity::App { view, .. } => Ok(view),
            Identity::Shop(_) | Identity::Anonymous => Err(ServerError::NotFound { what: "checkout" }.into()),
        }
    }

    /// What the caller was let in by. Who waits is looked at again by it.
    pub(super) fn credential(&self) -> Option<Credential> {
        match &self.identity {
            Identity::Shop(key) => Some(Credential::Key(key.clone())),
            Identity::App { token, .. } => Some(Credential::Token(*token)),
            Identity::Anonymous => None,
        }
    }

    /// Somebody whom the caller names, through the caller's key.
    pub(super) fn by(&self, name: String) -> DecidedBy {
        match &self.identity {
            Identity::Shop(key) => DecidedBy::new(name).through(KeyRole::Shop, key.clone()),
            Identity::App { .. } | Identity::Anonymous => DecidedBy::new(name),
        }
    }

    /// The idempotency key, which what moves money must have: it is what makes a request safe to send again.
    pub(super) fn required_key(&self) -> Result<&str, Problem> {
        let missing =
            || Problem::field("Idempotency-Key", Rule::Required, "must be given, so that it is safe to try again");
        self.key.as_deref().ok_or_else(missing)
    }
}
