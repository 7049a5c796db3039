//! The frame around every page, the URLs of a page, and pages as responses, error pages included.

use std::time::Duration;

use askama::Template;
use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use kassa::Language;
use kassa_pages::Asset;

use super::{
    merchant::Contact,
    page_state::{AccessDenied, PageState},
    texts::{Texts, texts},
};
use crate::{
    http::path_prefix,
    locale::{LANGUAGES, Locale},
    net::{BodyError, page, retry_after},
    values::{Hidden, error::ServerError},
};

/// The frame that every page shows around its content.
pub(super) struct Frame {
    pub(super) t: &'static Texts,
    /// The language's tag.
    pub(super) language: String,
    /// All languages: tag, own name, address; `None` as the address of the current one.
    pub(super) languages: Vec<(String, &'static str, Option<String>)>,
    pub(super) merchant: Option<String>,
    pub(super) logo: Option<String>,
    pub(super) icon: String,
    pub(super) stylesheet: String,
    pub(super) colours: Option<String>,
    pub(super) script: String,
    /// The shop's contacts.
    pub(super) contacts: Vec<Contact>,
}

impl Frame {
    /// `host` is the host that payers return to, shown for a merchant without a name.
    pub(super) fn new(pages: &PageState, links: &Links, host: Option<&str>) -> Self {
        let shown = links.locale.language;
        let languages = LANGUAGES.map(|(language, name)| {
            let address = (language != shown).then(|| links.in_language(language));
            (language.to_string(), name, address)
        });
        let assets = &pages.assets;
        let address_of = |asset: &Asset| links.asset(&asset.versioned_name());
        let address = |asset: &Option<Asset>| asset.as_ref().map(address_of);
        Self {
            t: texts(shown),
            language: shown.to_string(),
            // A missing page has no other languages.
            languages: if links.home().is_some() { languages.to_vec() } else { Vec::new() },
            merchant: pages.name.clone().or_else(|| host.map(str::to_owned)),
            icon: address_of(assets.logo.as_ref().unwrap_or(&assets.icon)),
            logo: address(&assets.logo),
            stylesheet: address_of(&assets.stylesheet),
            colours: address(&assets.colours),
            script: address_of(&assets.script),
            contacts: pages.contacts.clone(),
        }
    }
}

/// The addresses of one page; without a secret, those of an error page.
#[derive(Clone)]
pub(super) struct Links {
    /// The path of the public address, such as `/kassa`; usually empty.
    prefix: String,
    secret: Option<Hidden>,
    pub(super) locale: Locale,
}

impl Links {
    pub(super) fn new(public_url: &str, secret: Option<Hidden>, locale: Locale) -> Self {
        Self { prefix: path_prefix(public_url), secret, locale }
    }

    /// The links of a page without a checkout.
    pub(super) fn without_page(public_url: &str, locale: Locale) -> Self {
        Self::new(public_url, None, locale)
    }

    /// The address of a part of the page, such as `/state`; empty for the page itself.
    pub(super) fn to(&self, end: &str) -> String {
        let language = self.locale.is_picked.then_some(self.locale.language);
        self.address(end, language)
    }

    /// The page in another language.
    pub(super) fn in_language(&self, language: Language) -> String {
        self.address("", Some(language))
    }

    /// The page's address, if there is a page.
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

/// The `Retry-After` if the server could not answer.
const SOON: Duration = Duration::from_secs(5);

type Text = fn(&Texts) -> &'static str;

/// An error for the payer, with advice. A handler returns it; the router, which knows the language, renders it.
#[derive(Clone)]
pub(super) struct ErrorPage {
    status: StatusCode,
    title: Text,
    text: Text,
    retry_after: Option<Duration>,
}

#[derive(Template)]
#[template(path = "pay/message.html")]
struct Message {
    frame: Frame,
    title: &'static str,
    text: &'static str,
    home: Option<String>,
}

impl ErrorPage {
    fn new(status: StatusCode, text: Text) -> Self {
        Self { status, title: |t| t.not_done, text, retry_after: None }
    }

    pub(super) fn not_found() -> Self {
        Self { title: |t| t.nowhere, ..Self::new(StatusCode::NOT_FOUND, |t| t.nowhere_more) }
    }

    pub(super) fn too_many_requests(wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..Self::new(StatusCode::TOO_MANY_REQUESTS, |t| t.too_often) }
    }

    /// The error for a form that is not ours.
    pub(super) fn bad_form(status: StatusCode) -> Self {
        Self::new(status, |t| t.foreign)
    }

    pub(super) fn failed() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, |t| t.unavailable)
    }

    pub(super) fn page(&self, pages: &PageState, links: &Links) -> Response {
        let frame = Frame::new(pages, links, None);
        let (title, text) = ((self.title)(frame.t), (self.text)(frame.t));
        let mut response = page(self.status, &Message { frame, title, text, home: links.home() });
        if let Some(wait) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, retry_after(wait));
        }
        response
    }
}

impl IntoResponse for ErrorPage {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ServerError> for ErrorPage {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::NotFound { .. } => Self::not_found(),
            ServerError::Invalid { .. } => Self::bad_form(StatusCode::BAD_REQUEST),
            ServerError::Unavailable { detail } => {
                // Database errors are only for the operator.
                tracing::error!(target: "kassa_server", detail, "a page could not be answered");
                Self { retry_after: Some(SOON), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, |t| t.unavailable) }
            }
            _ => Self::new(StatusCode::CONFLICT, |t| t.unavailable),
        }
    }
}

impl From<AccessDenied> for ErrorPage {
    fn from(denied: AccessDenied) -> Self {
        match denied {
            AccessDenied::RateLimited(wait) => Self::too_many_requests(wait),
            AccessDenied::Failed(error) => error.into(),
        }
    }
}

impl From<BodyError> for ErrorPage {
    fn from(error: BodyError) -> Self {
        Self::new(
            match error {
                BodyError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
                BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
                _ => StatusCode::BAD_REQUEST,
            },
            |t| t.unavailable,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_links_keep_path_and_language() {
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
