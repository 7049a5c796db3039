//! Follows a checkout by long poll, until it is paid or let go.

use std::{
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures_util::future::{Either, select};

use crate::{
    checkout::{
        calls::{Heard, Line},
        message::CheckoutMessage,
        shared::{Backoff, Shared},
        topic::MessageTopic,
        view::View,
    },
    transport::after,
};

/// What answers a question that may wait at once, and with nothing new, is asked no more often than this.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);

pub(super) async fn follow(shared: Arc<Shared>) {
    let mut backoff = Backoff::default();
    while !shared.is_closed() && !shared.model().is_paid() {
        if shared.model().is_token_refused() {
            shared.wake_follower.notified().await;
            continue;
        }
        let (token, line) = shared.line();
        let asked = shared.transport.now();
        let known = shared.model().version();
        let answer = {
            let woken = shared.wake_follower.notified();
            match select(pin!(look(&shared, &line, known)), pin!(woken)).await {
                Either::Left((answer, _)) => answer,
                // A connection may be dead without anybody having heard of it: a woken phone asks over another one.
                Either::Right(_) => continue,
            }
        };
        match answer {
            Heard::Told(view) => {
                backoff = Backoff::default();
                shared.token_taken();
                let is_news = known != Some(view.version);
                shared.change(|model| model.seen(view));
                if !is_news {
                    let due = after(asked, LEAST_INTERVAL);
                    select(shared.transport.sleep_until(due), pin!(shared.wake_follower.notified())).await;
                }
            }
            Heard::TokenRefused => shared.token_refused(token),
            Heard::Refused(_) => {
                // A server that does not know the checkout of its own token is not the one that gave it.
                shared.change(|model| model.hindered(CheckoutMessage::new(MessageTopic::NotTheServer)));
                shared.pause(&mut backoff, None, &shared.wake_follower).await;
            }
            Heard::Hindered(hindrance) => {
                let retry_after = shared.hindered(hindrance);
                shared.pause(&mut backoff, retry_after, &shared.wake_follower).await;
            }
        }
    }
}

/// The checkout as it is now, or when it has changed; first the gateway is asked where that is wanted.
async fn look(shared: &Shared, line: &Line<'_>, known: Option<i64>) -> Heard<View> {
    if shared.is_check_wanted.load(Ordering::Acquire) {
        match line.check().await {
            // A refusal will not become less of one.
            Heard::Told(_) | Heard::Refused(_) => shared.is_check_wanted.store(false, Ordering::Release),
            Heard::TokenRefused => return Heard::TokenRefused,
            Heard::Hindered(hindrance) => return Heard::Hindered(hindrance),
        }
    }
    line.view(known).await
}
