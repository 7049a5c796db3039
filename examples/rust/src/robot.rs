//! Plays the payer over real HTTP: opens the sandbox's pages, posts their forms, goes where they send it.

use std::time::Duration;

use kassa_sandbox::{Provider, TEST_CARDS, TEST_PHONES};
use reqwest::{Client, Response, StatusCode, header, redirect};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use url::{Host, Url};

use crate::{args::CardFields, failure::Failure};

/// A page of the sandbox answers at once.
const PATIENCE: Duration = Duration::from_secs(15);

/// The fields of one form.
pub(crate) type Form = Vec<(&'static str, String)>;

/// A payer who needs no screen. It visits pages on this machine only.
pub(crate) struct Robot {
    client: Client,
}

/// How a visit ended.
pub(crate) enum Visit {
    /// The gateway sent the payer back to the shop, and the payer went.
    Returned,
    /// It ended on a page of the gateway.
    StayedThere,
}

impl Robot {
    /// A robot without cookies, proxies and automatic redirects.
    pub(crate) fn new() -> Result<Self, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::System(format!("the robot cannot be built: {error}"));
        // It trusts nobody, as it speaks plain http to this machine only.
        let tls = ClientConfig::builder_with_provider(ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(&error))?
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .timeout(PATIENCE)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(|error| failed(&error))?;
        Ok(Self { client })
    }

    /// Opens a page and fills in one form after the other, each on the page that the one before led to.
    pub(crate) async fn visit(&self, page: &str, forms: Vec<Form>) -> Result<Visit, Failure> {
        let mut page = on_this_machine(page)?;
        for form in forms {
            expect(self.client.get(page.clone()).send().await, &page, StatusCode::OK)?;
            let answer = self.client.post(page.clone()).form(&form).send().await;
            let answer = answer.map_err(|error| lost(&page, error))?;
            match answer.status() {
                StatusCode::SEE_OTHER => page = on_this_machine(location(&answer))?,
                // A result page: there is nothing left to fill in.
                StatusCode::OK => return Ok(Visit::StayedThere),
                other => {
                    return Err(Failure::System(format!(
                        "the page at {} answered HTTP {}",
                        page.path(),
                        other.as_u16()
                    )));
                }
            }
        }
        expect(self.client.get(page.clone()).send().await, &page, StatusCode::OK)?;
        Ok(Visit::Returned)
    }
}

fn expect(answer: reqwest::Result<Response>, page: &Url, status: StatusCode) -> Result<(), Failure> {
    let answer = answer.map_err(|error| lost(page, error))?;
    if answer.status() == status {
        return Ok(());
    }
    Err(Failure::System(format!("the page at {} answered HTTP {}", page.path(), answer.status().as_u16())))
}

fn lost(page: &Url, error: reqwest::Error) -> Failure {
    Failure::System(format!("the page at {} cannot be reached: {}", page.path(), error.without_url()))
}

fn location(answer: &Response) -> &str {
    answer.headers().get(header::LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// A robot with test data has no business on anybody else's pages.
fn on_this_machine(page: &str) -> Result<Url, Failure> {
    let refuse = || Failure::System("the robot visits pages on this machine only; use --interactive".to_owned());
    let url = Url::parse(page).map_err(|_| refuse())?;
    if url.scheme() == "http" && is_loopback(&url) { Ok(url) } else { Err(refuse()) }
}

/// True where a URL leads to this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The one-time password of the sandbox's test card.
pub(crate) fn otp_of_card(pan: &str) -> Option<&'static str> {
    let digits: String = pan.chars().filter(char::is_ascii_digit).collect();
    TEST_CARDS.iter().find(|card| card.pan == digits).map(|card| card.otp)
}

/// The one-time password of the sandbox's test phone.
pub(crate) fn otp_of_phone(provider: Provider, phone: &str) -> Option<&'static str> {
    let digits: String = phone.chars().filter(char::is_ascii_digit).collect();
    TEST_PHONES.iter().find(|known| known.provider == provider && known.phone == digits).map(|phone| phone.otp)
}

/// The form of a one-time password.
pub(crate) fn otp_form(otp: &str) -> Form {
    vec![("otp", otp.to_owned())]
}

/// The pay-form, filled in with a card.
pub(crate) fn card_form(card: &CardFields) -> Form {
    vec![
        ("provider", "Cards".to_owned()),
        ("pan", card.pan.clone()),
        ("expiryMonth", card.expiry_month.clone()),
        ("expiryYear", card.expiry_year.clone()),
        ("cvc", card.cvc.clone()),
        ("name", card.name.clone()),
    ]
}

/// The pay-form, filled in with a wallet's phone.
pub(crate) fn wallet_form(provider: Provider, phone: &str) -> Form {
    vec![("provider", provider.as_str().to_owned()), ("phone", phone.to_owned())]
}

/// The QR payment page.
pub(crate) fn qr_form(decline: bool, amount: Option<&str>) -> Form {
    let action = if decline { "decline" } else { "approve" };
    let amount = amount.map(|amount| ("amount", amount.to_owned()));
    [("action", action.to_owned())].into_iter().chain(amount).collect()
}
