//! The settings of a client: the server's address, the key, and optional settings.

use std::{env, fmt, time::Duration};

use thiserror::Error;
use url::{Host, Url};

use crate::{client::Client, http::Transport};

/// The longest time for a call.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// A setting that cannot be used. It names the setting, and never its secret.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct SettingError(String);

impl SettingError {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

/// A string that is not printed.
#[derive(Clone)]
pub(crate) struct Hidden(pub(crate) String);

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The settings of a [`Client`]. [`build`](Self::build) checks them; nothing is sent.
#[derive(Clone, Debug)]
pub struct ClientBuilder {
    url: String,
    pub(crate) key: Hidden,
    pub(crate) timeout: Duration,
    pub(crate) ca_pem: Option<Vec<u8>>,
    pub(crate) backoff: (Duration, Duration),
    plain_http_hosts: Vec<String>,
}

impl ClientBuilder {
    pub(crate) fn new(url: &str, api_key: &str) -> Self {
        Self {
            url: url.to_owned(),
            key: Hidden(api_key.to_owned()),
            timeout: Duration::from_secs(30),
            ca_pem: None,
            backoff: (Duration::from_millis(250), Duration::from_secs(5)),
            plain_http_hosts: Vec::new(),
        }
    }

    pub(crate) fn of_environment() -> Result<Self, SettingError> {
        let given = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let needed = |name: &str| {
            given(name).ok_or_else(|| SettingError::new(format!("the environment variable {name} is not set")))
        };
        let hosts = given("KASSA_PLAIN_HTTP_HOSTS").unwrap_or_default();
        let hosts = hosts.split(',').map(str::trim).filter(|host| !host.is_empty());
        Ok(Self::new(&needed("KASSA_SERVER_URL")?, &needed("KASSA_API_KEY")?).plain_http_hosts(hosts))
    }

    /// The timeout of a whole call with its retries. Default: 30 seconds.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Certificates (PEM) to trust instead of the usual ones.
    #[must_use]
    pub fn ca_pem(self, certificates: impl Into<Vec<u8>>) -> Self {
        Self { ca_pem: Some(certificates.into()), ..self }
    }

    /// Hosts that may be called by plain http, such as `kassa-server` in a network of your own: anyone who
    /// listens there can read the key.
    #[must_use]
    pub fn plain_http_hosts(self, hosts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let plain_http_hosts = hosts.into_iter().map(|host| host.as_ref().to_lowercase()).collect();
        Self { plain_http_hosts, ..self }
    }

    /// The first pause between two attempts, and the longest one: pauses double. Default: a quarter of a second and five seconds.
    #[must_use]
    pub fn backoff(self, first: Duration, longest: Duration) -> Self {
        Self { backoff: (first, longest), ..self }
    }

    /// The client.
    ///
    /// # Errors
    /// [`SettingError`] names the setting that is wrong.
    pub fn build(self) -> Result<Client, SettingError> {
        let url = address_of(&self.url, &self.plain_http_hosts)?;
        // The message does not contain the key: it may be another secret.
        if self.key.0.is_empty() || !self.key.0.bytes().all(|byte| byte.is_ascii_graphic()) {
            let rule = "api_key must not be empty, and has no spaces, line breaks or letters beyond ASCII";
            return Err(SettingError::new(rule));
        }
        if self.timeout.is_zero() || self.timeout > LONGEST_TIMEOUT {
            return Err(SettingError::new("timeout must be more than 0 s, and at most a day"));
        }
        Ok(Client::over(Transport::new(url, self)?))
    }
}

/// The server's address, without a slash at its end. No message repeats what may hold a password.
fn address_of(text: &str, plain_http_hosts: &[String]) -> Result<String, SettingError> {
    let malformed = |why: &dyn fmt::Display| {
        SettingError::new(format!("url must be the server's address, such as https://pay.shop.example.kg: {why}"))
    };
    if !["http://", "https://"].iter().any(|scheme| starts_with_ignoring_case(text, scheme)) {
        let rule = "url must begin with https:// or http:// and a host, such as https://pay.shop.example.kg";
        return Err(SettingError::new(rule));
    }
    let url = Url::parse(text).map_err(|problem| malformed(&problem))?;
    let has_more = !url.username().is_empty() || url.password().is_some() || text.contains(['?', '#', '@']);
    if has_more || !text.bytes().all(|byte| byte.is_ascii_graphic() || byte >= 0x80) {
        return Err(SettingError::new("url must have no user name, no query, no # and no spaces"));
    }
    if url.host_str().is_some_and(|host| host.split('.').rev().skip(1).any(str::is_empty)) {
        return Err(malformed(&"its host is not a name"));
    }
    let address = url.as_str().trim_end_matches('/').to_owned();
    if url.path().trim_end_matches('/').ends_with("/v1") {
        return Err(SettingError::new(
            "url must be the server's public_url, without /v1 at its end: the client adds it",
        ));
    }
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let is_named = url.host_str().is_some_and(|host| plain_http_hosts.iter().any(|named| named == host));
    if url.scheme() == "http" && !is_loopback && !is_named {
        return Err(SettingError::new(
            "url must begin with https://, because plain http shows the API key to the network: http is for this machine \
             (127.0.0.1, localhost), and for hosts of a private network that plain_http_hosts names",
        ));
    }
    Ok(address)
}

fn starts_with_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(start))
}
