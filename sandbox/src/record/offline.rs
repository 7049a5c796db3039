//! The recorder without sockets and files, for fuzz targets and tests: the passed bytes and the recorded exchanges.

use rustls::RootCertStore;

use crate::{
    record::{
        exchanges::{Exchanges, UPSTREAM_CLOSED},
        upstream::Upstream,
        writer::{Recording, exchange},
    },
    recording::{Direction, Exchange, mask::Masker},
    settings::SandboxError,
};

/// A connection on which the client sends all requests first, and both sides send
/// pieces of this length. Returns the bytes for the upstream, and the exchanges.
pub(crate) fn recorded(
    upstream: &str,
    requests: &[u8],
    responses: &[u8],
    piece: usize,
) -> Result<(Vec<u8>, Vec<Exchange>), SandboxError> {
    let upstream = Upstream::parse("upstream", upstream, RootCertStore::empty())?;
    let (recording, finished) = Recording::detached();
    let mut exchanges = Exchanges::new(&recording, &upstream, Direction::Request, 1);
    let mut passed = Vec::new();
    for bytes in requests.chunks(piece.max(1)) {
        passed.extend(exchanges.request_bytes(bytes));
    }
    for bytes in responses.chunks(piece.max(1)) {
        if exchanges.response_bytes(bytes) {
            passed.extend(exchanges.take_held());
        }
        exchanges.record();
    }
    passed.extend(exchanges.take_held());
    exchanges.end(UPSTREAM_CLOSED);
    drop(exchanges);
    drop(recording);
    let mut masker = Masker::default();
    Ok((passed, finished.iter().map(|finished| exchange(finished, &mut masker)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

    /// The recording of a connection: targets, status, bodies and problems. Also checks that every byte passes, in pieces of any length.
    fn seen(requests: &str, responses: &str) -> Vec<String> {
        let mut seen = Vec::new();
        for piece in [1, 2, 3, 7, requests.len()] {
            let (passed, exchanges) =
                recorded("http://g.example", requests.as_bytes(), responses.as_bytes(), piece).expect("an upstream");
            assert_eq!(String::from_utf8_lossy(&passed), requests, "in pieces of {piece}");
            let text = |body: &Option<crate::recording::Body>| {
                body.as_ref().and_then(|body| body.text.clone()).unwrap_or_default()
            };
            let now: Vec<String> = exchanges
                .iter()
                .map(|exchange| {
                    let response = exchange.response.as_ref();
                    format!(
                        "{} [{}] {} [{}] {}",
                        exchange.request.target,
                        text(&exchange.request.body),
                        response.map_or(0, |response| response.status),
                        response.map(|response| text(&response.body)).unwrap_or_default(),
                        exchange.problem.as_deref().unwrap_or("-")
                    )
                })
                .collect();
            assert!(seen.is_empty() || seen == now, "in pieces of {piece}: {now:?} for {seen:?}");
            seen = now;
        }
        seen
    }

    #[test]
    fn odd_requests_pass_and_are_named() {
        for (headers, body, expected) in [
            ("Content-Length: 3\r\nContent-Length: 3\r\n", "abc", "/a [abc] 200 [ok] -"),
            (
                "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
                "3;x=\"y\"\r\nabc\r\n0\r\nt: 1\r\n\r\n",
                "/a [abc] 200 [ok] the end of the request is ambiguous: it has both content-length and transfer-encoding",
            ),
            ("Transfer-Encoding: chunked\r\n", "003\r\nabc\r\n000\r\n\r\n", "/a [abc] 200 [ok] -"),
            (
                "Content-Length: 3\r\nContent-Length: 4\r\n",
                "abcd",
                "/a [] 200 [ok] the length of the request cannot be read: the rest of the connection is not recorded",
            ),
            (
                "Transfer-Encoding: chunked\r\n",
                "0x3\r\nabc\r\n0\r\n\r\n",
                "/a [] 200 [ok] the upstream closed the connection before the request was complete",
            ),
            ("X-A: 1\r\n X-Length: 9\r\n\tHost: 1\r\n", "", "/a [] 200 [ok] -"),
        ] {
            let seen = seen(&format!("POST /a HTTP/1.1\r\n{headers}\r\n{body}"), OK);
            assert_eq!(seen, [expected], "{headers}");
        }
    }

    #[test]
    fn odd_responses_are_named() {
        let next = "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n";
        for (first, expected) in [
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\na: b\r\n\r\nHTTP/1.1 204 x\r\ncontent-length: 5\r\n\r\n",
                ["/a [] 204 [] -", "/b [] 200 [ok] -"],
            ),
            ("HTTP/1.1 304 x\r\ntransfer-encoding: chunked\r\n\r\n", ["/a [] 304 [] -", "/b [] 200 [ok] -"]),
            // A body where none may be is no response to the next request.
            ("HTTP/1.1 204 x\r\n\r\nbody\r\n", ["/a [] 204 [] -", "/b [] 0 [] the response is not readable HTTP/1.1"]),
            (
                "HTTP/1.1 200 x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
                [
                    "/a [] 200 [x] the end of the response is ambiguous: it has both content-length and transfer-encoding",
                    "/b [] 200 [ok] -",
                ],
            ),
            (
                "HTTP/1.1 200 x\r\ncontent-length: 2, 3\r\n\r\nxx",
                [
                    "/a [] 200 [] the length of the response cannot be read: it is not recorded",
                    "/b [] 0 [] the upstream closed the connection before a response",
                ],
            ),
        ] {
            assert_eq!(seen(next, &format!("{first}{OK}")), expected, "{first}");
        }
        let until_close = seen("GET /a HTTP/1.0\r\n\r\n", "HTTP/1.0 200 x\r\nconnection: close\r\n\r\nall of it");
        assert_eq!(until_close, ["/a [] 200 [all of it] -"]);
        let head = seen("HEAD /a HTTP/1.1\r\n\r\n", "HTTP/1.1 200 x\r\ncontent-length: 5\r\n\r\n");
        assert_eq!(head, ["/a [] 200 [] -"]);
    }

    /// Two responses while the first request goes on are not taken for one.
    #[test]
    fn responses_do_not_run_into_each_other() {
        let request = "POST /a HTTP/1.1\r\ncontent-length: 100\r\n\r\nshort";
        assert_eq!(
            seen(request, &format!("{OK}HTTP/1.1 500 x\r\ncontent-length: 3\r\n\r\nbad")),
            ["/a [short] 200 [ok] another response followed, which is not recorded"]
        );
    }

    #[test]
    fn other_protocols_pass_at_once() {
        let upstream = Upstream::parse("upstream", "http://g.example", RootCertStore::empty()).expect("a URL");
        let (recording, finished) = Recording::detached();
        let mut exchanges = Exchanges::new(&recording, &upstream, Direction::Request, 1);
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04";
        assert_eq!(exchanges.request_bytes(preface), preface);
        exchanges.end("the client closed the connection");
        let mut exchanges = Exchanges::new(&recording, &upstream, Direction::Request, 2);
        exchanges.request_bytes(b"CONNECT g.example:443 HTTP/1.1\r\n\r\n");
        // What looks like the beginning of a request waits for the answer.
        assert_eq!(exchanges.request_bytes(b"\x16\x03\x01"), b"");
        assert!(exchanges.response_bytes(b"HTTP/1.1 200 OK\r\n\r\n"));
        assert_eq!(exchanges.take_held(), b"\x16\x03\x01");
        assert_eq!(exchanges.request_bytes(b"more"), b"more");
        exchanges.end("the client closed the connection");
        drop(exchanges);
        drop(recording);
        let problems: Vec<_> = finished.iter().filter_map(|exchange| exchange.problem).collect();
        assert!(problems[0].contains("not HTTP/1.1") && problems[1].contains("a tunnel"), "{problems:?}");
    }
}
