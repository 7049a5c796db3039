//! Hands the core's events to the logging of another language.

use std::{
    fmt::{self, Write as _},
    sync::{Arc, Once, PoisonError, RwLock},
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

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
    // Where the host has a subscriber of its own, it has the events already.
    FORWARDER.call_once(|| drop(tracing::subscriber::set_global_default(Forwarder)));
}

fn sink() -> Option<Arc<dyn LogSink>> {
    SINK.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Every event names its call itself, so spans need not be remembered.
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
        let Some(sink) = sink() else { return };
        let mut line = Line::default();
        event.record(&mut line);
        sink.log(LogEvent { level: level_of(*event.metadata().level()), text: line.finish() });
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
    fields: String,
}

impl Line {
    fn finish(self) -> String {
        self.message + &self.fields
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing into a text cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::{
        Provider,
        testing::{Act, Memory},
    };

    #[derive(Default)]
    struct Kept(Mutex<Vec<LogEvent>>);

    impl LogSink for Kept {
        fn log(&self, event: LogEvent) {
            self.0.lock().unwrap().push(event);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_exchange_is_one_line_and_none_after_the_sink_is_gone() {
        let kept = Arc::new(Kept::default());
        set_log_sink(Some(kept.clone()));
        let (gateway, _) = Memory::gateway(|_| Act::status("CHARGE"));
        gateway.provider_status("logged-1", Provider::Cards).await.unwrap();
        set_log_sink(None);
        gateway.provider_status("logged-1", Provider::Cards).await.unwrap();

        // Other tests of this process may log as well.
        let events = kept.0.lock().unwrap();
        let mine: Vec<_> = events.iter().filter(|event| event.text.contains("logged-1")).collect();
        let text = r#"replied endpoint="provider_status" order="logged-1" attempt=1 http_status=200 duration_ms=0"#;
        assert_eq!(mine, [&LogEvent { level: LogLevel::Debug, text: text.into() }]);
    }
}
