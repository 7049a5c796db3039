//! Delivery of events to the shop: at least once, the first time in order, one stream per checkout, signed (Standard Webhooks).

use std::{mem::take, str::FromStr, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use futures_util::{StreamExt, stream::FuturesUnordered};
use reqwest::{Client, Url};
use ring::hmac;
use tracing::Instrument;

use crate::{
    events::EventKind,
    metrics::Metrics,
    runtime::{Boxed, http_client, is_loopback, is_one_of},
    storage::{
        Storage,
        inputs::{ClaimDeliveries, DeliveryOutcome, DeliveryResult},
        outputs::Delivery,
    },
    telemetry,
    values::{
        Hidden, Millis,
        error::{Rule, ServerError, Violation},
    },
};

/// The names of headers by the Standard Webhooks scheme.
pub(crate) mod headers {
    pub(crate) const ID: &str = "webhook-id";
    pub(crate) const TIMESTAMP: &str = "webhook-timestamp";
    pub(crate) const SIGNATURE: &str = "webhook-signature";
}

/// An event to send to the shop, with its signature headers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookMessage {
    /// `webhook-id`: the event's identifier, the same for every delivery.
    pub id: String,
    /// `webhook-timestamp`: seconds since the beginning of 1970.
    pub timestamp: i64,
    /// `webhook-signature`: one for each valid secret, separated by spaces.
    pub signature: String,
    /// The JSON.
    pub body: String,
}

/// Why the delivery of an event failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryError {
    /// For the log and the staff, such as `it answered 400`.
    pub why: String,
    /// Whether the shop refused this one event because of its content. All other failures concern its address or the whole shop.
    pub is_refusal: bool,
}

impl DeliveryError {
    /// The shop failed, or was not reached: it may accept the event later.
    pub fn failed(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_refusal: false }
    }

    /// The shop refused this event.
    pub fn refused(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_refusal: true }
    }
}

/// Sends events to the shop.
pub trait WebhookSender: Send + Sync + 'static {
    /// Delivers an event. Anything other than a 2xx response is an error.
    fn post(&self, notice: WebhookMessage) -> Boxed<'_, Result<(), DeliveryError>>;
}

/// The result of one turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deliveries {
    /// The number of attempted deliveries.
    pub tried: usize,
    /// The time until the next delivery is due, if one waits.
    pub next_in_ms: Option<Millis>,
}

/// The most outcomes that share a commit.
const RECORDED: usize = 64;

/// Claims the next event of each due stream, each as a future of its delivery, and returns when the next one is due.
pub(crate) async fn claim(
    storage: &dyn Storage,
    post: &Arc<dyn WebhookSender>,
    secrets: &[SigningSecret],
    claim: ClaimDeliveries,
) -> Result<(Vec<Boxed<'static, DeliveryOutcome>>, Option<Millis>), ServerError> {
    let claimed = storage.claim_deliveries(claim).await?;
    let timestamp = claimed.now / 1000;
    let posting = claimed.deliveries.into_iter().map(|delivery| -> Boxed<'static, DeliveryOutcome> {
        let signature = sign(secrets, &delivery.id, timestamp, &delivery.body);
        Box::pin(post_one(post.clone(), signature, timestamp, delivery))
    });
    Ok((posting.collect(), claimed.next_in_ms))
}

/// One turn: delivers the next event of each due stream. A failure delays no other stream.
pub(crate) async fn deliver(
    storage: &dyn Storage,
    post: &Arc<dyn WebhookSender>,
    metrics: &Metrics,
    secrets: &[SigningSecret],
    wanted: ClaimDeliveries,
) -> Result<Deliveries, ServerError> {
    let (posting, next_in_ms) = claim(storage, post, secrets, wanted).await?;
    let tried = posting.len();
    let mut posted = posting.into_iter().collect::<FuturesUnordered<_>>().ready_chunks(RECORDED);
    while let Some(batch) = posted.next().await {
        record(storage, metrics, batch).await?;
    }
    Ok(Deliveries { tried, next_in_ms })
}

/// Records the outcomes of deliveries.
pub(crate) async fn record(
    storage: &dyn Storage,
    metrics: &Metrics,
    delivered: Vec<DeliveryOutcome>,
) -> Result<(), ServerError> {
    delivered.iter().for_each(|one| metrics.delivered(one.result == DeliveryResult::Taken));
    for one in storage.record_deliveries(delivered).await? {
        let (event, kind, checkout, why) = (one.event, one.kind.name(), one.checkout, one.why);
        tracing::warn!(target: "kassa_server", event, kind, %checkout, why, "the shop refused an event repeatedly: the event is skipped");
    }
    Ok(())
}

async fn post_one(
    post: Arc<dyn WebhookSender>,
    signature: String,
    timestamp: i64,
    mut delivery: Delivery,
) -> DeliveryOutcome {
    let notice = WebhookMessage { id: delivery.id.clone(), timestamp, signature, body: take(&mut delivery.body) };
    let span = telemetry::delivery(&delivery.id, &delivery.checkout);
    let result = post.post(notice).instrument(span.clone()).await;
    telemetry::came_of(&span, if result.is_ok() { "taken" } else { "not_taken" }, result.is_err());
    if let Err(DeliveryError { why, .. }) = &result {
        let kind = delivery.kind.map_or("unknown", EventKind::name);
        tracing::warn!(target: "kassa_server", event = delivery.id, kind, why, "delivery of an event to the shop failed");
    }
    let result = match result {
        Ok(()) => DeliveryResult::Taken,
        Err(DeliveryError { why, is_refusal: true }) => DeliveryResult::Refused { why },
        Err(DeliveryError { is_refusal: false, .. }) => DeliveryResult::Failed,
    };
    DeliveryOutcome::of(&delivery, result)
}

// Events over HTTP.

/// The responses that refuse an event because of its content. 401, 403, 404, 405, 410 and 429 are about
/// the address or the whole shop.
const REFUSALS: [u16; 6] = [400, 406, 409, 415, 422, 501];

/// The deadline of the shop's response.
const DEADLINE: Duration = Duration::from_secs(15);

/// Delivers events to one address of the shop.
pub struct HttpWebhookSender {
    client: Client,
    url: Url,
}

impl HttpWebhookSender {
    /// To this address: https, or http to a loopback address.
    ///
    /// # Errors
    /// [`ServerError::Invalid`] for another address, [`ServerError::Unavailable`] if TLS cannot be set up.
    pub fn to(url: &str) -> Result<Self, ServerError> {
        Self::within(&[], url)
    }

    /// To this address: https, or http to a loopback address, or to one of these hosts, which are in a network of your own.
    ///
    /// # Errors
    /// As for [`to`](Self::to).
    pub fn within(plain_http_hosts: &[String], url: &str) -> Result<Self, ServerError> {
        let sentence = "must be an https address, or http on a loopback address";
        let refused = || ServerError::invalid(Violation::new("events_url", Rule::Url, sentence));
        let url = Url::parse(url).map_err(|_| refused())?;
        let is_permitted = match url.scheme() {
            "https" => true,
            "http" => is_loopback(&url) || is_one_of(&url, plain_http_hosts),
            _ => false,
        };
        if !is_permitted {
            return Err(refused());
        }
        Ok(Self { client: http_client(DEADLINE)?, url })
    }
}

impl WebhookSender for HttpWebhookSender {
    fn post(&self, notice: WebhookMessage) -> Boxed<'_, Result<(), DeliveryError>> {
        let request = self
            .client
            .post(self.url.clone())
            .header("content-type", "application/json")
            .header(headers::ID, notice.id)
            .header(headers::TIMESTAMP, notice.timestamp.to_string())
            .header(headers::SIGNATURE, notice.signature)
            .body(notice.body);
        Box::pin(async move {
            match request.headers(telemetry::headers()).send().await {
                Ok(answer) if answer.status().is_success() => Ok(()),
                Ok(answer) => {
                    let status = answer.status().as_u16();
                    Err(DeliveryError { why: format!("it answered {status}"), is_refusal: REFUSALS.contains(&status) })
                }
                // Its address may contain a secret of the shop.
                Err(problem) => Err(DeliveryError::failed(problem.without_url().to_string())),
            }
        })
    }
}

// Signatures of events by the Standard Webhooks scheme, version 1: HMAC-SHA256 over `id.timestamp.body`. Shops verify
// them with that scheme's libraries.

const PREFIX: &str = "whsec_";

/// A secret shared with the shop: `whsec_` and base64 of 24 to 64 bytes. `Debug` prints nothing of it.
#[derive(Clone, Debug)]
pub struct SigningSecret(Hidden);

impl SigningSecret {
    /// A new secret, from 256 random bits.
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(Hidden::new(format!("{PREFIX}{}", STANDARD.encode(bytes))))
    }

    /// The secret itself, for the shop.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    fn key(&self) -> Option<hmac::Key> {
        let bytes = decoded(self.0.expose())?;
        Some(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
    }
}

impl FromStr for SigningSecret {
    type Err = ServerError;

    fn from_str(text: &str) -> Result<Self, ServerError> {
        if decoded(text).is_none() {
            let sentence = "must be whsec_ and base64 of 24 to 64 bytes";
            return Err(ServerError::invalid(Violation::new("signing_secret", Rule::Format, sentence)));
        }
        Ok(Self(Hidden::new(text)))
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let bytes = STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
    (24..=64).contains(&bytes.len()).then_some(bytes)
}

/// The header `webhook-signature`: a signature for each secret, so that one can be replaced with both valid for a time.
pub fn sign(secrets: &[SigningSecret], id: &str, timestamp: i64, body: &str) -> String {
    let message = format!("{id}.{timestamp}.{body}");
    let keys = secrets.iter().filter_map(SigningSecret::key);
    let signatures = keys.map(|key| format!("v1,{}", STANDARD.encode(hmac::sign(&key, message.as_bytes()))));
    signatures.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod signature_tests {
    use super::*;

    /// The example that the scheme's own documentation and libraries show.
    #[test]
    fn webhook_signature_matches_standard_example() {
        let secret: SigningSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signed = sign(&[secret], id, 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn rotating_webhook_is_signed_with_both_secrets() {
        let (old, new) = (SigningSecret::from_random([1; 32]), SigningSecret::from_random([2; 32]));
        let both = sign(&[new.clone(), old.clone()], "a", 1, "{}");
        assert!(!format!("{old:?}").contains(&old.expose()["whsec_".len()..]));
        assert_eq!(both, format!("{} {}", sign(&[new], "a", 1, "{}"), sign(&[old], "a", 1, "{}")));
    }

    #[test]
    fn invalid_webhook_secret_is_rejected() {
        for text in ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_***"] {
            assert!(text.parse::<SigningSecret>().is_err(), "{text}");
        }
    }
}
