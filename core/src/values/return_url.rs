//! Return addresses: where the payer's browser goes after the gateway's page. A page of the merchant's, or the deep link
//! of an app.

use url::Url;

use crate::values::violation::{Advice, AdviceTopic};

/// Denylist of schemes by which a browser or an operating system would run code (XSS), read what is on the device, or
/// show a page of its own. An allowlist is not possible, because the deep link of an app may have any scheme; so
/// `intent:` stays allowed, too, by which Android opens an app.
const REFUSED_SCHEMES: [&str; 17] = [
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

/// True where the scheme of a parsed address may be one of a page or an app.
pub(crate) fn has_allowed_scheme(url: &Url) -> bool {
    // A parser writes schemes in lower case.
    !REFUSED_SCHEMES.contains(&url.scheme())
}

/// A fragment stays in the browser. The gateway adds its parameters to the address, and may add them to its very end.
pub(crate) fn advice_on_fragment(field: &str, return_url: &str) -> Option<Advice> {
    return_url.contains('#').then(|| Advice {
        field: field.to_owned(),
        topic: AdviceTopic::ReturnUrlFragment,
        text: format!("{field} has a #: the gateway may add its parameters behind it, where servers do not see them"),
    })
}
