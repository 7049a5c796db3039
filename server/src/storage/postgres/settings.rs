//! The place of the database, and how to connect.

use std::{
    fmt,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};
use tokio_postgres::{
    Config,
    config::{Host, SslMode, TargetSessionAttrs},
};

use crate::{
    storage::StorageError,
    values::{
        error::{Rule, ServerError, Violation},
        text_file,
    },
};

/// The default maximum of connections of one server.
const CONNECTIONS: u32 = 16;
/// The deadline of each address. An unreachable host must not use up the time of the next one.
const CONNECTING: Duration = Duration::from_secs(2);
/// The time without a response after which a connection counts as lost: a cut cable reports nothing.
const UNANSWERED: Duration = Duration::from_secs(10);
/// Keepalive: the wait for each response, and the number of missing ones after which the connection is lost.
const ASKED_AGAIN: Duration = Duration::from_secs(2);
const TIMES_ASKED: u32 = 3;

/// The place of a PostgreSQL database, and how to connect. It may contain a password, which `Debug` does not print.
///
/// ```
/// use kassa_server::PostgresSettings;
///
/// let settings = PostgresSettings::parse("postgres://kassa:secret@db.example.kg/kassa")?.with_connections(32);
/// assert_eq!(settings.place(), "postgres://db.example.kg:5432/kassa");
/// # Ok::<(), kassa_server::ServerError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresSettings {
    config: Config,
    connections: u32,
    ca_file: Option<PathBuf>,
}

impl PostgresSettings {
    /// Reads an address such as `postgres://user:password@host:5432/database`, with the options that libpq knows. **Connections
    /// to another machine use TLS with a verified certificate**, unless `sslmode=disable` is set.
    ///
    /// # Errors
    /// [`ServerError::Invalid`] for the field `database`. Its sentence repeats nothing of the
    /// address, which may contain a password.
    pub fn parse(url: &str) -> Result<Self, ServerError> {
        let (rest, options) = options_of(url);
        let mut config: Config = rest.parse().map_err(|problem| refused(&url_rule(&problem)))?;
        if config.get_hosts().is_empty() || config.get_dbname().is_none_or(str::is_empty) {
            return Err(refused("must name a host and a database, as in postgres://user:password@host/database"));
        }
        config.ssl_mode(options.ssl_mode(is_local(&config))?);
        config.application_name(config.get_application_name().unwrap_or("kassa-server").to_owned());
        config.connect_timeout(*config.get_connect_timeout().unwrap_or(&CONNECTING));
        config.tcp_user_timeout(*config.get_tcp_user_timeout().unwrap_or(&UNANSWERED));
        config.keepalives_idle(UNANSWERED).keepalives_interval(ASKED_AGAIN).keepalives_retries(TIMES_ASKED);
        if config.get_hosts().len() > 1 {
            // Of several hosts, the current primary is used.
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        Ok(Self { config, connections: CONNECTIONS, ca_file: options.ca_file })
    }

    /// Sets the password, instead of one in the address.
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        self.config.password(password);
        self
    }

    /// Sets the maximum of connections. All servers together need less than the database's `max_connections`.
    #[must_use]
    pub fn with_connections(self, most: u32) -> Self {
        Self { connections: most.max(1), ..self }
    }

    /// Trusts only the certificates of this file (PEM), and no public ones.
    #[must_use]
    pub fn with_ca_file(self, path: &Path) -> Self {
        Self { ca_file: Some(path.to_owned()), ..self }
    }

    /// The address without user, password and options, for messages.
    pub fn place(&self) -> String {
        let ports = self.config.get_ports();
        let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        let host = |(at, host): (usize, &Host)| match host {
            Host::Tcp(name) if name.contains(':') => format!("[{name}]:{}", port(at)),
            Host::Tcp(name) => format!("{name}:{}", port(at)),
            #[cfg(unix)]
            Host::Unix(path) => format!("{}:{}", path.display(), port(at)),
        };
        let hosts: Vec<String> = self.config.get_hosts().iter().enumerate().map(host).collect();
        format!("postgres://{}/{}", hosts.join(","), self.config.get_dbname().unwrap_or_default())
    }

    pub(crate) fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// Whether the connection to another machine is unencrypted.
    pub(crate) fn is_in_clear(&self) -> bool {
        !is_local(&self.config) && self.config.get_ssl_mode() == SslMode::Disable
    }

    pub(super) fn config(&self) -> Config {
        self.config.clone()
    }

    /// The number of hosts, which are tried in turn.
    pub(super) fn hosts(&self) -> u32 {
        u32::try_from(self.config.get_hosts().len().max(self.config.get_hostaddrs().len())).unwrap_or(u32::MAX)
    }

    pub(super) fn connections(&self) -> u32 {
        self.connections
    }

    /// The TLS configuration. It can be built before connecting, to learn whether the certificates are usable.
    pub(crate) fn tls(&self) -> Result<ClientConfig, StorageError> {
        let roots = match &self.ca_file {
            Some(path) => certificates(path)?,
            None => RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|problem| StorageError::failed(format!("TLS cannot be set up: {problem}")))?;
        Ok(builder.with_root_certificates(roots).with_no_client_auth())
    }
}

impl fmt::Debug for PostgresSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresSettings({}, {} connections)", self.place(), self.connections)
    }
}

fn refused(sentence: &str) -> ServerError {
    ServerError::invalid(Violation::new("database", Rule::Format, sentence))
}

/// The option with a wrong value. An unknown option may be a part of a password.
fn url_rule(problem: &tokio_postgres::Error) -> String {
    let why = std::error::Error::source(problem).map(ToString::to_string).unwrap_or_default();
    let why = if why.starts_with("invalid value for option") { format!(": {why}") } else { String::new() };
    format!(
        "must be an address such as postgres://user:password@host:5432/database, with signs like @ / ? in it as %40 %2F %3F{why}"
    )
}

/// The options that are parsed here, because tokio-postgres supports fewer of their values.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    ssl_mode: Option<String>,
    ca_file: Option<PathBuf>,
}

/// The address without these options, and the options. The part before the first @ is user and password, with any characters.
fn options_of(url: &str) -> (String, Options) {
    let host = url.find('@').unwrap_or_default();
    let Some(at) = url[host..].find('?').map(|at| host + at) else { return (url.to_owned(), Options::default()) };
    let (address, query) = (&url[..at], &url[at + 1..]);
    let (mut options, mut others) = (Options::default(), Vec::new());
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", mode)) => options.ssl_mode = Some(mode.to_owned()),
            Some(("sslrootcert", "system")) => {}
            Some(("sslrootcert", path)) => options.ca_file = Some(decoded(path).into()),
            _ => others.push(pair),
        }
    }
    let query = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
    (format!("{address}{query}"), options)
}

fn decoded(text: &str) -> String {
    let pair = format!("v={}", text.replace('+', "%2B"));
    url::form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

impl Options {
    /// A fallback to plain text would expose a password and payers' data on the network.
    fn ssl_mode(&self, is_local: bool) -> Result<SslMode, ServerError> {
        match (self.ssl_mode.as_deref(), is_local) {
            (Some("require" | "verify-ca" | "verify-full"), _) | (None, false) => Ok(SslMode::Require),
            (Some("disable"), _) | (Some("allow" | "prefer") | None, true) => Ok(SslMode::Disable),
            (Some("allow" | "prefer"), false) => Err(refused(
                "must not say sslmode=allow or prefer, which fall back to plain text: require (which verifies), or disable",
            )),
            (Some(_), _) => Err(refused("must say sslmode=require, verify-full or disable")),
        }
    }
}

/// Whether the connection stays on this machine.
fn is_local(config: &Config) -> bool {
    let is_loopback = |name: &str| name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    let is_local = |host: &Host| match host {
        Host::Tcp(name) => is_loopback(name),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_local) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

fn certificates(path: &Path) -> Result<RootCertStore, StorageError> {
    let broken = |why: &dyn fmt::Display| {
        StorageError::failed(format!("its certificates in {} cannot be used: {why}", path.display()))
    };
    let mut roots = RootCertStore::empty();
    let pem = text_file::read(path).map_err(|problem| broken(&problem))?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        roots.add(certificate.map_err(|problem| broken(&problem))?).map_err(|problem| broken(&problem))?;
    }
    if roots.is_empty() { Err(broken(&"there is none")) } else { Ok(roots) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> SslMode {
        PostgresSettings::parse(url).unwrap().config.get_ssl_mode()
    }

    #[test]
    fn postgres_on_remote_host_requires_tls() {
        assert_eq!(mode("postgres://u:p@db.example.kg/kassa"), SslMode::Require);
        assert_eq!(
            mode("postgresql://u:p@db.example.kg/kassa?sslmode=verify-full&sslrootcert=%2Fca.pem"),
            SslMode::Require
        );
        assert_eq!(mode("postgres://u:p@db.example.kg/kassa?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://u:p@127.0.0.1/kassa"), SslMode::Disable);
        assert_eq!(mode("postgres://u:p@[::1]/kassa"), SslMode::Disable);
        assert_eq!(mode("postgres:///kassa?host=/run/postgresql"), SslMode::Disable);
        assert_eq!(mode("postgres://u:p@127.0.0.1,db.example.kg/kassa"), SslMode::Require);
        for weak in ["prefer", "allow", "verify-fool"] {
            assert!(
                PostgresSettings::parse(&format!("postgres://u:p@db.example.kg/kassa?sslmode={weak}")).is_err(),
                "{weak}"
            );
        }
    }

    #[test]
    fn postgres_password_is_never_printed() {
        let settings = PostgresSettings::parse("postgres://kassa:hunter2@db.example.kg:6432/shop").unwrap();
        assert_eq!(settings.place(), "postgres://db.example.kg:6432/shop");
        assert!(!format!("{settings:?}").contains("hunter2"));
        for wrong in ["postgres://u:hunter2@h:port/n", "postgres://u:a/hunter2@h", "mysql://hunter2"] {
            let error = PostgresSettings::parse(wrong).unwrap_err().to_string();
            assert!(error.contains("database must") && !error.contains("hunter2"), "{wrong}: {error}");
        }
    }

    #[test]
    fn postgres_password_keeps_query_characters() {
        let settings = PostgresSettings::parse("postgres://u:a?sslmode=disable&b@db.example.kg/n").unwrap();
        assert_eq!(settings.config.get_password(), Some(&b"a?sslmode=disable&b"[..]));
        assert_eq!(settings.config.get_ssl_mode(), SslMode::Require);
    }

    #[test]
    fn incomplete_postgres_url_is_rejected() {
        for wrong in ["postgres://u:p@h", "postgres:///kassa", "kassa.db"] {
            assert!(PostgresSettings::parse(wrong).is_err(), "{wrong}");
        }
    }
}
