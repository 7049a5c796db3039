//! Puts together what every command works with: the gateway, its journal, the port, the payer.

use std::{fs, path::Path, time::Duration};

use kassa::{Credentials, Dialect, Gateway, GatewayConfig, PollPolicy, StatusQueryForm};
use kassa_sandbox::{Database, Sandbox, SandboxOptions};
use url::Url;

use crate::{
    args::{Cli, Connection, Following},
    failure::Failure,
    narrator::Narrator,
    payer::Payer,
    payments::Payments,
    receiver::Receiver,
    robot::{Robot, is_loopback},
};

/// How the embedded sandbox words what the interface does not show.
const SANDBOX_DIALECT: &str = include_str!("../../sandbox-dialect.json");

/// What every command works with.
pub(crate) struct Checkout {
    pub(crate) gateway: Gateway,
    pub(crate) narrator: Narrator,
    pub(crate) payments: Payments,
    pub(crate) policy: PollPolicy,
    pub(crate) callback_wait: Duration,
    pub(crate) payer: Payer,
    pub(crate) receiver: Receiver,
    /// False where the gateway has no way to this program's port.
    pub(crate) callbacks_arrive: bool,
    /// True where a person asked to be the payer.
    pub(crate) interactive: bool,
    base_url: String,
    sandbox: Option<Sandbox>,
}

impl Checkout {
    /// Opens everything. An embedded sandbox is started where no base URL is given.
    pub(crate) async fn open(cli: &Cli) -> Result<Self, Failure> {
        let Cli { connection, following, .. } = cli;
        let base_url = connection.base_url.as_deref().filter(|url| !url.is_empty());
        let sandbox = if base_url.is_none() { Some(start_sandbox(connection)?) } else { None };
        let config = config(connection, base_url, sandbox.as_ref())?;
        let local = Url::parse(&config.base_url).is_ok_and(|url| is_loopback(&url));
        let base_url = config.base_url.trim_end_matches('/').to_owned();
        // Before the journal is opened: this refuses an address that must not be anybody's folder.
        let gateway = Gateway::new(config)?;
        let payments = payments(cli, &base_url, sandbox.as_ref())?;
        let public_callback =
            following.callback_url.as_deref().filter(|url| !url.is_empty()).map(public_url).transpose()?;
        let callbacks_arrive = local || public_callback.is_some();
        let payer = if local && !following.interactive { Payer::Robot(Robot::new()?) } else { Payer::Person };
        Ok(Self {
            gateway: gateway.with_journal(payments.journal().clone()),
            narrator: Narrator::new(following.json),
            payments,
            policy: policy(following, sandbox.is_some()),
            callback_wait: following.callback_wait,
            payer,
            receiver: Receiver::open(following.callback_port, public_callback).await?,
            callbacks_arrive,
            interactive: following.interactive,
            base_url,
            sandbox,
        })
    }

    /// True where the gateway is the embedded sandbox.
    pub(crate) fn is_sandbox(&self) -> bool {
        self.sandbox.is_some()
    }

    /// One line that says what this run works with.
    pub(crate) fn introduce(&self) {
        let sandbox = if self.is_sandbox() { "an embedded sandbox at " } else { "" };
        self.narrator.print(&format!("Kassa checkout with {sandbox}{}", self.base_url));
        if self.callbacks_arrive {
            self.narrator.print(&format!("Callbacks at {}", self.receiver.shown_callback_url()));
        }
        let until = if self.payments.end_with_this_run() { ", until this sandbox ends" } else { "" };
        self.narrator.print(&format!("The journal is in {}{until}", self.payments.folder().display()));
    }

    /// The callback URL of a payment where the interface demands one.
    pub(crate) fn required_callback_url(&self, reference: &str) -> Result<String, Failure> {
        self.callback_url(reference).ok_or_else(|| {
            Failure::Usage(
                "this gateway is not on this machine and cannot reach the callback port: give a public URL that leads \
                 to it with --callback-url (and fix the port with --callback-port)"
                    .to_owned(),
            )
        })
    }

    /// The callback URL of a payment, where the gateway has a way to it.
    pub(crate) fn callback_url(&self, reference: &str) -> Option<String> {
        self.callbacks_arrive.then(|| self.receiver.callback_url(reference))
    }

    /// Waits for what is on its way, and stops the sandbox.
    pub(crate) async fn close(self) {
        self.gateway.close().await;
        if let Some(sandbox) = self.sandbox {
            // It waits for its thread; nothing depends on how that ended.
            let _stopped = tokio::task::spawn_blocking(|| sandbox.stop()).await;
        }
    }
}

fn start_sandbox(connection: &Connection) -> Result<Sandbox, Failure> {
    let database = connection.sandbox_db.clone().map_or(Database::Memory, Database::File);
    Sandbox::start(SandboxOptions { database, ..SandboxOptions::default() })
        .map_err(|error| Failure::System(format!("the embedded sandbox does not start: {error}")))
}

fn config(
    connection: &Connection,
    base_url: Option<&str>,
    sandbox: Option<&Sandbox>,
) -> Result<GatewayConfig, Failure> {
    let (base_url, credentials) = match (base_url, sandbox) {
        (_, Some(sandbox)) => (sandbox.url(), Credentials::basic(sandbox.login(), sandbox.password())),
        (base_url, None) => (base_url.unwrap_or_default(), credentials(connection)?),
    };
    let status_query =
        if connection.status_as_query { StatusQueryForm::QueryString } else { StatusQueryForm::JsonBody };
    let config = GatewayConfig::new(base_url, credentials)
        .with_payment_deadline(connection.timeout)
        .with_query_deadline(connection.timeout)
        .with_dialect(dialect(connection.dialect.as_deref(), sandbox.is_some())?)
        .with_status_query(status_query)
        .with_user_agent_suffix(concat!("kassa-checkout/", env!("CARGO_PKG_VERSION")));
    let mut certificates = connection.root_certificates.iter();
    certificates.try_fold(config, |config, file| Ok(config.with_extra_root_certificates(read(file)?)))
}

fn credentials(connection: &Connection) -> Result<Credentials, Failure> {
    match (&connection.login, &connection.password) {
        (Some(login), Some(password)) => Ok(Credentials::basic(login, password.as_str())),
        _ => Err(Failure::Usage(
            "a gateway needs KASSA_LOGIN and KASSA_PASSWORD (or --login and --secrets-stdin)".to_owned(),
        )),
    }
}

/// A name or a file: `./finipay` is a file.
fn dialect(named: Option<&Path>, is_sandbox: bool) -> Result<Dialect, Failure> {
    match named {
        Some(named) => {
            let names = Dialect::names();
            if let Some(name) = names.iter().find(|name| named.as_os_str() == name.as_str()) {
                return Ok(Dialect::named(name)?);
            }
            if !named.exists() {
                let (file, names) = (named.display(), names.join(", "));
                return Err(Failure::Usage(format!("{file} is no file, and no known dialect: there are {names}")));
            }
            Ok(Dialect::from_json(&read(named)?)?)
        }
        None if is_sandbox => Ok(Dialect::from_json(SANDBOX_DIALECT)?),
        None => Ok(Dialect::default()),
    }
}

fn read(file: &Path) -> Result<String, Failure> {
    fs::read_to_string(file).map_err(|error| Failure::Usage(format!("{} cannot be read: {error}", file.display())))
}

fn public_url(text: &str) -> Result<Url, Failure> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| Failure::Usage("--callback-url must be an absolute http or https URL".to_owned()))
}

fn payments(cli: &Cli, base_url: &str, sandbox: Option<&Sandbox>) -> Result<Payments, Failure> {
    let all = &cli.following.journal;
    match (sandbox, &cli.connection.sandbox_db) {
        (None, _) => Payments::of_merchant(all, base_url, cli.connection.login.as_deref().unwrap_or_default()),
        (Some(_), Some(file)) => Payments::of_sandbox_in(file, all),
        (Some(_), None) => Payments::of_sandbox_in_memory(all),
    }
}

fn policy(following: &Following, is_sandbox: bool) -> PollPolicy {
    let usual = PollPolicy::default();
    let deadline = if following.interactive { usual.deadline } else { Duration::from_secs(60) };
    let quick = usual.with_interval(Duration::from_secs(1)).with_deadline(deadline);
    let default = if is_sandbox { quick } else { usual };
    default
        .with_interval(following.poll_interval.unwrap_or(default.interval))
        .with_deadline(following.deadline.unwrap_or(default.deadline))
}
