//! What counts as an absolute URL, for those who check one and for those who describe one.

use url::Url;

/// Schemes that would run or read something on the payer's machine instead of leading back.
pub(crate) const REFUSED_RETURN_SCHEMES: [&str; 6] = ["javascript", "vbscript", "data", "file", "blob", "about"];

/// An absolute URL without blanks and line breaks, which a browser would skip and so read another URL.
pub(super) fn absolute(text: &str) -> Option<Url> {
    parsed_url(text).filter(|_| !text.contains(is_no_part_of_a_url))
}

/// A URL whose host is in Latin or Cyrillic letters. The library is built without the tables for other scripts
/// (`docs/adr/0009-kilobytes.md`), and knows Cyrillic no longer.
pub(crate) fn parsed_url(text: &str) -> Option<Url> {
    Url::parse(text).ok().or_else(|| Url::parse(&with_punycode(text)?).ok())
}

fn with_punycode(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (host, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
    let labels: Option<Vec<_>> = host.to_lowercase().split('.').map(encoded).collect();
    Some(format!("{scheme}://{}{port}{path}", labels?.join(".")))
}

fn encoded(label: &str) -> Option<String> {
    let is_cyrillic = |c: char| ('\u{400}'..'\u{530}').contains(&c);
    if label.is_ascii() {
        return Some(label.to_owned());
    }
    let is_name = label.chars().all(|c| c == '-' || c.is_ascii_digit() || c.is_alphabetic());
    let is_known = is_name && label.chars().all(|c| c.is_ascii() || is_cyrillic(c));
    is_known.then(|| idna::punycode::encode_str(label)).flatten().map(|code| format!("xn--{code}"))
}

/// White space and control characters.
pub(crate) fn is_no_part_of_a_url(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_in_cyrillic_is_one_in_punycode() {
        let url = |text| parsed_url(text).map(String::from);
        assert_eq!(
            url("https://Дүкөн.kg:8443/a?б#в").as_deref(),
            Some("https://xn--d1amj86bmj.kg:8443/a?%D0%B1#%D0%B2")
        );
        assert_eq!(url("https://商店.kg/"), None);
    }
}
