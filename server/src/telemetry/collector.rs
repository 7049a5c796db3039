//! Sends spans to a collector (OpenTelemetry, OTLP over HTTP). Nothing waits for it: spans are queued, and are lost if the queue
//! is full or the collector is unreachable. The log reports the latter.

use std::{
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use opentelemetry::{KeyValue, global::set_text_map_propagator, trace::TracerProvider};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    propagation::TraceContextPropagator,
    resource::{EnvResourceDetector, TelemetryResourceDetector},
    trace::{Sampler, SdkTracerProvider, Tracer},
};
use reqwest::{
    Client, RequestBuilder,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

use super::CollectorSettings;
use crate::{runtime::http_client, values::error::ServerError};

/// The deadline of the collector's response.
const DEADLINE: Duration = Duration::from_secs(10);
/// The time that a stopping server waits for the last spans.
const LAST_SPANS: Duration = Duration::from_millis(200);
/// The longest response, which lists the rejected spans.
const LONGEST_ANSWER: usize = 64 * 1024;
const NAME: &str = "kassa-server";

/// The collector of traces.
#[derive(Clone)]
pub struct Collector {
    provider: SdkTracerProvider,
}

impl Collector {
    /// A collector with tasks on this runtime.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`] if TLS cannot be set up, or the collector's headers are invalid.
    pub fn new(settings: &CollectorSettings, runtime: Handle) -> Result<Self, ServerError> {
        let line = CollectorTransport::new(settings, runtime)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(line)
            .with_endpoint(settings.url.expose())
            .with_timeout(DEADLINE)
            .build()
            .map_err(|problem| ServerError::unavailable(format!("the collector of traces: {problem}")))?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_sampler(sampler(settings.sample_ratio))
            .with_resource(resource())
            .build();
        set_text_map_propagator(TraceContextPropagator::new());
        Ok(Self { provider })
    }

    /// The layer that collects spans. Give it only the spans of `kassa_server`.
    pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> OpenTelemetryLayer<S, Tracer> {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer(NAME))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
    }

    /// Sends the waiting spans. It blocks, for a moment at most.
    pub fn close(&self) {
        if let Err(problem) = self.provider.shutdown_with_timeout(LAST_SPANS) {
            tracing::warn!(target: "kassa_server", %problem, "the last spans may be lost");
        }
    }
}

fn sampler(ratio: f64) -> Sampler {
    Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(ratio)))
}

/// The resource of the spans. `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME` override it, as everywhere.
fn resource() -> Resource {
    let resource = Resource::builder_empty()
        .with_service_name(NAME)
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .with_detectors(&[Box::new(TelemetryResourceDetector), Box::new(EnvResourceDetector::new())]);
    match std::env::var("OTEL_SERVICE_NAME") {
        Ok(name) => resource.with_service_name(name).build(),
        Err(_) => resource.build(),
    }
}

/// The transport to the collector. The exporter waits on its own thread, which has no runtime.
#[derive(Debug)]
struct CollectorTransport {
    client: Client,
    headers: HeaderMap,
    runtime: Handle,
    is_refused: AtomicBool,
}

type Sent = Result<Response<Bytes>, HttpError>;

impl HttpClient for CollectorTransport {
    fn send_bytes<'life, 'sending>(
        &'life self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Sent> + Send + 'sending>>
    where
        'life: 'sending,
        Self: 'sending,
    {
        let mut sending = self.client.post(request.uri().to_string()).headers(self.headers.clone());
        // The exporter's other headers come from environment variables of its own, which may contain a key for another collector.
        if let Some(kind) = request.headers().get(CONTENT_TYPE) {
            sending = sending.header(CONTENT_TYPE, kind.clone());
        }
        let task = self.runtime.spawn(send(sending.body(request.into_body())));
        Box::pin(async move {
            let sent = task.await?;
            let why = match &sent {
                Ok(response) if response.status().is_success() => None,
                Ok(response) => Some(format!("it answered {}", response.status().as_u16())),
                Err(problem) => Some(problem.to_string()),
            };
            self.note(why);
            sent
        })
    }
}

impl CollectorTransport {
    fn new(settings: &CollectorSettings, runtime: Handle) -> Result<Self, ServerError> {
        let unusable = || ServerError::unavailable("the collector of traces: a header that cannot be sent");
        let mut headers = HeaderMap::new();
        for (name, value) in &settings.headers {
            let name: HeaderName = name.parse().map_err(|_| unusable())?;
            let mut value: HeaderValue = value.expose().parse().map_err(|_| unusable())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(Self { client: http_client(DEADLINE)?, headers, runtime, is_refused: AtomicBool::new(false) })
    }

    /// Logs a failure once, and its end once.
    fn note(&self, why: Option<String>) {
        let was_refused = self.is_refused.swap(why.is_some(), Ordering::Relaxed);
        match why {
            Some(why) if !was_refused => {
                tracing::warn!(target: "kassa_server", why, "the collector does not take traces: they are lost");
            }
            None if was_refused => tracing::info!(target: "kassa_server", "the collector takes traces again"),
            _ => {}
        }
    }
}

async fn send(sending: RequestBuilder) -> Sent {
    // An address may contain a key.
    let mut answer = sending.send().await.map_err(reqwest::Error::without_url)?;
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
        if body.len() + chunk.len() > LONGEST_ANSWER {
            return Err("its answer is too long".into());
        }
        body.extend_from_slice(&chunk);
    }
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = answer.status();
    Ok(response)
}
