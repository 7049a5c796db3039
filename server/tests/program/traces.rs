//! Traces, as a collector gets them: a shop finds what the server did for it in its own trace, and nothing that is secret.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use kassa_test_patience::wait_until;
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::any_value::Value as Attribute,
    trace::v1::{Span, status::StatusCode},
};
use prost::Message;
use serde_json::{Value, json};

use crate::{
    paying::{OTP, PAYMENTS, PHONE},
    support::{Caller, PASSWORD, Place, Running, sandbox},
};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A request as it came.
struct Got {
    head: String,
    body: Vec<u8>,
}

impl Got {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Takes whatever is sent to it.
struct Taker {
    url: String,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Taker {
    fn start() -> Self {
        Self::answering("200 OK")
    }

    fn answering(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let got = Arc::<Mutex<Vec<Got>>>::default();
        let taken = got.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let taken = taken.clone();
                thread::spawn(move || while take(stream.as_ref().unwrap(), &taken, status).is_some() {});
            }
        });
        Self { url, got }
    }

    /// All spans, and the bytes in which they came.
    fn spans(&self) -> (Vec<Span>, Vec<u8>) {
        let got = self.got.lock().unwrap();
        let bytes: Vec<u8> = got.iter().flat_map(|got| got.body.clone()).collect();
        let exports = got.iter().map(|got| ExportTraceServiceRequest::decode(&*got.body).unwrap());
        let scopes = exports.flat_map(|export| export.resource_spans).flat_map(|resource| resource.scope_spans);
        (scopes.flat_map(|scope| scope.spans).collect(), bytes)
    }
}

/// Nothing where there are no more.
fn take(mut stream: &TcpStream, taken: &Mutex<Vec<Got>>, status: &str) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
    }
    let mut got = Got { head, body: Vec::new() };
    let length: u64 = got.header("content-length")?.trim().parse().ok()?;
    reader.take(length).read_to_end(&mut got.body).ok()?;
    taken.lock().unwrap().push(got);
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text<'a>(span: &'a Span, key: &str) -> Option<&'a str> {
    let value = span.attributes.iter().find(|attribute| attribute.key == key)?.value.as_ref()?;
    match value.value.as_ref()? {
        Attribute::StringValue(text) => Some(text),
        _ => None,
    }
}

/// The one of this name about which something more is so.
fn find<'a>(spans: &'a [Span], name: &str, is: impl Fn(&Span) -> bool) -> &'a Span {
    let names = || spans.iter().map(|span| &span.name).collect::<Vec<_>>();
    spans.iter().find(|span| span.name == name && is(span)).unwrap_or_else(|| panic!("no {name}: {:?}", names()))
}

fn start(place: &Place, collector: &str, shop: &str, secret: &str) -> Running {
    let traces = format!("{collector}/v1/traces");
    let mut command = place.command(&["--config", "kassa.toml", "--announce", "json"]);
    command.args(["--tracing-url", &traces, "--events-url", shop]);
    command.env("KASSA_SERVER_TRACING_HEADERS", "x-key=hunter2").env("KASSA_SERVER_EVENTS_SECRET", secret);
    Running::start(&mut command)
}

#[test]
fn shop_trace_includes_server_spans_and_webhook() {
    let (collector, shop) = (Taker::start(), Taker::start());
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let (key, secret) = (place.key(), place.run(&["secret"]).out.trim().to_owned());
    let running = start(&place, &collector.url, &shop.url, &secret);
    let traceparent = format!("traceparent: 00-{TRACE}-{CALLER}-01\r\ntracestate: vendor=written-by-a-shop\r\n");
    let server = Caller { headers: traceparent, ..Caller::new(&running, &key) };
    let (id, app) = server.open("order-1");
    let (_, seen) = server.call("GET", &format!("/v1/checkouts/{id}"), &Value::Null);
    let page = seen["page_url"].as_str().unwrap().rsplit_once("/pay/").unwrap().1.to_owned();
    assert_eq!(running.get(&format!("/pay/{page}")).0, 200);
    let (_, payment) = app.call("POST", PAYMENTS, &json!({ "method": "mbank", "phone": PHONE }));
    let payment = payment["id"].as_str().unwrap();
    let (status, _) = app.call("POST", &format!("{PAYMENTS}/{payment}/confirm"), &json!({ "otp": OTP }));
    assert_eq!(status, 202);
    server.call("POST", &format!("/v1/checkouts/{id}/check"), &Value::Null);
    let is_paid = |got: &Got| String::from_utf8_lossy(&got.body).contains("checkout.paid");
    wait_until("the shop has the event", || shop.got.lock().unwrap().iter().any(is_paid));
    // They come in batches.
    let paid = |span: &Span| text(span, "kassa.outcome") == Some("charged");
    wait_until("the collector has the last span", || collector.spans().0.iter().any(paid));
    assert!(running.stop().0.success());

    let (spans, bytes) = collector.spans();
    let request = find(&spans, "POST /v1/checkouts", |span| hex(&span.trace_id) == TRACE);
    assert_eq!(hex(&request.parent_span_id), CALLER);
    let opened = find(&spans, "open_checkout", |span| span.trace_id == request.trace_id);
    assert_eq!((text(opened, "db.system.name"), &opened.parent_span_id), (Some("sqlite"), &request.span_id));

    // A payer's request begins a trace, with all that was done for him in it.
    let request = find(&spans, "POST /v1/checkout/payments", |span| span.parent_span_id.is_empty());
    let in_it = |span: &Span| span.trace_id == request.trace_id;
    find(&spans, "begin_payment", in_it);
    find(&spans, "record_send_outcome", in_it);
    let sent = find(&spans, "send", in_it);
    assert_eq!((text(sent, "kassa.payment"), text(sent, "kassa.outcome")), (Some(payment), Some("accepted")));
    find(&spans, "query_status", paid);
    assert!(spans.iter().all(|span| span.name != "claim_polls"), "nobody asked for it");

    let delivered: Vec<_> = spans.iter().filter(|span| span.name == "deliver event").collect();
    let joined = |span: &&Span| format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id));
    let got: Vec<_> =
        shop.got.lock().unwrap().iter().filter_map(|got| got.header("traceparent").map(str::to_owned)).collect();
    assert!(
        !delivered.is_empty() && delivered.iter().map(joined).all(|joined| got.contains(&joined)),
        "the shop cannot join"
    );
    assert!(spans.iter().all(|span| span.status.as_ref().is_none_or(|status| status.code() != StatusCode::Error)));
    assert!(collector.got.lock().unwrap().iter().all(|got| got.header("x-key") == Some("hunter2")));
    for hidden in [PHONE, OTP, PASSWORD, &*key, &*app.credential, &*page, "order-1", "hunter2", "written-by-a-shop"] {
        assert!(!bytes.windows(hidden.len()).any(|part| part == hidden.as_bytes()), "{hidden} is in a trace");
    }
}

#[test]
fn payers_trace_is_not_believed() {
    let collector = Taker::start();
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let key = place.key();
    let traces = format!("{}/v1/traces", collector.url);
    let running = place.start(&["--tracing-url", &traces, "--tracing-sample-ratio", "0"]);
    let (_, app) = Caller::new(&running, &key).open("order-1");
    let traced = Caller { headers: format!("traceparent: 00-{TRACE}-{CALLER}-01\r\n"), ..app };
    assert_eq!(traced.call("GET", "/v1/checkout", &Value::Null).0, 200);
    let shop = Caller { headers: traced.headers, ..Caller::new(&running, &key) };
    assert_eq!(shop.call("GET", "/v1/events", &Value::Null).0, 200);
    wait_until("the collector has a batch", || !collector.got.lock().unwrap().is_empty());
    assert!(running.stop().0.success());
    let (spans, _) = collector.spans();
    find(&spans, "GET /v1/events", |span| hex(&span.trace_id) == TRACE);
    assert!(spans.iter().all(|span| span.name != "GET /v1/checkout"));
}

#[test]
fn refusing_trace_collector_is_logged_once() {
    let collector = Taker::answering("503 Service Unavailable");
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let key = place.key();
    let running = place.start(&["--tracing-url", &format!("{}/v1/traces", collector.url)]);
    let server = Caller::new(&running, &key);
    for order in ["order-1", "order-2"] {
        server.open(order);
        let before = collector.got.lock().unwrap().len();
        wait_until("the collector has another batch", || collector.got.lock().unwrap().len() > before);
    }
    let (status, log, _) = running.stop();
    assert!(status.success(), "{log}");
    assert_eq!(log.matches("the collector does not take traces").count(), 1, "{log}");
}

#[test]
fn silent_trace_collector_delays_no_shutdown() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let key = place.key();
    let running = place.start(&["--tracing-url", &format!("http://{}/v1/traces", silent.local_addr().unwrap())]);
    Caller::new(&running, &key).open("order-1");
    let (status, log, took) = running.stop();
    assert!(status.success() && log.contains("the last spans may be lost"), "{log}");
    // The deadline of a request to the collector. It is fixed, so KASSA_PATIENCE does not multiply the bound.
    assert!(took < Duration::from_secs(10), "the server waited until the request timed out: {took:?}");
}

#[test]
fn key_does_not_go_to_a_collector_in_clear() {
    let place = Place::with(&sandbox());
    let mut command =
        place.command(&["check", "--config", "kassa.toml", "--tracing-url", "http://collector:4318/v1/traces"]);
    let ended = crate::support::ended(command.env("KASSA_SERVER_TRACING_HEADERS", "authorization=Bearer hunter2"));
    assert!(ended.out.contains("tracing.url") && ended.out.contains("must be https"), "{ended:?}");
    let ended = place.run(&["check", "--tracing-url", "collector"]);
    assert!(ended.out.contains("must be an http or https URL"), "{ended:?}");
    let ended = crate::support::ended(command.env("KASSA_SERVER_TRACING_HEADERS", "hunter2"));
    assert!(ended.out.contains("tracing.headers") && !ended.out.contains("hunter2"), "{ended:?}");
}
