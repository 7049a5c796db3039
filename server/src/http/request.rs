//! What handlers extract from a request, beside who calls: the query, and bodies that keep their rules.

use std::{convert::Infallible, net::IpAddr, sync::Arc};

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request, State},
    http::request::Parts,
};
use serde_json::Value;

use super::{
    fields::BodyFields,
    problem::{Problem, ProblemKind},
    query::QueryFields,
    state::ApiState,
};
use crate::{
    net::{BodyError, caller_of, is_of_media_type, read_body},
    values::{
        error::ServerError,
        ids::{CheckoutId, PaymentId},
    },
};

/// What all requests share, as handlers extract it.
pub(super) type Api = State<Arc<ApiState>>;

impl<S: Sync> FromRequestParts<S> for QueryFields {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}

/// The checkout that a path names.
pub(super) fn checkout_id(text: &str) -> Result<CheckoutId, Problem> {
    text.parse().map_err(|_| ServerError::NotFound { what: "checkout" }.into())
}

/// The payment that a path names.
pub(super) fn payment_id(text: &str) -> Result<PaymentId, Problem> {
    text.parse().map_err(|_| ServerError::NotFound { what: "payment" }.into())
}

/// What a body is read by, beside what it says.
pub(super) struct BodyRules {
    pub(super) takes_cards: bool,
    /// The caller's address.
    pub(super) from: IpAddr,
}

/// A body in JSON: its description and how it is read.
pub(super) trait JsonBody: Sized {
    /// One that is taken.
    const EXAMPLE: &'static str;
    /// Whether it may hold a payer's card, where cards are on.
    const MAY_HOLD_CARD: bool = false;

    /// Its JSON Schema.
    fn schema(takes_cards: bool) -> Value;

    /// Reads its fields. What is wrong with them is noted there, and then nothing of what is returned is used.
    fn read(fields: &mut BodyFields, rules: &BodyRules) -> Self;

    /// Reads all of it, and tells everything that is wrong at once.
    fn parse(body: &[u8], rules: &BodyRules) -> Result<Self, Problem> {
        let mut fields = BodyFields::parse(body, Self::MAY_HOLD_CARD && rules.takes_cards)?;
        let read = Self::read(&mut fields, rules);
        fields.finish()?;
        Ok(read)
    }
}

/// A body that keeps its rules. Its bytes are wiped before the handler runs.
pub(super) struct ValidatedJson<T>(pub(super) T);

impl<T: JsonBody> FromRequest<Arc<ApiState>> for ValidatedJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Arc<ApiState>) -> Result<Self, Problem> {
        let from = caller_of(&request, &api.settings.proxies);
        let rules = BodyRules { takes_cards: api.server.settings().takes_cards, from };
        let is_json = is_of_media_type(request.headers(), "application/json");
        let body = read_body(request.into_body(), api.settings.largest_body, api.settings.body_deadline).await?;
        if !body.is_empty() && !is_json {
            return Err(Problem::new(ProblemKind::UnsupportedMediaType));
        }
        T::parse(&body, &rules).map(Self)
    }
}

/// A body that somebody else made, with what was wrong with it.
pub(super) struct AnyBody {
    pub(super) bytes: Bytes,
    /// Why it was not received in full.
    pub(super) problem: Option<BodyError>,
}

impl FromRequest<Arc<ApiState>> for AnyBody {
    type Rejection = Infallible;

    async fn from_request(request: Request, api: &Arc<ApiState>) -> Result<Self, Infallible> {
        let read = read_body(request.into_body(), api.settings.largest_body, api.settings.body_deadline).await;
        Ok(match read {
            Ok(bytes) => Self { bytes, problem: None },
            Err(problem) => Self { bytes: Bytes::new(), problem: Some(problem) },
        })
    }
}
