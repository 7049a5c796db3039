//! Stylesheets, the script and the logo.

use axum::{
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use kassa_pages::Asset;

use super::{colour::Colour, logo::Logo, merchant::Merchant};

const STYLESHEET: &[u8] = include_bytes!("../../assets/pay.css");
const SCRIPT: &[u8] = include_bytes!("../../assets/pay.js");
const ICON: &[u8] = include_bytes!("../../assets/pay.svg");
/// A picture that is opened by itself runs nothing and loads nothing.
const PICTURE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

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
            stylesheet: Asset::new("pay.css", Asset::CSS, STYLESHEET),
            script: Asset::new("pay.js", Asset::SCRIPT, SCRIPT),
            icon: Asset::new("pay.svg", Asset::SVG, ICON),
            colours: merchant.colour.map(|colour| Asset::made("colours.css", Asset::CSS, colours(colour).into_bytes())),
            logo: merchant.logo.as_ref().map(picture),
        }
    }

    /// The file of this name.
    pub(super) fn find(&self, name: &str) -> Option<&Asset> {
        let always = [&self.stylesheet, &self.script, &self.icon];
        let given = [&self.colours, &self.logo].into_iter().flatten();
        always.into_iter().chain(given).find(|asset| asset.versioned_name() == name)
    }
}

/// The answer to a request for a file.
pub(super) fn serve(asset: &Asset, request: &HeaderMap) -> Response {
    let mut response = asset.serve(request);
    if asset.media_type().starts_with("image/") {
        let policy = HeaderValue::from_static(PICTURE_POLICY);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// A file, as the page has no inline styles.
fn colours(colour: Colour) -> String {
    format!(":root {{ --brand: {colour}; --on-brand: {}; }}\n", colour.text())
}

fn picture(logo: &Logo) -> Asset {
    Asset::made(format!("logo.{}", logo.extension()), logo.media_type(), logo.bytes().to_vec())
}
