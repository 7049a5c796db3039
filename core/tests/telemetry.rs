//! Spans and metrics of OpenTelemetry, made of Kassa's spans and events by `tracing-opentelemetry`.

use kassa::{
    BlockingGateway, Credentials, FakeFault, FakeGateway, Gateway, GatewayConfig, MbankPayment, PaymentError, Provider,
};
use kassa_test_patience::wait_for;
use opentelemetry::{
    KeyValue, Value,
    trace::{SpanKind, Status, TracerProvider as _},
};
use opentelemetry_sdk::{
    metrics::{
        InMemoryMetricExporter, SdkMeterProvider,
        data::{AggregatedMetrics, MetricData},
    },
    trace::{InMemorySpanExporter, SdkTracerProvider, SpanData},
};
use tracing::{Level, Subscriber, subscriber::DefaultGuard};
use tracing_opentelemetry::MetricsLayer;
use tracing_subscriber::{Layer as _, filter::Targets, layer::SubscriberExt as _, registry::Registry};

// docs: begin setup
/// Sends Kassa's spans and metrics to OpenTelemetry.
fn subscriber(traces: &SdkTracerProvider, metrics: &SdkMeterProvider) -> impl Subscriber + Send + Sync + use<> {
    let spans = tracing_opentelemetry::layer().with_tracer(traces.tracer("shop"));
    Registry::default()
        .with(spans.with_filter(Targets::new().with_default(Level::INFO).with_target("kassa", Level::DEBUG)))
        .with(MetricsLayer::new(metrics.clone()))
}
// docs: end setup

struct Recorded {
    spans: InMemorySpanExporter,
    metrics: InMemoryMetricExporter,
    traces: SdkTracerProvider,
    meters: SdkMeterProvider,
    _subscribed: DefaultGuard,
}

impl Recorded {
    fn begin() -> Self {
        let (spans, metrics) = (InMemorySpanExporter::default(), InMemoryMetricExporter::default());
        let traces = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();
        let meters = SdkMeterProvider::builder().with_periodic_exporter(metrics.clone()).build();
        let subscribed = tracing::subscriber::set_default(subscriber(&traces, &meters));
        Self { spans, metrics, traces, meters, _subscribed: subscribed }
    }

    /// The call of an operation and its requests. They come later than the call's answer.
    fn call(&self, operation: &str) -> (SpanData, Vec<SpanData>) {
        wait_for(operation, || {
            let spans = self.spans.get_finished_spans().unwrap();
            let call = spans.iter().find(|span| span.name == operation)?.clone();
            let is_request = |span: &SpanData| span.parent_span_id == call.span_context.span_id();
            let mut requests: Vec<_> = spans.into_iter().filter(is_request).collect();
            requests.sort_by_key(|request| request.start_time);
            Some((call, requests))
        })
    }

    /// How often each metric was measured, with its attributes, in the order of their names.
    fn measured(&self) -> Vec<String> {
        self.meters.force_flush().unwrap();
        let exported = self.metrics.get_finished_metrics().unwrap();
        let mut measured = vec![];
        for metric in
            exported.last().into_iter().flat_map(|last| last.scope_metrics()).flat_map(|scope| scope.metrics())
        {
            let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else {
                panic!("{}", metric.name())
            };
            for point in histogram.data_points() {
                let attributes = sorted(point.attributes().cloned());
                measured.push(format!("{} {} {attributes}", metric.name(), point.count()));
            }
        }
        measured.sort();
        measured
    }
}

fn sorted(attributes: impl IntoIterator<Item = KeyValue>) -> String {
    let mut attributes: Vec<_> =
        attributes.into_iter().map(|each| format!("{}={}", each.key, each.value.as_str())).collect();
    attributes.sort();
    attributes.join(" ")
}

fn attribute(span: &SpanData, name: &str) -> Option<Value> {
    span.attributes.iter().find(|each| each.key.as_str() == name).map(|each| each.value.clone())
}

fn text(span: &SpanData, name: &str) -> Option<String> {
    attribute(span, name).map(|value| value.as_str().into_owned())
}

fn tea(order_number: &str) -> MbankPayment {
    MbankPayment::new(order_number, 100, "996555000101", "tea")
}

#[test]
fn charged_payment_is_in_its_callers_trace() {
    let recorded = Recorded::begin();
    let fake = FakeGateway::new().unwrap();
    let gateway = fake.gateway();
    tracing::info_span!("checkout").in_scope(|| {
        let created = pollster::block_on(gateway.create_mbank_payment(tea("order-1"))).unwrap();
        pollster::block_on(gateway.confirm_mbank_payment(&created.payment, &fake.otp())).unwrap();
        assert!(pollster::block_on(gateway.check(&created.payment)).unwrap().is_charged());
    });

    let (query, requests) = recorded.call("provider_status");
    // It ends when all that belongs to it has.
    let (caller, _) = recorded.call("checkout");
    let spans = recorded.spans.get_finished_spans().unwrap();
    for (operation, outcome) in
        [("mbank_payment", "accepted"), ("mbank_confirm", "accepted"), ("provider_status", "charged")]
    {
        let (call, requests) = recorded.call(operation);
        assert_eq!(call.parent_span_id, caller.span_context.span_id(), "{operation}");
        assert_eq!((&call.span_kind, text(&call, "kassa.outcome").as_deref()), (&SpanKind::Internal, Some(outcome)));
        assert_eq!(text(&call, "kassa.order").as_deref(), Some("order-1"));
        assert_eq!((call.status, requests.len()), (Status::Unset, 1), "{operation}");
    }
    let request = &requests[0];
    assert_eq!((&*request.name, &request.span_kind), ("POST /api/v1.1.0/get-status", &SpanKind::Client));
    let attributes = request.attributes.iter().filter(|each| !is_of_the_layer(each)).cloned();
    assert_eq!(
        sorted(attributes),
        "http.request.method=POST http.response.status_code=200 server.address=fake.example server.port=443 \
         url.template=/api/v1.1.0/get-status"
    );
    assert!(query.start_time <= request.start_time && request.end_time <= query.end_time);
    assert_eq!(attribute(request, "http.response.status_code"), Some(Value::I64(200)));

    let all = format!("{spans:?}");
    for secret in ["996555000101", &fake.otp(), "fake:fake"] {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
}

/// Where the span is in Kassa's code, and the thread that it was made on.
fn is_of_the_layer(attribute: &KeyValue) -> bool {
    ["code.", "thread.", "busy_ns", "idle_ns", "target", "level"]
        .iter()
        .any(|name| attribute.key.as_str().starts_with(name))
}

#[test]
fn metrics_have_outcomes_and_no_orders() {
    let recorded = Recorded::begin();
    let fake = FakeGateway::new().unwrap();
    let gateway = fake.gateway();
    let pay = |order| pollster::block_on(gateway.create_mbank_payment(tea(order)));
    for order in ["order-1", "order-2"] {
        pay(order).unwrap();
    }
    fake.fail_next(FakeFault::Refused { code: "51".into(), reason: "no money".into() });
    assert!(matches!(pay("order-3"), Err(PaymentError::Refused { .. })));
    fake.fail_next(FakeFault::ResponseLost);
    assert!(matches!(pay("order-4"), Err(PaymentError::OutcomeUnknown { .. })));

    let at = "http.request.method=POST";
    let server = "server.address=fake.example server.port=443";
    let operation = "kassa.client.operation.duration";
    let expected = [
        format!("http.client.request.duration 1 error.type=400 {at} http.response.status_code=400 {server}"),
        format!("http.client.request.duration 1 error.type=lost {at} {server}"),
        format!("http.client.request.duration 2 {at} http.response.status_code=200 {server}"),
        format!("{operation} 1 error.type=OutcomeUnknown kassa.operation=mbank_payment kassa.outcome=unknown"),
        format!("{operation} 1 kassa.operation=mbank_payment kassa.outcome=refused"),
        format!("{operation} 2 kassa.operation=mbank_payment kassa.outcome=accepted"),
    ];
    wait_for("the last measurement", || (recorded.measured().len() == expected.len()).then_some(()));
    assert_eq!(recorded.measured(), expected);
    drop(recorded.traces);
}

#[test]
fn every_retry_is_a_span() {
    let recorded = Recorded::begin();
    // Nobody listens on this port of the loopback address.
    let config =
        || GatewayConfig::new("http://127.0.0.1:9", Credentials::basic("shop", "secret")).with_query_retries(2);
    let blocking = || {
        let gateway = BlockingGateway::new(config()).unwrap();
        gateway.provider_status("order-1", Provider::Cards).unwrap_err();
    };
    let in_task = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let gateway = Gateway::new(config()).unwrap();
        runtime.block_on(gateway.provider_status("order-1", Provider::Cards)).unwrap_err();
    };
    for query in [&blocking as &dyn Fn(), &in_task] {
        recorded.spans.reset();
        query();
        let (call, requests) = recorded.call("provider_status");
        assert_eq!(text(&call, "kassa.outcome").as_deref(), Some("unavailable"));
        assert_eq!(text(&call, "error.type").as_deref(), Some("Unavailable"));
        assert!(matches!(call.status, Status::Error { .. }));
        let resends: Vec<_> = requests.iter().map(|request| attribute(request, "http.request.resend_count")).collect();
        assert_eq!(resends, [None, Some(Value::I64(1)), Some(Value::I64(2))]);
        for request in &requests {
            assert_eq!(text(request, "error.type").as_deref(), Some("not_connected"));
            assert!(matches!(request.status, Status::Error { .. }));
        }
    }
}

#[test]
fn cancelled_call_ends_its_span() {
    let recorded = Recorded::begin();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let port = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let config = GatewayConfig::new(format!("http://127.0.0.1:{port}"), Credentials::basic("shop", "secret"));
        let gateway = Gateway::new(config).unwrap();
        tokio::select! {
            answer = gateway.provider_status("order-1", Provider::Cards) => panic!("nobody answers: {answer:?}"),
            accepted = listener.accept() => drop(accepted.unwrap()),
        }
        port
    });
    let (call, requests) = recorded.call("provider_status");
    assert_eq!(text(&call, "kassa.outcome").as_deref(), Some("cancelled"));
    assert_eq!(requests.len(), 1);
    assert_eq!(text(&requests[0], "error.type").as_deref(), Some("cancelled"));
    wait_for("the last measurement", || (recorded.measured().len() == 2).then_some(()));
    let attempt = format!(
        "http.client.request.duration 1 error.type=cancelled http.request.method=POST server.address=127.0.0.1 server.port={port}"
    );
    assert_eq!(recorded.measured()[0], attempt);
}
