//! Delivery of events to the shop: at least once, first in order, one stream a checkout, signed (Standard Webhooks).

mod http_post;
pub mod signature;

use std::{mem::take, sync::Arc};

use futures_util::{StreamExt, stream::FuturesUnordered};

pub use http_post::HttpPost;
use signature::SigningSecret;
use tracing::Instrument;

use crate::{
    events::kind::EventKind,
    metrics::Metrics,
    spans,
    storage::{
        Storage,
        inputs::{ClaimDeliveries, Delivered, DeliveryResult},
        outputs::Delivery,
    },
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

/// Why a shop did not take an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotTaken {
    /// For the log and the staff, such as `it answered 400`.
    pub why: String,
    /// Whether the shop refused this one event, for what it is. Everything else is about its address or the whole shop.
    pub is_refusal: bool,
}

impl NotTaken {
    /// The shop failed, or was not reached: it may take the event later.
    pub fn failed(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_refusal: false }
    }

    /// The shop refused this event.
    pub fn refused(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_refusal: true }
    }
}

/// Who carries events to the shop.
pub trait Post: Send + Sync + 'static {
    /// Delivers an event. Whatever is not an answer 2xx is an error.
    fn post(&self, notice: Notice) -> Boxed<'_, Result<(), NotTaken>>;
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
const RECORDED: usize = 64;

/// Takes the next event of each stream that is due, each on its way to the shop, and tells when the next one is.
pub(crate) async fn claim(
    storage: &dyn Storage,
    post: &Arc<dyn Post>,
    secrets: &[SigningSecret],
    claim: ClaimDeliveries,
) -> Result<(Vec<Boxed<'static, Delivered>>, Option<Millis>), ServerError> {
    let claimed = storage.claim_deliveries(claim).await?;
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

/// Notes what became of deliveries.
pub(crate) async fn record(
    storage: &dyn Storage,
    metrics: &Metrics,
    delivered: Vec<Delivered>,
) -> Result<(), ServerError> {
    delivered.iter().for_each(|one| metrics.delivered(one.result == DeliveryResult::Taken));
    for one in storage.record_deliveries(delivered).await? {
        let (event, kind, checkout, why) = (one.event, one.kind.name(), one.checkout, one.why);
        tracing::warn!(target: "kassa_server", event, kind, %checkout, why, "the shop refused an event again and again: it is stepped over");
    }
    Ok(())
}

async fn post_one(post: Arc<dyn Post>, signature: String, timestamp: i64, mut delivery: Delivery) -> Delivered {
    let notice = Notice { id: delivery.id.clone(), timestamp, signature, body: take(&mut delivery.body) };
    let span = spans::delivery(&delivery.id, &delivery.checkout);
    let result = post.post(notice).instrument(span.clone()).await;
    spans::came_of(&span, if result.is_ok() { "taken" } else { "not_taken" }, result.is_err());
    if let Err(NotTaken { why, .. }) = &result {
        let kind = delivery.kind.map_or("unknown", EventKind::name);
        tracing::warn!(target: "kassa_server", event = delivery.id, kind, why, "the shop did not take an event");
    }
    let result = match result {
        Ok(()) => DeliveryResult::Taken,
        Err(NotTaken { why, is_refusal: true }) => DeliveryResult::Refused { why },
        Err(NotTaken { is_refusal: false, .. }) => DeliveryResult::Failed,
    };
    Delivered::of(&delivery, result)
}
