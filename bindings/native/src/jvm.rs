//! Direct FFI calls from the JVM, over JNA: of a gateway's methods, with nothing but numbers and function pointers.
//!
//! JNA makes objects for every structure by value, every buffer and every status that the generated code hands over, a
//! dozen a call, and has the core's threads enter the JVM to wake a coroutine. Here a call is two steps there and back,
//! arguments and result lie in memory that the caller keeps, and one thread of the JVM sleeps in [`kassa_jvm_wait`] and
//! hears of many calls at once. A status query takes 0.72 of the time that OkHttp takes, one by one, and 0.95 with 100
//! at once (`BENCHMARKS.md`, "Kotlin and Java").
//!
//! Numbers, addresses of memory among them, have 64 bits on every machine, as the JVM's `long`; functions are pointers,
//! as JNA's `Pointer`, so that a 32-bit phone passes both as they are declared here.
//!
//! Upstream: UniFFI's generator for Kotlin over JNI (<https://github.com/mozilla/uniffi-rs/issues/2672>) makes none of
//! these objects. This goes when a release of it takes no longer for a query.
//!
//! Why, and when it goes: `docs/adr/0005-fast-calls-from-other-languages.md`.

use std::{
    mem::ManuallyDrop,
    sync::{Arc, Condvar},
    time::Duration,
};

use uniffi::{
    Handle, RustBuffer, RustCallStatus, RustFuturePoll, ffi::rust_future_complete, ffi::rust_future_free,
    ffi::rust_future_poll,
};

use crate::wake_up::{PollState, Progress, Queue};

#[cfg(test)]
mod tests;

/// What [`kassa_jvm_poll`] answers where the call goes on.
const PENDING: i64 = -1;

/// The calls that have got further, for the thread that waits.
type Wakeups = Queue<Condvar>;

/// UniFFI's function that adds a share of an object to it, and answers with what a method takes.
type CloneObject = extern "C" fn(object: u64, status: &mut RustCallStatus) -> u64;

/// One poll of one call.
struct Poll {
    wakeups: Arc<Wakeups>,
    number: u64,
    state: PollState,
}

impl Poll {
    /// What has come of the call; nothing where it is to be waited for.
    ///
    /// # Safety
    /// The future lives, and nobody else polls it.
    unsafe fn run(future: u64, wakeups: &Arc<Wakeups>, number: u64) -> Option<Progress> {
        let poll = Arc::new(Self { wakeups: wakeups.clone(), number, state: PollState::new() });
        let ticket = Arc::into_raw(poll.clone()) as u64;
        // SAFETY: liveness and type. The caller says that the future lives and is polled by nobody else; all methods
        // that begin a call here answer with a buffer, so the future is one for it. `over` gets the share that the
        // ticket is.
        unsafe { rust_future_poll::<RustBuffer>(Handle::from_raw_unchecked(future), over, ticket) };
        poll.state.returned()
    }
}

/// The continuation. What is over before the poll has returned need wake nobody.
extern "C" fn over(ticket: u64, code: RustFuturePoll) {
    // SAFETY: ownership. The ticket came from `Arc::into_raw` in `Poll::run` with a share for the continuation; UniFFI
    // calls the continuation of each poll exactly once, so that share is taken back here and nowhere else.
    let poll = unsafe { Arc::from_raw(ticket as *const Poll) };
    let progress = if matches!(code, RustFuturePoll::Ready) { Progress::Ready } else { Progress::Woken };
    if poll.state.over(progress) {
        poll.wakeups.push(poll.number);
    }
}

/// Makes the queue of one user of the library. It stays, because its listener may outlive whoever made it.
#[unsafe(no_mangle)]
pub extern "C" fn kassa_jvm_new() -> u64 {
    Arc::into_raw(Arc::new(Wakeups::new(Condvar::new()))) as u64
}

/// Waits until calls have got further, but not for longer than so many milliseconds, and writes their numbers: so many.
///
/// # Safety
/// The queue is one of [`kassa_jvm_new`], and there is that much room, initialised and used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_jvm_wait(wakeups: u64, milliseconds: u64, room: u64, length: u64) -> u64 {
    // SAFETY: liveness and exclusive access. A queue is never freed and only ever shared; the room is the caller's
    // alone for the time of the call, and as long as it says.
    unsafe {
        let room = std::slice::from_raw_parts_mut(room as *mut u64, length as usize);
        (*(wakeups as *const Wakeups)).wait(Duration::from_millis(milliseconds), room) as u64
    }
}

/// Begins a call of a method with one argument, and answers with its future, which goes to [`kassa_jvm_poll`] or
/// [`kassa_jvm_free`].
///
/// The arguments stand one after the other, each behind its length in four bytes (the highest first), and are wiped
/// here: there may be secrets among them.
///
/// # Safety
/// The method is one of UniFFI's asynchronous ones that takes its object and so many buffers, and answers with a
/// buffer; `clone` is its object's; the object lives; and the arguments are written as described, in memory that nobody
/// else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_jvm_begin_1(
    method: extern "C" fn(u64, RustBuffer) -> u64,
    clone: CloneObject,
    object: u64,
    arguments: u64,
) -> u64 {
    // SAFETY: as the caller says, one argument is written there.
    let [a] = unsafe { taken(arguments) };
    method(clone(object, &mut RustCallStatus::default()), a)
}

/// Begins a call of a method with two arguments, as [`kassa_jvm_begin_1`].
///
/// # Safety
/// As of [`kassa_jvm_begin_1`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_jvm_begin_2(
    method: extern "C" fn(u64, RustBuffer, RustBuffer) -> u64,
    clone: CloneObject,
    object: u64,
    arguments: u64,
) -> u64 {
    // SAFETY: as the caller says, two arguments are written there.
    let [a, b] = unsafe { taken(arguments) };
    method(clone(object, &mut RustCallStatus::default()), a, b)
}

/// Copies arguments, and wipes them.
///
/// # Safety
/// So many are written there, each behind its length in four bytes, in memory that nobody else uses.
unsafe fn taken<const COUNT: usize>(arguments: u64) -> [RustBuffer; COUNT] {
    let mut next = arguments as usize as *mut u8;
    [(); COUNT].map(|()| {
        // SAFETY: bounds and exclusive access. The caller has written a length here and so many bytes behind it, all in
        // one piece of memory that is its alone for the time of the call; the length may be unaligned, and is read so.
        unsafe {
            let length = u32::from_be(next.cast::<u32>().read_unaligned()) as usize;
            let bytes = next.add(size_of::<u32>());
            let copy = std::slice::from_raw_parts(bytes, length).to_vec();
            bytes.write_bytes(0, length);
            next = bytes.add(length);
            RustBuffer::from_vec(copy)
        }
    })
}

/// Asks a call for its result. Below zero it goes on, and its number will be heard of once by [`kassa_jvm_wait`].
///
/// Otherwise the future is gone, and this is UniFFI's code (the lowest byte) and the result's length (the other bytes).
/// The result is written to the room where there is enough of it; otherwise its address and its capacity are, for
/// [`kassa_jvm_free_result`].
///
/// # Safety
/// The future is one of [`kassa_jvm_begin_1`] and its like that nobody else polls; the queue is one of
/// [`kassa_jvm_new`]; there is that much room, for two numbers at least, that nobody else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_jvm_poll(future: u64, wakeups: u64, number: u64, room: u64, length: u64) -> i64 {
    // SAFETY: ownership. The queue came from `Arc::into_raw`, and its one share there stays: it is borrowed, and never
    // dropped.
    let wakeups = ManuallyDrop::new(unsafe { Arc::from_raw(wakeups as *const Wakeups) });
    loop {
        // SAFETY: the caller says so of the future.
        match unsafe { Poll::run(future, &wakeups, number) } {
            None => return PENDING,
            Some(Progress::Woken) => {}
            Some(Progress::Ready) => break,
        }
    }
    let mut status = RustCallStatus::default();
    // SAFETY: ownership. The future is ready, nobody else polls it, and this is the end of it: it is completed once and
    // freed once.
    let answer = unsafe {
        let answer = rust_future_complete::<RustBuffer>(Handle::from_raw_unchecked(future), &mut status);
        rust_future_free::<RustBuffer>(Handle::from_raw_unchecked(future));
        answer
    };
    let code = status.code as i64;
    let error = ManuallyDrop::into_inner(status.error_buf);
    let (result, other) = if code == 0 { (answer, error) } else { (error, answer) };
    other.destroy();
    let result = result.destroy_into_vec();
    let size = result.len();
    let room = room as usize as *mut u8;
    // SAFETY: bounds. The room holds `length` bytes, and two numbers at least, so either form of the result fits; it
    // may be unaligned, and is written so. The vector is elsewhere, so the two do not overlap.
    unsafe {
        if size as u64 <= length {
            room.copy_from_nonoverlapping(result.as_ptr(), size);
        } else {
            let result = ManuallyDrop::new(result);
            room.cast::<[u64; 2]>().write_unaligned([result.as_ptr() as u64, result.capacity() as u64]);
        }
    }
    (size as i64) << 8 | code
}

/// Gives up a call that goes on.
///
/// # Safety
/// The future is one of [`kassa_jvm_begin_1`] and its like that is not gone, and nobody polls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_jvm_free(future: u64) {
    // SAFETY: ownership. The future is the caller's, who gives it back here and only once.
    unsafe { rust_future_free::<RustBuffer>(Handle::from_raw_unchecked(future)) };
}

/// Gives back a result that there was no room for.
///
/// # Safety
/// It is one of [`kassa_jvm_poll`], and is given once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_jvm_free_result(address: u64, capacity: u64) {
    // SAFETY: ownership. These are the parts of a vector that `kassa_jvm_poll` left to the caller, who gives them back
    // once; what is in it are bytes, which need not be dropped.
    drop(unsafe { Vec::from_raw_parts(address as *mut u8, 0, capacity as usize) });
}
