//! The calls to the merchant's server, and their results. Every call can be retried: a POST has an idempotency key.

use std::{borrow::Cow, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header::AUTHORIZATION};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    card::Card,
    checkout::{
        message::{CheckoutMessage, MessageTopic},
        view::{Payment, Problem, View},
    },
    error::PaymentError,
    pipeline::log::{Event, EventDetails},
    response::Response,
    secret::{Secret, SecretBytes},
    transport::{Failure, NOT_VALID_YET, Progress, Request, Transport, after, http::authorization},
};

/// Long poll: how long the server may delay its response if nothing changes. Proxies and phone networks close a connection after a silent
/// minute.
const LONGEST_WAIT: Duration = Duration::from_secs(25);

/// How long a call may take beyond that: over a slow network, to a busy server. The server answers a payment within 20 s, if only to say
/// that it is in progress.
const DEADLINE: Duration = Duration::from_secs(40);

/// The result of a call.
pub(super) enum CallResult<T> {
    /// An answer.
    Answered(T),
    /// The server refused: nothing was begun.
    Refused(Problem),
    /// The token is invalid, expired or revoked.
    TokenRefused,
    /// No usable answer: repeat the call later.
    Failed(CallFailure),
}

/// Why a call gave no usable answer.
pub(super) struct CallFailure {
    pub(super) message: CheckoutMessage,
    /// The `Retry-After` of the response.
    pub(super) retry_after: Option<Duration>,
}

/// A POST that can be sent repeatedly. Its body is wiped when dropped.
pub(super) struct Post {
    path: Cow<'static, str>,
    key: HeaderValue,
    body: Bytes,
}

/// The body that begins a payment, possibly in place of an open one.
#[derive(Serialize)]
struct Begin<'a> {
    #[serde(flatten)]
    payment: &'a NewPayment<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instead_of: Option<&'a str>,
}

/// The payment itself.
#[derive(Serialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub(super) enum NewPayment<'a> {
    PayForm,
    Qr,
    Mbank {
        phone: &'a str,
    },
    Megapay {
        phone: &'a str,
    },
    Card {
        card: CardBody<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        language: Option<&'a str>,
    },
}

#[derive(Serialize)]
pub(super) struct CardBody<'a> {
    number: &'a str,
    expiry_month: &'a str,
    expiry_year: i32,
    cvc: &'a str,
    holder_name: &'a str,
}

impl<'a> From<&'a Card> for CardBody<'a> {
    fn from(card: &'a Card) -> Self {
        Self {
            number: card.pan(),
            expiry_month: card.expiry_month(),
            expiry_year: card.expiry_year(),
            cvc: card.cvc(),
            holder_name: card.holder_name(),
        }
    }
}

#[derive(Serialize)]
struct Otp<'a> {
    otp: &'a str,
}

impl Post {
    /// `instead_of` is the payment that this one replaces. It is part of the body, so a repeated request replaces the same one.
    pub(super) fn new_payment(payment: &NewPayment<'_>, instead_of: Option<&str>) -> Result<Self, PaymentError> {
        Self::new("v1/checkout/payments".into(), &Begin { payment, instead_of })
    }

    pub(super) fn confirm(payment: &str, otp: &str) -> Result<Self, PaymentError> {
        Self::new(format!("v1/checkout/payments/{payment}/confirm").into(), &Otp { otp })
    }

    fn new(path: Cow<'static, str>, body: &impl Serialize) -> Result<Self, PaymentError> {
        let unusable = || PaymentError::misconfigured("the request could not be written");
        let mut bytes = SecretBytes::default();
        serde_json::to_writer(&mut bytes, body).map_err(|_| unusable())?;
        let key = uuid::Uuid::now_v7().simple().to_string();
        Ok(Self { path, key: HeaderValue::try_from(key).map_err(|_| unusable())?, body: Bytes::from_owner(bytes) })
    }
}

/// The merchant's server, called with a token.
pub(super) struct MerchantServer<'a> {
    pub(super) transport: &'a dyn Transport,
    pub(super) token: Secret,
}

impl MerchantServer<'_> {
    /// The checkout: at once, or, if `known` is a version, as soon as there is a newer one.
    pub(super) async fn view(&self, known: Option<i64>) -> CallResult<View> {
        let query = known.map(|version| format!("after={version}&wait={}", LONGEST_WAIT.as_secs()));
        let waits = if query.is_some() { LONGEST_WAIT } else { Duration::ZERO };
        self.call(Method::GET, "v1/checkout".into(), query, None, waits).await
    }

    /// Makes the server query the gateway now.
    pub(super) async fn check(&self) -> CallResult<serde::de::IgnoredAny> {
        self.call(Method::POST, "v1/checkout/check".into(), None, None, Duration::ZERO).await
    }

    pub(super) async fn post(&self, post: &Post) -> CallResult<Payment> {
        self.call(Method::POST, post.path.clone(), None, Some(post), Duration::ZERO).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: Cow<'static, str>,
        query: Option<String>,
        post: Option<&Post>,
        waits: Duration,
    ) -> CallResult<T> {
        let endpoint = log_name(&path);
        let mut headers = HeaderMap::new();
        match authorization("Bearer", &self.token) {
            Ok(token) => headers.insert(AUTHORIZATION, token),
            // A header cannot carry it, so no server issued it.
            Err(_) => return CallResult::TokenRefused,
        };
        if let Some(post) = post {
            headers.insert(HeaderName::from_static("idempotency-key"), post.key.clone());
        }
        let body = post.map(|post| post.body.clone());
        let request =
            Request { method, path, headers, query, body, own_connection: None, progress: Progress::default() };
        let exchange = self.transport.exchange(Arc::new(request));
        let deadline = self.transport.sleep_until(after(self.transport.now(), DEADLINE + waits));
        let began = self.transport.now();
        let (http_status, call_result) = match select(exchange, deadline).await {
            Either::Left((result, _)) => (result.as_ref().ok().map(|response| response.http_status), result_of(result)),
            Either::Right(_) => (None, failed(MessageTopic::NoNetwork, "no answer came in time".to_owned(), None)),
        };
        if let Some(failure) = call_result.failure() {
            let took = self.transport.now().saturating_duration_since(began);
            let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            let details = EventDetails::CheckoutFailed { http_status, duration_ms, failure };
            Event { call: 0, endpoint, order: None, details }.record();
        }
        call_result
    }
}

/// The name of a call in the log: a path may contain identifiers.
fn log_name(path: &str) -> &'static str {
    match path {
        "v1/checkout" => "checkout",
        "v1/checkout/check" => "checkout_check",
        "v1/checkout/payments" => "checkout_payment",
        _ => "checkout_confirmation",
    }
}

impl<T> CallResult<T> {
    /// The text to log if the call failed.
    fn failure(&self) -> Option<String> {
        match self {
            Self::Answered(_) => None,
            // Escaped, so that text from another side cannot look like a field or line of the log.
            Self::Refused(problem) => Some(format!("the server refused: {:?}", problem.words())),
            Self::TokenRefused => Some("the server does not take the client token".to_owned()),
            Self::Failed(CallFailure { message, .. }) => {
                Some(format!("{}: {}", message.topic, message.reason.as_deref().unwrap_or_default()))
            }
        }
    }
}

fn failed<T>(topic: MessageTopic, reason: String, retry_after: Option<Duration>) -> CallResult<T> {
    CallResult::Failed(CallFailure { message: CheckoutMessage::new(topic).with_reason(Some(reason)), retry_after })
}

/// The message for a failure that lasts until something is changed. A payer can only fix a wrong clock, which makes a certificate look
/// as if it was not valid yet.
fn permanent_failure_topic(detail: &str) -> MessageTopic {
    if detail.contains(NOT_VALID_YET) { MessageTopic::WrongClock } else { MessageTopic::NotTheServer }
}

fn result_of<T: DeserializeOwned>(result: Result<Response, Failure>) -> CallResult<T> {
    let response = match result {
        Ok(response) => response,
        Err(Failure::Misconfigured { detail }) => return failed(permanent_failure_topic(&detail), detail, None),
        Err(Failure::NotConnected { detail } | Failure::Lost { detail }) => {
            return failed(MessageTopic::NoNetwork, detail, None);
        }
    };
    let status = response.http_status;
    let not_the_server = || {
        let reason = format!("HTTP {status}, which is not kassa-server's answer: is server_url its address?");
        failed(MessageTopic::NotTheServer, reason, None)
    };
    match status {
        200..=299 => {
            serde_json::from_slice(response.body.as_ref()).map_or_else(|_| not_the_server(), CallResult::Answered)
        }
        408 | 429 | 500..=599 => failed(MessageTopic::ServerBusy, format!("HTTP {status}"), response.retry_after),
        status => match problem(&response) {
            Some(_) if status == 401 => CallResult::TokenRefused,
            Some(problem) => CallResult::Refused(problem),
            None => not_the_server(),
        },
    }
}

/// A refusal of the merchant's server, not of a proxy.
fn problem(response: &Response) -> Option<Problem> {
    serde_json::from_slice(response.body.as_ref()).ok().filter(|problem: &Problem| problem.name().is_some())
}
