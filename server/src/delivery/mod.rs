//! Delivery of events to the shop: at least once, first in order, one stream a checkout, signed (Standard Webhooks).

mod http_post;
pub mod signature;

use futures_util::{StreamExt, stream::FuturesUnordered};

pub use http_post::HttpPost;
use signature::SigningSecret;

use crate::{
    metrics::Metrics,
    storage::{Storage, inputs::Delivered, outputs::Delivery},
    surroundings::Boxed,
    values::{Millis, error::ServerError},
};

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

/// One turn: the next event of each stream that is due. One that fails holds up nobody else's.
pub(crate) async fn deliver(
    storage: &dyn Storage,
    post: &dyn Post,
    metrics: &Metrics,
    secrets: &[SigningSecret],
    most: u32,
    lease_ms: Millis,
) -> Result<Deliveries, ServerError> {
    let claimed = storage.claim_deliveries(most, lease_ms).await?;
    let (tried, timestamp) = (claimed.deliveries.len(), claimed.now / 1000);
    let posting: FuturesUnordered<_> =
        claimed.deliveries.into_iter().map(|delivery| post_one(post, secrets, timestamp, delivery)).collect();
    let mut posted = posting.ready_chunks(64);
    while let Some(batch) = posted.next().await {
        batch.iter().for_each(|one| metrics.delivered(one.is_taken));
        storage.settle_deliveries(batch).await?;
    }
    Ok(Deliveries { tried, next_in_ms: claimed.next_in_ms })
}

async fn post_one(post: &dyn Post, secrets: &[SigningSecret], timestamp: i64, delivery: Delivery) -> Delivered {
    let signature = signature::sign(secrets, &delivery.id, timestamp, &delivery.body);
    let notice = Notice { id: delivery.id.clone(), timestamp, signature, body: delivery.body };
    let result = post.post(notice).await;
    if let Err(why) = &result {
        tracing::warn!(target: "kassa_server", event = delivery.id, why, "the shop did not take an event");
    }
    let (checkout, seq, leased_until) = (delivery.checkout, delivery.seq, delivery.leased_until);
    Delivered { checkout, seq, leased_until, is_taken: result.is_ok() }
}
