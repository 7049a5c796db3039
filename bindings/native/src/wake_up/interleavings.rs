//! Model checking (loom): every interleaving of wake, take and cancel that the memory model allows, over the very files
//! that the library is made of.
//!
//! A wake-up that is lost is a call that is never answered, and no test with real threads would find it reliably. Here
//! a thread that waits for a wake-up that does not come is a deadlock, which the checker reports, with the interleaving
//! that leads to it.

use std::{
    sync::PoisonError,
    task::{Wake, Waker},
};

use loom::{
    model,
    model::Builder,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
};

use self::{
    last_poll::LastPoll,
    poll::{PollState, Progress},
    queue::{Queue, Signal},
};

#[expect(clippy::duplicate_mod, reason = "the same files, with the checker's primitives")]
#[path = "last_poll.rs"]
mod last_poll;
#[expect(clippy::duplicate_mod, reason = "the same files, with the checker's primitives")]
#[path = "poll.rs"]
mod poll;
#[expect(clippy::duplicate_mod, reason = "the same files, with the checker's primitives")]
#[path = "queue.rs"]
mod queue;

/// What the files take from [`super::sync`]. Time does not pass in a model, so waits that would end by themselves do
/// not.
mod sync {
    use std::{
        sync::{LockResult, PoisonError},
        time::Duration,
    };

    pub use loom::sync::{Mutex, MutexGuard, atomic};

    #[derive(Default)]
    pub struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        pub fn wait_timeout_while<'a, T>(
            &self,
            mut guard: MutexGuard<'a, T>,
            _: Duration,
            mut condition: impl FnMut(&mut T) -> bool,
        ) -> LockResult<(MutexGuard<'a, T>, ())> {
            while condition(&mut guard) {
                guard = self.0.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
            Ok((guard, ()))
        }
    }
}

type Wakeups = Queue<sync::Condvar>;

/// As `kassa_jvm_poll` polls.
struct Poll {
    wakeups: Arc<Wakeups>,
    number: u64,
    state: PollState,
}

impl Poll {
    fn over(&self, progress: Progress) {
        if self.state.over(progress) {
            self.wakeups.push(self.number);
        }
    }
}

/// A future as UniFFI keeps it: the continuation of a poll is called exactly once, during the poll or later.
struct Future {
    is_ready: Mutex<bool>,
    continuation: Mutex<Continuation>,
}

enum Continuation {
    Missing,
    Waiting(Arc<Poll>),
    WokenBefore,
    GivenUp,
}

impl Future {
    fn new() -> Arc<Self> {
        Arc::new(Self { is_ready: Mutex::new(false), continuation: Mutex::new(Continuation::Missing) })
    }

    fn poll_once(&self, poll: Arc<Poll>) {
        if *locked(&self.is_ready) {
            return poll.over(Progress::Ready);
        }
        let mut continuation = locked(&self.continuation);
        let progress = match *continuation {
            Continuation::WokenBefore => Progress::Woken,
            Continuation::GivenUp => Progress::Ready,
            Continuation::Missing | Continuation::Waiting(_) => {
                *continuation = Continuation::Waiting(poll);
                return;
            }
        };
        *continuation = Continuation::Missing;
        drop(continuation);
        poll.over(progress);
    }

    /// Whether it is ready; if not, its number will be heard of.
    fn poll(&self, wakeups: &Arc<Wakeups>, number: u64) -> bool {
        loop {
            let poll = Arc::new(Poll { wakeups: wakeups.clone(), number, state: PollState::new() });
            self.poll_once(poll.clone());
            match poll.state.returned() {
                None => return false,
                Some(Progress::Woken) => {}
                Some(Progress::Ready) => return true,
            }
        }
    }

    fn finish(&self) {
        *locked(&self.is_ready) = true;
        let mut continuation = locked(&self.continuation);
        match std::mem::replace(&mut *continuation, Continuation::WokenBefore) {
            Continuation::Waiting(poll) => {
                *continuation = Continuation::Missing;
                drop(continuation);
                poll.over(Progress::Woken);
            }
            Continuation::GivenUp => *continuation = Continuation::GivenUp,
            Continuation::Missing | Continuation::WokenBefore => {}
        }
    }

    fn give_up(&self) {
        let before = std::mem::replace(&mut *locked(&self.continuation), Continuation::GivenUp);
        if let Continuation::Waiting(poll) = before {
            poll.over(Progress::Ready);
        }
    }
}

/// A descriptor that an event loop listens to.
#[derive(Default)]
struct Line {
    written: Mutex<bool>,
    is_readable: Condvar,
}

impl Signal for Arc<Line> {
    fn give(&self) {
        *locked(&self.written) = true;
        self.is_readable.notify_one();
    }
}

impl Line {
    fn read(&self) {
        let mut written = locked(&self.written);
        while !*written {
            written = self.is_readable.wait(written).unwrap_or_else(PoisonError::into_inner);
        }
        *written = false;
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn heard(wakeups: &Wakeups) -> u64 {
    let mut room = [0];
    assert_eq!(wakeups.wait(std::time::Duration::MAX, &mut room), 1);
    room[0]
}

fn every_call_is_heard_of_once<const CALLS: usize>() {
    let wakeups = Arc::new(Wakeups::new(sync::Condvar::default()));
    let futures: [_; CALLS] = std::array::from_fn(|_| Future::new());
    let threads = futures.clone().map(|future| thread::spawn(move || future.finish()));
    let mut waiting: Vec<_> = (0..CALLS).filter(|call| !futures[*call].poll(&wakeups, *call as u64)).collect();
    while !waiting.is_empty() {
        let call = heard(&wakeups) as usize;
        let at = waiting.iter().position(|other| *other == call).expect("it waits");
        waiting.swap_remove(at);
        assert!(futures[call].poll(&wakeups, call as u64));
    }
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(wakeups.take(&mut [0]), 0);
}

#[test]
fn a_call_that_waits_is_heard_of_once() {
    model(every_call_is_heard_of_once::<1>);
}

/// Not every interleaving, which would take minutes: those in which threads interrupt each other twice.
#[test]
fn calls_that_wait_at_once_are_each_heard_of_once() {
    let mut checker = Builder::new();
    checker.preemption_bound = Some(3);
    checker.check(every_call_is_heard_of_once::<2>);
}

#[test]
fn a_call_that_is_given_up_is_heard_of_once() {
    model(|| {
        let wakeups = Arc::new(Wakeups::new(sync::Condvar::default()));
        let future = Future::new();
        let finishing = future.clone();
        let thread = thread::spawn(move || finishing.finish());
        if !future.poll(&wakeups, 7) {
            future.give_up();
            assert_eq!(heard(&wakeups), 7);
        }
        thread.join().unwrap();
        assert_eq!(wakeups.take(&mut [0]), 0);
    });
}

#[test]
fn an_event_loop_hears_of_every_call_once() {
    model(|| {
        let line = Arc::new(Line::default());
        let wakeups = Arc::new(Queue::new(line.clone()));
        let threads = [1, 2].map(|number| {
            let wakeups = wakeups.clone();
            thread::spawn(move || wakeups.push(number))
        });
        let mut heard = Vec::new();
        while heard.len() < 2 {
            line.read();
            let mut room = [0];
            while wakeups.take(&mut room) == room.len() {
                heard.push(room[0]);
            }
        }
        heard.sort_unstable();
        assert_eq!(heard, [1, 2]);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn an_event_loop_that_has_ended_is_woken_in_vain() {
    model(|| {
        let wakeups = Arc::new(Queue::new(Arc::new(Line::default())));
        let late = wakeups.clone();
        let thread = thread::spawn(move || late.push(1));
        drop(wakeups);
        thread.join().unwrap();
    });
}

/// A thread that runs a future, and sleeps where it cannot go on.
#[derive(Default)]
struct Sleeper {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Wake for Sleeper {
    fn wake(self: std::sync::Arc<Self>) {
        *self.is_woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.woken.notify_one();
    }
}

impl Sleeper {
    fn sleep(&self) {
        let mut is_woken = self.is_woken.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_woken {
            is_woken = self.woken.wait(is_woken).unwrap_or_else(PoisonError::into_inner);
        }
        *is_woken = false;
    }
}

#[test]
fn a_thread_that_runs_a_future_hears_of_each_poll() {
    model(|| {
        let last_poll = Arc::new(LastPoll::default());
        let sleeper = std::sync::Arc::new(Sleeper::default());
        let waker = Waker::from(sleeper.clone());
        for told in [Progress::Woken, Progress::Ready] {
            let over = last_poll.clone();
            let thread = thread::spawn(move || over.over(told));
            let heard = loop {
                match last_poll.progress(&waker) {
                    Some(heard) => break heard,
                    None => sleeper.sleep(),
                }
            };
            assert_eq!(heard, told);
            thread.join().unwrap();
        }
    });
}
