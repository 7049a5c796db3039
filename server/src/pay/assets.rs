//! Stylesheets, the script and the logo, with cache busting: an address carries a digest of the content, so that a browser
//! keeps it for good and asks for another one once it changed.

use axum::{
    body::Bytes,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use ring::digest::{SHA256, digest};

use super::{colour::Colour, logo::Logo, merchant::Merchant};
use crate::values::ids::hex;

const STYLESHEET: &str = include_str!("../../assets/pay.css");
const SCRIPT: &str = include_str!("../../assets/pay.js");
const ICON: &[u8] = include_bytes!("../../assets/pay.svg");
const SVG: &str = "image/svg+xml";
const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
/// A picture that is opened by itself runs nothing and loads nothing.
const PICTURE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/// A file that pages load.
pub(super) struct Asset {
    /// Its name, which changes with its content.
    pub(super) name: String,
    media_type: &'static str,
    content: Bytes,
}

/// All of them.
pub(super) struct Assets {
    pub(super) stylesheet: Asset,
    pub(super) script: Asset,
    /// For a browser's tab, where there is no logo.
    pub(super) icon: Asset,
    /// The merchant's colours.
    pub(super) colours: Option<Asset>,
    pub(super) logo: Option<Asset>,
}

impl Assets {
    pub(super) fn of(merchant: &Merchant) -> Self {
        Self {
            stylesheet: Asset::new("pay", "css", CSS, STYLESHEET.as_bytes()),
            script: Asset::new("pay", "js", JAVASCRIPT, SCRIPT.as_bytes()),
            icon: Asset::new("pay", "svg", SVG, ICON),
            colours: merchant.colour.map(|colour| Asset::new("colours", "css", CSS, colours(colour).as_bytes())),
            logo: merchant.logo.as_ref().map(picture),
        }
    }

    /// The file of this name.
    pub(super) fn find(&self, name: &str) -> Option<&Asset> {
        let always = [&self.stylesheet, &self.script, &self.icon];
        let given = [&self.colours, &self.logo].into_iter().flatten();
        always.into_iter().chain(given).find(|asset| asset.name == name)
    }
}

impl Asset {
    fn new(name: &str, extension: &str, media_type: &'static str, content: &[u8]) -> Self {
        let hash = digest(&SHA256, content);
        let name = format!("{name}-{}.{extension}", hex(&hash.as_ref()[..8]));
        Self { name, media_type, content: Bytes::copy_from_slice(content) }
    }

    pub(super) fn serve(&self) -> Response {
        let mut response = self.content.clone().into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
        if self.media_type.starts_with("image/") {
            headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PICTURE_POLICY));
        }
        response
    }
}

/// A file, as the page has no inline styles.
fn colours(colour: Colour) -> String {
    format!(":root {{ --brand: {colour}; --on-brand: {}; }}\n", colour.text())
}

fn picture(logo: &Logo) -> Asset {
    Asset::new("logo", logo.extension(), logo.media_type(), logo.bytes())
}
