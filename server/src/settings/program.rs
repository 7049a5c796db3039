//! The settings of the program, read and checked.

use std::{net::SocketAddr, time::Duration};

use kassa::GatewayConfig;
use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use tracing_subscriber::EnvFilter;

use super::{
    database,
    database_place::DatabasePlace,
    gateway, merchant,
    plain_http::{self, PlainHttp},
    problem::{SettingProblem, rule},
    sources::{self, Sources},
    table::{
        CARD_ATTEMPTS, CARDS_ENABLED, EVENTS_KINDS, EVENTS_OLD_SECRET, EVENTS_OLD_SECRET_FILE, EVENTS_SECRET,
        EVENTS_SECRET_FILE, EVENTS_URL, GATEWAY_LOGIN, KEEP_FOR, LIMITS_PER_ADDRESS, LIMITS_PER_KEY, LIMITS_PER_TOKEN,
        LISTEN, LOG, LOG_FORMAT, MAX_CONCURRENT_SENDS, MAX_CONNECTIONS, MEGAPAY_ACCOUNT, METRICS_LISTEN, OTP_ATTEMPTS,
        PAGE_ENABLED, PAYMENT_WAIT, POLL_RATE, POLL_WORKERS, PROXIES, PUBLIC_URL, STAFF_ENABLED, TLS_CERTIFICATE,
        TLS_KEY, TOKEN_LIFETIME, TRACING_HEADERS, TRACING_SAMPLE_RATIO, TRACING_URL,
    },
    values::{self, AlreadyReported, Parsed, Values},
};
use crate::{
    http::HttpSettings,
    net::{self, ListenerSettings, NetError, Proxies, TlsFiles},
    pay::Merchant,
    server::settings::{ServerSettings, check_account},
    telemetry::CollectorSettings,
    values::{Hidden, error::Checks},
    webhooks::{HttpWebhookSender, SigningSecret},
};

/// The path of callbacks under the public address.
const CALLBACKS: &str = "callbacks";
/// The time by which the lease of a poll exceeds the deadline of status queries.
const LEASE_MARGIN: Duration = Duration::from_secs(30);

/// All settings of the program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProgramSettings {
    /// The settings of the listener.
    pub listener: ListenerSettings,
    /// The address that serves metrics.
    pub metrics_listen: Option<SocketAddr>,
    /// The settings of the HTTP interface, with the server's public URL.
    pub http: HttpSettings,
    /// The merchant as the hosted pages show it, if `http.has_pay_page` is on.
    pub merchant: Merchant,
    /// Whether the staff pages are served.
    pub has_staff_pages: bool,
    /// The place of the database.
    pub database: DatabasePlace,
    /// The connection to the gateway.
    pub gateway: GatewayConfig,
    /// The shop's address for events. It may contain a secret of the shop.
    pub events_url: Option<Hidden>,
    /// The settings of the library.
    pub server: ServerSettings,
    /// The settings of the log.
    pub log: LogSettings,
    /// The collector of traces.
    pub traces: Option<CollectorSettings>,
    /// Settings that work, and should be changed.
    pub warnings: Vec<String>,
    /// The given settings: name, printable value, place.
    pub given: Vec<(&'static str, String, String)>,
}

/// Only the settings of the gateway, for a command that needs no database and no server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GatewaySettings {
    /// The connection to the gateway.
    pub config: GatewayConfig,
    /// The merchant's login, which no report contains.
    pub login: Hidden,
    /// Settings that work, and should be changed.
    pub warnings: Vec<String>,
}

impl GatewaySettings {
    /// Reads the settings of the gateway, and no others.
    ///
    /// # Errors
    /// Everything that is wrong with them, and with the form of the settings file, at once.
    pub fn read(sources: &Sources) -> Result<Self, Vec<SettingProblem>> {
        let mut values = Values::collect(sources);
        let mut plain = PlainHttp::read(&mut values);
        let read = gateway::read(&mut values, &mut plain);
        let login = values.given(&GATEWAY_LOGIN).map_or_else(|| Hidden::new(""), |given| given.text);
        match read {
            Ok(config) if values.problems.is_empty() => Ok(Self { config, login, warnings: values.warnings }),
            _ => Err(values.problems),
        }
    }
}

/// The settings of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// A filter of `tracing-subscriber`.
    pub filter: String,
    /// Whether each line is a JSON object, instead of text for people.
    pub is_json: bool,
}

impl ProgramSettings {
    /// Reads all settings.
    ///
    /// # Errors
    /// Everything that is wrong, at once.
    pub fn read(sources: &Sources) -> Result<Self, Vec<SettingProblem>> {
        let mut values = Values::collect(sources);
        let read = read(&mut values);
        match read {
            Ok(settings) if values.problems.is_empty() => Ok(settings),
            _ => Err(values.problems),
        }
    }
}

/// Reads everything before it returns the first problem.
fn read(values: &mut Values) -> Parsed<ProgramSettings> {
    let listen = values.read(&LISTEN, sources::address);
    let metrics_listen = values.optional(&METRICS_LISTEN, sources::address);
    let public_url = values.read(&PUBLIC_URL, sources::public_url);
    let database = database::read(values);
    let mut plain = PlainHttp::read(values);
    let gateway = gateway::read(values, &mut plain);
    let events_url = events_url(values, &mut plain);
    let signing_secrets = signing_secrets(values);
    let server = server(values);
    let megapay_account = megapay_account(values, gateway.as_ref().ok());
    let tls = tls(values);
    let proxies = values.optional(&PROXIES, proxies);
    let per_address = values.read(&LIMITS_PER_ADDRESS, sources::count(1..=1_000_000));
    let per_token = values.read(&LIMITS_PER_TOKEN, sources::count(1..=1_000_000));
    let per_key = values.read(&LIMITS_PER_KEY, sources::count(1..=1_000_000));
    let max_connections = values.read(&MAX_CONNECTIONS, sources::count(1..=1_000_000));
    let has_pay_page = values.read(&PAGE_ENABLED, sources::yes_or_no);
    let merchant = merchant::read(values);
    let has_staff_pages = values.read(&STAFF_ENABLED, sources::yes_or_no);
    let log = log(values);
    let traces = read_traces(values, &mut plain);
    plain.warn_of_unused(values);

    let (public_url, gateway, server) = (public_url?, gateway?, server?);
    let server = ServerSettings {
        callback_base: format!("{public_url}/{CALLBACKS}"),
        dialect: gateway.dialect().clone(),
        payment_deadline: gateway.payment_deadline,
        offers_pay_forms: gateway.dialect().verifies_pay_forms(),
        poll_lease: server.poll_lease.max(gateway.query_deadline.saturating_add(LEASE_MARGIN)),
        signing_secrets: signing_secrets?,
        megapay_account: megapay_account?,
        ..server
    };
    let http = HttpSettings {
        proxies: proxies?.unwrap_or_default(),
        per_address: per_address?,
        per_token: per_token?,
        per_key: per_key?,
        has_pay_page: has_pay_page?,
        ..HttpSettings::new(public_url)
    };
    let listener = ListenerSettings {
        tls: tls?,
        max_connections: max_connections? as usize,
        proxies: http.proxies.clone(),
        ..ListenerSettings::new(listen?)
    };
    Ok(ProgramSettings {
        listener,
        metrics_listen: metrics_listen?,
        http,
        merchant: merchant?,
        has_staff_pages: has_staff_pages?,
        database: database?,
        gateway,
        events_url: events_url?,
        server,
        log: log?,
        traces: traces?,
        warnings: std::mem::take(&mut values.warnings),
        given: values.shown(),
    })
}

/// Reads the settings of the library, which checks them once more.
fn server(values: &mut Values) -> Parsed<ServerSettings> {
    let poll_rate = values.read(&POLL_RATE, sources::count(1..=1_000_000));
    let poll_workers = values.read(&POLL_WORKERS, sources::count(1..=10_000));
    let max_concurrent_sends = values.read(&MAX_CONCURRENT_SENDS, sources::count(1..=10_000));
    let longest_wait = values.read(&PAYMENT_WAIT, values::within("1s", "10m"));
    let otp_attempts = values.read(&OTP_ATTEMPTS, sources::count(1..=100));
    let card_attempts = values.read(&CARD_ATTEMPTS, sources::count(1..=100));
    let takes_cards = values.read(&CARDS_ENABLED, sources::is_so);
    let token_lifetime = values.read(&TOKEN_LIFETIME, values::within("1m", "30d"));
    let keep_for = values.read(&KEEP_FOR, values::within("1d", "3650d"));
    let event_kinds = values.optional(&EVENTS_KINDS, sources::event_kinds);
    Ok(ServerSettings {
        poll_rate: poll_rate?,
        poll_workers: poll_workers?,
        max_concurrent_sends: max_concurrent_sends?,
        longest_wait: longest_wait?,
        otp_attempts: otp_attempts?,
        card_attempts: card_attempts?,
        takes_cards: takes_cards?,
        token_lifetime: token_lifetime?,
        keep_for: keep_for?,
        event_kinds: event_kinds?,
        ..ServerSettings::new("")
    })
}

/// Reads the requisite for MegaPay. If the gateway's settings are invalid, its dialect is not known.
fn megapay_account(values: &mut Values, gateway: Option<&GatewayConfig>) -> Parsed<Option<String>> {
    let dialect = gateway.map(GatewayConfig::dialect);
    values.optional(&MEGAPAY_ACCOUNT, |text| {
        let mut checks = Checks::default();
        check_account(&mut checks, "", text, dialect);
        checks.finish().map(|()| text.to_owned()).map_err(|problem| rule(&problem))
    })
}

fn events_url(values: &mut Values, plain: &mut PlainHttp) -> Parsed<Option<Hidden>> {
    let url = values.optional(&EVENTS_URL, |url| {
        let sender = HttpWebhookSender::within(&plain.hosts_for(url), url);
        sender.map(|_| Hidden::new(url)).map_err(|problem| plain_http::or_named_host(&rule(&problem)))
    })?;
    if let Some(url) = &url {
        plain.warn(values, EVENTS_URL.name, url.expose(), "events travel");
    }
    Ok(url)
}

/// The signing secrets, the newest first. Without an address for events, none is needed.
fn signing_secrets(values: &mut Values) -> Parsed<Vec<SigningSecret>> {
    let secret = |text: &str| text.parse::<SigningSecret>().map_err(|problem| rule(&problem));
    let new = values.secret(&EVENTS_SECRET, &EVENTS_SECRET_FILE, secret);
    let old = values.secret(&EVENTS_OLD_SECRET, &EVENTS_OLD_SECRET_FILE, secret);
    let (new, old) = (new?, old?);
    if new.is_none() && (values.is_given(&EVENTS_URL) || old.is_some()) {
        let why = format!("{}, as events are signed", gateway::or_file(&EVENTS_SECRET_FILE));
        return Err(values.missing(&EVENTS_SECRET, &why));
    }
    Ok(new.into_iter().chain(old).collect())
}

fn tls(values: &mut Values) -> Parsed<Option<TlsFiles>> {
    let certificate = values.optional(&TLS_CERTIFICATE, sources::path);
    let key = values.optional(&TLS_KEY, sources::path);
    match (certificate?, key?) {
        (Some(certificate), Some(key)) => {
            values.warn_of_readers(&key);
            let files = TlsFiles { certificate, key };
            match net::check_files(&files) {
                Ok(()) => Ok(Some(files)),
                Err(problem) => Err(unusable_file(values, problem)),
            }
        }
        (None, None) => Ok(None),
        (Some(_), None) => Err(values.missing(&TLS_KEY, " beside tls.certificate")),
        (None, Some(_)) => Err(values.missing(&TLS_CERTIFICATE, " beside tls.key")),
    }
}

fn unusable_file(values: &mut Values, problem: NetError) -> AlreadyReported {
    match problem {
        NetError::File { setting, detail, .. } if setting == TLS_KEY.name => {
            values.wrong(&TLS_KEY, format!("names a file that cannot be used: {detail}"))
        }
        NetError::File { detail, .. } => {
            values.wrong(&TLS_CERTIFICATE, format!("names a file that cannot be used: {detail}"))
        }
        other => values.wrong(&TLS_CERTIFICATE, format!("cannot be used: {other}")),
    }
}

fn proxies(text: &str) -> Result<Proxies, String> {
    text.parse().map_err(|problem| match problem {
        NetError::Proxy { detail, .. } => format!("must be addresses or networks of proxies: {detail}"),
        other => format!("cannot be used: {other}"),
    })
}

fn log(values: &mut Values) -> Parsed<LogSettings> {
    let filter = values.read(&LOG, |text| match EnvFilter::try_new(text) {
        Ok(_) if !text.trim().is_empty() => Ok(text.to_owned()),
        _ => Err("must be error, warn, info, debug, trace, off or a filter such as info,kassa_server=debug".to_owned()),
    });
    let is_json = values.read(&LOG_FORMAT, |word| match word {
        "text" => Ok(false),
        "json" => Ok(true),
        _ => Err("must be text or json".to_owned()),
    });
    Ok(LogSettings { filter: filter?, is_json: is_json? })
}

// The collector of traces.

/// The collector, if there is one.
pub(super) fn read_traces(values: &mut Values, plain: &mut PlainHttp) -> Parsed<Option<CollectorSettings>> {
    let url = values.optional(&TRACING_URL, address);
    let headers = values.optional(&TRACING_HEADERS, headers);
    let sample_ratio = values.read(&TRACING_SAMPLE_RATIO, sources::ratio);
    let (url, headers, sample_ratio) = (url?, headers?.unwrap_or_default(), sample_ratio?);
    let Some(url) = url else {
        if values.is_given(&TRACING_HEADERS) {
            values.warnings.push("tracing.headers has no effect without tracing.url".to_owned());
        }
        return Ok(None);
    };
    let has_key = !headers.is_empty() || url.query().is_some();
    if has_key && !plain.permits(&url) {
        let rule = "must be https, or to a host that plain_http_hosts names, if it has a query or tracing.headers is set, \
            because these contain keys";
        return Err(values.wrong(&TRACING_URL, rule));
    }
    if plain.permits(&url) {
        plain.warn(values, TRACING_URL.name, url.as_str(), "traces travel");
    } else if let Some(host) = url.host_str() {
        values.warnings.push(format!(
            "{}: traces travel unencrypted to {host}: use https, or name it in plain_http_hosts",
            TRACING_URL.name
        ));
    }
    Ok(Some(CollectorSettings { headers, sample_ratio, ..CollectorSettings::to(url) }))
}

/// Checks a collector's address. Traces contain no secrets, and a collector next to the server usually has no certificate.
fn address(text: &str) -> Result<Url, String> {
    if cfg!(not(feature = "opentelemetry")) {
        return Err("requires a program built with tracing: cargo build --features opentelemetry".to_owned());
    }
    let has_user = |url: &Url| !url.username().is_empty() || url.password().is_some();
    let is_fit = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host() && !has_user(url);
    Url::parse(text)
        .ok()
        .filter(is_fit)
        .ok_or_else(|| "must be an http or https URL without user, such as http://127.0.0.1:4318/v1/traces".to_owned())
}

fn headers(text: &str) -> Result<Vec<(String, Hidden)>, String> {
    let rule = || "must be comma-separated headers such as authorization=Bearer abc".to_owned();
    text.split(',').map(|header| one_header(header).ok_or_else(rule)).collect()
}

fn one_header(text: &str) -> Option<(String, Hidden)> {
    let (name, value) = text.split_once('=')?;
    let (name, value) = (name.trim().parse::<HeaderName>().ok()?, value.trim());
    value.parse::<HeaderValue>().ok()?;
    Some((name.as_str().to_owned(), Hidden::new(value)))
}
