//! Values that are no times.

use std::{net::SocketAddr, ops::RangeInclusive};

use strum::IntoEnumIterator;
use url::Url;

use crate::events::kind::EventKind;

/// An address to listen on.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "must be an IP address and a port, such as 127.0.0.1:8080 or [::]:8080".to_owned())
}

/// A whole number within limits.
pub(super) fn count(limits: RangeInclusive<u32>) -> impl Fn(&str) -> Result<u32, String> {
    move |text| {
        let number = text.parse().ok().filter(|number| limits.contains(number));
        number.ok_or_else(|| format!("must be a whole number from {} to {}", limits.start(), limits.end()))
    }
}

/// A share of a whole.
pub(super) fn ratio(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "must be a number from 0 to 1, such as 0.01".to_owned())
}

/// Yes or no.
pub(super) fn is_so(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".to_owned())
}

/// Kinds of events, with commas between them.
pub(super) fn event_kinds(text: &str) -> Result<Vec<EventKind>, String> {
    let mut kinds = Vec::new();
    for (at, name) in text.split(',').map(str::trim).enumerate() {
        match name.parse::<EventKind>() {
            Ok(kind) if kinds.contains(&kind) => {}
            Ok(kind) => kinds.push(kind),
            Err(_) => return Err(unknown_kind(at, name)),
        }
    }
    Ok(kinds)
}

/// What does not look like a kind may be a secret that was put in the wrong place, and is not repeated.
fn unknown_kind(at: usize, name: &str) -> String {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let looks_like_one = |(about, what): (&str, &str)| is_word(about) && is_word(what) && name.len() <= 40;
    let which = match name.split_once('.').is_some_and(looks_like_one) {
        true => name.to_owned(),
        false => format!("number {} of the list", at + 1),
    };
    let all = EventKind::iter().map(EventKind::name).collect::<Vec<_>>().join(", ");
    format!("must be kinds of events with commas between them, and {which} is none; there are {all}")
}

/// The server's own address, without the slash at its end.
pub(super) fn public_url(text: &str) -> Result<String, String> {
    let is_plain = |url: &Url| {
        let has_user = !url.username().is_empty() || url.password().is_some();
        url.has_host() && !has_user && url.query().is_none() && url.fragment().is_none()
    };
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && is_plain(&url) => {
            Ok(url.as_str().trim_end_matches('/').to_owned())
        }
        _ => Err("must be an http or https address without user, query and fragment".to_owned()),
    }
}

/// A path, of characters that can be seen.
pub(super) fn path(text: &str) -> Result<std::path::PathBuf, String> {
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err("must name a file".to_owned());
    }
    Ok(text.into())
}

/// Whether something is so.
pub(super) fn yes_or_no(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_named_and_one_that_is_unknown_is_told() {
        let both = [EventKind::CheckoutPaid, EventKind::PaymentStuck];
        assert_eq!(event_kinds("checkout.paid, payment.stuck,checkout.paid").unwrap(), both);
        let told = event_kinds("checkout.paid,checkout.payd").unwrap_err();
        assert!(told.contains("checkout.payd is none; there are checkout.paid, checkout.expired"), "{told}");
        for text in ["", "checkout.paid,", "Hunter2", "hunter.Two", "."] {
            let told = event_kinds(text).unwrap_err();
            assert!(told.contains(" of the list is none") && !told.contains("unter"), "{told}");
        }
    }
}
