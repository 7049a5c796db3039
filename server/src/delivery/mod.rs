//! Delivery of events to the shop: at least once, first in order, one stream a checkout, signed (Standard Webhooks).

mod http_post;
pub mod signature;

use std::sync::Arc;

use futures_util::{StreamExt, stream::FuturesUnordered};

pub use http_post::HttpPost;
use signature::SigningSecret;
use tracing::Instrument;

use crate::{
    metrics::Metrics,
    spans,
    storage::{Storage, inputs::Delivered, outputs::Delivery},
    surroundings::Boxed,
    values::{Millis, error::ServerError},
};

/// The names of headers by the Standard Webhooks scheme.
pub(crate) mod headers {
    pub(crate) const ID: &str = "webhook-id";
    pub(crate) const TIMESTAMP: &str = "webhook-timestamp";
    pub(crate) const SIGNATURE: &str = "webhook-signature";
}

/// An event on its way to the shop, with the headers that say whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// `webhook-id`: the event's, the same however often it comes.
    pub id: String,
    /// `webhook-timestamp`: seconds since the beginning of 1970.
    pub timestamp: i64,
    /// `webhook-signature`: one for each secret that is valid, with a space between two.
    pub signature: String,
    /// The JSON.
    pub body: String,
}

/// Who carries events to the shop.
pub trait Post: Send + Sync + 'static {
    /// Delivers an event. Whatever is not an answer 2xx is a failure, with a reason for the log.
    fn post(&self, notice: Notice) -> Boxed<'_, Result<(), String>>;
}

/// What one turn did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deliveries {
    /// How many events were tried to be delivered.
    pub tried: usize,
    /// The time until the next one is due, where one waits.
    pub next_in_ms: Option<Millis>,
}

/// How many outcomes share a commit at most.
const SETTLED: usize = 64;

/// Takes the next event of each stream that is due, each on its way to the shop, and tells when the next one is.
pub(crate) async fn claim(
    storage: &dyn Storage,
    post: &Arc<dyn Post>,
    secrets: &[SigningSecret],
    most: u32,
    lease_ms: Millis,
) -> Result<(Vec<Boxed<'static, Delivered>>, Option<Millis>), ServerError> {
    let claimed = storage.claim_deliveries(most, lease_ms).await?;
    let timestamp = claimed.now / 1000;
    let posting = claimed.deliveries.into_iter().map(|delivery| -> Boxed<'static, Delivered> {
        let signature = signature::sign(secrets, &delivery.id, timestamp, &delivery.body);
        Box::pin(post_one(post.clone(), signature, timestamp, delivery))
    });
    Ok((posting.collect(), claimed.next_in_ms))
}

/// One turn: the next event of each stream that is due. One that fails holds up nobody else's.
pub(crate) async fn deliver(
    storage: &dyn Storage,
    post: &Arc<dyn Post>,
    metrics: &Metrics,
    secrets: &[SigningSecret],
    most: u32,
    lease_ms: Millis,
) -> Result<Deliveries, ServerError> {
    let (posting, next_in_ms) = claim(storage, post, secrets, most, lease_ms).await?;
    let tried = posting.len();
    let mut posted = posting.into_iter().collect::<FuturesUnordered<_>>().ready_chunks(SETTLED);
    while let Some(batch) = posted.next().await {
        settle(storage, metrics, batch).await?;
    }
    Ok(Deliveries { tried, next_in_ms })
}

/// Notes what became of deliveries.
pub(crate) async fn settle(
    storage: &dyn Storage,
    metrics: &Metrics,
    delivered: Vec<Delivered>,
) -> Result<(), ServerError> {
    delivered.iter().for_each(|one| metrics.delivered(one.is_taken));
    Ok(storage.settle_deliveries(delivered).await?)
}

async fn post_one(post: Arc<dyn Post>, signature: String, timestamp: i64, delivery: Delivery) -> Delivered {
    let notice = Notice { id: delivery.id.clone(), timestamp, signature, body: delivery.body };
    let span = spans::delivery(&delivery.id, &delivery.checkout);
    let result = post.post(notice).instrument(span.clone()).await;
    spans::came_of(&span, if result.is_ok() { "taken" } else { "not_taken" }, result.is_err());
    if let Err(why) = &result {
        tracing::warn!(target: "kassa_server", event = delivery.id, why, "the shop did not take an event");
    }
    let (checkout, seq, leased_until) = (delivery.checkout, delivery.seq, delivery.leased_until);
    Delivered { checkout, seq, leased_until, is_taken: result.is_ok() }
}
