//! The state that all pages share: the server, the merchant, the limits, the wrong guesses, and the static files.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use axum::{
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use kassa_pages::{Asset, Lockout, Network};
use url::Url;

use super::merchant::{Colour, Contact, Logo, Merchant};
use crate::{
    checkouts::CheckoutView,
    http::HttpSettings,
    rate_limit::LogLimit,
    rate_limit::RateLimit,
    server::Server,
    values::{CheckoutId, error::ServerError},
};

/// The state that all pages share.
pub(super) struct PageState {
    pub(super) server: Server,
    pub(super) settings: HttpSettings,
    /// The merchant's name, if it is set.
    pub(super) name: Option<String>,
    /// The shop's contacts for payers.
    pub(super) contacts: Vec<Contact>,
    pub(super) assets: Assets,
    /// Whether the public URL is https.
    pub(super) is_secure: bool,
    /// The origin of our own pages, which browsers send with forms.
    origin: String,
    addresses: RateLimit<Network>,
    checkouts: RateLimit<CheckoutId>,
    guesses: Lockout,
    wrong_key_log: LogLimit,
}

/// Why a request is denied.
pub(super) enum AccessDenied {
    /// Rate limited, for this time.
    RateLimited(Duration),
    Failed(ServerError),
}

impl PageState {
    pub(super) fn new(server: Server, settings: HttpSettings, merchant: &Merchant) -> Self {
        let origin = Url::parse(&settings.public_url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        Self {
            addresses: RateLimit::per_second(settings.per_address),
            checkouts: RateLimit::per_second(settings.per_token),
            guesses: Lockout::default(),
            wrong_key_log: LogLimit::default(),
            is_secure: settings.public_url.starts_with("https://"),
            name: merchant.name.clone(),
            contacts: merchant.contacts(),
            assets: Assets::of(merchant),
            server,
            settings,
            origin,
        }
    }

    /// Checks the rate limit of an address; the error is the time to wait.
    pub(super) fn check_address(&self, from: IpAddr) -> Result<(), Duration> {
        self.counted("requests_of_address", self.addresses.take(from.into(), Instant::now()))
    }

    fn counted(&self, limit: &'static str, taken: Result<(), Duration>) -> Result<(), Duration> {
        taken.inspect_err(|_| self.server.metrics().limit_reached(limit))
    }

    /// The checkout of a page. A right address is never locked out; guessing gets slower (brute force protection).
    pub(super) async fn checkout(&self, secret: &str, from: IpAddr) -> Result<CheckoutView, AccessDenied> {
        match self.server.checkout_of_page(secret).await {
            Ok(view) => {
                self.guesses.right(from);
                let taken = self.checkouts.take(view.checkout.id.clone(), Instant::now());
                self.counted("requests_of_token", taken).map_err(AccessDenied::RateLimited)?;
                Ok(view)
            }
            Err(problem @ ServerError::NotFound { .. }) => {
                let now = Instant::now();
                if let Some(repeated) = self.wrong_key_log.is_time(now) {
                    // The address itself is never logged: a mistyped one may be nearly right.
                    tracing::info!(target: "kassa_server", %from, repeated, "a wrong address of a hosted page");
                }
                self.counted("guesses", self.guesses.wrong(from, now)).map_err(AccessDenied::RateLimited)?;
                Err(AccessDenied::Failed(problem))
            }
            Err(problem) => Err(AccessDenied::Failed(problem)),
        }
    }

    /// Whether a form came from our page, as far as the browser reports its origin.
    pub(super) fn is_same_origin(&self, headers: &HeaderMap) -> bool {
        headers.get(header::ORIGIN).is_none_or(|origin| origin.as_bytes() == self.origin.as_bytes())
    }
}

const STYLESHEET: &[u8] = include_bytes!("../../assets/pay.css");
const SCRIPT: &[u8] = include_bytes!("../../assets/pay.js");
const ICON: &[u8] = include_bytes!("../../assets/pay.svg");
/// A picture opened by itself runs no scripts and loads nothing.
const PICTURE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/// The files that pages load.
pub(super) struct Assets {
    pub(super) stylesheet: Asset,
    pub(super) script: Asset,
    /// The icon of the browser's tab, if there is no logo.
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
pub(super) fn serve_asset(asset: &Asset, request: &HeaderMap) -> Response {
    let mut response = asset.serve(request);
    if asset.media_type().starts_with("image/") {
        let policy = HeaderValue::from_static(PICTURE_POLICY);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// The backgrounds of links, light and dark (`--paper`, `--surface`, `--surface-2` of the stylesheet).
const PAPERS: [(&str, [Colour; 3]); 2] = [
    ("light", [Colour::new(0xf3, 0xf5, 0xf8), Colour::new(0xff, 0xff, 0xff), Colour::new(0xf3, 0xf5, 0xf8)]),
    ("dark", [Colour::new(0x0f, 0x13, 0x18), Colour::new(0x18, 0x1e, 0x26), Colour::new(0x21, 0x2a, 0x35)]),
];

/// The stylesheet with the merchant's colours, because the page allows no inline styles. Links, the focus and the spinner also
/// have the colour, if it is readable.
fn colours(colour: Colour) -> String {
    let mut style = format!(":root {{ --brand: {colour}; --on-brand: {}; }}\n", colour.text());
    for (scheme, _) in PAPERS.iter().filter(|(_, papers)| colour.is_readable_on(papers)) {
        style += &format!(
            "@media (prefers-color-scheme: {scheme}) {{ :root {{ --link: {colour}; --focus: {colour}; }} }}\n"
        );
    }
    style
}

fn picture(logo: &Logo) -> Asset {
    Asset::made(format!("logo.{}", logo.extension()), logo.media_type(), logo.bytes().to_vec())
}
