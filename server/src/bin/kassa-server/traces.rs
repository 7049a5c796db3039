//! Traces, where the program is built with them and told where they go.

use axum::Router;
use kassa_server::CollectorSettings;
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing_subscriber::{Layer, layer::Identity, registry::LookupSpan};

use super::failure::Done;

/// Who collects them, if anybody.
#[derive(Default)]
pub(crate) struct Traces {
    #[cfg(feature = "opentelemetry")]
    collector: Option<kassa_server::Collector>,
}

#[cfg(feature = "opentelemetry")]
impl Traces {
    /// With tasks on this runtime.
    pub(crate) fn to(settings: Option<&CollectorSettings>, runtime: &Handle) -> Done<Self> {
        let collector = settings.map(|settings| kassa_server::Collector::new(settings, runtime.clone()));
        Ok(Self { collector: collector.transpose().map_err(super::failure::Failure::new)? })
    }

    pub(crate) fn are_collected(&self) -> bool {
        self.collector.is_some()
    }

    pub(crate) fn layer<S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync>(
        &self,
    ) -> Box<dyn Layer<S> + Send + Sync> {
        match &self.collector {
            Some(collector) => collector.layer().boxed(),
            None => Identity::new().boxed(),
        }
    }

    /// The same routes; requests to them are told of.
    pub(crate) fn over(&self, routes: Router) -> Router {
        match &self.collector {
            Some(collector) => collector.over(routes),
            None => routes,
        }
    }

    /// Sends what waits. It blocks, for a moment at most.
    pub(crate) fn close(&self) {
        if let Some(collector) = &self.collector {
            collector.close();
        }
    }
}

/// Nobody: a setting that says otherwise was refused.
#[cfg(not(feature = "opentelemetry"))]
impl Traces {
    pub(crate) fn to(_: Option<&CollectorSettings>, _: &Handle) -> Done<Self> {
        Ok(Self::default())
    }

    pub(crate) fn are_collected(&self) -> bool {
        false
    }

    pub(crate) fn layer<S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync>(
        &self,
    ) -> Box<dyn Layer<S> + Send + Sync> {
        Identity::new().boxed()
    }

    pub(crate) fn over(&self, routes: Router) -> Router {
        routes
    }

    pub(crate) fn close(&self) {}
}
