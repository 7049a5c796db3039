//! Shared parts of the payer's pages: the query of their URL, the language, and the context of a page.

use axum::response::Response;
use url::form_urlencoded;

use crate::{
    domain::Language,
    encoding::FormPairs,
    messages::Message,
    state::State,
    store::{StoreError, payments::Record},
    web::Document,
};

/// The data of `templates/payer/layout.html`, without the document.
#[derive(Clone)]
pub(super) struct Frame {
    pub(super) document: Document,
    pub(super) token: String,
    /// The language that the payer switched to; not the browser's, the payment's or the merchant's.
    pub(super) chosen: Option<Language>,
    pub(super) languages: [LanguageLink; 3],
}

/// A language in the switch.
#[derive(Clone)]
pub(super) struct LanguageLink {
    pub(super) code: &'static str,
    /// Its name in its own language.
    pub(super) name: &'static str,
    pub(super) href: String,
    pub(super) is_current: bool,
}

impl Frame {
    /// The frame of the page at a path, in a language.
    pub(super) fn new(path: &str, query: &Query, language: Language) -> Self {
        let link = |other: Language| LanguageLink {
            code: other.code(),
            name: name(other),
            href: query.in_language(other),
            is_current: other == language,
        };
        Self {
            document: Document::at(path, language),
            token: query.token.clone(),
            chosen: query.language,
            languages: Language::ALL.map(link),
        }
    }

    /// A message in the page's language.
    pub(super) fn say(&self, message: Message) -> String {
        self.language().say(message)
    }

    pub(super) fn language(&self) -> Language {
        self.document.language
    }
}

fn name(language: Language) -> &'static str {
    match language {
        Language::English => "English",
        Language::Russian => "Русский",
        Language::Kyrgyz => "Кыргызча",
    }
}

/// The query of a page's URL.
#[derive(Default)]
pub(crate) struct Query {
    /// The token of the payment.
    pub(super) token: String,
    /// The language that the payer switched to.
    pub(super) language: Option<Language>,
    /// The test payer to fill the form with, for browsers without scripts.
    pub(super) fill: Option<String>,
}

impl Query {
    /// Parses it; for a repeated name, the first one counts.
    pub(super) fn parse(text: &str) -> Self {
        let pairs = FormPairs::parse(text.as_bytes());
        Self {
            token: pairs.first("token").unwrap_or_default().to_owned(),
            language: pairs.first("language").and_then(Language::from_code),
            fill: pairs.first("fill").map(str::to_owned),
        }
    }

    /// The query of the same page in a language.
    pub(super) fn in_language(&self, language: Language) -> String {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("token", &self.token)
            .append_pair("language", language.code())
            .finish();
        format!("?{query}")
    }
}

/// The context of a page.
pub(crate) struct View<'a> {
    pub(super) state: &'a State,
    pub(super) record: &'a Record,
    pub(super) frame: &'a Frame,
    /// The test payer to fill the form with.
    pub(super) fill: Option<&'a str>,
}

impl View<'_> {
    /// A message in the page's language.
    pub(super) fn say(&self, message: Message) -> String {
        self.frame.say(message)
    }

    /// The URL of the next page of this payment.
    pub(super) fn next_page(&self, path: &str) -> String {
        let url = self.state.page_url(path, &self.record.payment.gateway_number);
        match self.frame.chosen {
            Some(language) => format!("{url}&language={}", language.code()),
            None => url,
        }
    }
}

/// A page: the payments it is for, its content, and the action of a posted form.
pub(crate) struct Page {
    pub(crate) path: &'static str,
    pub(crate) is_for: fn(&Record) -> bool,
    pub(crate) show: fn(&View<'_>) -> Response,
    pub(crate) submit: fn(&View<'_>, &FormPairs) -> Result<Response, StoreError>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_link_keeps_only_the_token() {
        let query = Query::parse("token=a%26b&language=KY&fill=card-1&token=other");
        assert_eq!((query.token.as_str(), query.language), ("a&b", Some(Language::Kyrgyz)));
        assert_eq!(query.in_language(Language::Russian), "?token=a%26b&language=ru");
    }

    #[test]
    fn unsupported_language_is_none() {
        assert_eq!(Query::parse("language=de").language, None);
    }
}
