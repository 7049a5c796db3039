//! The bodies of a recording: captured on the wire, decoded, and not stored if they cannot be decoded.

use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::{
    record::head::codings,
    recording::{Body, Headers},
};

/// The maximum stored length of a body, on the wire and decoded.
const MAX_BODY: usize = 1024 * 1024;
/// The signatures of compressed formats that cannot be decoded here: zip, xz, bzip2, Zstandard, 7z.
const COMPRESSED: [&[u8]; 6] = [b"\x1f\x8b", b"PK\x03\x04", b"\xfd7zXZ\0", b"BZh", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf"];
/// The maximum number of compressions without a header.
const MAX_PACKED: usize = 3;

/// The stored part of a body.
#[derive(Default)]
pub(super) struct Captured {
    pub(super) bytes: Vec<u8>,
    total: u64,
}

impl Captured {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let room = MAX_BODY.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.total += bytes.len() as u64;
    }
}

/// The content encodings of a body and its transfer codings, in the order in which they were applied.
pub(super) fn encodings(head: &[u8], headers: &Headers) -> Vec<String> {
    let values = headers.iter().filter(|(name, _)| name == "content-encoding");
    let content = values.flat_map(|(_, value)| value.split(',').map(|encoding| encoding.trim().to_ascii_lowercase()));
    content.chain(codings(head)).filter(|encoding| !matches!(encoding.as_str(), "" | "identity")).collect()
}

/// The decoded body. A body that cannot be decoded cannot be masked, so it is not stored.
pub(super) fn decoded(body: Captured, encodings: &[String]) -> Option<Body> {
    let Captured { mut bytes, total } = body;
    let mut is_cut = (bytes.len() as u64) < total;
    for encoding in encodings.iter().rev() {
        if bytes.is_empty() {
            break;
        }
        let (decoded, is_whole) = match encoding.as_str() {
            "gzip" | "x-gzip" => inflated(MultiGzDecoder::new(bytes.as_slice())),
            // "deflate" means zlib; some servers send raw deflate.
            "deflate" if bytes[0] & 0x0f == 8 => inflated(ZlibDecoder::new(bytes.as_slice())),
            "deflate" => inflated(DeflateDecoder::new(bytes.as_slice())),
            _ => (Vec::new(), false),
        };
        bytes = decoded;
        is_cut |= !is_whole;
    }
    // A file that was uploaded compressed has no header for that.
    for _ in 0..MAX_PACKED {
        let Some(packed) = unpacked(&bytes) else { break };
        (bytes, is_cut) = (packed.0, is_cut || !packed.1);
    }
    if COMPRESSED.iter().any(|magic| bytes.starts_with(magic)) {
        (bytes, is_cut) = (Vec::new(), true);
    }
    Body::of(utf16(&bytes).map_or(bytes, String::into_bytes), is_cut.then_some(total))
}

/// Detects gzip and zlib by their first bytes.
fn unpacked(bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
    match bytes {
        [0x1f, 0x8b, 8, ..] => Some(inflated(MultiGzDecoder::new(bytes))),
        // Text can start with the same bytes; then it is not compressed.
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => {
            Some(inflated(ZlibDecoder::new(bytes))).filter(|(inside, _)| !inside.is_empty())
        }
        _ => None,
    }
}

/// UTF-16 with a byte order mark, or recognized by the zeros beside ASCII.
fn utf16(bytes: &[u8]) -> Option<String> {
    let (is_little, text) = match bytes {
        [0xff, 0xfe, text @ ..] => (true, text),
        [0xfe, 0xff, text @ ..] => (false, text),
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => (true, bytes),
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => (false, bytes),
        _ => return None,
    };
    let pairs = text.chunks_exact(2).map(|pair| {
        let pair = [pair[0], pair[1]];
        if is_little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
    });
    char::decode_utf16(pairs).collect::<Result<String, _>>().ok().filter(|text| !text.contains('\0'))
}

/// The part that can be decoded, and whether it is complete.
fn inflated(decoder: impl Read) -> (Vec<u8>, bool) {
    let mut decoded = Vec::new();
    let result = decoder.take(MAX_BODY as u64 + 1).read_to_end(&mut decoded);
    let is_whole = result.is_ok() && decoded.len() <= MAX_BODY;
    decoded.truncate(MAX_BODY);
    (decoded, is_whole)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;
    use crate::record::writer::response;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).expect("encoded");
        encoder.finish().expect("encoded")
    }

    fn body(bytes: &[u8], encoding: &str) -> Body {
        let mut captured = Captured::default();
        captured.add(bytes);
        let head = format!("HTTP/1.1 200 OK\r\n{encoding}\r\n\r\n");
        response(head.as_bytes(), captured).and_then(|response| response.body).expect("a body")
    }

    #[test]
    fn body_is_stored_decoded_or_not_at_all() {
        let packed = gzip("сом");
        assert_eq!(body(&packed, "content-encoding: gzip").text.as_deref(), Some("сом"));
        assert_eq!(body(&packed, "content-encoding: identity, X-GZip").text.as_deref(), Some("сом"));
        assert_eq!(
            body(&packed[..packed.len() - 1], "content-encoding: gzip").truncated,
            Some(packed.len() as u64 - 1)
        );
        let unknown = body(&packed, "content-encoding: br");
        assert_eq!((unknown.bytes(), unknown.truncated), (Vec::new(), Some(packed.len() as u64)));
    }

    #[test]
    fn compressed_and_wide_texts_are_read() {
        let packed = gzip("сом");
        for encoding in [
            "x: y",
            "content-encoding: identity\r\ncontent-encoding: gzip",
            "transfer-encoding: gzip, chunked",
            "content-type: application/gzip",
        ] {
            assert_eq!(body(&packed, encoding).text.as_deref(), Some("сом"), "{encoding}");
        }
        assert_eq!(body(&packed[..4], "x: y").bytes(), b"");
        assert_eq!(body(b"PK\x03\x04 otp=1234", "x: y").bytes(), b"");
        let little: Vec<u8> = "{\"a\":1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "\u{feff}сом".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(body(&little, "x: y").text.as_deref(), Some("{\"a\":1}"));
        assert_eq!(body(&big, "x: y").text.as_deref(), Some("сом"));
        assert_eq!(body(b"x\x01", "x: y").text.as_deref(), Some("x\u{1}"));
    }

    #[test]
    fn decompression_bomb_is_cut() {
        let bomb = body(&gzip(&"0".repeat(20 * MAX_BODY)), "content-encoding: gzip");
        assert_eq!(bomb.bytes().len(), MAX_BODY);
        assert!(bomb.truncated.is_some());
    }
}
