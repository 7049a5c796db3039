//! A call whose thread waits for it: blocking Python, Java's threads.
//!
//! The thread stays in the library, which leaves the interpreter's lock to others, and comes back for a moment where it has to see
//! whether it was interrupted. For a query it drives the network itself, so that no other thread is woken.

use std::time::Duration;

use kassa::_calls::{CallingThread, Completion, Running, as_call};

use crate::memory::Memory;

/// What [`kassa_call`] answers where the call goes on.
const PENDING: i64 = -1;

/// Waits as long as the call takes.
const WITHOUT_END: u64 = u64::MAX;

/// A call between two waits for it.
struct Waiting {
    thread: CallingThread,
    call: Running,
    log: u64,
}

impl Waiting {
    fn wait(&mut self, milliseconds: u64) -> Option<Completion> {
        let Self { thread, call, log } = self;
        as_call(*log, || match milliseconds {
            WITHOUT_END => Some(thread.run(call)),
            _ => thread.run_for(call, Duration::from_millis(milliseconds)),
        })
    }
}

/// Makes the call that stands in the memory, and waits for it, though no longer than so many milliseconds: without end for the largest
/// number. Its log events come back under the number `log`; 0 where nobody listens.
///
/// Below zero it goes on. `waiting` is then the address of eight bytes that say so, and the next `kassa_call` with them waits on; or
/// [`kassa_call_end`] gives it up. They are zeros before the first wait, and after the end. Otherwise the memory has what the call ended
/// with, and this is its status (`Memory::write`).
///
/// # Safety
/// There is that much memory, 16 bytes at least, initialised and used by nobody else; the objects that a call names are handed over
/// with it. `waiting` is used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_call(
    memory: u64,
    capacity: u64,
    length: u64,
    log: u64,
    milliseconds: u64,
    waiting: u64,
) -> i64 {
    // SAFETY: as the caller says.
    let mut memory = unsafe { Memory::new(memory, capacity) };
    let place = waiting as usize as *mut u64;
    // SAFETY: validity and exclusive access, as the caller says; it may be unaligned, and is read so.
    let before = unsafe { place.read_unaligned() };
    let completion = if before == 0 {
        let call = match memory.read(length) {
            Ok(call) => call,
            Err(completion) => return memory.write(completion),
        };
        let thread = if call.is_query() { CallingThread::that_drives() } else { CallingThread::that_waits() };
        let mut waiting = Waiting { thread, call: call.begin(), log };
        let completion = waiting.wait(milliseconds);
        if completion.is_none() {
            // SAFETY: as above.
            unsafe { place.write_unaligned(Box::into_raw(Box::new(waiting)) as u64) };
        }
        completion
    } else {
        // SAFETY: ownership. What is not zero there came from `Box::into_raw` above; it stays in its place until the call is over.
        let completion = unsafe { &mut *(before as usize as *mut Waiting) }.wait(milliseconds);
        if completion.is_some() {
            // SAFETY: as the caller says of the eight bytes; they give their call back once.
            unsafe { end(place) };
        }
        completion
    };
    completion.map_or(PENDING, |completion| memory.write(completion))
}

/// Gives a call up that goes on.
///
/// # Safety
/// These are the eight bytes of a [`kassa_call`], which nobody else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_call_end(waiting: u64) {
    // SAFETY: as the caller says.
    unsafe { end(waiting as usize as *mut u64) };
}

/// # Safety
/// As of [`kassa_call_end`].
unsafe fn end(place: *mut u64) {
    // SAFETY: ownership. What is not zero there came from `Box::into_raw`; zeros take its place before it is dropped.
    unsafe {
        let waiting = place.read_unaligned();
        place.write_unaligned(0);
        if waiting != 0 {
            drop(Box::from_raw(waiting as usize as *mut Waiting));
        }
    }
}
