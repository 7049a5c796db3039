//! Sends what the payer asked for: again and again with the same idempotency key, until the server has answered.

use std::{pin::pin, sync::Arc};

use futures_util::{
    FutureExt as _,
    future::{Either, select},
};

use crate::checkout::{
    calls::{Heard, Post},
    model::{Action, Model},
    shared::{Backoff, Shared},
};

pub(super) async fn send(shared: Arc<Shared>, action: Action, post: Post) {
    let mut backoff = Backoff::default();
    // A wake-up of before is not for this one.
    let _ = shared.wake_sender.notified().now_or_never();
    while !shared.is_closed() {
        if shared.known(Model::is_token_refused) {
            shared.wake_sender.notified().await;
            continue;
        }
        let (token, line) = shared.line();
        let heard = {
            let mut posting = pin!(line.post(&post));
            match select(posting.as_mut(), pin!(shared.wake_sender.notified())).await {
                Either::Left((heard, _)) => heard,
                // What was asked for when the screen was closed is still sent, once.
                Either::Right(_) if shared.is_closed() => posting.await,
                // A connection may be dead without anybody having heard of it: a woken phone sends over another one.
                Either::Right(_) => continue,
            }
        };
        match heard {
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
