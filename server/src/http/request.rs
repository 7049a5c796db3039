//! What handlers take and give: the shared state, the query, bodies that keep their rules, and JSON with its status.

use std::{convert::Infallible, net::IpAddr, ops::RangeInclusive, str::FromStr, sync::Arc};

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request, State},
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::Value;
use url::form_urlencoded;

use super::{
    access::Access,
    fields::BodyFields,
    problem::{Problem, ProblemKind},
    settings::HttpSettings,
    views::{self, ShopCheckout},
};
use crate::{
    checkouts::CheckoutView,
    net::{BodyError, caller_of, is_of_media_type, read_body},
    server::Server,
    values::{
        CheckoutId, PaymentId,
        error::Checks,
        error::ServerError,
        error::{Rule, Violation},
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

/// The parameters that were not read yet, and what was wrong with those that were.
#[derive(Default)]
pub(super) struct QueryFields {
    pairs: Vec<(String, String)>,
    checks: Checks,
}

impl QueryFields {
    pub(super) fn parse(text: &str) -> Self {
        let pairs = form_urlencoded::parse(text.as_bytes()).into_owned().collect();
        Self { pairs, checks: Checks::default() }
    }

    /// A text.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(known, _)| known == name)?;
        let (_, text) = self.pairs.remove(at);
        if self.pairs.iter().any(|(known, _)| known == name) {
            self.checks.fail(name, Rule::Format, "must be given once");
            self.pairs.retain(|(known, _)| known != name);
        }
        Some(text)
    }

    /// A text of a form of its own.
    pub(super) fn parsed<T: FromStr<Err = Violation>>(&mut self, name: &str) -> Option<T> {
        match self.text(name)?.parse() {
            Ok(value) => Some(value),
            Err(violation) => {
                self.checks.fail(name, violation.rule, &violation.text);
                None
            }
        }
    }

    /// A whole number within a range.
    pub(super) fn number(&mut self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let text = self.text(name)?;
        let number = text.parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            let sentence = format!("must be a whole number from {} to {}", range.start(), range.end());
            self.checks.fail(name, Rule::Range, &sentence);
        }
        number
    }

    /// A text that must be there.
    pub(super) fn required(&mut self, name: &str) -> String {
        let text = self.text(name);
        if text.is_none() && !self.checks.is_broken(name) {
            self.checks.fail(name, Rule::Required, "must be given");
        }
        text.unwrap_or_default()
    }

    /// Refuses what is left, and tells everything that was wrong.
    pub(super) fn finish(mut self) -> Result<(), Problem> {
        if !self.pairs.is_empty() {
            self.checks.fail("query", Rule::Unknown, "contains an unknown parameter");
        }
        self.checks.finish().map_err(Problem::from)
    }
}

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

/// An answer that is no refusal.
pub(super) struct JsonResponse {
    status: StatusCode,
    body: String,
}

impl JsonResponse {
    pub(super) fn new(status: StatusCode, body: &impl Serialize) -> Result<Self, Problem> {
        let body = serde_json::to_string(body).map_err(|problem| {
            tracing::error!(target: "kassa_server", %problem, "an answer could not be written");
            Problem::new(ProblemKind::Internal)
        })?;
        Ok(Self { status, body })
    }

    /// JSON that was written before.
    pub(super) fn text(body: String) -> Self {
        Self { status: StatusCode::OK, body }
    }

    pub(super) fn ok(body: &impl Serialize) -> Result<Self, Problem> {
        Self::new(StatusCode::OK, body)
    }
}

impl IntoResponse for JsonResponse {
    fn into_response(self) -> Response {
        (self.status, [(header::CONTENT_TYPE, "application/json")], self.body).into_response()
    }
}
