//! Blocking calls: the calling thread waits for the completion (blocking Python, Java's threads).
//!
//! The thread stays in the library, so that other threads can hold the interpreter's lock, and returns from time to time if it has to check
//! for an interrupt. For a query, it drives the network itself, so that no other thread is woken.

use std::time::Duration;

use kassa::_calls::{CallingThread, Completion, CompletionCode, Running, Untaken, as_call};

use crate::memory::Memory;

/// The result of [`kassa_call`] if the call continues.
const PENDING: i64 = -1;

/// Waits as long as the call takes.
const WITHOUT_END: u64 = u64::MAX;

/// A call that has begun and is not received yet.
enum Waiting {
    /// The call continues between two waits.
    GoesOn {
        // Dropped first: the thread lends its network to the next caller.
        call: Running,
        thread: CallingThread,
        log: u64,
    },
    /// The caller's memory has the completion. The caller may be interrupted before it reads that.
    Complete(Untaken),
}

impl Waiting {
    fn wait(&mut self, milliseconds: u64) -> Option<Completion> {
        let Self::GoesOn { call, thread, log } = self else {
            return Some(Completion::new(CompletionCode::Defect, b"the call is complete".to_vec()));
        };
        as_call(*log, || match milliseconds {
            WITHOUT_END => Some(thread.run(call)),
            _ => thread.run_for(call, Duration::from_millis(milliseconds)),
        })
    }
}

/// Makes the call in the memory, and waits for it for at most this number of milliseconds: without limit for the largest number. Its log
/// events are stored under the number `log`; 0 without a listener.
///
/// A result below zero means that the call continues. `waiting` is the address of eight bytes that then identify it: the next `kassa_call`
/// with them continues to wait, and [`kassa_call_end`] gives the call up. Otherwise the memory has the completion, and the result is its
/// status (`Memory::write`). The eight bytes are zeros before the first wait and after the end. If the status says that the completion is
/// to be received, they are zeros only after [`kassa_call_received`], or after [`kassa_call_end`] if no caller receives it.
///
/// # Safety
/// There is that much memory, at least 16 bytes, initialised and used by no one else; the objects that a call names are handed over with
/// it. `waiting` is used by no one else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_call(
    memory: u64,
    capacity: u64,
    length: u64,
    log: u64,
    milliseconds: u64,
    waiting: u64,
) -> i64 {
    // SAFETY: the caller guarantees it.
    let mut memory = unsafe { Memory::new(memory, capacity) };
    let place = waiting as usize as *mut u64;
    // SAFETY: the caller guarantees validity and exclusive access; the place may be unaligned, so it is read unaligned.
    let before = unsafe { place.read_unaligned() };
    let completion = if before == 0 {
        let call = match memory.read(length) {
            Ok(call) => call,
            Err(completion) => return memory.write(completion).0,
        };
        let thread = if call.is_query() { CallingThread::that_drives() } else { CallingThread::that_waits() };
        let mut waiting = Waiting::GoesOn { call: call.begin(), thread, log };
        let completion = waiting.wait(milliseconds);
        if completion.is_none() {
            // SAFETY: as above.
            unsafe { put(place, waiting) };
        }
        completion
    } else {
        // SAFETY: ownership. A nonzero value there came from `put`, and stays in place until the call is over.
        let completion = unsafe { &mut *(before as usize as *mut Waiting) }.wait(milliseconds);
        if completion.is_some() {
            // SAFETY: the caller guarantees it for the eight bytes; they return their call once.
            drop(unsafe { take(place) });
        }
        completion
    };
    let Some(completion) = completion else { return PENDING };
    let (status, untaken) = memory.write(completion);
    if let Some(untaken) = untaken {
        // SAFETY: as above.
        unsafe { put(place, Waiting::Complete(untaken)) };
    }
    status
}

/// The caller has received the completion.
///
/// # Safety
/// These are the eight bytes of a [`kassa_call`], which no one else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_call_received(waiting: u64) {
    // SAFETY: the caller guarantees it.
    drop(unsafe { take(waiting as usize as *mut u64) });
}

/// Gives up a call that continues, or that is complete and was not received.
///
/// # Safety
/// These are the eight bytes of a [`kassa_call`], which no one else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_call_end(waiting: u64) {
    // SAFETY: the caller guarantees it.
    let given_up = unsafe { take(waiting as usize as *mut u64) };
    if let Some(Waiting::Complete(untaken)) = given_up {
        untaken();
    }
}

/// # Safety
/// These are the eight bytes of a [`kassa_call`], which no one else uses. They are zeros.
unsafe fn put(place: *mut u64, waiting: Waiting) {
    // SAFETY: the caller guarantees exclusive access.
    unsafe { place.write_unaligned(Box::into_raw(Box::new(waiting)) as u64) };
}

/// # Safety
/// These are the eight bytes of a [`kassa_call`], which no one else uses.
unsafe fn take(place: *mut u64) -> Option<Waiting> {
    // SAFETY: ownership. A nonzero value there came from `put`, and is replaced by zeros before it is returned.
    unsafe {
        let waiting = place.read_unaligned();
        place.write_unaligned(0);
        (waiting != 0).then(|| *Box::from_raw(waiting as usize as *mut Waiting))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kassa::{
        _calls::AsyncCall, Credentials, Gateway, GatewayConfig, MbankPaymentCreated, PayForm, PaymentError, PaymentRef,
        PollPolicy, QrImage, QrPayment, Verdict, WatchReport,
    };

    use super::*;
    use crate::{
        memory::kassa_free,
        testing::{elsewhere, gateway, gateway_without_response, message, nonsense, pay, query, read},
    };

    /// A caller with memory of its own, in which one call is written.
    struct Caller {
        memory: Vec<u8>,
        length: usize,
        waiting: u64,
    }

    impl Caller {
        fn new(message: Vec<u8>, capacity: usize) -> Self {
            let length = message.len();
            let mut memory = message;
            memory.resize(capacity.max(length), 0);
            Self { memory, length, waiting: 0 }
        }

        fn wait(&mut self, milliseconds: u64) -> i64 {
            let (memory, capacity) = (self.memory.as_mut_ptr() as u64, self.memory.len() as u64);
            let waiting = &raw mut self.waiting as u64;
            // SAFETY: the memory and the eight bytes are the caller's alone, and a call is written there.
            unsafe { kassa_call(memory, capacity, self.length as u64, 0, milliseconds, waiting) }
        }

        /// The code and the value.
        fn end(&mut self) -> (i64, &[u8]) {
            let status = self.wait(WITHOUT_END);
            assert_eq!(self.waiting != 0, status & 0x80 != 0);
            // SAFETY: no one else uses the eight bytes.
            unsafe { kassa_call_received(&raw mut self.waiting as u64) };
            assert_eq!(self.waiting, 0);
            (status & 0x7f, &self.memory[..(status >> 8) as usize])
        }

        fn is_wiped(&self) -> bool {
            self.memory.iter().all(|byte| *byte == 0)
        }
    }

    #[test]
    fn call_runs_to_its_end() {
        let (fake, gateway) = gateway();
        let mut caller = Caller::new(pay(&gateway), 2000);
        let (code, value) = caller.end();
        assert_eq!(code, 0);
        let created: MbankPaymentCreated = read(value);
        assert_eq!(created.payment.order_number.as_deref(), Some("order-1"));
        assert_eq!(fake.payments().len(), 1);
        assert_eq!(Arc::strong_count(&gateway), 1, "the call gives its objects back");
    }

    #[test]
    fn call_without_an_answer_leaves_nothing_but_zeros() {
        let (_fake, gateway) = gateway();
        let mut caller = Caller::new(message(AsyncCall::Close { gateway }), 100);
        assert_eq!(caller.end(), (0, &[][..]));
        assert!(caller.is_wiped());
    }

    #[test]
    fn query_drives_a_connection_of_its_own() {
        let credentials = Credentials::basic("shop", "secret");
        let mut config = GatewayConfig::new("http://127.0.0.1:1", credentials);
        config.query_retries = 0;
        let gateway = Arc::new(Gateway::new(config).unwrap());
        for message in [query(&gateway), pay(&gateway)] {
            let mut caller = Caller::new(message, 2000);
            let (code, value) = caller.end();
            assert_eq!(code, 1);
            let error: PaymentError = read(value);
            assert!(matches!(error, PaymentError::Unavailable { .. }), "{error}");
        }
    }

    #[test]
    fn call_runs_in_slices() {
        for call in [query, pay] {
            let (fake, gateway) = gateway_without_response();
            let mut caller = Caller::new(call(&gateway), 2000);
            assert_eq!(caller.wait(1), PENDING);
            assert!(caller.waiting != 0 && caller.is_wiped());
            assert_eq!(caller.wait(0), PENDING);
            assert!(caller.is_wiped());
            fake.start_clock();
            assert_eq!(caller.end().0, 1);
            assert_eq!(Arc::strong_count(&gateway), 1);
        }
    }

    #[test]
    fn call_that_is_given_up_is_dropped() {
        for call in [query, pay] {
            let (_fake, gateway) = gateway_without_response();
            let mut caller = Caller::new(call(&gateway), 2000);
            assert_eq!(caller.wait(1), PENDING);
            assert!(Arc::strong_count(&gateway) > 1);
            for _ in 0..2 {
                // SAFETY: no one else uses the eight bytes.
                unsafe { kassa_call_end(&raw mut caller.waiting as u64) };
                assert_eq!(caller.waiting, 0, "giving up twice is giving up once");
                assert_eq!(Arc::strong_count(&gateway), 1);
            }
        }
    }

    /// As where Ctrl-C is pressed while the last wait comes to its end.
    #[test]
    fn report_that_was_not_received_comes_again() {
        let (fake, gateway) = gateway();
        Caller::new(pay(&gateway), 2000).end();
        fake.charge("order-1").unwrap();
        let watch = gateway.watch(PaymentRef::mbank("order-1", 100), PollPolicy::default()).unwrap();
        let watch = Arc::new(watch);
        let next = || Caller::new(message(AsyncCall::WatchNext { watch: watch.clone() }), 2000);

        let mut interrupted = next();
        assert!(interrupted.wait(WITHOUT_END) > 0 && interrupted.waiting != 0);
        // SAFETY: no one else uses the eight bytes.
        unsafe { kassa_call_end(&raw mut interrupted.waiting as u64) };
        assert_eq!(interrupted.waiting, 0);

        assert!(matches!(read(next().end().1), Some(WatchReport::Status { verdict: Verdict::Charged { .. }, .. })));
        assert_eq!(read::<Option<WatchReport>>(next().end().1), None);
    }

    #[test]
    fn value_that_is_longer_than_the_memory_goes_by_its_address() {
        let (_fake, gateway) = gateway();
        let payment = QrPayment::new(5000);
        let mut caller = Caller::new(message(AsyncCall::CreateQrImage { gateway, payment }), 0);
        let status = caller.wait(WITHOUT_END);
        assert_eq!(status & 0xff, 0);
        let length = (status >> 8) as usize;
        assert!(length > caller.memory.len());
        // SAFETY: the value is freed here, once.
        unsafe {
            let (value, address, capacity) = elsewhere(&caller.memory, length);
            assert!(read::<QrImage>(value).png.starts_with(b"\x89PNG"));
            kassa_free(address, capacity);
        }
    }

    #[test]
    fn message_that_cannot_be_read_is_a_defect() {
        let mut caller = Caller::new(nonsense(), 500);
        let (code, text) = caller.end();
        assert_eq!(code, 2);
        assert!(str::from_utf8(text).unwrap().contains("AsyncCall"));
    }

    #[test]
    fn amount_that_is_no_decimal_is_an_error() {
        let (_fake, gateway) = gateway();
        let form = PayForm::new("100".parse().unwrap(), "tea", "https://shop.example/callback");
        let mut message = message(AsyncCall::CreatePayForm { gateway: gateway.clone(), form });
        let amount = message.windows(3).position(|digits| digits == b"100").unwrap();
        message[amount..][..3].copy_from_slice(b"NaN");
        let mut caller = Caller::new(message, 2000);
        let (code, value) = caller.end();
        assert_eq!(code, 1);
        let PaymentError::Invalid { violations, .. } = read(value) else { panic!("another error") };
        assert_eq!(violations[0].field, "amount");
        assert_eq!(Arc::strong_count(&gateway), 1);
    }
}
