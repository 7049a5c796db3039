//! `kassa-sandbox record`: every byte passes as it is. Random connections, whose bytes both ends know from a seed. A failure names the
//! seed; `KASSA_FIRST_SEED=17 KASSA_EXCHANGES=1` plays that one again.

use std::{
    env,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

use crate::{
    common::{patience, send, start},
    recorder::{Recording, connect, read_until},
};

/// A number in an environment variable.
fn number(variable: &str, default: u64) -> u64 {
    env::var(variable)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

/// How many exchanges there are: a few thousand, or `KASSA_EXCHANGES`.
fn exchanges_wanted() -> usize {
    usize::try_from(number("KASSA_EXCHANGES", 3000)).expect("a number of exchanges")
}

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// After all exchanges.
    InOrder,
    /// The upstream closes after so many bytes of the last response.
    ResponseCut(usize),
    /// The upstream resets the connection there.
    ResponseReset(usize),
    /// The client closes after so many bytes of the last request.
    RequestCut(usize),
}

struct Planned {
    request: Vec<u8>,
    response: Vec<u8>,
    /// Bodies as they are stored, decoded.
    bodies: [Vec<u8>; 2],
}

struct Plan {
    seed: u64,
    exchanges: Vec<Planned>,
    end: End,
}

fn plan(seed: u64) -> Plan {
    let mut random = Rng::with_seed(seed);
    let count = random.usize(1..=6);
    let mut exchanges: Vec<Planned> = (0..count).map(|index| planned(&mut random, seed, index)).collect();
    let last = exchanges.last_mut().expect("at least one");
    let end = match random.u32(0..10) {
        0 => End::ResponseCut(random.usize(0..last.response.len())),
        1 => End::ResponseReset(random.usize(0..last.response.len())),
        2 => End::RequestCut(random.usize(1..last.request.len())),
        3 if !last.request.starts_with(b"HEAD") => {
            // The end of the connection is the end of the response.
            last.bodies[1] = letters(&mut random, 5000);
            last.response = [b"HTTP/1.1 200 OK\r\nx: y\r\n\r\n".as_slice(), last.bodies[1].as_slice()].concat();
            End::InOrder
        }
        _ => End::InOrder,
    };
    Plan { seed, exchanges, end }
}

fn planned(random: &mut Rng, seed: u64, index: usize) -> Planned {
    let method = ["GET", "POST", "PUT", "HEAD", "DELETE", "patch"][random.usize(0..6)];
    let (request_head, request_body, request_wire) = message(random);
    let host = ["Host: me", "host:me.example:1", "HOST:  x"][random.usize(0..3)];
    let request = [
        format!("{method} /{seed}/{index}?q=%2F HTTP/1.1\r\n{host}\r\nX-Odd:  two  blanks \r\n{request_head}\r\n")
            .as_bytes(),
        request_wire.as_slice(),
    ]
    .concat();
    let (status, has_body) =
        [("200 OK", true), ("404 Nicht Gefunden", true), ("204 No Content", false), ("304 x", false), ("599 ", true)]
            [random.usize(0..5)];
    let interim = if random.bool() { "" } else { "HTTP/1.1 103 Early\r\nlink: </a>\r\n\r\n" };
    let (response_head, response_body, response_wire) = message(random);
    let has_body = has_body && method != "HEAD";
    let head = if response_head.is_empty() { "content-length: 0\r\n" } else { &response_head };
    let head = format!("{interim}HTTP/1.1 {status}\r\nDate: now\r\nSet-Cookie: a=b\r\n{head}\r\n");
    let response = [head.as_bytes(), if has_body { response_wire.as_slice() } else { b"".as_slice() }].concat();
    Planned { request, response, bodies: [request_body, if has_body { response_body } else { Vec::new() }] }
}

/// Letters have no digits, so nothing in them is masked. Some are no UTF-8.
fn letters(random: &mut Rng, most: usize) -> Vec<u8> {
    let length = if random.u32(0..20) == 0 { random.usize(1..20 * most) } else { random.usize(1..most) };
    let text: String = (0..length)
        .map(|_| ['a', 'b', 'c', 'd', 'e', ' ', '\n', '\u{430}', '\u{44f}', '\u{20ac}'][random.usize(0..10)])
        .collect();
    let mut bytes = text.into_bytes();
    if random.u32(0..10) == 0 {
        bytes.push(0xff);
    }
    bytes
}

/// The headers of a body, the body, and its bytes on the wire.
fn message(random: &mut Rng) -> (String, Vec<u8>, Vec<u8>) {
    if random.u32(0..4) == 0 {
        return (String::new(), Vec::new(), Vec::new());
    }
    let body = letters(random, 2000);
    let (mut head, mut wire) = (String::new(), body.clone());
    if random.u32(0..3) == 0 {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&wire).expect("encoded");
        wire = encoder.finish().expect("encoded");
        head.push_str("Content-Encoding: gzip\r\n");
    }
    if random.bool() {
        head.push_str(&format!("CONTENT-length:{}\r\n", wire.len()));
        return (head, body, wire);
    }
    let mut chunked = Vec::new();
    let mut rest = wire.as_slice();
    while !rest.is_empty() {
        let (chunk, others) = rest.split_at(random.usize(1..=rest.len()));
        let extension = if random.bool() { "" } else { ";a=\"b\"" };
        chunked.extend_from_slice(format!("{:X}{extension}\r\n", chunk.len()).as_bytes());
        chunked.extend_from_slice(chunk);
        chunked.extend_from_slice(b"\r\n");
        rest = others;
    }
    chunked.extend_from_slice(if random.bool() { b"0\r\n\r\n" } else { b"00\r\nTrailer: x\r\n\r\n" });
    head.push_str("Transfer-Encoding: chunked\r\n");
    (head, body, chunked)
}

/// What the upstream receives of a request, or of a part of one: complete lines of the head are changed.
fn at_upstream(request: &[u8], upstream: SocketAddr) -> Vec<u8> {
    let mut received = Vec::new();
    let mut is_head = true;
    for (index, line) in request.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = String::from_utf8_lossy(line).into_owned();
        match text.split_once(':') {
            _ if !is_head || !line.ends_with(b"\n") => received.extend_from_slice(line),
            _ if index == 0 => received.extend_from_slice(text.replacen(" /", " /base/", 1).as_bytes()),
            Some((name, _)) if name.eq_ignore_ascii_case("host") => {
                received.extend_from_slice(format!("{name}: {upstream}\r\n").as_bytes());
            }
            _ => received.extend_from_slice(line),
        }
        is_head &= line != b"\r\n";
    }
    received
}

/// Writes in pieces of random lengths.
fn write_pieces(stream: &mut TcpStream, mut bytes: &[u8], random: &mut Rng) -> io::Result<()> {
    while !bytes.is_empty() {
        let most = if random.bool() { bytes.len() } else { bytes.len().min(40) };
        let (piece, rest) = bytes.split_at(random.usize(1..=most));
        stream.write_all(piece)?;
        bytes = rest;
    }
    Ok(())
}

/// Plays the upstream's part; the seed is in the first line of the first request.
fn answer(mut stream: TcpStream, own: SocketAddr) -> io::Result<()> {
    stream.set_read_timeout(Some(patience()))?;
    stream.set_nodelay(true)?;
    let mut beginning = Vec::new();
    let mut byte = [0];
    let seed = loop {
        if stream.read(&mut byte)? == 0 {
            // Cut before the seed was readable.
            return Ok(());
        }
        beginning.push(byte[0]);
        let text = String::from_utf8_lossy(&beginning).into_owned();
        let seed = text.split_once(" /base/").and_then(|(_, rest)| rest.split_once('/'));
        if let Some((seed, _)) = seed {
            break seed.parse().expect("a seed");
        }
        if text.matches(' ').count() > 1 || text.contains('\n') {
            break u64::MAX;
        }
    };
    if seed == u64::MAX {
        return Ok(());
    }
    let plan = plan(seed);
    let mut random = Rng::with_seed(!seed);
    let last = plan.exchanges.len() - 1;
    for (index, planned) in plan.exchanges.iter().enumerate() {
        let cut = match plan.end {
            End::RequestCut(cut) if index == last => cut,
            _ => planned.request.len(),
        };
        let expected = at_upstream(&planned.request[..cut], own);
        let mut received = std::mem::take(&mut beginning);
        let begun = received.len();
        received.resize(expected.len(), 0);
        stream.read_exact(&mut received[begun..])?;
        assert!(received == expected, "seed {seed}: a request was changed");
        match plan.end {
            End::RequestCut(_) if index == last => {
                assert_eq!(stream.read(&mut byte)?, 0, "seed {seed}: the request goes on");
                return Ok(());
            }
            End::ResponseCut(cut) if index == last => {
                return write_pieces(&mut stream, &planned.response[..cut], &mut random);
            }
            End::ResponseReset(cut) if index == last => {
                write_pieces(&mut stream, &planned.response[..cut], &mut random)?;
                return socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
            }
            _ => write_pieces(&mut stream, &planned.response, &mut random)?,
        }
    }
    Ok(())
}

/// Plays the client's part.
fn call(recorder: SocketAddr, plan: &Plan) {
    let mut random = Rng::with_seed(plan.seed.rotate_left(17));
    let mut stream = connect(recorder);
    let last = plan.exchanges.len() - 1;
    for (index, planned) in plan.exchanges.iter().enumerate() {
        if let (End::RequestCut(cut), true) = (plan.end, index == last) {
            write_pieces(&mut stream, &planned.request[..cut], &mut random).expect("written");
            stream.shutdown(Shutdown::Write).expect("shut down");
            let mut rest = Vec::new();
            let _ended = stream.read_to_end(&mut rest);
            assert!(rest.is_empty(), "seed {}: an answer from nowhere", plan.seed);
            return;
        }
        write_pieces(&mut stream, &planned.request, &mut random).expect("written");
        if index < last {
            let mut received = vec![0; planned.response.len()];
            stream.read_exact(&mut received).unwrap_or_else(|error| panic!("seed {}: {error}", plan.seed));
            assert!(received == planned.response, "seed {}: a response was changed", plan.seed);
            continue;
        }
        let mut received = Vec::new();
        let ended = stream.read_to_end(&mut received);
        match plan.end {
            End::ResponseReset(cut) => {
                assert!(planned.response[..cut].starts_with(&received), "seed {}: a response was changed", plan.seed);
                assert!(ended.is_err(), "seed {}: a reset became an end in order", plan.seed);
            }
            end => {
                let cut = if let End::ResponseCut(cut) = end { cut } else { planned.response.len() };
                assert!(ended.is_ok(), "seed {}: {ended:?}", plan.seed);
                assert!(received == planned.response[..cut], "seed {}: a response was changed", plan.seed);
            }
        }
    }
}

#[test]
fn random_exchanges_pass_byte_for_byte() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let own = listener.local_addr().expect("bound");
    let problems = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&problems);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let counted = Arc::clone(&counted);
            thread::spawn(move || {
                let played = thread::spawn(move || answer(stream.expect("a connection"), own));
                if !played.join().is_ok_and(|result| result.is_ok()) {
                    counted.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    let base = format!("http://{own}/base");
    let recording = Recording::with(&base, |options| options.callbacks = Some(base.clone()));
    let callbacks = recording.recorder.callbacks_url().expect("listens");
    let ways = [recording.address(), callbacks.trim_start_matches("http://").parse().expect("an address")];
    let (next, exchanges) = (AtomicU64::new(number("KASSA_FIRST_SEED", 1)), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while exchanges.load(Ordering::SeqCst) < exchanges_wanted() {
                    let plan = plan(next.fetch_add(1, Ordering::SeqCst));
                    exchanges.fetch_add(plan.exchanges.len(), Ordering::SeqCst);
                    call(ways[plan.seed as usize % 2], &plan);
                }
            });
        }
    });
    assert_eq!(problems.load(Ordering::SeqCst), 0, "the upstream received something else");
    let recorded = recording.exchanges();
    assert_eq!(recorded.len(), exchanges.load(Ordering::SeqCst), "an exchange is a line");
    recorded.iter().for_each(check_recorded);
}

/// A recorded exchange against its plan.
fn check_recorded(recorded: &Value) {
    let target = recorded["request"]["target"].as_str().expect("a target");
    let mut numbers = target.trim_start_matches('/').split(['/', '?']).map_while(|part| part.parse::<u64>().ok());
    let (Some(seed), Some(index)) = (numbers.next(), numbers.next()) else {
        assert!(recorded["problem"].is_string(), "{target}");
        return;
    };
    let plan = plan(seed);
    let direction = if seed % 2 == 0 { "request" } else { "callback" };
    assert_eq!(recorded["direction"], direction);
    let index = usize::try_from(index).expect("small");
    let is_last = index + 1 == plan.exchanges.len();
    if is_last && plan.end != End::InOrder {
        // A cut may leave the whole message where what was cut off is not needed.
        return;
    }
    assert!(recorded.get("problem").is_none(), "seed {seed}: {}", recorded["problem"]);
    for (side, body) in ["request", "response"].iter().zip(&plan.exchanges[index].bodies) {
        let stored = &recorded[side]["body"];
        match std::str::from_utf8(body) {
            Ok("") => assert!(stored.is_null(), "seed {seed}: {stored}"),
            Ok(text) => assert!(stored["text"] == text, "seed {seed}: another {side} body"),
            Err(_) => assert!(stored["base64"].is_string(), "seed {seed}"),
        }
    }
}

/// Prints what a recorder adds to the time of an exchange. Nothing is asserted: times depend on the machine.
#[test]
#[ignore = "prints times"]
fn overhead_is_printed() {
    let sandbox = start();
    let recording = Recording::of(sandbox.url());
    let measure = |address: SocketAddr| {
        let mut stream = connect(address);
        let mut times: Vec<Duration> = (0..5000)
            .map(|_| {
                let begun = Instant::now();
                stream.write_all(b"POST /x HTTP/1.1\r\nhost: me\r\ncontent-length: 2\r\n\r\n{}").expect("written");
                read_until(&mut stream, "right?\n").expect("an answer");
                begun.elapsed()
            })
            .collect();
        times.sort();
        (times[times.len() / 2], times[times.len() * 99 / 100])
    };
    assert_eq!(send("GET", &format!("{}/", recording.recorder.url()), &[], b"").status, 404);
    let (direct, recorded) = (measure(sandbox.address()), measure(recording.address()));
    println!("direct:   p50 {:?}, p99 {:?}", direct.0, direct.1);
    println!("recorded: p50 {:?}, p99 {:?}", recorded.0, recorded.1);
}
