//! Sends what the payer asked for: again and again with the same idempotency key, until the server has answered.

use std::sync::Arc;

use crate::checkout::{
    calls::{Heard, Post},
    model::Action,
    shared::{Backoff, Shared},
};

pub(super) async fn send(shared: Arc<Shared>, action: Action, post: Post) {
    let mut backoff = Backoff::default();
    while !shared.is_closed() {
        if shared.model().is_token_refused() {
            shared.wake_sender.notified().await;
            continue;
        }
        let (token, line) = shared.line();
        match line.post(&post).await {
            Heard::Told(payment) => {
                shared.change(|model| model.began(action, payment));
                return shared.wake_follower.notify_one();
            }
            Heard::Refused(problem) => {
                shared.change(|model| model.refused(action, &problem));
                return shared.wake_follower.notify_one();
            }
            Heard::TokenRefused => shared.token_refused(token),
            Heard::Hindered(hindrance) => {
                let retry_after = shared.hindered(hindrance);
                shared.pause(&mut backoff, retry_after, &shared.wake_sender).await;
            }
        }
    }
}
