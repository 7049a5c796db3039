//! Extractors and responses of handlers: the shared state, the query, validated bodies, and JSON with its status.

use std::{convert::Infallible, net::IpAddr, str::FromStr, sync::Arc};

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
    field::{Field, Shape},
    fields::BodyFields,
    problem::{Problem, ProblemKind},
    settings::HttpSettings,
    views::{self, ShopCheckout},
};
use crate::{
    checkouts::{CheckoutView, new_checkout::TakenMethods},
    net::{BodyError, caller_of, is_of_media_type, read_body},
    server::Server,
    values::{CheckoutId, PaymentId, error::Checks, error::Rule, error::ServerError},
};

/// The shared state, as handlers extract it.
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

/// The context in which a body is validated.
pub(super) struct BodyRules {
    pub(super) taken: TakenMethods,
    /// The caller's address.
    pub(super) from: IpAddr,
}

/// A JSON body: its fields, and the value made of them.
pub(super) trait JsonBody: Sized {
    /// A valid example.
    const EXAMPLE: &'static str;
    /// Whether it may contain a payer's card, if cards are enabled.
    const MAY_HOLD_CARD: bool = false;

    /// The tables of its fields.
    fn shape(taken: TakenMethods) -> Shape;

    /// Adds rules to its schema that the tables cannot express.
    fn extend_schema(_: &mut Value, _: TakenMethods) {}

    /// Reads it from its fields, and adds the violations of rules that the tables cannot express. A field that breaks a rule
    /// counts as absent, and then the returned value is not used.
    fn read(fields: &mut BodyFields, rules: &BodyRules) -> Self;

    /// Its JSON Schema.
    fn schema(taken: TakenMethods) -> Value {
        let mut schema = Self::shape(taken).schema();
        Self::extend_schema(&mut schema, taken);
        schema
    }

    /// Reads the whole body, and reports all violations at once.
    fn parse(body: &[u8], rules: &BodyRules) -> Result<Self, Problem> {
        let shape = Self::shape(rules.taken);
        let mut fields = BodyFields::parse(body, &shape, Self::MAY_HOLD_CARD && rules.taken.cards)?;
        let read = Self::read(&mut fields, rules);
        fields.finish()?;
        Ok(read)
    }
}

/// A validated body. Its bytes are wiped before the handler runs.
pub(super) struct ValidatedJson<T>(pub(super) T);

impl<T: JsonBody> FromRequest<Arc<ApiState>> for ValidatedJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Arc<ApiState>) -> Result<Self, Problem> {
        let from = caller_of(&request, &api.settings.proxies);
        let rules = BodyRules { taken: api.server.settings().taken_methods(), from };
        let is_json = is_of_media_type(request.headers(), "application/json");
        let body = read_body(request.into_body(), api.settings.largest_body, api.settings.body_deadline).await?;
        if !body.is_empty() && !is_json {
            return Err(Problem::new(ProblemKind::UnsupportedMediaType));
        }
        T::parse(&body, &rules).map(Self)
    }
}

/// A body in any format, with the error of receiving it.
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

/// The parameters that were not read yet, and the violations of the others.
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

    /// The text of a parameter, if it is given and valid.
    pub(super) fn text(&mut self, field: &Field) -> Option<String> {
        let name = field.name;
        let given = self.pairs.iter().position(|(known, _)| known == name).map(|at| self.pairs.remove(at).1);
        if self.pairs.iter().any(|(known, _)| known == name) {
            self.checks.fail(name, Rule::Format, "must be given once");
            self.pairs.retain(|(known, _)| known != name);
        }
        match &given {
            Some(text) => field.kind.check_text(&mut self.checks, name, text),
            None if field.is_required => self.checks.fail(name, Rule::Required, "must be given"),
            None => {}
        }
        given.filter(|_| !self.checks.is_broken(name))
    }

    /// Parses the text of a parameter.
    pub(super) fn parsed<T: FromStr>(&mut self, field: &Field) -> Option<T> {
        self.text(field)?.parse().ok()
    }

    /// A whole number, or its default.
    pub(super) fn integer(&mut self, field: &Field) -> Option<i64> {
        self.parsed(field).or_else(|| field.default_integer())
    }

    /// Refuses unknown parameters, and returns all violations at once.
    pub(super) fn finish(mut self) -> Result<(), Problem> {
        if !self.pairs.is_empty() {
            self.checks.fail("query", Rule::Unknown, "contains an unknown parameter");
        }
        self.checks.finish().map_err(Problem::from)
    }
}

/// The state that all requests share.
pub(super) struct ApiState {
    pub(super) server: Server,
    pub(super) settings: HttpSettings,
    pub(super) access: Access,
    /// The OpenAPI description, which never changes.
    pub(super) description: String,
}

impl ApiState {
    /// A checkout, as the shop sees it.
    pub(super) fn shop_checkout<'a>(&self, view: &'a CheckoutView) -> ShopCheckout<'a> {
        let page_url = self.settings.has_pay_page.then(|| self.settings.page_url(&view.checkout.page_secret));
        views::shop_checkout(view, page_url)
    }

    pub(super) fn new(server: Server, settings: HttpSettings, description: String) -> Self {
        let access = Access::new(&settings, server.metrics().clone());
        Self { server, settings, access, description }
    }
}

/// A successful JSON response.
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

    /// A response with serialized JSON.
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
