//! Hands spans to a collector (OpenTelemetry, OTLP over HTTP). Nothing waits for it: spans wait in a queue, and where that is
//! full, or the collector is away, they are lost, and the log says so.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use opentelemetry::{KeyValue, global::set_text_map_propagator, trace::TracerProvider};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    propagation::TraceContextPropagator,
    trace::{Sampler, SdkTracerProvider, Tracer},
};
use reqwest::Client;
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

use super::CollectorSettings;
use crate::{surroundings::http_client, values::error::ServerError};

/// After which time a collector that has not answered has failed.
const DEADLINE: Duration = Duration::from_secs(10);
/// How long the last spans are waited for when the server stops.
const LAST_SPANS: Duration = Duration::from_millis(200);
const NAME: &str = "kassa-server";

/// Who takes the traces.
#[derive(Clone)]
pub struct Collector {
    provider: SdkTracerProvider,
}

impl Collector {
    /// With tasks on this runtime.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`] where TLS cannot be set up, or the collector's headers are none.
    pub fn new(settings: &CollectorSettings, runtime: Handle) -> Result<Self, ServerError> {
        let line = Line { client: http_client(DEADLINE)?, runtime, is_lost: Arc::default() };
        let headers = settings.headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned()));
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(line)
            .with_endpoint(settings.url.as_str())
            .with_timeout(DEADLINE)
            .with_headers(headers.collect())
            .build()
            .map_err(|problem| ServerError::unavailable(format!("the collector of traces: {problem}")))?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_sampler(sampler(settings.one_in))
            .with_resource(resource())
            .build();
        set_text_map_propagator(TraceContextPropagator::new());
        Ok(Self { provider })
    }

    /// What tells it of spans. It is to be given those of `kassa_server` alone.
    pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> OpenTelemetryLayer<S, Tracer> {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer(NAME))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
    }

    /// Sends what waits. It blocks, for a moment at most.
    pub fn close(&self) {
        if let Err(problem) = self.provider.shutdown_with_timeout(LAST_SPANS) {
            tracing::warn!(target: "kassa_server", %problem, "the last spans may be lost");
        }
    }
}

fn sampler(one_in: u32) -> Sampler {
    let own = match one_in {
        0 | 1 => Sampler::AlwaysOn,
        many => Sampler::TraceIdRatioBased(1.0 / f64::from(many)),
    };
    Sampler::ParentBased(Box::new(own))
}

/// Who sends them. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` have the last word, as everywhere.
fn resource() -> Resource {
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let resource = Resource::builder().with_attribute(version);
    match std::env::var_os("OTEL_SERVICE_NAME") {
        Some(_) => resource.build(),
        None => resource.with_service_name(NAME).build(),
    }
}

/// The line to the collector. Whoever exports waits on a thread of its own, which has no runtime.
#[derive(Debug)]
struct Line {
    client: Client,
    runtime: Handle,
    is_lost: Arc<AtomicBool>,
}

type Sent = Result<Response<Bytes>, HttpError>;

impl HttpClient for Line {
    fn send_bytes<'life, 'sending>(
        &'life self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Sent> + Send + 'sending>>
    where
        'life: 'sending,
        Self: 'sending,
    {
        let task = self.runtime.spawn(send(self.client.clone(), request));
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

impl Line {
    /// Told once, and once more when it is over.
    fn note(&self, why: Option<String>) {
        let was_lost = self.is_lost.swap(why.is_some(), Ordering::Relaxed);
        match why {
            Some(why) if !was_lost => {
                tracing::warn!(target: "kassa_server", why, "traces are lost: their collector does not take them");
            }
            None if was_lost => tracing::info!(target: "kassa_server", "the collector takes traces again"),
            _ => {}
        }
    }
}

async fn send(client: Client, request: Request<Bytes>) -> Sent {
    // An address may hold a key.
    let answer = client.execute(request.try_into()?).await.map_err(reqwest::Error::without_url)?;
    let status = answer.status();
    let mut response = Response::new(answer.bytes().await.map_err(reqwest::Error::without_url)?);
    *response.status_mut() = status;
    Ok(response)
}
