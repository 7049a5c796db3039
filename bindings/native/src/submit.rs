//! Asynchronous calls: asyncio and other event loops, coroutines of the JVM, tasks of Swift.
//!
//! A call runs on the core's threads, and its completion goes to a queue. A signal wakes the queue's listener, which then takes all
//! available completions, and passes each to its caller. A caller can stop waiting at any moment until it has the completion. It then gives
//! the call up, and a report goes to the next call, as if it had never been taken.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use kassa::_calls::{AsyncCall, Completion, Running, Untaken, as_call, spawn};

use crate::{
    completions::{GivenUp, Queue},
    memory::Memory,
};

#[cfg(test)]
mod tests;

/// A function that is called on one of the core's threads, with the context that the queue was created with.
type Function = extern "C" fn(context: u64);

/// The completions of one listener.
pub struct Completions {
    queue: Queue<Arc<Call>, Completion, Untaken>,
    signal: Signal,
    /// Fork safety: a child must not touch data of its parent's threads.
    process: u32,
}

/// How a listener learns that the queue is no longer empty.
enum Signal {
    /// It sleeps in [`kassa_take`].
    Sleeper,
    /// It is called.
    Function(Function, u64),
    /// It listens to the other end.
    #[cfg(unix)]
    Descriptor(std::os::unix::net::UnixStream),
}

/// A call on the core's threads.
struct Call {
    /// `None` once the call is complete or given up.
    in_flight: Mutex<Option<InFlight>>,
    log: u64,
}

struct InFlight {
    running: Running,
    /// The waker of the task that polls it.
    task: Waker,
}

impl Call {
    fn new(running: Option<Running>, log: u64) -> Arc<Self> {
        let in_flight = running.map(|running| InFlight { running, task: Waker::noop().clone() });
        Arc::new(Self { in_flight: Mutex::new(in_flight), log })
    }

    /// `None` if it was given up.
    fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Completion>> {
        let mut in_flight = self.in_flight();
        let Some(InFlight { running, task }) = in_flight.as_mut() else { return Poll::Ready(None) };
        task.clone_from(cx.waker());
        let completion = std::task::ready!(as_call(self.log, || running.as_mut().poll(cx)));
        *in_flight = None;
        Poll::Ready(Some(completion))
    }

    /// Drops it on the thread that gives it up, and not later in its task: a payment that was not sent by then is never sent.
    fn give_up(&self) {
        let given_up = self.in_flight().take();
        if let Some(InFlight { running, task }) = given_up {
            drop(running);
            // Lets the task end. Nothing else would wake it any more.
            task.wake();
        }
    }

    fn in_flight(&self) -> MutexGuard<'_, Option<InFlight>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Completions {
    fn submit(self: &Arc<Self>, number: u64, log: u64, call: AsyncCall) {
        let call = Call::new(Some(call.begin()), log);
        self.queue.begin(number, call.clone());
        let completions = self.clone();
        let spawned = spawn(async move {
            if let Some(completion) = std::future::poll_fn(|cx| call.poll(cx)).await {
                completions.complete(number, completion);
            }
        });
        if let Err(completion) = spawned {
            self.complete(number, completion);
        }
    }

    fn complete(&self, number: u64, completion: Completion) {
        match self.queue.complete(number, completion) {
            Ok(true) => {}
            Ok(false) => return,
            // Given up during its last poll, when it could not be dropped any more.
            Err(completion) => return completion.give_back(),
        }
        match &self.signal {
            Signal::Sleeper => self.queue.wake(),
            Signal::Function(function, context) => function(*context),
            #[cfg(unix)]
            Signal::Descriptor(line) => {
                // A full socket wakes the listener as well, and a closed one has no listener.
                let mut line = line;
                let _ = std::io::Write::write(&mut line, &[1]);
            }
        }
    }
}

/// Creates the queue of one listener, which sleeps in [`kassa_take`]; or is called, if there is a function; or listens to a descriptor, if
/// `descriptor` is the address of four bytes to write it to: the listener then owns it, and empties it before it takes completions. Returns
/// 0 if there can be no descriptor, as on Windows.
///
/// # Safety
/// The descriptor's four bytes are used by no one else. The function and its context are valid while the process lives: it is called on any
/// thread, also inside [`kassa_submit`], and perhaps once more after the queue is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_queue_new(function: Option<Function>, context: u64, descriptor: u64) -> u64 {
    let signal = match function {
        Some(function) => Signal::Function(function, context),
        None if descriptor == 0 => Signal::Sleeper,
        #[cfg(unix)]
        None => match line() {
            Ok((line, listen_at)) => {
                // SAFETY: the caller guarantees validity and exclusive access; the place may be unaligned, so it is written unaligned.
                unsafe { (descriptor as usize as *mut i32).write_unaligned(listen_at) };
                Signal::Descriptor(line)
            }
            Err(_) => return 0,
        },
        #[cfg(not(unix))]
        None => return 0,
    };
    let completions = Completions { queue: Queue::default(), signal, process: std::process::id() };
    Arc::into_raw(Arc::new(completions)) as u64
}

#[cfg(unix)]
fn line() -> std::io::Result<(std::os::unix::net::UnixStream, i32)> {
    let (line, end) = std::os::unix::net::UnixStream::pair()?;
    line.set_nonblocking(true)?;
    end.set_nonblocking(true)?;
    Ok((line, std::os::fd::IntoRawFd::into_raw_fd(end)))
}

/// # Safety
/// The queue is one of [`kassa_queue_new`] that was not freed.
unsafe fn shared<'a>(queue: u64) -> &'a Completions {
    // SAFETY: liveness. The caller's share keeps the queue alive, which is only ever shared.
    unsafe { &*(queue as usize as *const Completions) }
}

/// Makes the call in the memory. Its completion comes to the queue under this number, which no other call of the queue has. Its log events
/// are stored under the number `log`; 0 without a listener.
///
/// # Safety
/// The queue is one of [`kassa_queue_new`] that was not freed. The memory has a call of that length, and no one else uses it; the objects
/// that it names are handed over with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_submit(queue: u64, number: u64, log: u64, memory: u64, length: u64) {
    // SAFETY: ownership. The queue came from `Arc::into_raw`, and its caller's share stays: it is borrowed, and never dropped.
    let queue = std::mem::ManuallyDrop::new(unsafe { Arc::from_raw(queue as usize as *const Completions) });
    // SAFETY: the caller guarantees it.
    match unsafe { Memory::new(memory, length) }.read(length) {
        Ok(call) => queue.submit(number, log, call),
        Err(completion) => {
            queue.queue.begin(number, Call::new(None, log));
            queue.complete(number, completion);
        }
    }
}

/// Takes completions, and returns their size in bytes; below zero if more are waiting, for which there is no further signal. Each is the
/// number of its call, its status, and its value: see [`Memory::add`]. Without a completion, it sleeps until there is one, for at most this
/// number of milliseconds.
///
/// # Safety
/// The queue is one of [`kassa_queue_new`] that was not freed. There is that much memory, at least 32 bytes, initialised and used by no one
/// else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_take(queue: u64, memory: u64, capacity: u64, milliseconds: u64) -> i64 {
    // SAFETY: the caller guarantees it for both.
    let (completions, mut memory) = unsafe { (shared(queue), Memory::new(memory, capacity)) };
    let write = |number, completion| memory.add(number, completion);
    let is_more = match milliseconds {
        0 => completions.queue.take(write),
        _ => completions.queue.wait(Duration::from_millis(milliseconds), write),
    };
    if is_more { -memory.written() } else { memory.written() }
}

/// The caller of this call has its completion. Required if the status says so ([`Memory::write`]); otherwise it does nothing.
///
/// # Safety
/// The queue is one of [`kassa_queue_new`] that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_received(queue: u64, number: u64) {
    // SAFETY: the caller guarantees it.
    let completions = unsafe { shared(queue) };
    if completions.process == std::process::id() {
        drop(completions.queue.received(number));
    }
}

/// Gives up a call without a waiting caller, whether it is running, complete, or taken. The queue does not return it afterwards. A
/// [`kassa_take`] that began before on another thread may still return its completion, which has no caller then.
///
/// # Safety
/// The queue is one of [`kassa_queue_new`] that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_cancel(queue: u64, number: u64) {
    // SAFETY: the caller guarantees it.
    let completions = unsafe { shared(queue) };
    if completions.process != std::process::id() {
        return;
    }
    if let Some(given_up) = completions.queue.give_up(number) {
        end(given_up);
    }
}

fn end(given_up: GivenUp<Arc<Call>, Completion, Untaken>) {
    match given_up {
        GivenUp::GoingOn(call) => call.give_up(),
        GivenUp::Complete(completion) => completion.give_back(),
        GivenUp::Taken(untaken) => untaken(),
    }
}

/// Ends listening, and gives all calls up.
///
/// # Safety
/// The queue is one of [`kassa_queue_new`], and is passed once. No other thread uses it, not even asleep in [`kassa_take`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_queue_free(queue: u64) {
    // SAFETY: ownership. This is the share that `kassa_queue_new` gave to the caller; it comes back once. Calls have shares of their own.
    let completions = unsafe { Arc::from_raw(queue as usize as *const Completions) };
    if completions.process != std::process::id() {
        std::mem::forget(completions);
        return;
    }
    completions.queue.give_all_up().into_iter().for_each(end);
}
