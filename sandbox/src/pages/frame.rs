//! What all of the payer's pages share: their document, their words, and the switch of languages.

use crate::{domain::Language, messages::Message, pages::query::Query, web::Document};

/// What `templates/payer/layout.html` needs beside the document.
#[derive(Clone)]
pub(super) struct Frame {
    pub(super) document: Document,
    pub(super) token: String,
    /// The language the payer switched to; the browser's, the payment's or the merchant's choice is none of it.
    pub(super) chosen: Option<Language>,
    pub(super) languages: [LanguageLink; 3],
}

/// One language of the switch.
#[derive(Clone)]
pub(super) struct LanguageLink {
    pub(super) code: &'static str,
    /// Its name in itself.
    pub(super) name: &'static str,
    pub(super) href: String,
    pub(super) is_current: bool,
}

impl Frame {
    /// Of the page at a path, in a language.
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
