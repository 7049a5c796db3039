//! Faults of the connection, as a client sees them on a bare socket: resets, delays, slow and endless responses.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use kassa_sandbox::{EndpointName, Fault, FaultName};
use serde_json::json;

use crate::{
    admin::admin,
    common::{CARD, GET_STATUS, QR_STATUS, STATUS, card_body, open, patience, start, wait_until},
    faults::{ORDER, assert_injected_once, charged, instant_card, on_record, with_fault},
    raw::{End, RawResponse, listen, post, request, send},
};

#[test]
fn reset_before_the_response_leaves_a_charge() {
    let (sandbox, response) = with_fault(Fault::reset_before_response());
    assert_eq!((response.text().as_str(), response.end), ("", End::Reset));
    assert_eq!(charged(&sandbox, ORDER), Some(1));
    assert_injected_once(&sandbox, FaultName::ResetBeforeResponse, None);
}

#[test]
fn reset_in_headers_truncates_a_header() {
    let (sandbox, response) = with_fault(Fault::reset_in_headers());
    assert_eq!(response.end, End::Reset);
    let text = response.text();
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && !text.contains("\r\n\r\n"), "{text}");
    assert_eq!(charged(&sandbox, ORDER), Some(1));
    assert_injected_once(&sandbox, FaultName::ResetInHeaders, None);
}

#[test]
fn reset_in_body_truncates_the_body() {
    let (sandbox, response) = with_fault(Fault::reset_in_body());
    assert_eq!(response.end, End::Reset);
    let length: usize = response.header("content-length").and_then(|length| length.parse().ok()).expect("a length");
    assert_eq!(response.body().len(), length / 2);
    assert!(response.body().starts_with("{\"code\":\"110\","));
    assert_eq!(charged(&sandbox, ORDER), Some(1));
    assert_injected_once(&sandbox, FaultName::ResetInBody, Some(200));
}

#[test]
fn reset_cuts_second_keep_alive_response() {
    let sandbox = start();
    sandbox.faults().add(Fault::reset_in_body().order("K-2")).expect("a fault");
    let mut stream = TcpStream::connect(sandbox.address()).expect("the sandbox listens");
    let mut ask = |order| {
        let body = instant_card(order).text();
        let bytes = request(&sandbox, "POST", CARD, &body, "keep-alive");
        stream.write_all(bytes.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        while !answer.ends_with(b"}}") {
            let mut byte = [0];
            match stream.read(&mut byte) {
                Ok(1) => answer.push(byte[0]),
                Ok(_) => return (answer, End::Closed),
                Err(_) => return (answer, End::Reset),
            }
        }
        (answer, End::Closed)
    };
    let (first, end) = ask("K-1");
    assert_eq!(end, End::Closed);
    assert!(first.starts_with(b"HTTP/1.1 200 OK\r\n"));
    let (second, end) = ask("K-2");
    let response = RawResponse { bytes: second, end };
    let length: usize = response.header("content-length").and_then(|length| length.parse().ok()).expect("a length");
    assert_eq!((response.end, response.body().len()), (End::Reset, length / 2));
    assert_eq!(charged(&sandbox, "K-2"), Some(1));
}

#[test]
fn reset_on_connect_spares_admin_and_pages() {
    let sandbox = start();
    let url = crate::common::post(&sandbox, CARD, &card_body(ORDER)).data("ConfirmationUrl");
    sandbox.faults().add(Fault::reset_on_connect()).expect("a fault");
    for (method, path) in [("POST", CARD), ("GET", STATUS), ("GET", QR_STATUS)] {
        // The request may meet the reset while it is still being sent.
        let mut stream = TcpStream::connect(sandbox.address()).expect("the sandbox listens");
        let body = instant_card("F-2").text();
        let sent = stream.write_all(request(&sandbox, method, path, &body, "close").as_bytes());
        if sent.is_ok() {
            let response = listen(stream);
            assert_eq!((response.text().as_str(), response.end), ("", End::Reset), "{path}");
        }
    }
    assert_eq!(sandbox.payments().len(), 1);
    assert_eq!(open(&url).status, 200);
    assert_eq!(admin(&sandbox, "GET", "ledger", "").status, 200);
    let records = sandbox.requests().into_iter().skip(1).map(|one| (one.endpoint, one.http_status, one.fault));
    let expected = [CARD, STATUS, QR_STATUS].map(|path| (path.to_owned(), None, Some(FaultName::ResetOnConnect)));
    assert_eq!(records.collect::<Vec<_>>(), expected);
    assert_eq!(admin(&sandbox, "DELETE", "faults", "").status, 204);
    assert_eq!(post(&sandbox, CARD, &instant_card("F-2")).status(), 200);
}

#[test]
fn reset_on_connect_affects_its_endpoint_only() {
    let sandbox = start();
    sandbox.faults().add(Fault::reset_on_connect().endpoint(EndpointName::GetStatus).times(1)).expect("a fault");
    assert_eq!(post(&sandbox, CARD, &instant_card(ORDER)).status(), 200);
    let stream = TcpStream::connect(sandbox.address()).expect("the sandbox listens");
    // The head alone: a body could meet the reset while it is being sent.
    (&stream).write_all(format!("POST {GET_STATUS} HTTP/1.1\r\n").as_bytes()).expect("sent");
    assert_eq!(listen(stream).end, End::Reset);
    assert_eq!(on_record(&sandbox), [(Some(200), None), (None, Some(FaultName::ResetOnConnect))]);
}

/// A first line that comes byte by byte is waited for.
#[test]
fn reset_on_connect_detects_a_slow_request() {
    let sandbox = start();
    sandbox.faults().add(Fault::reset_on_connect().times(1)).expect("a fault");
    let mut stream = TcpStream::connect(sandbox.address()).expect("the sandbox listens");
    stream.set_nodelay(true).expect("set");
    for byte in format!("GET {QR_STATUS}?transaction_id=1 HTTP/1.1\r").bytes() {
        stream.write_all(&[byte]).expect("sent");
    }
    stream.write_all(b"\n").expect("sent");
    assert_eq!(listen(stream).end, End::Reset);
}

#[test]
fn delayed_request_takes_effect_at_once() {
    let sandbox = start();
    sandbox.faults().add(Fault::delay().after(Duration::from_secs(3600)).order(ORDER)).expect("a fault");
    let mut stream = send(&sandbox, "POST", CARD, &instant_card(ORDER).text());
    wait_until("the charge", || charged(&sandbox, ORDER) == Some(1));
    // A later request is answered first.
    assert_eq!(post(&sandbox, CARD, &instant_card("F-2")).status(), 200);
    stream.set_nonblocking(true).expect("set");
    let silence = stream.read(&mut [0]).expect_err("no answer yet");
    assert_eq!(silence.kind(), ErrorKind::WouldBlock, "{silence}");
}

#[test]
fn delayed_response_is_complete() {
    let started = Instant::now();
    let (sandbox, response) = with_fault(Fault::delay().after(Duration::from_millis(300)));
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert_eq!((response.status(), response.json()["code"].clone()), (200, json!("110")));
    assert_injected_once(&sandbox, FaultName::Delay, Some(200));
}

#[test]
fn dripped_body_arrives_one_byte_per_second() {
    let sandbox = start();
    sandbox.faults().add(Fault::drip().order(ORDER)).expect("a fault");
    let started = Instant::now();
    let mut stream = send(&sandbox, "POST", CARD, &instant_card(ORDER).text());
    let mut next = || {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("a byte");
        byte[0]
    };
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(next());
    }
    let head = String::from_utf8(head).expect("a text");
    assert!(head.contains("content-length: "), "{head}");
    assert_eq!([next(), next(), next()], *b"{\"c");
    assert!(started.elapsed() >= Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(charged(&sandbox, ORDER), Some(1));
    drop(stream);
}

#[test]
fn endless_body_never_ends() {
    let sandbox = start();
    sandbox.faults().add(Fault::endless_body().order(ORDER)).expect("a fault");
    let mut stream = send(&sandbox, "POST", CARD, &instant_card(ORDER).text());
    let mut bytes = vec![0; 8 * 1024 * 1024];
    stream.read_exact(&mut bytes).expect("more than anybody should read");
    let head = String::from_utf8_lossy(&bytes[..512]).into_owned();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("transfer-encoding: chunked"), "{head}");
    assert!(head.contains("{\"code\":\"110\","), "{head}");
    assert_eq!(charged(&sandbox, ORDER), Some(1));
    drop(stream);
}

#[test]
fn stopping_waits_for_no_fault() {
    let sandbox = start();
    sandbox.faults().add(Fault::endless_body().order("F-1")).expect("a fault");
    sandbox.faults().add(Fault::delay().after(Duration::from_secs(3600)).order("F-2")).expect("a fault");
    let streams = ["F-1", "F-2"].map(|order| send(&sandbox, "POST", CARD, &instant_card(order).text()));
    wait_until("both took effect", || sandbox.requests().len() == 2);
    let started = Instant::now();
    sandbox.stop();
    assert!(started.elapsed() < patience());
    drop(streams);
}
