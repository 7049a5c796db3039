//! Pages as responses: the document around a page, its static files with cache busting, and its security headers.

use askama::Template;
use axum::{
    Router,
    body::Body,
    extract::Path,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use kassa_pages::{Asset, stylesheets};

use crate::domain::Language;

/// The security policy of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// The merchant's side: forms can only be sent to the sandbox.
    Staff,
    /// The payer's side. It deliberately has no `form-action`: browsers apply it to the redirect
    /// after a form, too, and that leads to the merchant's return URL, which may be any site or app.
    Payer,
}

impl Policy {
    fn content_security_policy(self) -> &'static str {
        match self {
            Self::Staff => {
                "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
                 form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            }
            Self::Payer => {
                "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
                 base-uri 'none'; frame-ancestors 'none'"
            }
        }
    }
}

/// Renders a template into a page.
pub(crate) fn page(status: StatusCode, policy: Policy, template: &impl Template) -> Response {
    let document = match template.render() {
        Ok(document) => document,
        Err(error) => {
            tracing::error!(%error, "a page could not be written");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    };
    let mut response = Response::new(Body::from(document));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy.content_security_policy()));
    headers.extend(guards());
    response
}

/// 303: the browser follows with a GET. The next site must not learn this page's URL, which may contain a token.
pub(crate) fn see_other(url: &str) -> Response {
    let Ok(location) = HeaderValue::from_str(url) else {
        tracing::error!("a redirect's target is not a valid header value");
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = StatusCode::SEE_OTHER.into_response();
    response.headers_mut().insert(header::LOCATION, location);
    response.headers_mut().extend(guards());
    response
}

fn guards() -> [(HeaderName, HeaderValue); 4] {
    [
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)))
}

/// The data of `templates/document.html`.
#[derive(Clone)]
pub(crate) struct Document {
    pub(crate) language: Language,
    /// The prefix of links to the sandbox's root: empty, or `../` for each level of the page's path.
    pub(crate) root: String,
}

impl Document {
    /// For the page at a path such as `/dashboard/deliveries`.
    pub(crate) fn at(path: &str, language: Language) -> Self {
        let levels = path.bytes().filter(|byte| *byte == b'/').count().saturating_sub(1);
        Self { language, root: "../".repeat(levels) }
    }

    /// The language's code.
    pub(crate) fn lang(&self) -> &'static str {
        self.language.code()
    }

    /// The link to the start page. An empty link would lead to the current page.
    pub(crate) fn home(&self) -> &str {
        if self.root.is_empty() { "./" } else { &self.root }
    }

    /// The link to a static file.
    pub(crate) fn asset(&self, name: &str) -> String {
        format!("{}{}", self.root, asset_path(name))
    }
}

static FAVICON: Asset = Asset::new("favicon.svg", Asset::SVG, include_bytes!("../../assets/favicon.svg"));
static PAYER_STYLE: Asset = Asset::new("payer.css", Asset::CSS, include_bytes!("../../assets/payer.css"));
static PAYER_SCRIPT: Asset = Asset::new("payer.js", Asset::SCRIPT, include_bytes!("../../assets/payer.js"));
static STAFF_STYLE: Asset = Asset::new("staff.css", Asset::CSS, include_bytes!("../../assets/staff.css"));
static THEME_SCRIPT: Asset = Asset::new("theme.js", Asset::SCRIPT, include_bytes!("../../assets/theme.js"));

/// All files.
static ASSETS: [&Asset; 7] =
    [&stylesheets::BASE, &stylesheets::STAFF, &FAVICON, &PAYER_STYLE, &PAYER_SCRIPT, &STAFF_STYLE, &THEME_SCRIPT];

/// The path of a file, relative to the sandbox's root.
fn asset_path(name: &str) -> String {
    let found = ASSETS.iter().find(|asset| asset.name() == name);
    debug_assert!(found.is_some(), "{name} is not a static file");
    found.map(|asset| format!("assets/{}", asset.versioned_name())).unwrap_or_default()
}

/// The route of the files.
pub(crate) fn asset_routes() -> Router {
    Router::new().route("/assets/{name}", get(serve_asset))
}

async fn serve_asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let found = ASSETS.iter().find(|asset| asset.versioned_name() == name);
    found.map_or_else(|| StatusCode::NOT_FOUND.into_response(), |asset| asset.serve(&headers))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn link_leads_to_the_root_from_any_depth() {
        for (path, root) in [("/3ds", ""), ("/dashboard/deliveries", "../"), ("/dashboard/transactions/7", "../../")] {
            assert_eq!(Document::at(path, Language::English).root, root, "{path}");
        }
        for (path, home) in [("/", "./"), ("/api", "./"), ("/dashboard/deliveries", "../")] {
            assert_eq!(Document::at(path, Language::English).home(), home, "{path}");
        }
    }

    fn templates(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                found.extend(templates(&path));
            } else {
                found.push(fs::read_to_string(path).expect("a template"));
            }
        }
        found
    }

    #[test]
    fn every_file_that_a_template_names_is_there() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
        let mut count = 0;
        for template in templates(&folder) {
            for rest in template.split(".asset(\"").skip(1) {
                let name = rest.split('"').next().unwrap_or_default();
                assert!(ASSETS.iter().any(|asset| asset.name() == name), "{name}");
                count += 1;
            }
        }
        assert!(count > 0);
    }
}
