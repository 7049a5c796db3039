//! Configuration of a gateway: address, credentials, timeouts, retries, proxy, trusted certificates.

use std::{fmt, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use url::Url;
use zeroize::Zeroizing;

use crate::{
    config::{
        dialect::Dialect,
        peer::{Peer, Proxy, checked_base_url},
    },
    error::PaymentError,
    secret::Secret,
};

/// How a [`Gateway`](crate::Gateway) connects to the payment gateway.
///
/// ```
/// use std::time::Duration;
/// use kassa::{Credentials, GatewayConfig};
///
/// let config = GatewayConfig::new("https://pay.example.kg", Credentials::basic("shop", "secret"))
///     .with_query_deadline(Duration::from_secs(20));
/// assert_eq!(config.query_deadline, Duration::from_secs(20));
/// assert_eq!(config.connect_timeout, Duration::from_secs(10));
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone)]
#[non_exhaustive]
pub struct GatewayConfig {
    /// The merchant's login and password. Objects come first in records that cross the language boundary
    /// (`docs/adr/0002-runtime-and-boundary.md`).
    pub(crate) credentials: Arc<Credentials>,
    /// How to read the gateway's responses.
    pub(crate) dialect: Arc<Dialect>,
    /// How the gateway is reached. Default: direct; proxies in the environment are used only on request.
    pub(crate) proxy: Arc<Proxy>,
    /// The gateway's base address; a path prefix is allowed. Plain `http` is rejected unless the host is loopback, or one of
    /// [`plain_http_hosts`](Self::plain_http_hosts).
    pub base_url: String,
    /// The connect timeout: how long making a connection may take, TLS included. Default: 10 s.
    pub connect_timeout: Duration,
    /// The deadline (total timeout) of a call that moves money: the limit for connecting, sending, the whole response,
    /// and every retry. Default: 60 s. A payment that reaches this deadline may still have happened.
    pub payment_deadline: Duration,
    /// The deadline of every other call: status queries, pay-forms and QR codes. Default: 30 s.
    pub query_deadline: Duration,
    /// Retries: how often a failed query is repeated within the deadline, with exponential backoff. Default: 2. A
    /// payment is retried as often, but only if no connection was ever made; a pay-form or a QR code is never retried.
    pub query_retries: u32,
    /// How the fields of a status query are sent. Default: in a JSON body.
    pub status_query: StatusQueryForm,
    /// Certificates (PEM) to trust in addition to Mozilla's roots; one string may hold several.
    pub extra_root_certificates: Vec<String>,
    /// Added to the user agent, such as `my-shop/1.2`.
    pub user_agent_suffix: Option<String>,
    /// Whether card numbers with a wrong check digit (Luhn) are rejected before sending. Default: off.
    pub check_luhn: bool,
    /// Hosts that may be called by plain `http`. Default: none. See [`with_plain_http_hosts`](Self::with_plain_http_hosts).
    #[cfg_attr(feature = "uniffi", uniffi(default = []))]
    pub plain_http_hosts: Vec<String>,
}

/// How the fields of `GET /api/v1.1.0/status` are sent.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StatusQueryForm {
    /// As a JSON body, as in the interface (`docs/interface.md#status-request`).
    #[default]
    JsonBody,
    /// As a query string, for a proxy that drops the body of a GET.
    QueryString,
}

impl GatewayConfig {
    /// A configuration with every setting at its default.
    pub fn new(base_url: impl Into<String>, credentials: Credentials) -> Self {
        Self {
            base_url: base_url.into(),
            credentials: credentials.into(),
            connect_timeout: Duration::from_secs(10),
            payment_deadline: Duration::from_secs(60),
            query_deadline: Duration::from_secs(30),
            query_retries: 2,
            status_query: StatusQueryForm::default(),
            dialect: Arc::default(),
            extra_root_certificates: Vec::new(),
            proxy: Arc::default(),
            user_agent_suffix: None,
            check_luhn: false,
            plain_http_hosts: Vec::new(),
        }
    }

    /// Sets the login and password.
    #[must_use]
    pub fn with_credentials(self, credentials: Credentials) -> Self {
        Self { credentials: credentials.into(), ..self }
    }

    /// Sets the connect timeout.
    #[must_use]
    pub fn with_connect_timeout(self, connect_timeout: Duration) -> Self {
        Self { connect_timeout, ..self }
    }

    /// Sets the deadline for calls that move money.
    #[must_use]
    pub fn with_payment_deadline(self, payment_deadline: Duration) -> Self {
        Self { payment_deadline, ..self }
    }

    /// Sets the deadline for every other call.
    #[must_use]
    pub fn with_query_deadline(self, query_deadline: Duration) -> Self {
        Self { query_deadline, ..self }
    }

    /// Sets the number of retries.
    #[must_use]
    pub fn with_query_retries(self, query_retries: u32) -> Self {
        Self { query_retries, ..self }
    }

    /// Sets how the fields of a status query are sent.
    #[must_use]
    pub fn with_status_query(self, status_query: StatusQueryForm) -> Self {
        Self { status_query, ..self }
    }

    /// Sets the dialect, which defines how the gateway's responses are read.
    #[must_use]
    pub fn with_dialect(self, dialect: Dialect) -> Self {
        Self { dialect: dialect.into(), ..self }
    }

    /// Adds certificates (PEM) to trust in addition to those already trusted; one string may hold several.
    #[must_use]
    pub fn with_extra_root_certificates(mut self, pem: impl Into<String>) -> Self {
        self.extra_root_certificates.push(pem.into());
        self
    }

    /// Sets how the gateway is reached: directly, or through a proxy.
    #[must_use]
    pub fn with_proxy(self, proxy: Proxy) -> Self {
        Self { proxy: proxy.into(), ..self }
    }

    /// Sets an addition to the user agent, such as `my-shop/1.2`.
    #[must_use]
    pub fn with_user_agent_suffix(self, suffix: impl Into<String>) -> Self {
        Self { user_agent_suffix: Some(suffix.into()), ..self }
    }

    /// Sets whether card numbers with a wrong check digit (Luhn) are rejected before sending.
    #[must_use]
    pub fn with_check_luhn(self, check_luhn: bool) -> Self {
        Self { check_luhn, ..self }
    }

    /// Sets hosts that may be called by plain `http`, in addition to loopback: the names or addresses of machines in your own network, such
    /// as a container's. **Anyone who listens in that network can read the merchant's login and password, and the payers' cards.** Names
    /// are compared as a whole. Pages that payers open stay https or loopback.
    ///
    /// ```
    /// use kassa::{Credentials, Gateway, GatewayConfig};
    ///
    /// let config = GatewayConfig::new("http://sandbox:8400", Credentials::basic("shop", "secret"));
    /// assert!(Gateway::new(config.clone()).is_err());
    /// assert!(Gateway::new(config.with_plain_http_hosts(["sandbox"])).is_ok());
    /// ```
    #[must_use]
    pub fn with_plain_http_hosts<T: Into<String>>(self, hosts: impl IntoIterator<Item = T>) -> Self {
        Self { plain_http_hosts: hosts.into_iter().map(Into::into).collect(), ..self }
    }

    /// The dialect, which defines how the gateway's responses are read.
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// How the gateway is reached.
    pub fn proxy(&self) -> &Proxy {
        &self.proxy
    }

    /// The base address, checked, ending in a slash so that paths can be joined to it.
    pub(crate) fn checked_base_url(&self) -> Result<Url, PaymentError> {
        checked_base_url("base_url", &self.base_url, &self.plain_http_hosts)
    }

    /// The gateway, as the peer of a connection.
    pub(crate) fn peer(&self) -> Result<Peer<'_>, PaymentError> {
        let base_url = self.checked_base_url()?;
        Ok(Peer {
            name: "gateway",
            way: self.proxy.way_to(&base_url)?,
            base_url,
            basic_token: Some(self.credentials.basic_token()),
            extra_root_certificates: &self.extra_root_certificates,
            connect_timeout: self.connect_timeout,
            user_agent_suffix: self.user_agent_suffix.as_deref(),
        })
    }

    pub(crate) fn check(&self) -> Result<(), PaymentError> {
        if let Some(problem) = self.credentials.problem() {
            return Err(PaymentError::misconfigured(problem));
        }
        check_time("connect_timeout", self.connect_timeout)?;
        check_time("payment_deadline", self.payment_deadline)?;
        check_time("query_deadline", self.query_deadline)
    }
}

pub(crate) fn check_time(name: &str, time: Duration) -> Result<(), PaymentError> {
    if time.is_zero() {
        return Err(PaymentError::misconfigured(format!("{name} must be longer than zero")));
    }
    Ok(())
}

impl fmt::Debug for GatewayConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Redaction: a base URL with credentials in it is rejected, but only later, and could be printed before that.
        let base_url = self.checked_base_url().map_or_else(|_| "(not usable)".to_owned(), |url| url.to_string());
        f.debug_struct("GatewayConfig")
            .field("base_url", &base_url)
            .field("credentials", &self.credentials)
            .field("connect_timeout", &self.connect_timeout)
            .field("payment_deadline", &self.payment_deadline)
            .field("query_deadline", &self.query_deadline)
            .field("query_retries", &self.query_retries)
            .field("status_query", &self.status_query)
            .field("proxy", &self.proxy)
            .field("user_agent_suffix", &self.user_agent_suffix)
            .field("check_luhn", &self.check_luhn)
            .field("plain_http_hosts", &self.plain_http_hosts)
            .finish_non_exhaustive()
    }
}

// Authentication: the merchant's login and password, for HTTP Basic.

/// The merchant's login and password, as issued by the service's administrator.
///
/// They are never printed, and the core's copy of the password is wiped (zeroized) when the last one is dropped. They
/// also open the merchant's dashboard, so **they do not belong inside a mobile app**: let a back end create pay-forms
/// for it.
///
/// ```
/// let credentials = kassa::Credentials::basic("shop", "correct horse");
/// assert_eq!(format!("{credentials:?}"), "Credentials(***)");
/// ```
///
/// Source: HTTP Basic authentication (`docs/interface.md#authentication`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct Credentials {
    login: String,
    password: Secret,
}

impl Credentials {
    /// Credentials for HTTP Basic authentication.
    pub fn basic(login: impl Into<String>, password: impl Into<String>) -> Self {
        Self { login: login.into(), password: Secret::new(password) }
    }

    /// Input validation: the problem with them, if any, for the error.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        if self.login.is_empty() {
            Some("the login is empty")
        } else if self.login.contains(':') {
            // Login and password are joined by a colon, so a colon in the login would begin the password (RFC 7617,
            // section 2).
            Some("the login has a colon in it, which HTTP Basic authentication cannot carry")
        } else if self.login.chars().chain(self.password.expose().chars()).any(char::is_control) {
            Some("the login or the password has a control character in it")
        } else {
            None
        }
    }

    pub(crate) fn password(&self) -> &Secret {
        &self.password
    }

    /// The base64 part of the header, in UTF-8.
    pub(crate) fn basic_token(&self) -> Secret {
        let mut joined = Zeroizing::new(String::with_capacity(self.login.len() + 1 + self.password.expose().len()));
        joined.push_str(&self.login);
        joined.push(':');
        joined.push_str(self.password.expose());
        Secret::new(STANDARD.encode(joined.as_bytes()))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base_url(text: &str) -> Result<String, PaymentError> {
        GatewayConfig::new(text, Credentials::basic("a", "b")).checked_base_url().map(String::from)
    }

    #[test]
    fn path_prefix_is_preserved() {
        assert_eq!(base_url("https://pay.example.kg").unwrap(), "https://pay.example.kg/");
        assert_eq!(base_url("https://pay.example.kg/acquiring/v2").unwrap(), "https://pay.example.kg/acquiring/v2/");
    }

    #[test]
    fn plain_http_is_for_loopback_only() {
        for text in ["http://127.0.0.1:8400", "http://localhost", "http://[::1]:1", "http://127.9.9.9"] {
            assert!(base_url(text).is_ok(), "{text}");
        }
        for text in [
            "http://pay.example.kg",
            "http://10.0.0.1",
            "http://localhost.example.kg",
            "http://shop.localhost",
            "ftp://localhost",
            "pay.example.kg",
            "",
            "https://user:pw@pay.example.kg",
            "https://pay.example.kg/?a=1",
            "https://pay.example.kg/#a",
        ] {
            assert!(matches!(base_url(text), Err(PaymentError::Misconfigured { .. })), "{text}");
        }
    }

    #[test]
    fn plain_http_reaches_a_named_host_and_no_other() {
        let base_url = |text: &str, hosts: &[&str]| {
            let config = GatewayConfig::new(text, Credentials::basic("a", "b"));
            config.with_plain_http_hosts(hosts.iter().copied()).checked_base_url().is_ok()
        };
        for (text, host) in [
            ("http://sandbox:8400", "sandbox"),
            ("http://Sandbox/gateway", "SANDBOX"),
            ("http://10.0.0.7:8400", "10.0.0.7"),
            ("http://[fd00::7]:8400", "fd00::7"),
            ("http://[fd00::7]:8400", "[fd00::7]"),
        ] {
            assert!(base_url(text, &["other", host]) && !base_url(text, &["other"]), "{text}");
        }
        for text in
            ["http://sandbox.example.kg", "http://a.sandbox", "http://sandbox2", "ftp://sandbox", "http://u@sandbox"]
        {
            assert!(!base_url(text, &["sandbox", "", "*", "http://sandbox"]), "{text}");
        }
        assert!(base_url("https://pay.example.kg", &["sandbox"]), "https needs no name");
    }

    #[test]
    fn nothing_secret_is_printed() {
        let mut config = GatewayConfig::new("https://user:hunter2@pay.example.kg", Credentials::basic("a", "hunter2"));
        config.proxy = Proxy::url("http://me:hunter2@proxy").into();
        assert!(!format!("{config:?}").contains("hunter2"));
    }

    #[test]
    fn token_is_utf8_in_base64() {
        assert_eq!(Credentials::basic("дүкөн", "сыр").basic_token().expose(), "0LTSr9C606nQvTrRgdGL0YA=");
    }

    #[test]
    fn unusable_basic_credentials_are_reported() {
        assert!(Credentials::basic("", "x").problem().is_some());
        assert!(Credentials::basic("a:b", "x").problem().is_some());
        assert!(Credentials::basic("a", "x\n").problem().is_some());
        assert_eq!(Credentials::basic("a", "x:y").problem(), None);
    }
}
