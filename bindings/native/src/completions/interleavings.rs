//! Model checking (loom): every interleaving of completing, taking and giving up that the memory model allows, of the same file that the
//! library contains.
//!
//! A signal that is lost is a call that is never answered, and no test with real threads would find it reliably. Here
//! a thread that waits for a signal that does not come is a deadlock, which the checker reports, with the interleaving
//! that leads to it.

use std::{sync::PoisonError, time::Duration};

use loom::{
    model,
    model::Builder,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
};

#[expect(clippy::duplicate_mod, reason = "the same file, with the checker's primitives")]
#[path = "queue.rs"]
mod queue;

/// What the file takes from [`super::sync`]. Time does not pass in a model, so waits that would end by themselves do
/// not.
mod sync {
    use std::{
        sync::{LockResult, PoisonError},
        time::Duration,
    };

    pub use loom::sync::{Mutex, MutexGuard};

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

use self::queue::GivenUp;

/// Each call is complete with ten times its number, which is its receipt as well.
type Queue = queue::Queue<(), u64, u64>;

fn queue_of(calls: &[u64]) -> Arc<Queue> {
    let queue = Queue::default();
    calls.iter().for_each(|number| queue.begin(*number, ()));
    Arc::new(queue)
}

/// Takes one completion at a time, so that some are left over.
fn one(taken: &mut Vec<u64>) -> impl FnMut(u64, u64) -> Result<Option<u64>, u64> {
    let mut is_full = false;
    move |number, completion| {
        if std::mem::replace(&mut is_full, true) {
            return Err(completion);
        }
        assert_eq!(completion, 10 * number);
        taken.push(number);
        Ok(Some(completion))
    }
}

fn take_all(queue: &Queue, taken: &mut Vec<u64>) {
    while queue.take(one(taken)) {}
}

/// Takes completions until there are so many, asleep where there are none.
fn hear(queue: &Queue, count: usize) -> Vec<u64> {
    let mut taken = Vec::new();
    while taken.len() < count {
        queue.wait(Duration::MAX, one(&mut taken));
    }
    taken
}

fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

/// Completes a call on a thread of its own, with a signal where one is needed.
fn completing(queue: &Arc<Queue>, number: u64, signal: impl FnOnce(&Queue) + 'static) -> thread::JoinHandle<()> {
    let queue = queue.clone();
    thread::spawn(move || {
        if queue.complete(number, 10 * number) == Ok(true) {
            signal(&queue);
        }
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn sleeper_hears_of_a_call_once() {
    model(|| {
        let queue = queue_of(&[1]);
        let thread = completing(&queue, 1, Queue::wake);
        assert_eq!(hear(&queue, 1), [1]);
        thread.join().unwrap();
        assert!(!queue.take(|_, _| panic!("it is heard of again")));
    });
}

/// Not every interleaving, which would take minutes: those in which threads interrupt each other three times.
#[test]
fn sleeper_hears_of_calls_that_are_complete_at_once() {
    let mut checker = Builder::new();
    checker.preemption_bound = Some(3);
    checker.check(|| {
        let queue = queue_of(&[1, 2]);
        let threads = [1, 2].map(|number| completing(&queue, number, Queue::wake));
        assert_eq!(sorted(hear(&queue, 2)), [1, 2]);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(!queue.take(|_, _| panic!("one is heard of again")));
    });
}

/// As the languages do it: the listener hands a completion to the caller that waits, and the caller stops waiting before it gives up.
#[test]
fn call_is_either_received_or_given_up() {
    model(|| {
        let queue = queue_of(&[1]);
        let is_waiting = Arc::new(Mutex::new(true));
        let thread = completing(&queue, 1, Queue::wake);
        let cancelling = {
            let (queue, is_waiting) = (queue.clone(), is_waiting.clone());
            thread::spawn(move || {
                if !std::mem::replace(&mut *locked(&is_waiting), false) {
                    return 0;
                }
                match queue.give_up(1) {
                    Some(GivenUp::GoingOn(()) | GivenUp::Complete(10) | GivenUp::Taken(10)) => 1,
                    _ => panic!("it is lost"),
                }
            })
        };
        let mut received = 0;
        let mut listen = || {
            let mut taken = Vec::new();
            take_all(&queue, &mut taken);
            for number in taken {
                if std::mem::replace(&mut *locked(&is_waiting), false) {
                    assert_eq!(queue.received(number), Some(10));
                    received += 1;
                }
            }
        };
        listen();
        let given_up = cancelling.join().unwrap();
        thread.join().unwrap();
        listen();
        assert_eq!(received + given_up, 1);
        assert!(queue.give_up(1).is_none(), "it has ended");
    });
}

/// A signal may be of a call that is given up before it is heard: the other call is heard of all the same.
#[test]
fn call_is_heard_of_though_another_one_is_given_up() {
    let mut checker = Builder::new();
    checker.preemption_bound = Some(3);
    checker.check(|| {
        let queue = queue_of(&[1, 2]);
        let threads = [1, 2].map(|number| completing(&queue, number, Queue::wake));
        queue.give_up(1);
        assert_eq!(hear(&queue, 1), [2]);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(!queue.take(|_, _| panic!("the other one is heard of")));
    });
}

/// A descriptor that an event loop listens to.
#[derive(Default)]
struct Line {
    written: Mutex<bool>,
    is_readable: Condvar,
}

impl Line {
    fn write(&self) {
        *locked(&self.written) = true;
        self.is_readable.notify_one();
    }

    fn read(&self) {
        let mut written = locked(&self.written);
        while !*written {
            written = self.is_readable.wait(written).unwrap_or_else(PoisonError::into_inner);
        }
        *written = false;
    }
}

#[test]
fn event_loop_hears_of_every_call_once() {
    model(|| {
        let (queue, line) = (queue_of(&[1, 2]), Arc::new(Line::default()));
        let threads = [1, 2].map(|number| {
            let line = line.clone();
            completing(&queue, number, move |_| line.write())
        });
        let mut taken = Vec::new();
        while taken.len() < 2 {
            line.read();
            take_all(&queue, &mut taken);
        }
        assert_eq!(sorted(taken), [1, 2]);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn calls_of_an_ended_listener_are_given_up() {
    model(|| {
        let queue = queue_of(&[1, 2]);
        let thread = completing(&queue, 1, Queue::wake);
        let given_up = queue.give_all_up().len();
        assert_eq!(given_up, 2);
        thread.join().unwrap();
        assert!(!queue.take(|_, _| panic!("it was given up")));
        assert_eq!(queue.complete(2, 20), Err(20), "it is given up, and comes back");
    });
}
