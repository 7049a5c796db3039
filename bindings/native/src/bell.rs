//! Wakes an event loop of another language when UniFFI's futures have got further.
//!
//! As in [`waiting`](super::waiting), the futures' continuation is a function of Kassa's own: it notes the code and makes a file
//! descriptor readable, which every event loop can listen to. Many futures that get further at once ring once.

use std::{
    io::Write as _,
    os::{
        fd::{IntoRawFd as _, RawFd},
        unix::net::UnixStream,
    },
    sync::{Arc, Mutex, PoisonError},
};

/// One for each event loop.
pub struct Bell {
    line: UnixStream,
    rung: Mutex<Vec<u64>>,
}

/// One poll of one future.
struct Ticket {
    bell: Arc<Bell>,
    number: u64,
}

impl Bell {
    fn ring(&self, rung: u64) {
        let mut waiting = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(rung);
        if waiting.len() == 1 {
            // A full line is heard as well, and with nobody listening there is nobody to tell.
            let _ = (&self.line).write(&[1]);
        }
    }

    fn take(&self, room: &mut [u64]) -> usize {
        let mut waiting = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let count = waiting.len().min(room.len());
        room.iter_mut().zip(waiting.drain(..count)).for_each(|(place, rung)| *place = rung);
        count
    }
}

/// Makes a bell, and the descriptor to listen at, which belongs to the caller; nothing where there are no descriptors left.
///
/// # Safety
/// There is room for a descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_bell_new(listen_at: *mut RawFd) -> *const Bell {
    let pair = UnixStream::pair().and_then(|(line, end)| {
        line.set_nonblocking(true)?;
        end.set_nonblocking(true)?;
        Ok((line, end))
    });
    let Ok((line, end)) = pair else { return std::ptr::null() };
    // SAFETY: the caller gives room.
    unsafe { listen_at.write(end.into_raw_fd()) };
    Arc::into_raw(Arc::new(Bell { line, rung: Mutex::default() }))
}

/// What a continuation is called with. The number must not use the highest bit.
///
/// # Safety
/// The bell is one of [`kassa_bell_new`] that was not freed. The ticket is given to [`kassa_bell_ring`], once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_bell_ticket(bell: *const Bell, number: u64) -> u64 {
    // SAFETY: the caller's share is given back by `kassa_bell_free` only, so there is something to share.
    let bell = unsafe {
        Arc::increment_strong_count(bell);
        Arc::from_raw(bell)
    };
    Box::into_raw(Box::new(Ticket { bell, number })) as u64
}

/// The continuation: UniFFI's code (0 or 1) goes along with the number of the ticket.
///
/// # Safety
/// The ticket is one of [`kassa_bell_ticket`], and is given once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_bell_ring(ticket: u64, code: i8) {
    // SAFETY: UniFFI calls the continuation of each poll exactly once.
    let ticket = unsafe { Box::from_raw(ticket as *mut Ticket) };
    ticket.bell.ring(ticket.number << 1 | u64::from(code != 0));
}

/// Takes what has rung so far, as `number * 2 + code`, and says how much that is. Call it again where the room was filled, and empty
/// the descriptor before the first call.
///
/// # Safety
/// The bell is one of [`kassa_bell_new`] that was not freed, and there is that much room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_bell_take(bell: *const Bell, room: *mut u64, length: usize) -> usize {
    // SAFETY: the caller says so.
    unsafe { (*bell).take(std::slice::from_raw_parts_mut(room, length)) }
}

/// Ends listening. Tickets that are still out ring unheard.
///
/// # Safety
/// The bell is one of [`kassa_bell_new`], and is given once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_bell_free(bell: *const Bell) {
    // SAFETY: this is the caller's share.
    drop(unsafe { Arc::from_raw(bell) });
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read as _,
        os::fd::{FromRawFd as _, OwnedFd},
    };

    use super::*;

    #[test]
    fn many_ring_once_and_none_is_lost() {
        let mut listen_at = 0;
        let bell = unsafe { kassa_bell_new(&raw mut listen_at) };
        let mut end = UnixStream::from(unsafe { OwnedFd::from_raw_fd(listen_at) });
        let tickets: Vec<u64> = (1..=5).map(|number| unsafe { kassa_bell_ticket(bell, number) }).collect();
        std::thread::scope(|scope| {
            for ticket in &tickets[..4] {
                scope.spawn(|| unsafe { kassa_bell_ring(*ticket, 1) });
            }
        });
        assert_eq!(end.read(&mut [0; 8]).unwrap(), 1);
        let mut room = [0; 3];
        let mut taken = Vec::new();
        for count in [3, 1, 0] {
            assert_eq!(unsafe { kassa_bell_take(bell, room.as_mut_ptr(), room.len()) }, count);
            taken.extend_from_slice(&room[..count]);
        }
        taken.sort_unstable();
        assert_eq!(taken, [3, 5, 7, 9]);
        unsafe { kassa_bell_free(bell) };
        unsafe { kassa_bell_ring(tickets[4], 0) };
        assert_eq!(end.read(&mut [0; 8]).unwrap(), 1);
        assert_eq!(end.read(&mut [0; 8]).unwrap(), 0, "the line is closed with the last ticket");
    }
}
