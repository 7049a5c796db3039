//! What a recorder reads of a connection, what it masks, and what a replay reads of a file.

use kassa_sandbox::fuzzing::{masked, recorded, replayed};
use serde_json::Value;

/// Between the requests and the responses of an input.
const BETWEEN: &[u8] = b"\n====\n";

/// Every byte passes, in pieces of any length, and the record does not depend on the pieces. The first byte is the length of a piece.
pub fn connection(bytes: &[u8]) {
    let [piece, bytes @ ..] = bytes else { return };
    let middle = bytes.windows(BETWEEN.len()).position(|window| window == BETWEEN);
    let (requests, responses) = middle.map_or((bytes, &b""[..]), |at| (&bytes[..at], &bytes[at + BETWEEN.len()..]));
    let whole = recorded(requests, responses, usize::MAX).expect("an upstream");
    let pieces = recorded(requests, responses, usize::from(*piece)).expect("an upstream");
    assert_eq!(whole, pieces, "the pieces make a difference");
    let small = requests.to_ascii_lowercase();
    let has = |text: &[u8]| small.windows(text.len()).any(|window| window == text);
    if !has(b"host") && !has(b"://") {
        assert!(whole.0 == requests, "a byte was changed");
    }
}

/// A JSON text stays one, with the same names.
pub fn mask(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let masked = masked(&text);
    if let Ok(before) = serde_json::from_str::<Value>(&text) {
        let after: Value = serde_json::from_str(&masked).unwrap_or_else(|error| panic!("{error}: {masked}"));
        if let (Some(before), Some(after)) = (before.as_object(), after.as_object()) {
            assert!(after.len() <= before.len(), "a member came from nowhere: {masked}");
        }
    }
}

/// A recording can be played, whatever is in it.
pub fn file(bytes: &[u8]) {
    let _answered = replayed(bytes);
}
