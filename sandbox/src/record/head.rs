//! The head of an HTTP/1.1 message: its headers, and the length that they declare (RFC 9112).

use super::http1::Framing;

/// The headers of a head: names, and values without surrounding blanks. A line that starts with a blank continues the previous value.
fn fields(head: &[u8]) -> Vec<(&[u8], Vec<u8>)> {
    let mut fields: Vec<(&[u8], Vec<u8>)> = Vec::new();
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        if is_continuation(line) {
            if let Some((_, value)) = fields.last_mut() {
                value.push(b' ');
                value.extend_from_slice(line.trim_ascii());
            }
        } else if let Some(colon) = line.iter().position(|byte| *byte == b':') {
            fields.push((&line[..colon], line[colon + 1..].trim_ascii().to_vec()));
        }
    }
    fields
}

fn is_continuation(line: &[u8]) -> bool {
    matches!(line.first(), Some(b' ' | b'\t'))
}

/// Whether a head line begins this header.
pub(super) fn is_header(line: &[u8], name: &str) -> bool {
    let colon = line.iter().position(|byte| *byte == b':').filter(|_| !is_continuation(line));
    colon.is_some_and(|colon| line[..colon].trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
}

/// The elements of a list header, from all its lines.
fn elements(head: &[u8], name: &str) -> Vec<Vec<u8>> {
    let of_name = |field: &(&[u8], Vec<u8>)| field.0.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
    let values = fields(head).into_iter().filter(of_name);
    values
        .flat_map(|(_, value)| {
            value.split(|byte| *byte == b',').map(|element| element.trim_ascii().to_vec()).collect::<Vec<_>>()
        })
        .collect()
}

/// The framing by the head's own headers; `None` if it has neither a length nor a transfer coding.
pub(super) fn declared(head: &[u8]) -> Option<Framing> {
    if let Some(last) = elements(head, "transfer-encoding").last() {
        return Some(if last.eq_ignore_ascii_case(b"chunked") { Framing::Chunked } else { Framing::UntilClose });
    }
    let lengths = elements(head, "content-length");
    let parse = |value: &Vec<u8>| -> Option<u64> {
        let text = std::str::from_utf8(value).ok()?;
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
    };
    let length = parse(lengths.first()?).filter(|length| lengths.iter().all(|other| parse(other) == Some(*length)));
    Some(length.map_or(Framing::Opaque, Framing::Length))
}

/// Why another reader may find another end of the message; `None` if the head is unambiguous.
pub(super) fn ambiguity(head: &[u8]) -> Option<&'static str> {
    let codings = elements(head, "transfer-encoding");
    let lengths = elements(head, "content-length");
    let is_framing = |line: &[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default().trim_ascii();
        name.eq_ignore_ascii_case(b"content-length") || name.eq_ignore_ascii_case(b"transfer-encoding")
    };
    let mut lines = head.split(|byte| *byte == b'\n').skip(1).peekable();
    let mut is_odd = false;
    while let Some(line) = lines.next() {
        let has_blank = line.iter().take_while(|byte| **byte != b':').any(u8::is_ascii_whitespace);
        is_odd |= is_framing(line) && (has_blank || lines.peek().is_some_and(|next| is_continuation(next)));
    }
    let has_bare_return = head.windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\n');
    match () {
        () if !codings.is_empty() && !lengths.is_empty() => Some("both content-length and transfer-encoding"),
        () if codings.iter().filter(|coding| coding.eq_ignore_ascii_case(b"chunked")).count() > 1 => {
            Some("chunked twice")
        }
        () if lengths.iter().any(|length| *length != lengths[0]) => Some("several values of content-length"),
        () if is_odd => Some("a blank or a folded line in content-length or transfer-encoding"),
        () if has_bare_return => Some("a carriage return without a line feed"),
        () => None,
    }
}

/// The transfer codings of a body except `chunked`, in the order in which they were applied.
pub(super) fn codings(head: &[u8]) -> Vec<String> {
    let names =
        elements(head, "transfer-encoding").into_iter().map(|name| String::from_utf8_lossy(&name).to_ascii_lowercase());
    names.filter(|name| name != "chunked").collect()
}

/// Whether the first line of a request has version HTTP/1.x.
pub(super) fn is_http1_request(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    line.rsplit(|byte| *byte == b' ').next().is_some_and(|version| version.starts_with(b"HTTP/1."))
}

/// The status code in the first line of a response.
pub(super) fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(|byte| *byte == b' ');
    words.next().filter(|version| version.starts_with(b"HTTP/1."))?;
    std::str::from_utf8(words.next()?.trim_ascii()).ok()?.parse().ok().filter(|status| (100..=999).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_length_is_named() {
        for (headers, framing, is_ambiguous) in [
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", Some(Framing::Chunked), true),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", Some(Framing::Chunked), true),
            ("Transfer-Encoding: chunked, identity\r\n", Some(Framing::UntilClose), false),
            ("Transfer-Encoding: gzip,\r\n chunked\r\n", Some(Framing::Chunked), true),
            ("Transfer-Encoding : chunked\r\n", Some(Framing::Chunked), true),
            ("Transfer-Encoding: xchunked\r\n", Some(Framing::UntilClose), false),
            ("Content-Length: 5\r\ncontent-length: 5\r\n", Some(Framing::Length(5)), false),
            ("Content-Length: 5\r\ncontent-length: 05\r\n", Some(Framing::Length(5)), true),
            ("Content-Length: 5, 6\r\n", Some(Framing::Opaque), true),
            ("Content-Length: +5\r\n", Some(Framing::Opaque), false),
            ("Content-Length:\r\n 5\r\n", Some(Framing::Length(5)), true),
            // A continuation line is not a header.
            ("X-A: 1\r\n Content-Length: 5\r\n", None, true),
            ("X-A: 1\r\n\tHost: 5\r\n", None, false),
            ("X-A: 1\rContent-Length: 5\r\n", None, true),
        ] {
            let head = format!("POST / HTTP/1.1\r\n{headers}\r\n");
            let found = (declared(head.as_bytes()), ambiguity(head.as_bytes()).is_some());
            assert_eq!(found, (framing, is_ambiguous), "{headers}");
        }
        assert!(!is_header(b" Host: 5\r\n", "host") && is_header(b"hOST : 5\r\n", "host"));
        assert!(is_http1_request(b"GET / HTTP/1.0\r\n") && !is_http1_request(b"PRI * HTTP/2.0\r\n"));
    }
}
