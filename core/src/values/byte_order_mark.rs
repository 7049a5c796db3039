//! The byte order mark (U+FEFF), which editors on Windows write before a text.

/// The text without a byte order mark before it: a JSON reader would refuse the mark, and a PEM reader would take the first
/// certificate behind it for a comment.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
