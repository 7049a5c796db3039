//! `check`: checks everything that the server needs, changes nothing, and says what to do. Each line begins with `ok`, `warning`
//! or `wrong`; a `wrong` line makes the exit code 1.

use std::{fmt, io, net::IpAddr, path::Path, process::ExitCode};

use kassa::{Gateway, PaymentError, PaymentStatus, Provider, StatusReport};
use kassa_server::{
    CheckoutId, DatabaseFile, KeyRole, Runtime, TokioRuntime,
    settings::{DatabasePlace, ProgramSettings, Sources},
};
use tokio::net::lookup_host;
use url::{Host, Url};

use super::{
    database,
    output::{self, CommandResult, Failure},
};

pub(crate) fn run(sources: &Sources) -> CommandResult<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::new)?;
    let mut report = Report { is_wrong: false, written: Ok(()) };
    match ProgramSettings::read(sources) {
        Ok(settings) => runtime.block_on(report.all(&settings)),
        Err(problems) => {
            for problem in problems {
                report.line("settings", (State::Wrong, problem.to_string()));
            }
            report.line("others", (State::Warning, "not checked: correct the settings first".to_owned()));
        }
    }
    report.written.map_err(output::unwritten)?;
    Ok(if report.is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

struct Report {
    is_wrong: bool,
    /// Whether every line was written. An incomplete report must not pass for a good one.
    written: io::Result<()>,
}

impl Report {
    fn line(&mut self, about: &str, (state, text): Finding) {
        self.is_wrong |= state == State::Wrong;
        self.print(format_args!("{:<8} {about:<11} {text}", state.word()));
    }

    fn print(&mut self, line: fmt::Arguments<'_>) {
        if self.written.is_ok() {
            self.written = output::line(line);
        }
    }

    async fn all(&mut self, settings: &ProgramSettings) {
        self.line("settings", (State::Ok, format!("{} are set, the others have their defaults", settings.given.len())));
        for (name, value, place) in &settings.given {
            self.print(format_args!("{:21}{name} = {value}  ({place})", ""));
        }
        for warning in output::of(settings) {
            self.line("settings", (State::Warning, warning));
        }
        for (about, sentence) in output::wrong(settings) {
            self.line(about, (State::Wrong, sentence));
        }
        self.line("database", database(&settings.database).await);
        if let DatabasePlace::File(path) = &settings.database
            && is_open_to_all(path)
        {
            let sentence =
                format!("every user of this machine can read what people paid: chmod o= {}*", path.display());
            self.line("database", (State::Warning, sentence));
        }
        self.line("keys", keys(&settings.database).await);
        self.line("public_url", public_url(settings));
        self.line("events", events(settings).await);
        self.line("gateway", check_gateway(settings).await);
        if let Some(finding) = gateway_wait(&settings.database).await {
            self.line("gateway", finding);
        }
    }
}

async fn database(place: &DatabasePlace) -> Finding {
    match database::look(place).await {
        Ok(DatabaseFile::Current) => (State::Ok, format!("{place} has this server's version")),
        Ok(DatabaseFile::Older { found }) => (
            State::Ok,
            format!("{place} has version {found}, an older server's: the next start migrates it; back it up first"),
        ),
        Ok(DatabaseFile::Missing) => missing(place),
        Ok(_) => (State::Wrong, format!("{place} is another program's database: name another one")),
        Err(problem) => (State::Wrong, format!("{place}: {problem}")),
    }
}

fn missing(place: &DatabasePlace) -> Finding {
    let DatabasePlace::File(path) = place else {
        return (State::Ok, format!("{place} is reached, and empty: the first start creates its tables"));
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => (
            State::Wrong,
            format!("{place}: the folder {} does not exist: create it for the server's user", folder.display()),
        ),
        _ => (State::Ok, format!("{place} does not exist yet: the first start creates it")),
    }
}

#[cfg(unix)]
fn is_open_to_all(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.permissions().mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn is_open_to_all(_: &Path) -> bool {
    false
}

/// Only a database of this version is opened, because opening migrates an older one.
async fn keys(place: &DatabasePlace) -> Finding {
    let none = || (State::Warning, "no shop can call yet: kassa-server keys new --name shop".to_owned());
    if !matches!(database::look(place).await, Ok(DatabaseFile::Current)) {
        return none();
    }
    let storage = match database::try_open(place).await {
        Ok(storage) => storage,
        Err(problem) => return (State::Wrong, problem),
    };
    match storage.api_keys().await {
        Ok(keys) => {
            let good = |role| keys.iter().filter(|key| key.role == role && key.revoked_at.is_none()).count();
            match (good(KeyRole::Shop), good(KeyRole::Staff)) {
                (0, _) => none(),
                (shop, 0) => (State::Ok, format!("{shop} good, {} revoked", keys.len() - shop)),
                (shop, staff) => {
                    (State::Ok, format!("{shop} good, {staff} for staff, {} revoked", keys.len() - shop - staff))
                }
            }
        }
        Err(problem) => (State::Wrong, problem.to_string()),
    }
}

/// Whether the servers of this database wait because of a `Retry-After`.
async fn gateway_wait(place: &DatabasePlace) -> Option<Finding> {
    let Ok(DatabaseFile::Current) = database::look(place).await else { return None };
    let counted = database::try_open(place).await.ok()?.statistics().await.ok()?;
    let sentence =
        "it sent Retry-After: some payments or status queries are delayed by up to a minute, then one is tried";
    (counted.gateway_wait_ms > 0).then(|| (State::Warning, sentence.to_owned()))
}

fn public_url(settings: &ProgramSettings) -> Finding {
    let Ok(url) = Url::parse(&settings.http.public_url) else { return (State::Wrong, "is not an address".to_owned()) };
    let text = &settings.http.public_url;
    if url.scheme() == "https" {
        return (State::Ok, format!("{text}: the gateway's callbacks come here"));
    }
    let sentence = if is_own(&url) {
        "only programs on this machine can reach it, such as the sandbox: use the public https address"
    } else {
        "callbacks, apps and keys would travel unencrypted: use https"
    };
    (State::Warning, format!("{text}: {sentence}"))
}

fn is_own(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::from(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::from(address).is_loopback(),
        None => false,
    }
}

/// Nothing is sent: a fake event would surprise the shop.
async fn events(settings: &ProgramSettings) -> Finding {
    let Some(url) = &settings.events_url else {
        return (State::Warning, "none are delivered: set events.url, or read GET /v1/events".to_owned());
    };
    let url = Url::parse(url.expose()).ok();
    let place =
        url.as_ref().and_then(|url| Some((url.host_str()?.trim_matches(['[', ']']), url.port_or_known_default()?)));
    let Some(place) = place else { return (State::Wrong, "events.url has no host".to_owned()) };
    match lookup_host(place).await.map(|mut found| found.next()) {
        Ok(Some(_)) => {
            let secrets = settings.server.signing_secrets.len();
            let rest = if secrets > 1 { ", signed by the new and the old secret" } else { "" };
            (State::Ok, format!("{} is found{rest}", place.0))
        }
        _ => (State::Wrong, format!("{} is not found: correct events.url, or check DNS", place.0)),
    }
}

// One harmless query to the gateway: the status of a payment that does not exist. Each response says something about the
// connection, the credentials and the dialect.

/// The most characters of a response that are shown. The core has masked its secrets.
const SHOWN: usize = 300;
const UNDERSTOOD: &str = "reached, credentials accepted, understood";

pub(crate) async fn check_gateway(settings: &ProgramSettings) -> Finding {
    let gateway = match Gateway::new(settings.gateway.clone()) {
        Ok(gateway) => gateway,
        Err(problem) => return (State::Wrong, problem.to_string()),
    };
    let mut bytes = [0; 16];
    if let Err(problem) = TokioRuntime::on(tokio::runtime::Handle::current()).fill(&mut bytes) {
        return (State::Wrong, problem.to_string());
    }
    // A number in the form of the server's numbers, which no payment has.
    let number = CheckoutId::from_random(bytes);
    match gateway.provider_status(number.bare(), Provider::Cards).await {
        Ok(report) => answered(&report),
        Err(problem) => failed(&problem),
    }
}

/// The finding if the gateway reports a status for a payment that does not exist.
fn answered(report: &StatusReport) -> Finding {
    let odd = "reached, credentials accepted, understood; but it reports a payment that does not exist as";
    match &report.status {
        PaymentStatus::Charged => {
            (State::Wrong, format!("{odd} charged: charged_words in gateway.dialect cannot be right"))
        }
        PaymentStatus::Rejected => {
            let sentence = "rejected, so a payment that it does not know yet would count as rejected: see rejected_words in \
                gateway.dialect";
            (State::Warning, format!("{odd} {sentence}"))
        }
        other => (State::Ok, format!("{UNDERSTOOD}: it reports \"{other}\" for a payment that does not exist")),
    }
}

fn failed(problem: &PaymentError) -> Finding {
    match problem {
        PaymentError::Refused { http_status, code: Some(code), .. } => {
            let sentence = "it does not know a payment that does not exist";
            (State::Ok, format!("{UNDERSTOOD}: {sentence} (HTTP {http_status}, code {code})"))
        }
        PaymentError::Refused { http_status, body, .. } => {
            let sentence = "and the dialect finds no code in the response: set its place in gateway.dialect";
            (
                State::Warning,
                format!("reached; it refused the query with HTTP {http_status}, {sentence}.{}", said(Some(body))),
            )
        }
        PaymentError::Unauthorized { http_status, .. } => {
            let sentence = "correct gateway.login and gateway.password";
            (State::Wrong, format!("reached; it does not accept the credentials (HTTP {http_status}): {sentence}"))
        }
        PaymentError::Misconfigured { http_status: Some(status), body, .. } => {
            let sentence =
                "but not in the gateway's format: correct gateway.url, or map the response in gateway.dialect";
            (State::Wrong, format!("reached; HTTP {status} came, {sentence}.{}", said(body.as_deref())))
        }
        PaymentError::Misconfigured { detail, .. } => {
            (State::Wrong, format!("not reached: {detail}: correct gateway.url, gateway.ca or gateway.proxy"))
        }
        PaymentError::Unavailable { http_status: Some(status), body, .. } => {
            let sentence = "try again later; if it persists, check gateway.url and any proxy in between";
            (State::Wrong, format!("reached; HTTP {status} came: {sentence}.{}", said(body.as_deref())))
        }
        PaymentError::Unavailable { detail, .. } => {
            (State::Wrong, format!("not reached: {detail}: correct gateway.url, or allow connections to it"))
        }
        PaymentError::Unexpected { detail, body, .. } => {
            let sentence = "map its responses in gateway.dialect";
            (State::Wrong, format!("reached, but not understood: {detail}: {sentence}.{}", said(Some(body))))
        }
        other => (State::Wrong, other.to_string()),
    }
}

fn said(body: Option<&str>) -> String {
    match body {
        Some(body) if !body.trim().is_empty() => {
            format!(" It said: {}", body.chars().take(SHOWN).flat_map(char::escape_debug).collect::<String>())
        }
        _ => " It said nothing more.".to_owned(),
    }
}

// The findings of `check`.

/// The state of a checked part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ok,
    Warning,
    Wrong,
}

impl State {
    /// The first word of its line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Wrong => "wrong",
        }
    }
}

/// A finding, and what to do.
pub(crate) type Finding = (State, String);
