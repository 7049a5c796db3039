//! The two tasks of a checkout: one polls it (long poll) until it is paid or closed, the other sends the payer's action.

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::{
    FutureExt as _,
    future::{Either, select},
};

use crate::{
    checkout::{
        calls::{CallFailure, CallResult, MerchantServer, Post},
        message::{CheckoutMessage, MessageTopic},
        model::{Action, Model},
        shared::{Backoff, Shared},
        view::View,
    },
    transport::after,
};

/// The shortest interval of long polls: a server may answer one at once without news.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);

/// How long to wait for a new token before the payer sees the problem.
const TOKEN_WAIT: Duration = Duration::from_secs(60);

pub(super) async fn follow(shared: Arc<Shared>) {
    let mut backoff = Backoff::default();
    while !shared.is_closed() && !shared.known(Model::is_paid) {
        if shared.known(Model::is_token_refused) {
            wait_for_token(&shared).await;
            continue;
        }
        let (token, server) = shared.server();
        let started = shared.transport.now();
        let known = shared.known(Model::version);
        let answer = {
            let woken = shared.wake_follower.notified();
            match select(pin!(poll(&shared, &server, known)), pin!(woken)).await {
                Either::Left((answer, _)) => answer,
                // A connection may be dead without an error: after a wake-up the phone polls over another one.
                Either::Right(_) => continue,
            }
        };
        match answer {
            CallResult::Answered(view) => {
                shared.token_taken();
                let is_news = shared.change(|model| model.seen(view));
                if shared.known(Model::has_call_error) {
                    // The token opens another checkout. Without a long poll, the server would repeat this answer at once.
                    shared.pause(&mut backoff, None, &shared.wake_follower).await;
                    continue;
                }
                backoff = Backoff::default();
                if !is_news {
                    let due = after(started, LEAST_INTERVAL);
                    select(shared.transport.sleep_until(due), pin!(shared.wake_follower.notified())).await;
                }
            }
            CallResult::TokenRefused => shared.token_refused(token),
            CallResult::Refused(problem) => {
                // A server that does not know the checkout of its own token is not the one that issued it.
                let message = CheckoutMessage::new(MessageTopic::NotTheServer).with_reason(Some(problem.words()));
                shared.change(|model| model.hindered(message));
                shared.pause(&mut backoff, None, &shared.wake_follower).await;
            }
            CallResult::Failed(failure) => {
                let retry_after = shared.call_failed(failure);
                shared.pause(&mut backoff, retry_after, &shared.wake_follower).await;
            }
        }
    }
}

/// Waits for a new token, with a time limit: the app's function may have panicked, or its task was cancelled.
async fn wait_for_token(shared: &Shared) {
    let patience = shared.transport.sleep_until(after(shared.transport.now(), TOKEN_WAIT));
    if let Either::Right(_) = select(pin!(shared.wake_follower.notified()), patience).await {
        shared.token_is_renewed(false);
    }
}

/// Returns the checkout, at once or when it has changed. If a check is requested, the server queries the gateway first.
async fn poll(shared: &Shared, server: &MerchantServer<'_>, known: Option<i64>) -> CallResult<View> {
    if let Some(number) = shared.wanted_check() {
        match server.check().await {
            // A retry would be refused again.
            CallResult::Answered(_) | CallResult::Refused(_) => shared.check_done(number),
            CallResult::TokenRefused => return CallResult::TokenRefused,
            // The server's current data can still be read.
            CallResult::Failed(CallFailure { message, .. }) if message.topic == MessageTopic::ServerBusy => {}
            CallResult::Failed(failure) => return CallResult::Failed(failure),
        }
    }
    server.view(known).await
}

// Sends the payer's action with the same idempotency key until the server has answered.

pub(super) async fn send(shared: Arc<Shared>, action: Action, post: Post) {
    let mut backoff = Backoff::default();
    // An earlier wake-up is not for this action.
    let _ = shared.wake_sender.notified().now_or_never();
    while !shared.is_closed() {
        if shared.known(Model::is_token_refused) {
            shared.wake_sender.notified().await;
            continue;
        }
        let (token, server) = shared.server();
        let result = {
            let mut posting = pin!(server.post(&post));
            match select(posting.as_mut(), pin!(shared.wake_sender.notified())).await {
                Either::Left((result, _)) => result,
                // An action that was requested before the screen was closed is still sent, once.
                Either::Right(_) if shared.is_closed() => posting.await,
                // A connection may be dead without an error: after a wake-up the phone sends over another one.
                Either::Right(_) => continue,
            }
        };
        match result {
            CallResult::Answered(payment) => {
                shared.change(|model| model.began(action, payment));
                return shared.wake_follower.notify_one();
            }
            CallResult::Refused(problem) => {
                shared.change(|model| model.refused(action, &problem));
                return shared.wake_follower.notify_one();
            }
            CallResult::TokenRefused => shared.token_refused(token),
            CallResult::Failed(failure) => {
                let retry_after = shared.call_failed(failure);
                shared.pause(&mut backoff, retry_after, &shared.wake_sender).await;
            }
        }
    }
}
