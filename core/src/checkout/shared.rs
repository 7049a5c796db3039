//! The state that the handle of a checkout and its two tasks share.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::future::select;
use tokio::sync::{Notify, watch};

use crate::{
    checkout::{
        calls::{CallFailure, MerchantServer},
        message::{CheckoutMessage, MessageTopic},
        model::Model,
        settings,
        state::CheckoutState,
    },
    secret::Secret,
    transport::{Transport, after},
};

/// Exponential backoff: the first pause after a failed call is at most this, and each further one at most twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest `Retry-After` that is obeyed: it may come from a proxy, and a payer is waiting.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);
/// A payer is waiting, so a restored network must be noticed soon.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

pub(super) struct Shared {
    pub(super) transport: Arc<dyn Transport>,
    /// The model, and the number of its changes.
    model: Mutex<(u64, Model)>,
    /// The shown state, with the number of the change that led to it; `None` after the end.
    states: watch::Sender<Option<(u64, CheckoutState)>>,
    token: Mutex<(u64, Secret)>,
    /// Whether a new token is needed; `None` after the end.
    wants_token: watch::Sender<Option<bool>>,
    /// How often in a row a new token was requested, without one that the server accepted.
    tokens_in_a_row: AtomicU32,
    is_closed: AtomicBool,
    /// Wakes the task that polls the checkout.
    pub(super) wake_follower: Notify,
    /// Wakes the task that sends an action.
    pub(super) wake_sender: Notify,
    /// The number of requested gateway checks, and of those that are done.
    checks_wanted: AtomicU64,
    checks_done: AtomicU64,
}

/// Exponential backoff with jitter.
#[derive(Default)]
pub(super) struct Backoff(u32);

impl Shared {
    pub(super) fn new(transport: Arc<dyn Transport>, token: Secret) -> Self {
        let model = Model::default();
        Self {
            transport,
            states: watch::Sender::new(Some((0, model.state()))),
            model: Mutex::new((0, model)),
            token: Mutex::new((0, token)),
            wants_token: watch::Sender::new(Some(false)),
            tokens_in_a_row: AtomicU32::new(0),
            is_closed: AtomicBool::new(false),
            wake_follower: Notify::new(),
            wake_sender: Notify::new(),
            checks_wanted: AtomicU64::new(0),
            checks_done: AtomicU64::new(0),
        }
    }

    /// Reads the model.
    pub(super) fn known<T>(&self, look: impl FnOnce(&Model) -> T) -> T {
        look(&self.locked().1)
    }

    fn locked(&self) -> MutexGuard<'_, (u64, Model)> {
        // A panic inside leaves the model as before or after the change.
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the model, and shows the resulting state.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Model) -> T) -> T {
        let (result, number, state) = {
            let mut locked = self.locked();
            let (number, model) = &mut *locked;
            *number += 1;
            (change(model), *number, model.state())
        };
        // A woken task may run at once on this thread and read the state, so no lock is held here. The number shows which of two states is
        // newer.
        self.states.send_if_modified(|shown| match shown {
            Some((known, shown)) if *known < number => {
                let is_news = *shown != state;
                (*known, *shown) = (number, state);
                is_news
            }
            _ => false,
        });
        result
    }

    pub(super) fn state(&self) -> CheckoutState {
        self.known(Model::state)
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Option<(u64, CheckoutState)>> {
        let mut states = self.states.subscribe();
        states.mark_changed();
        states
    }

    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.states.send_replace(None);
        self.wants_token.send_replace(None);
        self.wake_follower.notify_one();
        self.wake_sender.notify_one();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Requests a check at the gateway.
    pub(super) fn want_check(&self) {
        self.checks_wanted.fetch_add(1, Ordering::AcqRel);
        self.wake();
    }

    /// The number of the newest requested check, if it is not done.
    pub(super) fn wanted_check(&self) -> Option<u64> {
        let wanted = self.checks_wanted.load(Ordering::Acquire);
        (wanted != self.checks_done.load(Ordering::Acquire)).then_some(wanted)
    }

    pub(super) fn check_done(&self, number: u64) {
        self.checks_done.store(number, Ordering::Release);
    }

    /// Retries a waiting call at once.
    pub(super) fn wake(&self) {
        self.wake_follower.notify_one();
        self.wake_sender.notify_one();
    }

    /// The server with the current token, and the token's number.
    pub(super) fn server(&self) -> (u64, MerchantServer<'_>) {
        let (number, token) = self.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (number, MerchantServer { transport: &*self.transport, token })
    }

    /// The server rejected the token with this number. If there is no newer one, a new one is needed.
    pub(super) fn token_refused(self: &Arc<Self>, number: u64) {
        let is_current = || self.token.lock().unwrap_or_else(PoisonError::into_inner).0 == number;
        if !is_current() || self.known(Model::is_token_refused) {
            return;
        }
        self.change(Model::token_refused);
        if !is_current() {
            // A new token arrived in between.
            return self.change(Model::token_renewed);
        }
        let before = self.tokens_in_a_row.fetch_add(1, Ordering::Relaxed);
        self.want_token_after(before);
    }

    /// The server accepted the token.
    pub(super) fn token_taken(&self) {
        self.tokens_in_a_row.store(0, Ordering::Relaxed);
    }

    /// Continues with another token. A text that cannot be a token is not sent, and counts as a failed renewal.
    pub(super) fn renew_token(self: &Arc<Self>, token: &str) {
        match settings::checked_token(token) {
            Ok(token) => self.go_on_with(token),
            Err(rule) => self.token_not_renewed(Some(rule)),
        }
    }

    fn go_on_with(&self, token: Secret) {
        {
            let mut known = self.token.lock().unwrap_or_else(PoisonError::into_inner);
            *known = (known.0 + 1, token);
        }
        self.set_wanted(false);
        self.change(Model::token_renewed);
        self.wake();
    }

    /// The app's function returned no token. It is called again after a pause.
    pub(super) fn token_not_renewed(self: &Arc<Self>, reason: Option<String>) {
        self.change(|model| model.hindered(CheckoutMessage::new(MessageTopic::TokenNotRenewed).with_reason(reason)));
        self.set_wanted(false);
        self.wake_follower.notify_one();
        self.want_token_after(self.tokens_in_a_row.fetch_add(1, Ordering::Relaxed).max(1));
    }

    /// Waits until a new token is needed; false after the end.
    pub(super) async fn token_wanted(&self) -> bool {
        self.token_is_renewed(true);
        let mut wants = self.wants_token.subscribe();
        let wanted = wants.wait_for(|wanted| *wanted != Some(false)).await;
        wanted.is_ok_and(|wanted| wanted.is_some())
    }

    /// Whether the app renews tokens.
    pub(super) fn token_is_renewed(&self, is_renewed: bool) {
        self.change(|model| model.is_token_renewed = is_renewed);
    }

    fn set_wanted(&self, wanted: bool) {
        self.wants_token.send_if_modified(|now| {
            let changes = now.is_some_and(|now| now != wanted);
            if changes {
                *now = Some(wanted);
            }
            changes
        });
    }

    /// Requests a token at once, or after the pause for this number of tries.
    fn want_token_after(self: &Arc<Self>, tries: u32) {
        if tries == 0 {
            return self.set_wanted(true);
        }
        let shared = self.clone();
        let pause = after(self.transport.now(), Backoff(tries - 1).pause(&*self.transport));
        self.transport.spawn(Box::pin(async move {
            shared.transport.sleep_until(pause).await;
            if shared.known(Model::is_token_refused) {
                shared.set_wanted(true);
            }
        }));
    }

    /// Waits after a failed call: for the backoff or the `Retry-After`, or until it is woken.
    pub(super) async fn pause(&self, backoff: &mut Backoff, retry_after: Option<Duration>, wake: &Notify) {
        let pause = backoff.pause(&*self.transport);
        backoff.0 += 1;
        let until = after(self.transport.now(), retry_after.unwrap_or_default().min(LONGEST_RETRY_AFTER).max(pause));
        select(self.transport.sleep_until(until), std::pin::pin!(wake.notified())).await;
    }

    pub(super) fn call_failed(&self, failure: CallFailure) -> Option<Duration> {
        self.change(|model| model.hindered(failure.message));
        failure.retry_after
    }
}

impl Backoff {
    fn pause(&self, transport: &dyn Transport) -> Duration {
        let most = FIRST_PAUSE.saturating_mul(1 << self.0.min(10)).min(LONGEST_PAUSE);
        // At least half of it: on one payer's phone, a very short pause would only drain the battery.
        most / 2 + transport.jitter(most / 2)
    }
}
