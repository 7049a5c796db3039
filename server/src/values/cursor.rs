//! Cursors of the event feed. A cursor names the event that it points at, so that a database restored from a backup recognizes
//! cursors of the history that it lost.

use std::{fmt, str::FromStr};

use super::{
    Millis,
    error::{Rule, Violation},
};

/// The length of the event's identifier in a cursor: 64 random bits.
const ID_LENGTH: usize = 16;
/// An event that both histories have was written before the lost event of a cursor. This is the tolerated difference of clocks.
const CLOCK_MARGIN: Millis = 3600 * 1000;

/// A place in the feed of events: [`Server::events_after`](crate::Server::events_after) reads on from it. Its text is opaque;
/// `0` is the place before the first event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) seq: i64,
    pub(crate) at: Millis,
    /// The beginning of the event's identifier, without its prefix.
    id: String,
}

impl Cursor {
    /// The place of an event.
    pub(crate) fn at(seq: i64, at: Millis, event_id: &str) -> Self {
        let bare = event_id.strip_prefix("evt_").unwrap_or(event_id);
        Self { seq, at, id: bare.chars().take(ID_LENGTH).collect() }
    }

    /// True for the place before the first event, which every history has.
    pub(crate) fn is_start(&self) -> bool {
        self.seq == 0
    }

    /// Whether this is the place of an event with this identifier.
    pub(crate) fn is_of(&self, event_id: &str) -> bool {
        *self == Self::at(self.seq, self.at, event_id)
    }

    /// Events of the lost history up to this moment may be in the restored one as well; none after the cursor's own is.
    pub(crate) fn shared_until(&self) -> Millis {
        self.at.saturating_sub(CLOCK_MARGIN)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_start() {
            return f.write_str("0");
        }
        write!(f, "{}.{}.{}", self.seq, letters(&format!("{:x}", self.at)), letters(&self.id))
    }
}

impl FromStr for Cursor {
    type Err = Violation;

    fn from_str(text: &str) -> Result<Self, Violation> {
        let read = || {
            if text == "0" {
                return Some(Self::default());
            }
            let mut parts = text.split('.');
            let seq = parts.next().filter(|seq| seq.starts_with(|first| matches!(first, '1'..='9')))?.parse().ok()?;
            let at = Millis::from_str_radix(&hexadecimal(parts.next()?)?, 16).ok()?;
            let id = hexadecimal(parts.next()?).filter(|id| id.len() == ID_LENGTH)?;
            parts.next().is_none().then_some(Self { seq, at, id })
        };
        let sentence = "must be a cursor that this server gave, or 0 for the first event";
        read().ok_or_else(|| Violation::new("after", Rule::Format, sentence))
    }
}

/// Hexadecimal digits as the letters a to p, because a long run of decimal digits could look like a card number.
fn letters(hexadecimal: &str) -> String {
    let letter = |digit: char| char::from(b'a' + u8::try_from(digit.to_digit(16).unwrap_or(0)).unwrap_or(0));
    hexadecimal.chars().map(letter).collect()
}

fn hexadecimal(letters: &str) -> Option<String> {
    let digit = |letter: char| char::from_digit(u32::from(letter).checked_sub(u32::from('a'))?, 16);
    letters.chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::looks_like_card_number;

    #[test]
    fn cursors_are_read_back() {
        let cursor = Cursor::at(42, 1_795_456_800_000, "evt_0123456789abcdef0123456789abcdef");
        let text = cursor.to_string();
        assert_eq!(text.parse(), Ok(cursor.clone()));
        assert!(cursor.is_of("evt_0123456789abcdef0123456789abcdef"));
        assert!(!cursor.is_of("evt_1123456789abcdef0123456789abcdef"));
        assert!(!looks_like_card_number(&text), "{text}");
        assert_eq!(("0".parse(), Cursor::default().to_string()), (Ok(Cursor::default()), "0".to_owned()));
    }

    #[test]
    fn invalid_cursor_text_is_rejected() {
        for text in [
            "",
            "-1",
            "42",
            "0.a.a",
            "+42.b.abcdefghijklmnop",
            "042.b.abcdefghijklmnop",
            "42.b.c",
            "42.b.abcdefghijklmnoq",
            "42.b.abcdefghijklmnop.x",
            "42.1.abcdefghijklmnop",
        ] {
            assert!(text.parse::<Cursor>().is_err(), "{text}");
        }
    }
}
