//! Calls of the core for a language to which every argument that is a structure, every buffer and every callback comes dear.
//!
//! A call is two steps there and back. All of it is numbers, of 64 bits on every machine, addresses too. Nothing of the other language runs on Kassa's threads, as in
//! [`waiting`](super::waiting): one thread of its own sleeps in [`kassa_calls_wait`], and hears of many calls at once.

use std::{
    mem::{ManuallyDrop, transmute},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use uniffi::{
    Handle, RustBuffer, RustCallStatus, RustFuturePoll, ffi::rust_future_complete, ffi::rust_future_free,
    ffi::rust_future_poll,
};

/// What [`kassa_call_poll`] answers where the call goes on.
const PENDING: i64 = -1;

/// The calls that have got further, for the thread that waits.
#[derive(Default)]
pub struct Board {
    woken: Mutex<Vec<u64>>,
    is_there_any: Condvar,
}

impl Board {
    fn wake(&self, number: u64) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        woken.push(number);
        if woken.len() == 1 {
            self.is_there_any.notify_one();
        }
    }

    fn wait(&self, longest: Duration, room: &mut [u64]) -> usize {
        let woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut woken, _) = self
            .is_there_any
            .wait_timeout_while(woken, longest, |woken| woken.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        let count = woken.len().min(room.len());
        room.iter_mut().zip(woken.drain(..count)).for_each(|(place, number)| *place = number);
        count
    }
}

/// One poll of one call.
struct Poll {
    board: Arc<Board>,
    number: u64,
    state: AtomicU8,
}

const POLLING: u8 = 0;
const WAITING: u8 = 1;
const OVER: u8 = 2;
const OVER_AND_READY: u8 = 3;

impl Poll {
    /// Whether the call is ready; nothing where it is to be waited for.
    fn run(future: u64, board: &Arc<Board>, number: u64) -> Option<bool> {
        let poll = Arc::new(Self { board: board.clone(), number, state: AtomicU8::new(POLLING) });
        let ticket = Arc::into_raw(poll.clone()) as u64;
        // SAFETY: the caller has the future, and the continuation takes its own share of the poll.
        unsafe { rust_future_poll::<RustBuffer>(Handle::from_raw_unchecked(future), over, ticket) };
        match poll.state.compare_exchange(POLLING, WAITING, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => None,
            Err(state) => Some(state == OVER_AND_READY),
        }
    }
}

/// The continuation. What is over before the poll has returned need wake nobody.
extern "C" fn over(ticket: u64, code: RustFuturePoll) {
    // SAFETY: UniFFI calls the continuation of each poll exactly once, so this is the continuation's share.
    let poll = unsafe { Arc::from_raw(ticket as *const Poll) };
    let state = if matches!(code, RustFuturePoll::Ready) { OVER_AND_READY } else { OVER };
    if poll.state.swap(state, Ordering::AcqRel) == WAITING {
        poll.board.wake(poll.number);
    }
}

/// Makes the board of one user of the library. It stays.
#[unsafe(no_mangle)]
pub extern "C" fn kassa_calls_new() -> u64 {
    Arc::into_raw(Arc::<Board>::default()) as u64
}

/// Waits until calls have got further, but not for longer than so many milliseconds, and writes their numbers: so many.
///
/// # Safety
/// The board is one of [`kassa_calls_new`], and there is that much room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_calls_wait(board: u64, milliseconds: u64, room: u64, length: u64) -> u64 {
    // SAFETY: the caller says so.
    unsafe {
        let room = std::slice::from_raw_parts_mut(room as *mut u64, length as usize);
        (*(board as *const Board)).wait(Duration::from_millis(milliseconds), room) as u64
    }
}

/// Begins a call of an object's method, and answers with its future, which goes to [`kassa_call_poll`] or [`kassa_call_free`].
///
/// The arguments stand one after the other, each behind its length in four bytes (the highest first), and are wiped here: there may
/// be secrets among them.
///
/// # Safety
/// The method is one of UniFFI's asynchronous ones that takes its object and so many buffers, one to three, and answers with a
/// buffer; `clone` is its object's; the object lives; and the arguments are written as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_call_begin(method: u64, clone: u64, object: u64, arguments: u64, count: u32) -> u64 {
    let [method, clone] = [method, clone].map(|function| function as usize as *const ());
    let mut next = arguments as usize as *mut u8;
    // SAFETY: the caller says so of the arguments, and of the two functions.
    unsafe {
        let mut argument = || {
            let taken = take(next);
            next = next.add(size_of::<u32>() + taken.len());
            RustBuffer::from_vec(taken)
        };
        let clone = transmute::<*const (), extern "C" fn(u64, &mut RustCallStatus) -> u64>(clone);
        let object = clone(object, &mut RustCallStatus::default());
        match count {
            1 => transmute::<*const (), extern "C" fn(u64, RustBuffer) -> u64>(method)(object, argument()),
            2 => {
                let method = transmute::<*const (), extern "C" fn(u64, RustBuffer, RustBuffer) -> u64>(method);
                method(object, argument(), argument())
            }
            _ => {
                let method =
                    transmute::<*const (), extern "C" fn(u64, RustBuffer, RustBuffer, RustBuffer) -> u64>(method);
                method(object, argument(), argument(), argument())
            }
        }
    }
}

/// Copies one argument, and wipes it.
unsafe fn take(at: *mut u8) -> Vec<u8> {
    // SAFETY: the caller's caller has written it so.
    unsafe {
        let length = u32::from_be(at.cast::<u32>().read_unaligned()) as usize;
        let bytes = at.add(size_of::<u32>());
        let taken = std::slice::from_raw_parts(bytes, length).to_vec();
        bytes.write_bytes(0, length);
        taken
    }
}

/// Asks a call for its result. Below zero it goes on, and its number will be heard of once by [`kassa_calls_wait`].
///
/// Otherwise the future is gone, and this is UniFFI's code (the lowest byte) and the result's length (the other bytes). The result is
/// written to the room where there is enough of it; otherwise its address and its capacity are, for [`kassa_result_free`].
///
/// # Safety
/// The future is one of [`kassa_call_begin`] that nobody else polls; the board is one of [`kassa_calls_new`]; there is that much room,
/// and it is for two numbers at least.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_call_poll(future: u64, board: u64, number: u64, room: u64, length: u64) -> i64 {
    // SAFETY: the board stays.
    let board = ManuallyDrop::new(unsafe { Arc::from_raw(board as *const Board) });
    loop {
        match Poll::run(future, &board, number) {
            None => return PENDING,
            Some(false) => {}
            Some(true) => break,
        }
    }
    let mut status = RustCallStatus::default();
    // SAFETY: the future is ready, and this is the end of it.
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
    // SAFETY: the caller gives room.
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
/// The future is one of [`kassa_call_begin`] that is not gone, and nobody polls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_call_free(future: u64) {
    // SAFETY: the caller says so.
    unsafe { rust_future_free::<RustBuffer>(Handle::from_raw_unchecked(future)) };
}

/// Gives back a result that there was no room for.
///
/// # Safety
/// It is one of [`kassa_call_poll`], and is given once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_result_free(address: u64, capacity: u64) {
    // SAFETY: these are the parts of a vector; what is in it need not be dropped.
    drop(unsafe { Vec::from_raw_parts(address as *mut u8, 0, capacity as usize) });
}

#[cfg(test)]
mod tests {
    use std::{
        future::poll_fn,
        sync::Weak,
        task::{self, Waker},
        thread,
    };

    use uniffi::ffi::rust_future_new;

    use super::*;

    /// What UniFFI's traits are implemented for.
    struct Tag;

    /// The other end of a future.
    #[derive(Default)]
    struct Answer {
        text: Option<String>,
        waker: Option<Waker>,
    }

    fn give(answer: &Mutex<Answer>, text: &str) {
        let waker = {
            let mut answer = answer.lock().unwrap();
            answer.text = Some(text.to_owned());
            answer.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    fn future_of(answer: Arc<Mutex<Answer>>) -> u64 {
        let future = poll_fn(move |context| {
            let mut answer = answer.lock().unwrap();
            match answer.text.take() {
                Some(text) => task::Poll::Ready(Ok(text)),
                None => {
                    answer.waker = Some(context.waker().clone());
                    task::Poll::Pending
                }
            }
        });
        rust_future_new::<_, String, _>(future, Tag).as_raw()
    }

    fn ready(text: &str) -> u64 {
        let answer = Arc::<Mutex<Answer>>::default();
        give(&answer, text);
        future_of(answer)
    }

    /// The text where it is there, and what the board is told otherwise.
    fn poll(future: u64, board: u64, number: u64) -> Option<String> {
        let mut room = [0; 32];
        let result = unsafe { kassa_call_poll(future, board, number, room.as_mut_ptr() as u64, room.len() as u64) };
        (result >= 0).then(|| {
            assert_eq!(result & 0xff, 0);
            String::from_utf8(room[..(result >> 8) as usize].to_vec()).unwrap()
        })
    }

    fn heard(board: u64, milliseconds: u64) -> Vec<u64> {
        let mut room = [0; 3];
        let count = unsafe { kassa_calls_wait(board, milliseconds, room.as_mut_ptr() as u64, room.len() as u64) };
        room[..count as usize].to_vec()
    }

    #[test]
    fn what_is_ready_wakes_nobody() {
        let board = kassa_calls_new();
        assert_eq!(poll(ready("here"), board, 1).unwrap(), "here");
        assert_eq!(poll(ready(""), board, 2).unwrap(), "");
        assert!(heard(board, 0).is_empty());
    }

    #[test]
    fn every_call_that_waits_is_heard_of_once() {
        const CALLS: usize = 500;
        let board = kassa_calls_new();
        let answers: Vec<_> = (0..CALLS).map(|_| Arc::<Mutex<Answer>>::default()).collect();
        let futures: Vec<_> = answers.iter().map(|answer| future_of(answer.clone())).collect();
        thread::scope(|scope| {
            for part in 0..4 {
                let answers = &answers;
                scope.spawn(move || {
                    (part..CALLS).step_by(4).for_each(|number| give(&answers[number], &number.to_string()));
                });
            }
            // Some are ready before they are polled, some meanwhile, some afterwards.
            let mut waiting: Vec<_> = (0..CALLS)
                .filter(|number| match poll(futures[*number], board, *number as u64) {
                    Some(text) => {
                        assert_eq!(text, number.to_string());
                        false
                    }
                    None => true,
                })
                .collect();
            while !waiting.is_empty() {
                for number in heard(board, u64::MAX) {
                    let at = waiting.iter().position(|other| *other == number as usize).expect("it waits");
                    waiting.swap_remove(at);
                    assert_eq!(poll(futures[number as usize], board, number).unwrap(), number.to_string());
                }
            }
        });
        assert!(heard(board, 0).is_empty());
    }

    #[test]
    fn a_call_that_is_given_up_is_dropped_at_once_and_heard_of() {
        let board = kassa_calls_new();
        let answer = Arc::<Mutex<Answer>>::default();
        let left: Weak<_> = Arc::downgrade(&answer);
        let future = future_of(answer);
        assert_eq!(poll(future, board, 7), None);
        unsafe { kassa_call_free(future) };
        assert!(left.upgrade().is_none());
        assert_eq!(heard(board, 0), [7]);
    }

    #[test]
    fn a_result_that_has_no_room_is_given_as_an_address() {
        let board = kassa_calls_new();
        let long = "long".repeat(100);
        let mut room = [0_u64; 2];
        let result = unsafe { kassa_call_poll(ready(&long), board, 1, room.as_mut_ptr() as u64, 16) };
        assert_eq!(result, (long.len() as i64) << 8);
        let [address, capacity] = room;
        let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, long.len()) };
        assert_eq!(bytes, long.as_bytes());
        unsafe { kassa_result_free(address, capacity) };
    }

    extern "C" fn clone(object: u64, _: &mut RustCallStatus) -> u64 {
        object + 1
    }

    fn joined(object: u64, arguments: Vec<RustBuffer>) -> u64 {
        let texts = arguments.into_iter().map(|argument| String::from_utf8(argument.destroy_into_vec()).unwrap());
        ready(&format!("{object} {}", texts.collect::<Vec<_>>().join(" ")))
    }

    extern "C" fn one(object: u64, a: RustBuffer) -> u64 {
        joined(object, vec![a])
    }

    extern "C" fn two(object: u64, a: RustBuffer, b: RustBuffer) -> u64 {
        joined(object, vec![a, b])
    }

    extern "C" fn three(object: u64, a: RustBuffer, b: RustBuffer, c: RustBuffer) -> u64 {
        joined(object, vec![a, b, c])
    }

    #[test]
    fn arguments_arrive_in_their_order_and_are_wiped() {
        let board = kassa_calls_new();
        let methods = [one as *const () as u64, two as *const () as u64, three as *const () as u64];
        for ((method, count), text) in methods.into_iter().zip(1..).zip(["42 a", "42 a bc", "42 a bc "]) {
            let mut arguments = *b"\0\0\0\x01a\0\0\0\x02bc\0\0\0\0";
            let future = unsafe {
                kassa_call_begin(method, clone as *const () as u64, 41, arguments.as_mut_ptr() as u64, count)
            };
            assert_eq!(poll(future, board, 1).unwrap(), text);
            assert!(!arguments.contains(&b'a'));
        }
    }
}
