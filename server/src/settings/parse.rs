//! Values that are no times.

use std::{net::SocketAddr, ops::RangeInclusive};

use url::Url;

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

/// Yes or no.
pub(super) fn is_so(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".to_owned())
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
