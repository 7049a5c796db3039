//! The addresses of a page's own, under whatever path the world sees the server. A language that was picked stays in them.

use kassa::Language;

use super::locale::Locale;
use crate::{http::path_prefix, values::hidden::Hidden};

/// The addresses of one page; without a secret, of a page that is none.
#[derive(Clone)]
pub(super) struct Links {
    /// The path of the public address, such as `/kassa`; mostly nothing.
    prefix: String,
    secret: Option<Hidden>,
    pub(super) locale: Locale,
}

impl Links {
    pub(super) fn new(public_url: &str, secret: Option<Hidden>, locale: Locale) -> Self {
        Self { prefix: path_prefix(public_url), secret, locale }
    }

    /// For what is no page of a checkout.
    pub(super) fn without_page(public_url: &str, locale: Locale) -> Self {
        Self::new(public_url, None, locale)
    }

    /// A part of the page, such as `/state`; the page itself by nothing.
    pub(super) fn to(&self, end: &str) -> String {
        let language = self.locale.is_picked.then_some(self.locale.language);
        self.address(end, language)
    }

    /// The page in another language.
    pub(super) fn in_language(&self, language: Language) -> String {
        self.address("", Some(language))
    }

    /// The page, where there is one.
    pub(super) fn home(&self) -> Option<String> {
        self.secret.is_some().then(|| self.to(""))
    }

    pub(super) fn asset(&self, name: &str) -> String {
        format!("{}/pay/assets/{name}", self.prefix)
    }

    fn address(&self, end: &str, language: Option<Language>) -> String {
        let secret = self.secret.as_ref().map(Hidden::expose).unwrap_or_default();
        // A tag of two letters needs no escapes.
        let query = language.map(|language| format!("?lang={language}"));
        format!("{}/pay/{secret}{end}{}", self.prefix, query.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_stay_under_the_public_path_and_in_the_picked_language() {
        let locale = |is_picked| Locale { language: Language::Kyrgyz, is_picked };
        let secret = || Some(Hidden::new("abc"));
        let links = Links::new("https://shop.example.kg/kassa/", secret(), locale(true));
        assert_eq!(links.to("/state"), "/kassa/pay/abc/state?lang=ky");
        assert_eq!(links.asset("x.css"), "/kassa/pay/assets/x.css");
        let links = Links::new("https://shop.example.kg", secret(), locale(false));
        assert_eq!(
            (links.to(""), links.in_language(Language::Russian)),
            ("/pay/abc".into(), "/pay/abc?lang=ru".into())
        );
    }
}
