use std::{
    future::poll_fn,
    sync::{Mutex, Weak},
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

/// The text where it is there; otherwise its number will be heard of.
fn poll(future: u64, wakeups: u64, number: u64) -> Option<String> {
    let mut room = [0; 32];
    // SAFETY: the tests poll each future on one thread, and until it is gone; the room is as long as is said.
    let result = unsafe { kassa_jvm_poll(future, wakeups, number, room.as_mut_ptr() as u64, room.len() as u64) };
    (result >= 0).then(|| {
        assert_eq!(result & 0xff, 0);
        String::from_utf8(room[..(result >> 8) as usize].to_vec()).unwrap()
    })
}

/// A queue stays for as long as the process: this keeps it reachable, so that a search for leaks does not name it.
fn staying_queue() -> u64 {
    static STAYING: Mutex<Vec<u64>> = Mutex::new(Vec::new());
    let wakeups = kassa_jvm_new();
    STAYING.lock().unwrap().push(wakeups);
    wakeups
}

fn heard(wakeups: u64, milliseconds: u64) -> Vec<u64> {
    let mut room = [0; 3];
    // SAFETY: the room is as long as is said.
    let count = unsafe { kassa_jvm_wait(wakeups, milliseconds, room.as_mut_ptr() as u64, room.len() as u64) };
    room[..count as usize].to_vec()
}

#[test]
fn what_is_ready_wakes_nobody() {
    let wakeups = staying_queue();
    assert_eq!(poll(ready("here"), wakeups, 1).unwrap(), "here");
    assert_eq!(poll(ready(""), wakeups, 2).unwrap(), "");
    assert!(heard(wakeups, 0).is_empty());
}

#[test]
fn every_call_that_waits_is_heard_of_once() {
    const CALLS: usize = 500;
    let wakeups = staying_queue();
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
            .filter(|number| match poll(futures[*number], wakeups, *number as u64) {
                Some(text) => {
                    assert_eq!(text, number.to_string());
                    false
                }
                None => true,
            })
            .collect();
        while !waiting.is_empty() {
            for number in heard(wakeups, u64::MAX) {
                let at = waiting.iter().position(|other| *other == number as usize).expect("it waits");
                waiting.swap_remove(at);
                assert_eq!(poll(futures[number as usize], wakeups, number).unwrap(), number.to_string());
            }
        }
    });
    assert!(heard(wakeups, 0).is_empty());
}

#[test]
fn a_call_that_is_given_up_is_dropped_at_once_and_heard_of() {
    let wakeups = staying_queue();
    let answer = Arc::<Mutex<Answer>>::default();
    let left: Weak<_> = Arc::downgrade(&answer);
    let future = future_of(answer);
    assert_eq!(poll(future, wakeups, 7), None);
    // SAFETY: the future goes on, and nobody polls it.
    unsafe { kassa_jvm_free(future) };
    assert!(left.upgrade().is_none());
    assert_eq!(heard(wakeups, 0), [7]);
}

#[test]
fn a_result_that_has_no_room_is_given_as_an_address() {
    let wakeups = staying_queue();
    let long = "long".repeat(100);
    let mut room = [0_u64; 2];
    // SAFETY: the future is new, and the room is as long as is said.
    let result = unsafe { kassa_jvm_poll(ready(&long), wakeups, 1, room.as_mut_ptr() as u64, 16) };
    assert_eq!(result, (long.len() as i64) << 8);
    let [address, capacity] = room;
    // SAFETY: the result is not given back yet.
    let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, long.len()) };
    assert_eq!(bytes, long.as_bytes());
    // SAFETY: it is given back once.
    unsafe { kassa_jvm_free_result(address, capacity) };
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

#[test]
fn arguments_arrive_in_their_order_and_are_wiped() {
    let wakeups = staying_queue();
    let mut arguments = [*b"\0\0\0\x01a\0\0\0\x02bc"; 2];
    let [first, second] = arguments.each_mut().map(|arguments| arguments.as_mut_ptr() as u64);
    // SAFETY: two arguments are written in each place, the methods take one or two of them, and there is no object
    // to live.
    let futures = unsafe { [kassa_jvm_begin_1(one, clone, 41, first), kassa_jvm_begin_2(two, clone, 41, second)] };
    for ((future, arguments), text) in futures.into_iter().zip(&arguments).zip(["42 a", "42 a bc"]) {
        assert_eq!(poll(future, wakeups, 1).unwrap(), text);
        assert!(!arguments.contains(&b'a'));
    }
    assert!(arguments[0].contains(&b'b'), "one that was not taken is left alone");
    assert!(!arguments[1].contains(&b'b'));
}
