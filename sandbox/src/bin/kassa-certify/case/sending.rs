//! Sends events and forgeries to the shop: once, repeatedly, or at the same time.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{Case, Order, short};
use crate::event::{Event, Message, invented};

/// How often an event is sent if the shop does not accept it. kassa-server retries for three days; here the pauses are short.
const ATTEMPTS: u32 = 5;
const RETRY_PAUSE: Duration = Duration::from_millis(150);
/// Statuses by which a shop refuses one event, after which kassa-server skips it (docs/server.md#events).
const REFUSALS: [u16; 6] = [400, 406, 409, 415, 422, 501];

impl Case {
    /// Posts a message once.
    pub(crate) async fn post(&mut self, what: &str, message: &Message) -> Result<u16, String> {
        let url = self.stage.shop.events_url();
        self.post_to(&url, what, message).await
    }

    pub(crate) async fn post_to(&mut self, url: &str, what: &str, message: &Message) -> Result<u16, String> {
        let answer = self.stage.shop.post(url, message).await;
        self.is_unanswered |= answer.is_err();
        self.say(match &answer {
            Ok(status) => format!("{what}: HTTP {status}"),
            Err(error) => format!("{what}: no answer ({})", short(error)),
        });
        answer
    }

    pub(crate) fn signed(&self, event: &Event) -> Message {
        Message::signed(event, &self.stage.backend.secret)
    }

    /// Delivers one event as kassa-server does, with shorter pauses. False if the checkout's next events have to wait.
    pub(crate) async fn deliver(&mut self, event: &Event) -> bool {
        let kind = event.kind();
        let never_skipped = matches!(kind.as_str(), "checkout.paid" | "checkout.overpaid");
        for attempt in 1..=ATTEMPTS {
            let message = self.signed(event);
            match self.post(&kind, &message).await {
                Ok(status) if (200..300).contains(&status) => return true,
                Ok(status) if REFUSALS.contains(&status) && attempt == ATTEMPTS && !never_skipped => {
                    self.say(format!("{kind} is skipped, as the shop refuses it"));
                    return true;
                }
                _ => sleep(RETRY_PAUSE * attempt).await,
            }
        }
        self.say(format!("{kind} is not accepted: the checkout's later events wait for it"));
        false
    }

    /// Delivers events in order until the shop does not accept one.
    pub(crate) async fn deliver_all(&mut self, events: &[Event]) -> bool {
        for event in events {
            if !self.deliver(event).await {
                return false;
            }
        }
        true
    }

    /// Sends messages at the same time.
    pub(crate) async fn post_at_once(&mut self, what: &str, messages: Vec<Message>) {
        let url = self.stage.shop.events_url();
        self.post_all_to(&url, what, messages).await;
    }

    pub(crate) async fn post_all_to(&mut self, url: &str, what: &str, messages: Vec<Message>) {
        let count = messages.len();
        let sending = messages.into_iter().map(|message| {
            let (stage, url) = (Arc::clone(&self.stage), url.to_owned());
            tokio::spawn(async move { stage.shop.post(&url, &message).await })
        });
        let mut statuses = Vec::new();
        for sent in sending.collect::<Vec<_>>() {
            statuses.push(sent.await.ok().and_then(Result::ok).map_or("none".to_owned(), |status| status.to_string()));
        }
        self.say(format!("{what}, {count} times at once: HTTP {}", statuses.join(", ")));
    }

    /// An event that the server did not send.
    pub(crate) fn invented(&self, order: &Order, kind: &str) -> Event {
        invented(kind, &order.about())
    }
}
