//! Traces, as a collector gets them: who calls finds what the server did for him in his own trace, and nothing that is secret.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::any_value::Value as Attribute,
    trace::v1::{Span, status::StatusCode},
};
use prost::Message;
use serde_json::{Value, json};

use crate::{
    paying::{OTP, PAYMENTS, PHONE, until},
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
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let got = Arc::<Mutex<Vec<Got>>>::default();
        let taken = got.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let taken = taken.clone();
                thread::spawn(move || while take(stream.as_ref().unwrap(), &taken).is_some() {});
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
fn take(mut stream: &TcpStream, taken: &Mutex<Vec<Got>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
    }
    let mut got = Got { head, body: Vec::new() };
    let length: u64 = got.header("content-length")?.trim().parse().ok()?;
    reader.take(length).read_to_end(&mut got.body).ok()?;
    taken.lock().unwrap().push(got);
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()
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
    command.args(["--traces-url", &traces, "--events-url", shop]);
    command.env("KASSA_SERVER_TRACES_HEADERS", "x-key=hunter2").env("KASSA_SERVER_EVENTS_SECRET", secret);
    Running::start(&mut command)
}

#[test]
fn a_caller_finds_in_his_trace_what_was_done_for_him_and_a_shop_its_event() {
    let (collector, shop) = (Taker::start(), Taker::start());
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let (key, secret) = (place.key(), place.run(&["secret"]).out.trim().to_owned());
    let running = start(&place, &collector.url, &shop.url, &secret);
    let server = Caller::new(&running, &key);
    let (id, app) = server.open("order-1");
    let traced = Caller { headers: format!("traceparent: 00-{TRACE}-{CALLER}-01\r\n"), ..app.clone() };
    let (_, payment) = traced.call("POST", PAYMENTS, &json!({ "method": "mbank", "phone": PHONE }));
    let payment = payment["id"].as_str().unwrap();
    let (status, _) = app.call("POST", &format!("{PAYMENTS}/{payment}/confirm"), &json!({ "otp": OTP }));
    assert_eq!(status, 202);
    server.call("POST", &format!("/v1/checkouts/{id}/check"), &Value::Null);
    let is_told = |got: &Got| String::from_utf8_lossy(&got.body).contains("checkout.paid");
    until(|| shop.got.lock().unwrap().iter().any(is_told));
    let (status, log, _) = running.stop();
    assert!(status.success() && !log.contains("lost"), "{log}");

    let (spans, bytes) = collector.spans();
    let request = find(&spans, "POST /v1/checkout/payments", |span| hex(&span.trace_id) == TRACE);
    assert_eq!(hex(&request.parent_span_id), CALLER);
    let in_it = |span: &Span| span.trace_id == request.trace_id;
    for name in ["begin_payment", "settle_sending"] {
        assert_eq!(text(find(&spans, name, in_it), "db.system.name"), Some("sqlite"));
    }
    let sent = find(&spans, "send", in_it);
    assert_eq!((text(sent, "kassa.payment"), text(sent, "kassa.outcome")), (Some(payment), Some("accepted")));
    find(&spans, "ask", |span| text(span, "kassa.outcome") == Some("charged"));
    assert!(spans.iter().all(|span| !span.parent_span_id.is_empty() || span.name != "claim_questions"));

    let (told, shop_got) = (find(&spans, "deliver event", |_| true), shop.got.lock().unwrap());
    let joined = format!("00-{}-{}-01", hex(&told.trace_id), hex(&told.span_id));
    assert!(shop_got.iter().any(|got| got.header("traceparent") == Some(&*joined)), "the shop cannot join");
    assert!(spans.iter().all(|span| span.status.as_ref().is_none_or(|status| status.code() != StatusCode::Error)));
    assert!(collector.got.lock().unwrap().iter().all(|got| got.header("x-key") == Some("hunter2")));
    for hidden in [PHONE, OTP, PASSWORD, &*key, &*app.credential, "order-1", "hunter2"] {
        assert!(!bytes.windows(hidden.len()).any(|part| part == hidden.as_bytes()), "{hidden} is in a trace");
    }
}

#[test]
fn a_collector_that_is_away_holds_nothing_up_and_is_told_of_once() {
    let away = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let key = place.key();
    let running = place.start(&["--traces-url", &format!("http://{away}/v1/traces")]);
    Caller::new(&running, &key).open("order-1");
    let (status, log, _) = running.stop();
    assert!(status.success(), "{log}");
    assert_eq!(log.matches("traces are lost").count(), 1, "{log}");
}

#[test]
fn a_key_does_not_go_to_a_collector_in_clear() {
    let place = Place::with(&sandbox());
    let mut command =
        place.command(&["check", "--config", "kassa.toml", "--traces-url", "http://collector:4318/v1/traces"]);
    let ended = crate::support::ended(command.env("KASSA_SERVER_TRACES_HEADERS", "authorization=Bearer hunter2"));
    assert!(ended.out.contains("traces.url") && ended.out.contains("must be https"), "{ended:?}");
    let ended = place.run(&["check", "--traces-url", "collector"]);
    assert!(ended.out.contains("must be an http or https address"), "{ended:?}");
    let ended = crate::support::ended(command.env("KASSA_SERVER_TRACES_HEADERS", "hunter2"));
    assert!(ended.out.contains("traces.headers") && !ended.out.contains("hunter2"), "{ended:?}");
}
