use std::{
    collections::BTreeMap,
    sync::{
        Weak,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    task::Wake,
    thread,
};

use kassa::{Gateway, MbankPaymentCreated, PaymentRef, PollPolicy, QrImage, QrPayment, Verdict, WatchReport};

use super::*;
use crate::{
    memory::kassa_free,
    testing::{elsewhere, gateway, gateway_without_response, message, nonsense, pay, query, read},
};

/// How long a test waits for what must come.
const PATIENCE: u64 = 60_000;

/// A queue of the caller's. It is freed when it is dropped.
struct Listener(u64);

/// What was taken: the code and the value, by the number of the call.
type Taken = BTreeMap<u64, (u64, Vec<u8>)>;

impl Listener {
    fn that_sleeps() -> Self {
        // SAFETY: there is no descriptor to write.
        Self(unsafe { kassa_queue_new(None, 0, 0) })
    }

    fn that_is_called(function: Function, context: u64) -> Self {
        // SAFETY: there is no descriptor to write, and the functions of the tests may be called on any thread.
        Self(unsafe { kassa_queue_new(Some(function), context, 0) })
    }

    fn submit(&self, number: u64, mut message: Vec<u8>) {
        // SAFETY: the queue is not freed yet, and a call is written in the memory.
        unsafe { kassa_submit(self.0, number, 0, message.as_mut_ptr() as u64, message.len() as u64) };
        assert!(message.iter().all(|byte| *byte == 0));
    }

    fn received(&self, number: u64) {
        // SAFETY: the queue is not freed yet.
        unsafe { kassa_received(self.0, number) };
    }

    fn cancel(&self, number: u64) {
        // SAFETY: the queue is not freed yet.
        unsafe { kassa_cancel(self.0, number) };
    }

    /// Takes completions as often as more are waiting, and says how often.
    fn take(&self, capacity: usize, milliseconds: u64, taken: &mut Taken) -> usize {
        for times in 1.. {
            let mut memory = vec![0; capacity];
            // SAFETY: the queue is not freed yet, and the memory is this thread's alone.
            let written = unsafe { kassa_take(self.0, memory.as_mut_ptr() as u64, capacity as u64, milliseconds) };
            let mut rest = &memory[..written.unsigned_abs() as usize];
            while let Some((head, values)) = rest.split_at_checked(16) {
                let [number, status] = [0, 8].map(|at| u64::from_be_bytes(head[at..][..8].try_into().unwrap()));
                let length = (status >> 8) as usize;
                let code = status & 0x7f;
                let value = if length > capacity - 16 {
                    rest = &values[16..];
                    // SAFETY: the value is freed here, once.
                    unsafe {
                        let (value, address, capacity) = elsewhere(values, length);
                        let value = value.to_vec();
                        kassa_free(address, capacity);
                        value
                    }
                } else {
                    rest = &values[length..];
                    values[..length].to_vec()
                };
                assert_eq!(taken.insert(number, (code, value)), None, "it is taken twice");
            }
            assert!(rest.is_empty());
            if written >= 0 {
                return times;
            }
        }
        unreachable!("it is taken without end")
    }

    /// Sleeps until so many are complete.
    fn hear(&self, capacity: usize, count: usize) -> Taken {
        let mut taken = Taken::new();
        while taken.len() < count {
            let before = taken.len();
            self.take(capacity, PATIENCE, &mut taken);
            assert!(taken.len() > before, "it slept for too long");
        }
        taken
    }

    fn hears_nothing(&self) -> bool {
        let mut taken = Taken::new();
        self.take(100, 20, &mut taken);
        taken.is_empty()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // SAFETY: each queue is freed once.
        unsafe { kassa_queue_free(self.0) };
    }
}

/// A gateway that only its calls hold, the first of which goes on.
fn held_by_its_call(listener: &Listener, number: u64) -> (kassa::FakeGateway, Weak<Gateway>) {
    let (fake, gateway) = gateway_without_response();
    listener.submit(number, query(&gateway));
    (fake, Arc::downgrade(&gateway))
}

#[test]
fn sleeper_hears_of_every_call_once() {
    const CALLS: u64 = 200;
    let (_fake, gateway) = gateway();
    let listener = Listener::that_sleeps();
    let taken = thread::scope(|scope| {
        for part in 0..4 {
            let (listener, gateway) = (&listener, &gateway);
            scope.spawn(move || (part..CALLS).step_by(4).for_each(|number| listener.submit(number, query(gateway))));
        }
        listener.hear(500, CALLS as usize)
    });
    assert!(taken.keys().copied().eq(0..CALLS));
    assert!(listener.hears_nothing());
}

#[test]
fn completion_has_its_code_and_its_value() {
    let (fake, gateway) = gateway();
    let listener = Listener::that_sleeps();
    listener.submit(1, pay(&gateway));
    let (code, value) = &listener.hear(2000, 1)[&1];
    let created: MbankPaymentCreated = read(value);
    assert_eq!((*code, created.payment.order_number.as_deref()), (0, Some("order-1")));
    assert_eq!(fake.payments().len(), 1);

    let payment = QrPayment::new(5000);
    listener.submit(2, message(AsyncCall::CreateQrImage { gateway, payment }));
    let (code, value) = &listener.hear(32, 1)[&2];
    assert_eq!(*code, 0);
    assert!(read::<QrImage>(value).png.starts_with(b"\x89PNG"), "it went by its address");

    listener.submit(3, nonsense());
    assert_eq!(listener.hear(500, 1)[&3].0, 2);
}

#[test]
fn call_that_is_given_up_is_dropped_at_once_and_never_heard_of() {
    let listener = Listener::that_sleeps();
    let (fake, gateway) = held_by_its_call(&listener, 7);
    assert!(gateway.upgrade().is_some() && listener.hears_nothing());
    listener.cancel(7);
    assert!(gateway.upgrade().is_none());
    fake.start_clock();
    assert!(listener.hears_nothing());

    listener.submit(8, nonsense());
    listener.cancel(8);
    assert!(listener.hears_nothing(), "it was complete, but not taken");
    listener.submit(9, nonsense());
    listener.hear(500, 1);
    listener.cancel(9);
}

extern "C" fn tell(sender: u64) {
    // SAFETY: liveness. The number is the address of a sender that is never freed: this may still run when the test has ended.
    let sender = unsafe { &*(sender as usize as *const mpsc::Sender<()>) };
    let _ = sender.send(());
}

/// A watch of a payment that is charged: it has one report.
fn watch_with_one_report(taking: &Listener) -> (kassa::FakeGateway, Arc<kassa::StatusWatch>) {
    let (fake, gateway) = gateway();
    taking.submit(1, pay(&gateway));
    taking.hear(2000, 1);
    taking.received(1);
    fake.charge("order-1").unwrap();
    let watch = gateway.watch(PaymentRef::mbank("order-1", 100), PollPolicy::default()).unwrap();
    (fake, Arc::new(watch))
}

fn next(watch: &Arc<kassa::StatusWatch>) -> Vec<u8> {
    message(AsyncCall::WatchNext { watch: watch.clone() })
}

fn is_charged(value: &[u8]) -> bool {
    matches!(read(value), Some(WatchReport::Status { verdict: Verdict::Charged { .. }, .. }))
}

#[test]
fn report_that_was_not_taken_goes_to_the_next_call() {
    let give_up: [fn(Listener); 2] = [|listener| listener.cancel(1), drop];
    for give_up in give_up {
        let taking = Listener::that_sleeps();
        let (_fake, watch) = watch_with_one_report(&taking);
        let (sender, is_complete) = mpsc::channel::<()>();
        let listener = Listener::that_is_called(tell, std::ptr::from_ref(Box::leak(Box::new(sender))) as u64);
        listener.submit(1, next(&watch));
        is_complete.recv().unwrap();
        give_up(listener);

        taking.submit(2, next(&watch));
        assert!(is_charged(&taking.hear(2000, 1)[&2].1));
    }
}

/// The listener has it in its memory, and its caller stops waiting before it comes there.
#[test]
fn unreceived_report_goes_to_the_next_call() {
    let give_up: [fn(Listener); 2] = [|listener| listener.cancel(1), drop];
    for give_up in give_up {
        let taking = Listener::that_sleeps();
        let (_fake, watch) = watch_with_one_report(&taking);
        let listener = Listener::that_sleeps();
        listener.submit(1, next(&watch));
        listener.hear(2000, 1);
        give_up(listener);

        taking.submit(2, next(&watch));
        assert!(is_charged(&taking.hear(2000, 1)[&2].1));
        taking.received(2);
        taking.cancel(2);
        taking.submit(3, next(&watch));
        assert_eq!(
            read::<Option<WatchReport>>(&taking.hear(2000, 1)[&3].1),
            None,
            "it was received, and does not come again"
        );
    }
}

#[test]
fn call_that_is_given_up_wakes_its_task_to_end() {
    #[derive(Default)]
    struct Task(AtomicU64);
    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let task = Arc::new(Task::default());
    let waker = Waker::from(task.clone());
    let mut cx = Context::from_waker(&waker);
    let call = Call::new(Some(Box::pin(std::future::pending())), 0);
    assert!(call.poll(&mut cx).is_pending() && call.poll(&mut cx).is_pending());
    assert_eq!(task.0.load(Ordering::SeqCst), 0);
    call.give_up();
    assert_eq!(task.0.load(Ordering::SeqCst), 1);
    assert!(matches!(call.poll(&mut cx), Poll::Ready(None)));
}

#[test]
fn queue_may_be_freed_with_calls_under_way() {
    let listener = Listener::that_sleeps();
    let gateways = [1, 2, 3].map(|number| held_by_its_call(&listener, number));
    listener.submit(4, nonsense());
    drop(listener);
    for (fake, gateway) in gateways {
        assert!(gateway.upgrade().is_none());
        fake.start_clock();
    }
}

extern "C" fn count(context: u64) {
    // SAFETY: liveness. The context is the address of a number that outlives the queue and its calls.
    unsafe { &*(context as usize as *const AtomicU64) }.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn many_completions_call_the_function_once() {
    let calls = AtomicU64::new(0);
    let listener = Listener::that_is_called(count, &raw const calls as u64);
    for (round, expected) in [(0, 1), (100, 2)] {
        (round..round + 100).for_each(|number| listener.submit(number, nonsense()));
        assert_eq!(calls.load(Ordering::SeqCst), expected);
        let mut taken = Taken::new();
        assert!(listener.take(500, 0, &mut taken) > 1);
        assert_eq!(taken.len(), 100);
    }
}

/// A listener whose function does all of it: it takes what is there, gives a call up, and makes the next one.
struct Chain {
    listener: Mutex<Option<Listener>>,
    gateway: Arc<Gateway>,
    over: mpsc::Sender<Taken>,
}

const LAST: u64 = 20;

extern "C" fn go_on(context: u64) {
    // SAFETY: liveness. The context is the address of a chain that outlives the queue and its calls.
    let chain = unsafe { &*(context as usize as *const Chain) };
    let listener = chain.listener.lock().unwrap();
    let listener = listener.as_ref().unwrap();
    let mut taken = Taken::new();
    listener.take(500, 0, &mut taken);
    let number = *taken.keys().max().unwrap();
    listener.cancel(number);
    if number < LAST {
        listener.submit(number + 1, query(&chain.gateway));
    }
    chain.over.send(taken).unwrap();
}

#[test]
fn function_may_take_and_submit_and_give_up() {
    let (_fake, gateway) = gateway();
    let (over, taken) = mpsc::channel();
    let chain = Box::new(Chain { listener: Mutex::default(), gateway, over });
    let listener = Listener::that_is_called(go_on, &raw const *chain as u64);
    let mut place = chain.listener.lock().unwrap();
    place.insert(listener).submit(1, query(&chain.gateway));
    drop(place);
    for number in 1..=LAST {
        let taken = taken.recv_timeout(Duration::from_millis(PATIENCE)).unwrap();
        assert!(taken.keys().eq([&number]));
    }
    // Until the last function has returned.
    drop(chain.listener.lock().unwrap().take());
}

#[cfg(unix)]
mod by_a_descriptor {
    use std::{
        io::{ErrorKind, Read as _},
        os::{
            fd::{FromRawFd as _, OwnedFd},
            unix::net::UnixStream,
        },
    };

    use super::*;

    fn listener() -> (Listener, UnixStream) {
        let mut descriptor = -1_i32;
        // SAFETY: the four bytes are this thread's alone.
        let queue = unsafe { kassa_queue_new(None, 0, &raw mut descriptor as u64) };
        // SAFETY: the descriptor belongs to the caller, and nobody else has it.
        let line = UnixStream::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
        (Listener(queue), line)
    }

    fn signals(mut line: &UnixStream) -> usize {
        line.read(&mut [0; 8]).unwrap_or_else(|problem| {
            assert_eq!(problem.kind(), ErrorKind::WouldBlock);
            0
        })
    }

    #[test]
    fn many_completions_give_one_signal() {
        let (listener, line) = listener();
        assert_eq!(signals(&line), 0);
        for round in [0, 100] {
            (round..round + 100).for_each(|number| listener.submit(number, nonsense()));
            assert_eq!(signals(&line), 1);
            let mut taken = Taken::new();
            assert!(listener.take(500, 0, &mut taken) > 1);
            assert_eq!(taken.len(), 100);
            assert_eq!(signals(&line), 0);
        }
    }

    #[test]
    fn every_call_is_heard_of_once() {
        const CALLS: u64 = 200;
        let (_fake, gateway) = gateway();
        let (listener, line) = listener();
        line.set_nonblocking(false).unwrap();
        line.set_read_timeout(Some(Duration::from_millis(PATIENCE))).unwrap();
        let mut taken = Taken::new();
        thread::scope(|scope| {
            scope.spawn(|| (0..CALLS).for_each(|number| listener.submit(number, query(&gateway))));
            while taken.len() < CALLS as usize {
                assert!(signals(&line) > 0);
                listener.take(500, 0, &mut taken);
            }
        });
        assert!(taken.keys().copied().eq(0..CALLS));
        assert_eq!(Arc::strong_count(&gateway), 1);
    }

    /// The line is closed with the last share of the queue, so no task has one any more.
    #[test]
    fn tasks_end_with_their_queue() {
        let (listener, mut line) = listener();
        let (_fake, gateway) = held_by_its_call(&listener, 1);
        listener.submit(2, nonsense());
        drop(listener);
        assert!(gateway.upgrade().is_none());
        line.set_nonblocking(false).unwrap();
        line.set_read_timeout(Some(Duration::from_millis(PATIENCE))).unwrap();
        let mut rest = Vec::new();
        line.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, [1]);
    }

    #[test]
    fn call_that_is_complete_after_its_listener_has_gone_tells_nobody() {
        let (listener, line) = listener();
        drop(line);
        listener.submit(1, nonsense());
        assert_eq!(listener.hear(500, 1).len(), 1);
    }
}
