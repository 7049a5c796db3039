//! What the handle of a checkout and its two tasks share.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use futures_util::future::select;
use tokio::sync::{Notify, watch};

use crate::{
    checkout::{
        calls::{Hindrance, Line},
        message::CheckoutMessage,
        model::Model,
        state::CheckoutState,
        topic::MessageTopic,
    },
    transport::{Transport, after},
    values::secret::Secret,
};

/// Exponential backoff: the first pause after something was in the way is up to this, each further one up to twice as much.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// A payer looks at the screen: it must not take long until a network that is back is noticed.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

pub(super) struct Shared {
    pub(super) transport: Arc<dyn Transport>,
    model: Mutex<Model>,
    /// The state as it is shown; nothing after the end.
    states: watch::Sender<Option<CheckoutState>>,
    token: Mutex<(u64, Secret)>,
    /// Whether a new token is wanted; nothing after the end.
    wants_token: watch::Sender<Option<bool>>,
    /// How often in a row a new token was wanted, and none was good.
    tokens_in_a_row: AtomicU32,
    is_closed: AtomicBool,
    /// Wakes the task that follows the checkout.
    pub(super) wake_follower: Notify,
    /// Wakes the task that sends an action.
    pub(super) wake_sender: Notify,
    /// The gateway shall be asked now.
    pub(super) is_check_wanted: AtomicBool,
}

/// Exponential backoff with jitter.
#[derive(Default)]
pub(super) struct Backoff(u32);

impl Shared {
    pub(super) fn new(transport: Arc<dyn Transport>, token: Secret) -> Self {
        let model = Model::default();
        Self {
            transport,
            states: watch::Sender::new(Some(model.state())),
            model: Mutex::new(model),
            token: Mutex::new((0, token)),
            wants_token: watch::Sender::new(Some(false)),
            tokens_in_a_row: AtomicU32::new(0),
            is_closed: AtomicBool::new(false),
            wake_follower: Notify::new(),
            wake_sender: Notify::new(),
            is_check_wanted: AtomicBool::new(false),
        }
    }

    /// Looks at what is known.
    pub(super) fn model(&self) -> MutexGuard<'_, Model> {
        // A panic inside leaves it as it was before, or after.
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known, and shows the state that follows from it.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Model) -> T) -> T {
        let mut model = self.model();
        let result = change(&mut model);
        let state = model.state();
        // The lock is held, so that no older state comes after a newer one.
        self.states.send_if_modified(|shown| {
            let is_news = shown.as_ref().is_some_and(|shown| *shown != state);
            if is_news {
                *shown = Some(state);
            }
            is_news
        });
        result
    }

    pub(super) fn state(&self) -> CheckoutState {
        self.model().state()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Option<CheckoutState>> {
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

    /// Tries at once what waits for its next try.
    pub(super) fn wake(&self) {
        self.wake_follower.notify_one();
        self.wake_sender.notify_one();
    }

    /// The line to the server with the token of now, and the token's number.
    pub(super) fn line(&self) -> (u64, Line<'_>) {
        let (number, token) = self.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (number, Line { transport: &*self.transport, token })
    }

    /// The server did not take the token of this number: unless there is a newer one, one is wanted.
    pub(super) fn token_refused(self: &Arc<Self>, number: u64) {
        let is_current = self.token.lock().unwrap_or_else(PoisonError::into_inner).0 == number;
        if !is_current || self.model().is_token_refused() {
            return;
        }
        self.change(Model::token_refused);
        let before = self.tokens_in_a_row.fetch_add(1, Ordering::Relaxed);
        self.want_token_after(before);
    }

    /// The server took the token.
    pub(super) fn token_taken(&self) {
        self.tokens_in_a_row.store(0, Ordering::Relaxed);
    }

    pub(super) fn renew_token(&self, token: Secret) {
        {
            let mut known = self.token.lock().unwrap_or_else(PoisonError::into_inner);
            *known = (known.0 + 1, token);
        }
        self.set_wanted(false);
        self.change(Model::token_renewed);
        self.wake();
    }

    /// The app's function gave none: it is asked again, after a while.
    pub(super) fn token_not_renewed(self: &Arc<Self>, reason: Option<String>) {
        self.change(|model| model.hindered(CheckoutMessage::new(MessageTopic::TokenNotRenewed).with_reason(reason)));
        self.set_wanted(false);
        self.want_token_after(self.tokens_in_a_row.fetch_add(1, Ordering::Relaxed).max(1));
    }

    /// Waits until a new token is wanted; false after the end.
    pub(super) async fn token_wanted(&self) -> bool {
        self.change(|model| model.is_token_renewed = true);
        let mut wants = self.wants_token.subscribe();
        let wanted = wants.wait_for(|wanted| *wanted != Some(false)).await;
        wanted.is_ok_and(|wanted| wanted.is_some())
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

    /// At once, or after the pause of so many tries.
    fn want_token_after(self: &Arc<Self>, tries: u32) {
        if tries == 0 {
            return self.set_wanted(true);
        }
        let shared = self.clone();
        let pause = after(self.transport.now(), Backoff(tries - 1).pause(&*self.transport));
        self.transport.spawn(Box::pin(async move {
            shared.transport.sleep_until(pause).await;
            if shared.model().is_token_refused() {
                shared.set_wanted(true);
            }
        }));
    }

    /// Waits after something was in the way: for as long as the backoff or the server says, or until it is woken.
    pub(super) async fn pause(&self, backoff: &mut Backoff, retry_after: Option<Duration>, wake: &Notify) {
        let pause = backoff.pause(&*self.transport);
        backoff.0 += 1;
        let until = after(self.transport.now(), retry_after.unwrap_or_default().max(pause));
        select(self.transport.sleep_until(until), std::pin::pin!(wake.notified())).await;
    }

    pub(super) fn hindered(&self, hindrance: Hindrance) -> Option<Duration> {
        self.change(|model| model.hindered(hindrance.message));
        hindrance.retry_after
    }
}

impl Backoff {
    fn pause(&self, transport: &dyn Transport) -> Duration {
        let most = FIRST_PAUSE.saturating_mul(1 << self.0.min(10)).min(LONGEST_PAUSE);
        // Half of it at least: this is one payer's phone, and a pause of nothing would only drain it.
        most / 2 + transport.jitter(most / 2)
    }
}
