//! The two tasks of a checkout: one follows it by long poll until it is paid or let go, the other sends what the payer asked for.

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::{
    FutureExt as _,
    future::{Either, select},
};

use crate::{
    checkout::{
        calls::{Heard, Hindrance, Line, Post},
        message::{CheckoutMessage, MessageTopic},
        model::{Action, Model},
        shared::{Backoff, Shared},
        view::View,
    },
    transport::after,
};

/// What answers a question that may wait at once, and with nothing new, is asked no more often than this.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);

/// How long a new token is waited for before the payer is told that there is none.
const TOKEN_WAIT: Duration = Duration::from_secs(60);

pub(super) async fn follow(shared: Arc<Shared>) {
    let mut backoff = Backoff::default();
    while !shared.is_closed() && !shared.known(Model::is_paid) {
        if shared.known(Model::is_token_refused) {
            wait_for_token(&shared).await;
            continue;
        }
        let (token, line) = shared.line();
        let asked = shared.transport.now();
        let known = shared.known(Model::version);
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
                shared.token_taken();
                let is_news = shared.change(|model| model.seen(view));
                if shared.known(Model::is_in_trouble) {
                    // The token opens another checkout. Asked without a long poll, the server would answer that again at once.
                    shared.pause(&mut backoff, None, &shared.wake_follower).await;
                    continue;
                }
                backoff = Backoff::default();
                if !is_news {
                    let due = after(asked, LEAST_INTERVAL);
                    select(shared.transport.sleep_until(due), pin!(shared.wake_follower.notified())).await;
                }
            }
            Heard::TokenRefused => shared.token_refused(token),
            Heard::Refused(problem) => {
                // A server that does not know the checkout of its own token is not the one that gave it.
                let message = CheckoutMessage::new(MessageTopic::NotTheServer).with_reason(Some(problem.words()));
                shared.change(|model| model.hindered(message));
                shared.pause(&mut backoff, None, &shared.wake_follower).await;
            }
            Heard::Hindered(hindrance) => {
                let retry_after = shared.hindered(hindrance);
                shared.pause(&mut backoff, retry_after, &shared.wake_follower).await;
            }
        }
    }
}

/// Who promised a new token may have gone: a function that panicked, a screen whose task was cancelled.
async fn wait_for_token(shared: &Shared) {
    let patience = shared.transport.sleep_until(after(shared.transport.now(), TOKEN_WAIT));
    if let Either::Right(_) = select(pin!(shared.wake_follower.notified()), patience).await {
        shared.token_is_renewed(false);
    }
}

/// The checkout as it is now, or when it has changed; first the gateway is asked where that is wanted.
async fn look(shared: &Shared, line: &Line<'_>, known: Option<i64>) -> Heard<View> {
    if let Some(number) = shared.wanted_check() {
        match line.check().await {
            // A refusal will not become less of one.
            Heard::Told(_) | Heard::Refused(_) => shared.check_done(number),
            Heard::TokenRefused => return Heard::TokenRefused,
            // What is known there can still be read.
            Heard::Hindered(Hindrance { message, .. }) if message.topic == MessageTopic::ServerBusy => {}
            Heard::Hindered(hindrance) => return Heard::Hindered(hindrance),
        }
    }
    line.view(known).await
}

// Sends what the payer asked for: again and again with the same idempotency key, until the server has answered.

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
