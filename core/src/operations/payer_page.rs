//! Pages for the payer: an address out of a reply is checked before anybody opens it.

use url::Url;

use crate::{
    config::address::is_https_or_loopback,
    reply::reader::{NotAnAnswer, ReplyReader},
};

/// A page that the gateway wants the payer to open. Anywhere but https (or loopback) a payer could be robbed; and an address
/// with a card number in it would be logged by every server on its way.
pub(super) fn payer_page(name: &str, text: &str, reply: &ReplyReader<'_>) -> Result<Url, NotAnAnswer> {
    let page = Url::parse(text).ok().filter(is_https_or_loopback);
    let page = page.ok_or_else(|| NotAnAnswer::because(format!("the reply's {name} is not an https URL")))?;
    if reply.is_clean(text) {
        Ok(page)
    } else {
        Err(NotAnAnswer::because(format!("the reply's {name} holds a secret")))
    }
}
