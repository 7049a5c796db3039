//! What every page shows around its content, and pages as answers.

use askama::Template;
use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use kassa_pages::Asset;

use super::{
    links::Links,
    locale::LANGUAGES,
    page_state::PageState,
    texts::{Texts, texts},
};

/// What every page shows around its content.
pub(super) struct Frame {
    pub(super) t: &'static Texts,
    /// The language's tag.
    pub(super) language: String,
    /// The other languages too: tag, own name, address; the address of the one that is shown is nothing.
    pub(super) languages: Vec<(String, &'static str, Option<String>)>,
    pub(super) merchant: Option<String>,
    pub(super) logo: Option<String>,
    pub(super) icon: String,
    pub(super) stylesheet: String,
    pub(super) colours: Option<String>,
    pub(super) script: String,
}

impl Frame {
    /// `host` is where payers return to, for a merchant without a name.
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
            // Of a page that is none, there is none in another language either.
            languages: if links.home().is_some() { languages.to_vec() } else { Vec::new() },
            merchant: pages.name.clone().or_else(|| host.map(str::to_owned)),
            icon: address_of(assets.logo.as_ref().unwrap_or(&assets.icon)),
            logo: address(&assets.logo),
            stylesheet: address_of(&assets.stylesheet),
            colours: address(&assets.colours),
            script: address_of(&assets.script),
        }
    }
}

/// A template's page.
pub(super) fn page(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => (status, Html(text)).into_response(),
        Err(problem) => {
            tracing::error!(target: "kassa_server", %problem, "a page could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// 303: the browser goes there with a GET, so that reloading sends nothing again.
pub(super) fn see_other(path: &str) -> Response {
    match HeaderValue::from_str(path) {
        Ok(location) => (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
