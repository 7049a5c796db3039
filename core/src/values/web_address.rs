//! Internationalized domain names (IDNA): addresses whose host is written in Cyrillic.
//!
//! What the library for addresses needs for every script of the world is 128 KB of tables, so the native library is built
//! without them (`docs/adr/0009-kilobytes.md`). Cyrillic needs none: each of its letters has one form, but for capitals.

use percent_encoding::percent_decode_str;
use url::{ParseError, Url};

/// Reads an address. Its host may be in ASCII or in Cyrillic; where the tables are there, in any script.
pub(crate) fn parsed(address: &str) -> Result<Url, ParseError> {
    with_labels(address, ascii_label)
}

/// Reads an address of which only what stands beside its host counts: that may be in any script.
pub(crate) fn parsed_but_host(address: &str) -> Result<Url, ParseError> {
    let ascii = |c: char| if c.is_ascii_alphanumeric() { c } else { 'x' };
    with_labels(address, |label| Some(label.chars().map(ascii).collect()))
}

/// Where the library refuses the host, once more with each of its labels replaced.
fn with_labels(address: &str, label: impl Fn(&str) -> Option<String>) -> Result<Url, ParseError> {
    let parsed = Url::parse(address);
    if parsed != Err(ParseError::IdnaError) {
        return parsed;
    }
    let replaced = || {
        let (before, host, after) = around_host(address)?;
        let host = percent_decode_str(host).decode_utf8().ok()?;
        let labels = host.split('.').map(label).collect::<Option<Vec<_>>>()?;
        Some([before, &labels.join("."), after].concat())
    };
    Url::parse(&replaced().ok_or(ParseError::IdnaError)?)
}

/// What stands before the host, the host, and what stands after it.
fn around_host(address: &str) -> Option<(&str, &str, &str)> {
    let slashes = ['/', '\\'];
    let (_, rest) = address.split_once(':')?;
    let rest = rest.trim_start_matches(slashes);
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let host_and_port = authority.rsplit('@').next()?;
    let host = host_and_port.split(':').next()?;
    let begin = address.len() - rest.len() + authority.len() - host_and_port.len();
    Some((&address[..begin], host, &address[begin + host.len()..]))
}

/// Punycode (RFC 3492) of a label in small letters. Nothing for what could be written in two ways.
fn ascii_label(label: &str) -> Option<String> {
    let label = label.to_lowercase();
    let is_cyrillic = |c: char| matches!(c, '\u{400}'..='\u{52f}') && c.is_alphabetic();
    if !label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || is_cyrillic(c)) {
        return None;
    }
    match label.is_ascii() {
        true => Some(label),
        false => idna::punycode::encode_str(&label).map(|code| format!("xn--{code}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_in_cyrillic_is_read() {
        for (address, ascii) in [
            ("https://дүкөн.kg", "https://xn--d1amj86bmj.kg/"),
            (
                "https://ПРИМЕР.Испытание:8443/a?б=в#г",
                "https://xn--e1afmkfd.xn--80akhbyknj4f:8443/a?%D0%B1=%D0%B2#%D0%B3",
            ),
            ("https://a:b@төлөм-1.kg:443/", "https://a:b@xn---1-4lce2a61hba.kg/"),
            ("https:/%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80.kg", "https://xn--e1afmkfd.kg/"),
            ("http://ЖҮЙӨ.kg./", "http://xn--f1ag76axh.kg./"),
            ("https://pay.example.kg/дүкөн", "https://pay.example.kg/%D0%B4%D2%AF%D0%BA%D3%A9%D0%BD"),
        ] {
            assert_eq!(parsed(address).as_ref().map(Url::as_str), Ok(ascii), "{address}");
        }
    }

    #[test]
    fn a_host_that_could_be_another_one_is_refused() {
        for address in [
            "https://и\u{306}.kg",
            "https://дүкөн。kg",
            "https://дүкөн%2Fshop.kg",
            "https://a%2Fb.дүкөн.kg",
            "https://\u{ff41}.kg/",
            "https://商店.kg",
            "https://%D0.kg",
        ] {
            assert_eq!(parsed(address), Err(ParseError::IdnaError), "{address}");
        }
    }

    #[test]
    fn beside_the_host_everything_is_read_as_it_is() {
        let read = parsed_but_host("https://u:п@商店.kg:8443/a?x=1#y").unwrap();
        assert_eq!((read.password(), read.path(), read.query()), (Some("%D0%BF"), "/a", Some("x=1")));
        assert_eq!((read.port(), read.fragment()), (Some(8443), Some("y")));
    }
}
