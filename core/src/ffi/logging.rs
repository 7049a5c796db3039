//! Logging: passes the core's events to the logging of another language, to a sink at once, or later on request.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicU8, Ordering},
    },
    time::SystemTime,
};

use crate::{
    pipeline::{
        log::{self, Event, EventDetails},
        telemetry::CompletedCall,
    },
    transport::runtime::PerProcess,
};

/// The severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something did not go as expected, such as a missing response.
    Warning,
    /// Something worth knowing.
    Info,
    /// Each exchange with the gateway.
    Debug,
}

/// One event, in one line. It contains neither secrets nor bodies.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct LogEvent {
    /// Its severity.
    pub level: LogLevel,
    /// What happened, with its details as `name=value`.
    pub text: String,
}

/// A stored event, with its call, its time and its details one by one.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct KeptLogEvent {
    /// The event.
    pub event: LogEvent,
    /// The number of its call, as given by the caller; 0 if it has none.
    pub call: u64,
    /// When it happened.
    pub at: SystemTime,
    /// Its details that are strings, by name.
    pub fields: HashMap<String, String>,
    /// Its details that are numbers, by name.
    pub numbers: HashMap<String, u64>,
}

/// A completed request to the gateway, with the number of its call; 0 if it has none.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct KeptCall {
    /// The number of the call.
    pub call: u64,
    /// The record.
    pub completed: CompletedCall,
}

/// The stored events and records of some calls.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct TakenLogEvents {
    /// The events, grouped by call, and the oldest of each call first.
    pub events: Vec<KeptLogEvent>,
    /// The completed requests to the gateway, in the same order.
    pub completed: Vec<KeptCall>,
    /// The ended calls that may still have more events: a payment continues without its caller.
    pub under_way: Vec<u64>,
}

/// Receives the events. It is called on one of Kassa's own threads, one event after the other. No call waits for it,
/// and its exceptions reach no call. If it is a thousand events behind, further ones are dropped.
#[uniffi::export(with_foreign)]
pub trait LogSink: Send + Sync {
    /// Receives one event.
    fn log(&self, event: LogEvent);
}

static SINK: RwLock<Option<Arc<dyn LogSink>>> = RwLock::new(None);

/// Sends all further events to this sink, or to none if it is absent. Nothing is logged until this is called.
#[uniffi::export]
fn set_log_sink(sink: Option<Arc<dyn LogSink>>) {
    *SINK.write().unwrap_or_else(PoisonError::into_inner) = sink;
    log::listen(hear);
}

/// Limit of each call's buffer: events that are never taken must not fill the memory. The oldest are dropped first.
const MOST_KEPT: usize = 1000;

/// The stored events and records, by call number.
static KEPT: PerProcess<Mutex<HashMap<u64, StoredEvents>>> = PerProcess::new();
/// How many of the levels are stored, from [`LogLevel::Error`] on.
static KEPT_LEVELS: AtomicU8 = AtomicU8::new(0);

#[derive(Default)]
struct StoredEvents {
    events: VecDeque<KeptLogEvent>,
    dropped: usize,
    completed: VecDeque<CompletedCall>,
}

/// Stores further events of this severity or higher, until they are taken; none if the level is absent. For languages
/// whose code should not run on Kassa's threads.
#[uniffi::export]
fn keep_log_events(least: Option<LogLevel>) {
    KEPT_LEVELS.store(least.map_or(0, |level| level as u8 + 1), Ordering::Relaxed);
    if least.is_none() {
        forget(|of_call| of_call.events.clear());
    }
    log::listen(hear);
}

/// Takes the stored events of these calls: of waiting ones, and of ended ones. The number 0 stands for all events without a call.
#[uniffi::export]
pub(super) fn take_log_events(waiting: Vec<u64>, ended: Vec<u64>) -> TakenLogEvents {
    // First, because a call that is over by now has stored all of its events.
    let under_way = log::those_under_way(&ended);
    let mut kept = kept();
    let (mut events, mut completed) = (Vec::new(), Vec::new());
    for call in waiting.iter().chain(&ended) {
        if let Some(mut of_call) = kept.remove(call) {
            events.extend(of_call.take(*call));
            let kept = |completed| KeptCall { call: *call, completed };
            completed.extend(of_call.completed.into_iter().map(kept));
        }
    }
    TakenLogEvents { events, completed, under_way }
}

/// Removes a part of the stored data that would never be taken.
fn forget(part: impl Fn(&mut StoredEvents)) {
    kept().retain(|_, of_call| {
        part(of_call);
        !of_call.events.is_empty() || !of_call.completed.is_empty()
    });
}

/// Removes the stored records.
pub(super) fn forget_completed() {
    forget(|of_call| of_call.completed.clear());
}

/// Stores the record of a call until it is taken with its events, unless it is no longer wanted.
pub(super) fn keep_completed(call: u64, ended: CompletedCall, is_wanted: impl FnOnce() -> bool) {
    let mut kept = kept();
    // Checked under the lock, which is also taken to remove the stored records.
    if !is_wanted() {
        return;
    }
    let completed = &mut kept.entry(call).or_default().completed;
    if completed.len() == MOST_KEPT {
        completed.pop_front();
    }
    completed.push_back(ended);
}

fn kept() -> MutexGuard<'static, HashMap<u64, StoredEvents>> {
    KEPT.get().lock().unwrap_or_else(PoisonError::into_inner)
}

impl StoredEvents {
    fn keep(&mut self, event: KeptLogEvent) {
        if self.events.len() == MOST_KEPT {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(event);
    }

    fn take(&mut self, call: u64) -> Vec<KeptLogEvent> {
        let (events, dropped) = (std::mem::take(&mut self.events), std::mem::take(&mut self.dropped));
        let gap = (dropped > 0).then(|| KeptLogEvent {
            event: LogEvent {
                level: LogLevel::Warning,
                text: format!("{dropped} earlier events were dropped, because they were not taken"),
            },
            call,
            at: SystemTime::now(),
            fields: HashMap::default(),
            numbers: HashMap::from([("dropped".to_owned(), dropped as u64)]),
        });
        gap.into_iter().chain(events).collect()
    }
}

fn sink() -> Option<Arc<dyn LogSink>> {
    SINK.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Stores an event at once, because the caller takes it as soon as the call is over. A sink is another language's code,
/// and gets it later.
fn hear(heard: &Event) {
    let level = level_of(heard.level());
    let sink = sink();
    let is_kept = (level as u8) < KEPT_LEVELS.load(Ordering::Relaxed);
    if sink.is_none() && !is_kept {
        return;
    }
    let EventText { text, fields, numbers } = EventText::of(heard);
    let event = LogEvent { level, text };
    if is_kept {
        let event = KeptLogEvent { event: event.clone(), call: heard.call, at: SystemTime::now(), fields, numbers };
        kept().entry(heard.call).or_default().keep(event);
    }
    if let Some(sink) = sink {
        log::later(move |dropped| {
            if dropped > 0 {
                sink.log(dropped_before(dropped));
            }
            sink.log(event);
        });
    }
}

fn dropped_before(dropped: usize) -> LogEvent {
    LogEvent { level: LogLevel::Warning, text: format!("{} dropped={dropped}", log::DROPPED) }
}

fn level_of(level: tracing::Level) -> LogLevel {
    match level {
        tracing::Level::ERROR => LogLevel::Error,
        tracing::Level::WARN => LogLevel::Warning,
        tracing::Level::INFO => LogLevel::Info,
        _ => LogLevel::Debug,
    }
}

/// The message first, then the fields.
struct EventText {
    text: String,
    fields: HashMap<String, String>,
    numbers: HashMap<String, u64>,
}

impl EventText {
    fn of(event: &Event) -> Self {
        let mut line =
            Self { text: event.message().to_owned(), fields: HashMap::default(), numbers: HashMap::default() };
        line.quote("endpoint", event.endpoint);
        if let Some(order) = &event.order {
            line.quote("order", order);
        }
        match &event.details {
            EventDetails::Responded { attempt, http_status, duration_ms } => {
                line.count("attempt", *attempt);
                line.count("http_status", *http_status);
                line.count("duration_ms", *duration_ms);
            }
            EventDetails::NoResponse { attempt, duration_ms, failure } => {
                line.count("attempt", *attempt);
                line.count("duration_ms", *duration_ms);
                line.note("failure", failure);
            }
            EventDetails::NobodyWaits => {}
            EventDetails::CheckoutFailed { http_status, duration_ms, failure } => {
                if let Some(http_status) = http_status {
                    line.count("http_status", *http_status);
                }
                line.count("duration_ms", *duration_ms);
                line.note("failure", failure);
            }
            EventDetails::WaitsForRecovery { journal } => line.quote("journal", journal),
            EventDetails::Delivery { result, pause_ms, detail, .. } => {
                if let Some(result) = result {
                    line.quote("result", result);
                }
                if let Some(pause_ms) = pause_ms {
                    line.count("pause_ms", *pause_ms);
                }
                if let Some(detail) = detail {
                    line.note("detail", detail);
                }
            }
        }
        line
    }

    /// A string is quoted in the line, so that it cannot look like another field, and unquoted among the fields.
    fn quote(&mut self, name: &str, value: &str) {
        self.text += &format!(" {name}={value:?}");
        self.fields.insert(name.to_owned(), value.to_owned());
    }

    fn note(&mut self, name: &str, value: &str) {
        self.text += &format!(" {name}={value}");
        self.fields.insert(name.to_owned(), value.to_owned());
    }

    fn count(&mut self, name: &str, value: impl Into<u64>) {
        let value = value.into();
        self.text += &format!(" {name}={value}");
        self.numbers.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::poll_fn,
        pin::pin,
        sync::mpsc::{Sender, channel},
        time::Duration,
    };

    use futures_util::FutureExt as _;

    use super::*;
    use crate::{
        Provider,
        ffi::call::AsyncCall,
        testing::scripted::{Act, Scripted, call, mbank_payment},
    };

    /// Sends on what it hears of the orders of one test: others of this process may log as well.
    struct Heard(Sender<LogEvent>, &'static str);

    impl LogSink for Heard {
        fn log(&self, event: LogEvent) {
            if event.text.contains(self.1) {
                self.0.send(event).unwrap();
            }
        }
    }

    /// One test, because there is one sink.
    #[tokio::test(start_paused = true)]
    async fn exchange_is_one_line_until_sink_is_gone() {
        let (sender, heard) = channel();
        let (gateway, _) = Scripted::gateway(|n| if n == 1 { Act::Refuse } else { Act::status("CHARGE") });
        let query = async |order| gateway.provider_status(order, Provider::Cards).await.unwrap();
        set_log_sink(Some(Arc::new(Heard(sender.clone(), "logged-"))));
        query("logged-1").await;
        query("logged-2").await;
        set_log_sink(None);
        query("logged-3").await;
        set_log_sink(Some(Arc::new(Heard(sender, "logged-"))));
        query("logged-4").await;
        set_log_sink(None);

        let responded = |order: &str, attempt: u32| LogEvent {
            level: LogLevel::Debug,
            text: format!(
                r#"responded endpoint="provider_status" order="{order}" attempt={attempt} http_status=200 duration_ms=0"#
            ),
        };
        let text = r#"no response endpoint="provider_status" order="logged-2" attempt=1 duration_ms=0 "#.to_owned()
            + r#"failure=NotConnected { detail: "refused" }"#;
        let expected = [
            responded("logged-1", 1),
            LogEvent { level: LogLevel::Warning, text },
            responded("logged-2", 2),
            responded("logged-4", 1),
        ];
        // The last sender goes with the last event.
        assert_eq!(heard.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn full_event_store_drops_and_counts_oldest() {
        let mut kept = StoredEvents::default();
        for number in 0..MOST_KEPT + 2 {
            kept.keep(KeptLogEvent {
                event: LogEvent { level: LogLevel::Debug, text: number.to_string() },
                call: 7,
                at: SystemTime::UNIX_EPOCH,
                fields: HashMap::default(),
                numbers: HashMap::default(),
            });
        }
        let events = kept.take(7);
        assert_eq!(events.len(), MOST_KEPT + 1);
        assert!(events.iter().all(|event| event.call == 7));
        assert_eq!(events[0].event.text, "2 earlier events were dropped, because they were not taken");
        assert_eq!(events[1].event.text, "2");
        assert!(kept.take(7).is_empty());
    }

    /// Polls as another language does, by the number of its call.
    async fn numbered<T>(call: u64, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        poll_fn(|cx| log::as_call(call, || future.as_mut().poll(cx))).await
    }

    fn texts(taken: &TakenLogEvents, call: u64) -> Vec<&str> {
        let of_call = taken.events.iter().filter(|event| event.call == call);
        of_call.map(|event| event.event.text.split(" endpoint").next().unwrap_or_default()).collect()
    }

    const NOBODY_WAITS: &str = "the payment has its response, but its caller has stopped waiting";

    /// One test, because all tests share what is kept.
    #[tokio::test(start_paused = true)]
    async fn events_stay_until_their_call_has_ended() {
        let (gateway, _) =
            Scripted::gateway(|n| if n < 2 { Act::status("CHARGE") } else { Act::slow_status(20, "NEW") });
        keep_log_events(Some(LogLevel::Debug));
        let query = async |call, order| numbered(call, gateway.provider_status(order, Provider::Cards)).await.unwrap();
        tokio::join!(query(71, "o-71"), query(72, "o-72"));
        // Given up when it was sent.
        let paying = numbered(73, call(&gateway, "card_payment"));
        assert!(tokio::time::timeout(Duration::from_secs(1), paying).await.is_err());

        for (call, order) in [(71, "o-71"), (72, "o-72")] {
            let taken = take_log_events(vec![], vec![call]);
            assert_eq!(texts(&taken, call), ["responded"]);
            assert_eq!(taken.events[0].fields["order"], order);
            assert_eq!(taken.events.len(), 1, "another call's event came along");
            assert!(taken.under_way.is_empty());
        }
        assert_eq!(
            take_log_events(vec![], vec![73]),
            TakenLogEvents { events: vec![], completed: vec![], under_way: vec![73] }
        );
        gateway.close().await;
        let taken = take_log_events(vec![71], vec![72, 73]);
        assert_eq!(texts(&taken, 73), ["responded", NOBODY_WAITS]);
        assert_eq!(taken.events.len(), 2);
        assert!(taken.under_way.is_empty());

        // Given up when they were answered, before the caller came to the answer, and before it received that.
        let (gateway, _) = Scripted::gateway(|_| Act::slow_status(20, "NEW"));
        let mut paying = Box::pin(numbered(75, call(&gateway, "card_payment")));
        assert!((&mut paying).now_or_never().is_none());
        tokio::time::sleep(Duration::from_secs(30)).await;
        drop(paying);
        let (gateway, payment) = (Arc::new(gateway), mbank_payment("o-76"));
        let paying = AsyncCall::CreateMbankPayment { gateway: gateway.clone(), payment }.begin();
        let completion = numbered(76, paying).await;
        completion.give_back();
        for call in [75, 76] {
            let taken = take_log_events(vec![], vec![call]);
            assert_eq!(texts(&taken, call), ["responded", NOBODY_WAITS]);
            assert!(taken.under_way.is_empty());
        }
        assert!(take_log_events(vec![], vec![76]).events.is_empty());

        let (gateway, _) = Scripted::gateway(|_| Act::status("CHARGE"));
        numbered(74, gateway.provider_status("o-74", Provider::Cards)).await.unwrap();
        keep_log_events(None);
        assert!(take_log_events(vec![74], vec![]).events.is_empty(), "nobody would ever take them");
    }
}
