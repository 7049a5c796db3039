//! Polls futures, one step at a time: to their ends in turn, or interleaved by a seed.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::task::noop_waker;
use kassa::FakeGateway;
use kassa_server::Boxed;

use super::{lock, world::Process};

/// After so many steps without an end, what waits is waiting for time.
const PATIENCE: usize = 200;

impl Process {
    /// Runs a call to its end, and the tasks that it began; panics where the process dies meanwhile.
    pub fn run<T>(&self, call: impl Future<Output = T>) -> T {
        self.try_run(call).expect("the process died")
    }

    /// The same; nothing where the process dies.
    pub fn try_run<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        let waker = noop_waker();
        let mut cx = Context::from_waker(&waker);
        let mut call = pin!(call);
        let mut own: Vec<Boxed<'static, ()>> = Vec::new();
        for step in 1.. {
            if self.life.is_dead() {
                return None;
            }
            if let Poll::Ready(value) = call.as_mut().poll(&mut cx) {
                lock(&self.tasks).append(&mut own);
                return Some(value);
            }
            own.append(&mut lock(&self.tasks));
            own.retain_mut(|task| task.as_mut().poll(&mut cx).is_pending());
            self.let_time_pass(step);
            assert!(step < 1_000_000, "it never ends");
        }
        None
    }

    fn let_time_pass(&self, step: usize) {
        if step.is_multiple_of(PATIENCE) {
            self.fake_clock().advance(Duration::from_secs(1));
        }
    }
}

/// Calls that run at the same time, in one or several processes.
#[derive(Default)]
pub struct Interleaved {
    calls: Vec<(Arc<Process>, Boxed<'static, ()>)>,
}

impl Interleaved {
    pub fn add(&mut self, process: &Arc<Process>, call: impl Future<Output = ()> + Send + 'static) {
        self.calls.push((process.clone(), Box::pin(call)));
    }

    pub fn is_done(&self) -> bool {
        self.calls.is_empty()
    }

    /// One step of one call. Whatever a dead process was doing is gone.
    pub fn step(&mut self, random: &mut fastrand::Rng) {
        self.calls.retain(|(process, _)| !process.life.is_dead());
        if self.calls.is_empty() {
            return;
        }
        let index = random.usize(0..self.calls.len());
        let (process, call) = &mut self.calls[index];
        let is_done = call.as_mut().poll(&mut Context::from_waker(&noop_waker())).is_ready();
        let begun = std::mem::take(&mut *lock(&process.tasks));
        let process = process.clone();
        if is_done {
            drop(self.calls.swap_remove(index));
        }
        self.calls.extend(begun.into_iter().map(|task| (process.clone(), task)));
    }

    /// All of it. What waits for time gets it.
    pub fn finish(&mut self, random: &mut fastrand::Rng, fake: &FakeGateway) {
        for steps in 1.. {
            if self.is_done() {
                return;
            }
            self.step(random);
            if steps % 2000 == 0 {
                fake.advance(Duration::from_secs(1));
            }
            assert!(steps < 5_000_000, "it never ends");
        }
    }
}
