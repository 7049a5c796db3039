//! What counts as an absolute URL, for those who check one and for those who describe one.

use url::Url;

/// Schemes that would run or read something on the payer's machine instead of leading back.
pub(crate) const REFUSED_RETURN_SCHEMES: [&str; 17] = [
    "javascript",
    "vbscript",
    "data",
    "file",
    "blob",
    "about",
    "filesystem",
    "view-source",
    "content",
    "jar",
    "mhtml",
    "ms-appdata",
    "ms-appx",
    "ms-appx-web",
    "ms-its",
    "ms-msdt",
    "search-ms",
];

/// An absolute URL without blanks and line breaks, which a browser would skip and so read another URL.
pub(super) fn absolute(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|_| !text.contains(is_no_part_of_a_url))
}

/// White space and control characters.
pub(crate) fn is_no_part_of_a_url(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}
