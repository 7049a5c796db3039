//! Logging: hands the core's events to the logging of another language, at once to a sink, or later when they are asked
//! for.

use std::{
    collections::{HashMap, VecDeque},
    fmt::{self, Write as _},
    sync::{
        Arc, Mutex, MutexGuard, Once, PoisonError, RwLock,
        atomic::{AtomicU8, Ordering},
    },
    time::SystemTime,
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::transport::per_process::PerProcess;

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something did not go as it should, such as a reply that did not come.
    Warning,
    /// Something worth knowing.
    Info,
    /// Each exchange with the gateway.
    Debug,
}

/// One event, in one line. There is no secret and no body in it.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct LogEvent {
    /// How much it matters.
    pub level: LogLevel,
    /// What happened, with its details as `name=value`.
    pub text: String,
}

/// An event that was kept, with the moment at which it happened and its details one by one.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct KeptLogEvent {
    /// The event.
    pub event: LogEvent,
    /// When it happened.
    pub at: SystemTime,
    /// Its details by their names.
    pub fields: HashMap<String, String>,
}

/// Takes the events. It is called on Kassa's own threads, and must not call Kassa.
#[uniffi::export(with_foreign)]
pub trait LogSink: Send + Sync {
    /// Takes one event.
    fn log(&self, event: LogEvent);
}

static SINK: RwLock<Option<Arc<dyn LogSink>>> = RwLock::new(None);
static FORWARDER: Once = Once::new();

/// Sends all events to a sink from now on; to none where there is none. Nothing is logged until this is called.
#[uniffi::export]
fn set_log_sink(sink: Option<Arc<dyn LogSink>>) {
    *SINK.write().unwrap_or_else(PoisonError::into_inner) = sink;
    forward();
}

fn forward() {
    // Where the host has a subscriber of its own, it has the events already.
    FORWARDER.call_once(|| {
        drop(tracing::subscriber::set_global_default(Forwarder));
        // An event that another thread meets for the first time meanwhile is cached by tracing as one that nobody wants
        // (<https://github.com/tokio-rs/tracing/issues/2874>).
        tracing::callsite::rebuild_interest_cache();
    });
}

/// Limit of the buffer: events that nobody takes must not fill the memory. The oldest are dropped first.
const MOST_KEPT: usize = 1000;

static KEPT: PerProcess<Mutex<Kept>> = PerProcess::new();
/// How many of the levels are kept, from [`LogLevel::Error`] on.
static KEPT_LEVELS: AtomicU8 = AtomicU8::new(0);

#[derive(Default)]
struct Kept {
    events: VecDeque<KeptLogEvent>,
    dropped: usize,
}

/// Keeps events of this level and of those that matter more from now on, until they are taken; none where there is no
/// level. For languages whose code should not run on Kassa's threads.
#[uniffi::export]
fn keep_log_events(least: Option<LogLevel>) {
    KEPT_LEVELS.store(least.map_or(0, |level| level as u8 + 1), Ordering::Relaxed);
    if least.is_some() {
        forward();
    }
}

/// Takes the events that were kept, oldest first.
#[uniffi::export]
fn take_log_events() -> Vec<KeptLogEvent> {
    kept().take()
}

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.get().lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    fn keep(&mut self, event: KeptLogEvent) {
        if self.events.len() == MOST_KEPT {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(event);
    }

    fn take(&mut self) -> Vec<KeptLogEvent> {
        let Self { events, dropped } = std::mem::take(self);
        let gap = (dropped > 0).then(|| KeptLogEvent {
            event: LogEvent {
                level: LogLevel::Warning,
                text: format!("{dropped} earlier events were dropped, because nobody took them"),
            },
            at: SystemTime::now(),
            fields: HashMap::default(),
        });
        gap.into_iter().chain(events).collect()
    }
}

fn sink() -> Option<Arc<dyn LogSink>> {
    SINK.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The tracing subscriber. Every event names its call itself, so spans need not be remembered.
struct Forwarder;

impl Subscriber for Forwarder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "kassa" && metadata.is_event()
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let level = level_of(*event.metadata().level());
        let sink = sink();
        let is_kept = (level as u8) < KEPT_LEVELS.load(Ordering::Relaxed);
        if sink.is_none() && !is_kept {
            return;
        }
        let mut line = Line::default();
        event.record(&mut line);
        let (text, fields) = line.finish();
        let event = LogEvent { level, text };
        if let Some(sink) = sink {
            sink.log(event.clone());
        }
        if is_kept {
            kept().keep(KeptLogEvent { event, at: SystemTime::now(), fields });
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
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
#[derive(Default)]
struct Line {
    message: String,
    details: String,
    fields: HashMap<String, String>,
}

impl Line {
    fn finish(self) -> (String, HashMap<String, String>) {
        (self.message + &self.details, self.fields)
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &value);
        // The text itself, without the quotes that it has in the line.
        if let Some(noted) = self.fields.get_mut(field.name()) {
            value.clone_into(noted);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing into a text cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => {
                self.fields.insert(name.to_owned(), format!("{value:?}"));
                write!(self.details, " {name}={value:?}")
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Provider,
        testing::scripted::{Act, Scripted},
    };

    #[derive(Default)]
    struct Heard(Mutex<Vec<LogEvent>>);

    impl LogSink for Heard {
        fn log(&self, event: LogEvent) {
            self.0.lock().unwrap().push(event);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_exchange_is_one_line_and_none_after_the_sink_is_gone() {
        let heard = Arc::new(Heard::default());
        set_log_sink(Some(heard.clone()));
        let (gateway, _) = Scripted::gateway(|_| Act::status("CHARGE"));
        gateway.provider_status("logged-1", Provider::Cards).await.unwrap();
        set_log_sink(None);
        gateway.provider_status("logged-1", Provider::Cards).await.unwrap();

        // Other tests of this process may log as well.
        let events = heard.0.lock().unwrap();
        let mine: Vec<_> = events.iter().filter(|event| event.text.contains("logged-1")).collect();
        let text = r#"replied endpoint="provider_status" order="logged-1" attempt=1 http_status=200 duration_ms=0"#;
        assert_eq!(mine, [&LogEvent { level: LogLevel::Debug, text: text.into() }]);
    }

    #[test]
    fn too_many_kept_events_drop_the_oldest_and_say_so() {
        let mut kept = Kept::default();
        for number in 0..MOST_KEPT + 2 {
            kept.keep(KeptLogEvent {
                event: LogEvent { level: LogLevel::Debug, text: number.to_string() },
                at: SystemTime::UNIX_EPOCH,
                fields: HashMap::default(),
            });
        }
        let events = kept.take();
        assert_eq!(events.len(), MOST_KEPT + 1);
        assert_eq!(events[0].event.text, "2 earlier events were dropped, because nobody took them");
        assert_eq!(events[1].event.text, "2");
        assert!(kept.take().is_empty());
    }
}
