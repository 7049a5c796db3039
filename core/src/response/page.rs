//! Pages for the payer in a response: whether one may be opened, and whether its URL contains a secret, because servers log URLs.

use url::{Url, form_urlencoded};

use crate::{
    config::peer::is_https_or_loopback,
    response::{
        reader::{NotAnAnswer, ResponseReader},
        redact::{Redactor, TextKind, is_no_word, names_an_amount},
        search::Decoded,
    },
};

/// How many levels of URLs inside parameters of other URLs are searched, such as the page to return to.
const DEEPEST: usize = 3;

impl Redactor {
    /// True if the URL of a page contains no secret.
    ///
    /// A payment whose page is not opened is lost, and a merchant with an unlucky password would lose all of them. So
    /// only secrets that cannot be there by chance count (`docs/outcomes.md#secrets-in-responses`):
    ///
    /// - the card number and the token of HTTP Basic, anywhere;
    /// - the CVC or the one-time password as the whole value of a parameter that is not named as an amount;
    /// - the password as a whole value, if it is not an ordinary word or the parameter is named like a password;
    /// - the password before the host.
    ///
    /// Segments of the path and labels of the host are the gateway's own words, such as `3ds`.
    pub(crate) fn is_clean_page(&self, page: &Url) -> bool {
        self.holds_none(page.as_str(), TextKind::Address) && self.has_clean_parts(page, DEEPEST)
    }

    fn has_clean_parts(&self, page: &Url, depth: usize) -> bool {
        let is_password = |text: &str| self.is_password(Decoded::of(text).as_ref().map_or(text, Decoded::text));
        let fragment = page.fragment().unwrap_or_default().as_bytes();
        let mut parameters = page.query_pairs().chain(form_urlencoded::parse(fragment));
        !page.password().is_some_and(is_password)
            && parameters.all(|(name, value)| self.is_clean_parameter(&name, value.trim(), depth))
    }

    fn is_clean_parameter(&self, name: &str, value: &str, depth: usize) -> bool {
        let is_one_time = self.one_time().any(|secret| secret == value) && !names_an_amount(name);
        let is_password = self.is_password(value) && (is_no_word(value) || names_a_password(name));
        let page = || Url::parse(value).ok().filter(|page| depth > 0 && page.has_host());
        !is_one_time && !is_password && page().is_none_or(|page| self.has_clean_parts(&page, depth - 1))
    }

    fn is_password(&self, value: &str) -> bool {
        self.passwords().any(|password| !password.is_empty() && password == value)
    }
}

fn names_a_password(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["pass", "pwd", "secret"].iter().any(|part| name.contains(part))
}

// Validation of pages for the payer: an address from a response is checked before the payer opens it.

/// A page that the gateway wants the payer to open. Only https (or loopback) is allowed, because others could read what
/// the payer enters on a page without TLS; and no secret in the URL, because servers log URLs. For what counts as a
/// secret there see `docs/outcomes.md#secrets-in-responses`.
pub(crate) fn payer_page(name: &str, text: &str, response: &ResponseReader<'_>) -> Result<Url, NotAnAnswer> {
    let page = Url::parse(text).ok().filter(is_https_or_loopback);
    let page = page.ok_or_else(|| NotAnAnswer::because(format!("the response's {name} is not an https URL")))?;
    if response.is_clean_page(&page) {
        Ok(page)
    } else {
        Err(NotAnAnswer::because(format!("the response's {name} holds a secret")))
    }
}

/// Deserialization (serde): a page that would be rejected in a response is rejected here, too.
#[cfg(feature = "serde")]
pub(crate) fn read_payer_page<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    use serde::{Deserialize as _, de::Error as _};

    let text = String::deserialize(deserializer)?;
    let is_page = crate::config::peer::is_https_or_loopback_text(&text);
    is_page.then_some(text).ok_or_else(|| D::Error::custom("a page for the payer is an https URL"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{response::redact::HiddenCredentials, secret::Secret};

    fn is_clean(password: &str, address: &str) -> bool {
        let mut redactor = Redactor::new(Arc::new(HiddenCredentials::new(
            Secret::new(password),
            Secret::new("c2hvcDpzd29yZGZpc2gtNzc="),
        )));
        redactor.hide_pan(Secret::new("4111111111111111"));
        redactor.hide_value(Secret::new("737"));
        redactor.is_clean_page(&Url::parse(address).unwrap())
    }

    #[test]
    fn what_can_only_be_a_secret_is_found() {
        for address in [
            "https://gw.example.kg/4111111111111111",
            "https://gw.example.kg/?pan=4111%201111.1111%2D1111",
            "https://gw.example.kg/?back=https%3A%2F%2Fshop%3Fpan%3D4111%25201111%25201111%25201111",
            "https://gw.example.kg/?a=c2hvcDpzd29yZGZpc2gtNzc%3D",
            "https://gw.example.kg/?token=gw-1&cvc=737",
            "https://gw.example.kg/?x=%3737",
            "https://gw.example.kg/#cvc=737",
            "https://gw.example.kg/?password=swordfish-77",
            "https://gw.example.kg/?x=sword%66ish-77",
            "https://gw.example.kg/?back=https%3A%2F%2Fshop%3Fx%3Dswordfish-77",
            "https://shop:swordfish-77@gw.example.kg/",
            "https://shop:sword%66ish%2D77@gw.example.kg/",
        ] {
            assert!(!is_clean("swordfish-77", address), "{address}");
        }
        assert!(!is_clean("token", "https://gw.example.kg/3ds?token=gw-1&Password=token"));
        assert!(!is_clean("api", "https://shop:api@gw.example.kg/3ds?token=gw-1"));
    }

    #[test]
    fn what_can_be_there_by_chance_is_no_secret() {
        for address in [
            "https://gw.example.kg/737/3ds?token=737-1&amount=737&sum=737&id=7370",
            "https://swordfish-77.example.kg/swordfish-77?token=swordfish-77x&swordfish-77=1",
            "https://gw.example.kg/411111111111111?a=1111",
        ] {
            assert!(is_clean("swordfish-77", address), "{address}");
        }
        let address = "https://pay.example.kg/api/payment/form/3ds/checkout?token=gw-1&type=checkout&form=3ds&x=api&y=";
        for password in ["token", "3ds", "form", "payment", "api", "checkout", "pay.example.kg", "gw-1", ""] {
            assert!(is_clean(password, address), "{password}");
        }
    }

    /// Pages inside pages, as deep as a response has room for.
    #[test]
    fn page_of_many_pages_is_read() {
        let address = "https://gw.example.kg/?a=".repeat(40_000);
        assert!(is_clean("swordfish-77", &address));
    }
}
