//! Event loop wake-up by a socket pair (Python's asyncio): one descriptor of a loop becomes readable when any of its
//! calls has got further.
//!
//! The generated way runs Python on the core's threads for each wake-up, which waits for the interpreter's lock there;
//! this takes 0.86 of its time (in a prototype). Calls that get further at once wake the loop once: 100 at once take
//! 0.59 of the time that aiohttp takes (`BENCHMARKS.md`, "Python: a status query, asyncio").
//!
//! Not on Windows, whose event loop listens to no descriptors.
//!
//! Why, and when it goes: `docs/adr/0005-fast-calls-from-other-languages.md`.

use std::{
    io::Write as _,
    os::{
        fd::{IntoRawFd as _, RawFd},
        unix::net::UnixStream,
    },
    sync::Arc,
};

use crate::wake_up::{Queue, Signal};

/// The calls of one event loop that have got further, with UniFFI's code in the lowest bit.
type Wakeups = Queue<UnixStream>;

impl Signal for UnixStream {
    fn give(&self) {
        // A full line is heard as well, and with nobody listening there is nobody to tell.
        let mut line = self;
        let _ = line.write(&[1]);
    }
}

/// One poll of one future.
struct Ticket {
    wakeups: Arc<Wakeups>,
    number: u64,
}

/// Makes what one event loop is woken by, and the descriptor to listen at, which belongs to the caller; nothing where
/// there are no descriptors left.
///
/// # Safety
/// There is room for a descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_asyncio_new(listen_at: *mut RawFd) -> *const Wakeups {
    let pair = UnixStream::pair().and_then(|(line, end)| {
        line.set_nonblocking(true)?;
        end.set_nonblocking(true)?;
        Ok((line, end))
    });
    let Ok((line, end)) = pair else { return std::ptr::null() };
    // SAFETY: validity. The caller's pointer is to writable memory for one descriptor.
    unsafe { listen_at.write(end.into_raw_fd()) };
    Arc::into_raw(Arc::new(Queue::new(line)))
}

/// What a continuation is called with. The number must not use the highest bit.
///
/// # Safety
/// The wake-ups are those of [`kassa_asyncio_new`] and were not freed. The ticket is given to [`kassa_asyncio_wake`],
/// once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_asyncio_ticket(wakeups: *const Wakeups, number: u64) -> u64 {
    // SAFETY: ownership. The pointer came from `Arc::into_raw` and the caller's own share is not given back yet, so the
    // count is not zero; the share that is taken is one that is added here.
    let wakeups = unsafe {
        Arc::increment_strong_count(wakeups);
        Arc::from_raw(wakeups)
    };
    Box::into_raw(Box::new(Ticket { wakeups, number })) as u64
}

/// The continuation: UniFFI's code (0 or 1) goes along with the number of the ticket.
///
/// # Safety
/// The ticket is one of [`kassa_asyncio_ticket`], and is given once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_asyncio_wake(ticket: u64, code: i8) {
    // SAFETY: ownership. The ticket came from `Box::into_raw`, and UniFFI calls the continuation of each poll exactly
    // once, so nobody else has it or will take it back.
    let ticket = unsafe { Box::from_raw(ticket as *mut Ticket) };
    ticket.wakeups.push(ticket.number << 1 | u64::from(code != 0));
}

/// Takes the calls that have got further so far, as `number * 2 + code`, and says how many they are. Call it again
/// where the room was filled, and empty the descriptor before the first call.
///
/// # Safety
/// The wake-ups are those of [`kassa_asyncio_new`] and were not freed, and there is that much room, initialised and
/// used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_asyncio_take(wakeups: *const Wakeups, room: *mut u64, length: usize) -> usize {
    // SAFETY: liveness and exclusive access. The caller's share keeps the wake-ups alive, which are only ever shared;
    // the room is the caller's alone for the time of the call, and as long as it says.
    unsafe { (*wakeups).take(std::slice::from_raw_parts_mut(room, length)) }
}

/// Ends listening. Tickets that are still out wake nobody.
///
/// # Safety
/// The wake-ups are those of [`kassa_asyncio_new`], and are given once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_asyncio_free(wakeups: *const Wakeups) {
    // SAFETY: ownership. This is the share that `kassa_asyncio_new` gave to the caller; it comes back once. Tickets
    // have shares of their own.
    drop(unsafe { Arc::from_raw(wakeups) });
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read as _,
        os::fd::{FromRawFd as _, OwnedFd},
    };

    use super::*;

    #[test]
    fn many_wake_once_and_none_is_lost() {
        let mut listen_at = 0;
        // SAFETY: there is room for a descriptor.
        let wakeups = unsafe { kassa_asyncio_new(&raw mut listen_at) };
        // SAFETY: the descriptor belongs to the caller, and nobody else has it.
        let mut end = UnixStream::from(unsafe { OwnedFd::from_raw_fd(listen_at) });
        // SAFETY: the wake-ups are freed below, after the last ticket is made.
        let tickets: Vec<u64> = (1..=5).map(|number| unsafe { kassa_asyncio_ticket(wakeups, number) }).collect();
        std::thread::scope(|scope| {
            for ticket in &tickets[..4] {
                // SAFETY: each ticket is given once.
                scope.spawn(|| unsafe { kassa_asyncio_wake(*ticket, 1) });
            }
        });
        assert_eq!(end.read(&mut [0; 8]).unwrap(), 1);
        let mut room = [0; 3];
        let mut taken = Vec::new();
        for count in [3, 1, 0] {
            // SAFETY: the wake-ups are not freed yet, and the room is as long as is said.
            assert_eq!(unsafe { kassa_asyncio_take(wakeups, room.as_mut_ptr(), room.len()) }, count);
            taken.extend_from_slice(&room[..count]);
        }
        taken.sort_unstable();
        assert_eq!(taken, [3, 5, 7, 9]);
        // SAFETY: the wake-ups are given back once, and so is the last ticket.
        unsafe {
            kassa_asyncio_free(wakeups);
            kassa_asyncio_wake(tickets[4], 0);
        }
        assert_eq!(end.read(&mut [0; 8]).unwrap(), 1);
        assert_eq!(end.read(&mut [0; 8]).unwrap(), 0, "the line is closed with the last ticket");
    }
}
