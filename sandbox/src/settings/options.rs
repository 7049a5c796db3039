//! The options of a sandbox, the switches among them that can be changed while it runs, and the errors of a start.

use std::{
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::{
    domain::{Language, all},
    faults::Fault,
};

/// The settings of a sandbox. `SandboxOptions::default()` follows the interface literally.
#[derive(Clone)]
pub struct SandboxOptions {
    /// Where to listen. Default: 127.0.0.1, a free port.
    pub listen: SocketAddr,
    /// Where payments are kept. Default: in memory.
    pub database: Database,
    /// The merchant's login. Default: `kassa`.
    pub login: String,
    /// The merchant's password. Default: `sandbox-password`.
    pub password: String,
    /// The merchant's language: of messages where a request names none. Default: English.
    pub language: Language,
    /// What a reused order number does. Default: refuse.
    pub reused_order_number: ReusedOrderNumber,
    /// Whether 3DS 1.0 cards get a confirmation page too. Default: no, as the interface literally says.
    pub three_ds_1_page: bool,
    /// Whether a declined payer is redirected to the return URL, too. Default: no.
    pub redirect_declines: bool,
    /// Which numbers the two status endpoints know. Default: strict.
    pub status_numbers: StatusNumbers,
    /// Which gateway's responses the sandbox gives. Default: those of the interface.
    pub acts_as: Dialect,
    /// Acting as FINIPAY: where a confirmation carries the `quid` of an MBank payment. Default: in a field of its own.
    pub mbank_quid: MbankQuid,
    /// Faults to start with. Default: none.
    pub faults: Vec<Fault>,
    /// An invented history to begin with, where the database has no payments yet. Default: none.
    pub demo: Option<Demo>,
    /// Backoff: the pauses between attempts to deliver a callback; the last one repeats until a 2xx.
    /// An empty list means one attempt. Default: 1 s, growing to an hour.
    pub callback_pauses: Vec<Duration>,
    /// How long a callback's receiver may take. Default: 10 s.
    pub callback_timeout: Duration,
    /// Certificates in PEM that callbacks trust besides the public roots, for receivers with a private authority.
    /// Those of `tls` are trusted anyway. Default: none.
    pub callback_ca: Vec<PathBuf>,
    /// The token that the admin interface under `/admin/` asks for: visible ASCII, of 16 characters or more where other
    /// machines reach the sandbox.
    /// Default: a random one at each start; `Sandbox::admin_token` tells it.
    pub admin_token: Option<String>,
    /// What absolute links (pages, QR codes) start with, e.g. the address of a tunnel. One that leads to another host
    /// needs a password of one's own. Default: the listening URL.
    pub public_url: Option<String>,
    /// Encrypts the connections, for https. Default: none, for http.
    pub tls: Option<TlsFiles>,
    /// When pending payments become final by themselves. Default: never.
    pub resolve_pending: ResolvePending,
    /// How far the gateway's clock is ahead of the machine's, at most a hundred years; a file whose clock is ahead
    /// further keeps it. Default: not at all.
    pub clock_ahead: Duration,
}

/// The password where none is given. With it the sandbox serves this machine only.
pub(crate) const WELL_KNOWN_PASSWORD: &str = "sandbox-password";

/// Where payments are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// In memory: gone when the sandbox stops.
    Memory,
    /// In an SQLite file, made where it is missing.
    File(PathBuf),
}

/// Idempotency: what creating a payment with an order number that was used before does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum ReusedOrderNumber {
    /// HTTP 409, nothing happens.
    Refuse,
    /// The first payment's answer again, nothing new happens. Where kind, amount or currency differ: 409.
    Replay,
    /// A second payment, as a careless gateway would make it.
    ChargeTwice,
}

impl ReusedOrderNumber {
    /// Every choice there is.
    pub const ALL: [Self; Self::COUNT] = all();

    /// Its name on the command line and in the admin interface.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Which numbers `status` and `get-status` know a payment by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum StatusNumbers {
    /// `status` the gateway's, `get-status` the merchant's.
    Strict,
    /// Both endpoints know both.
    Any,
}

impl StatusNumbers {
    /// Every choice there is.
    pub const ALL: [Self; Self::COUNT] = all();

    /// Its name on the command line and in the admin interface.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Which gateway's responses the nine endpoints give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Dialect {
    /// The envelope and the field names that the interface shows.
    Interface,
    /// Another envelope and other field names, for clients whose reading is configurable.
    Other,
    /// The responses that the public pages of the gateway FINIPAY show; what they do not show is as in the interface.
    Finipay,
}

impl Dialect {
    /// Every choice there is.
    pub const ALL: [Self; Self::COUNT] = all();

    /// Its name on the command line and in the admin interface.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Where a confirmation carries the `quid` of an MBank payment, which FINIPAY's pages do not say for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum MbankQuid {
    /// In `orderNumber`, instead of the merchant's number.
    OrderNumber,
    /// In a field `quid`, beside the merchant's number in `orderNumber`.
    Field,
    /// Nowhere: the merchant's number alone confirms.
    NotSent,
}

impl MbankQuid {
    /// Every choice there is.
    pub const ALL: [Self; Self::COUNT] = all();

    /// Its name on the command line and in the admin interface.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Default for SandboxOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            database: Database::Memory,
            login: "kassa".to_owned(),
            password: WELL_KNOWN_PASSWORD.to_owned(),
            language: Language::English,
            reused_order_number: ReusedOrderNumber::Refuse,
            three_ds_1_page: false,
            redirect_declines: false,
            status_numbers: StatusNumbers::Strict,
            acts_as: Dialect::Interface,
            mbank_quid: MbankQuid::Field,
            faults: Vec::new(),
            demo: None,
            callback_pauses: [1, 2, 5, 15, 60, 300, 900, 3600].map(Duration::from_secs).to_vec(),
            callback_timeout: Duration::from_secs(10),
            callback_ca: Vec::new(),
            admin_token: None,
            public_url: None,
            tls: None,
            resolve_pending: ResolvePending::default(),
            clock_ahead: Duration::ZERO,
        }
    }
}

impl SandboxOptions {
    /// How far the clock is put ahead, in milliseconds.
    pub(crate) fn clock_ahead_ms(&self) -> i64 {
        i64::try_from(self.clock_ahead.as_millis()).unwrap_or(i64::MAX)
    }
}

impl fmt::Debug for SandboxOptions {
    /// Everything but the password and the admin token.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SandboxOptions")
            .field("listen", &self.listen)
            .field("database", &self.database)
            .field("login", &self.login)
            .field("language", &self.language)
            .field("reused_order_number", &self.reused_order_number)
            .field("three_ds_1_page", &self.three_ds_1_page)
            .field("redirect_declines", &self.redirect_declines)
            .field("status_numbers", &self.status_numbers)
            .field("acts_as", &self.acts_as)
            .field("mbank_quid", &self.mbank_quid)
            .field("faults", &self.faults)
            .field("demo", &self.demo)
            .field("callback_pauses", &self.callback_pauses)
            .field("callback_timeout", &self.callback_timeout)
            .field("callback_ca", &self.callback_ca)
            .field("public_url", &self.public_url)
            .field("tls", &self.tls)
            .field("resolve_pending", &self.resolve_pending)
            .field("clock_ahead", &self.clock_ahead)
            .finish_non_exhaustive()
    }
}

/// The part of the options that may change at run time. They mean what they mean in [`SandboxOptions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// What a reused order number does.
    pub reused_order_number: ReusedOrderNumber,
    /// Which numbers the two status endpoints know.
    pub status_numbers: StatusNumbers,
    /// Whether 3DS 1.0 cards get a confirmation page, too.
    pub three_ds_1_page: bool,
    /// Whether a declined payer is redirected to the return URL, too.
    pub redirect_declines: bool,
    /// The language of messages where a request names none.
    pub language: Language,
    /// Which gateway's responses the sandbox gives.
    pub acts_as: Dialect,
    /// Acting as FINIPAY: where a confirmation carries the `quid` of an MBank payment.
    pub mbank_quid: MbankQuid,
}

impl From<&SandboxOptions> for Switches {
    fn from(options: &SandboxOptions) -> Self {
        Self {
            reused_order_number: options.reused_order_number,
            status_numbers: options.status_numbers,
            three_ds_1_page: options.three_ds_1_page,
            redirect_declines: options.redirect_declines,
            language: options.language,
            acts_as: options.acts_as,
            mbank_quid: options.mbank_quid,
        }
    }
}

/// When a pending payment becomes final by itself: charged, or rejected where a fault had kept it from that.
/// Where neither is set it stays pending until it is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResolvePending {
    /// Once its status was asked for so often; at least 1. Each of these questions is still answered with `PENDING`.
    pub after_queries: Option<u32>,
    /// Once it has been pending for so long, by the gateway's clock.
    pub after: Option<Duration>,
}

/// The files that encrypted connections need, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and those that lead from it to a root that clients know.
    pub certificate: PathBuf,
    /// The certificate's private key.
    pub key: PathBuf,
}

/// An invented history to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demo {
    /// How many payments. With a hundred thousand the start takes some seconds.
    pub payments: u32,
    /// The same seed invents the same history, up to the present moment.
    pub seed: u64,
}

impl Demo {
    /// This many payments, with seed 1.
    pub fn of(payments: u32) -> Self {
        Self { payments, seed: 1 }
    }
}

/// Why a sandbox could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The address is taken or not allowed.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The database cannot be opened, or is not one.
    #[error("cannot use the database {}: {detail}", path.display())]
    Database {
        /// The file asked for, or `:memory:`.
        path: PathBuf,
        /// SQLite's error.
        detail: String,
    },
    /// The database was written by a newer sandbox.
    #[error(
        "the database {} has schema version {found}, newer than the {supported} this sandbox knows: use a newer \
        sandbox or another file",
        path.display()
    )]
    NewerDatabase {
        /// The file asked for.
        path: PathBuf,
        /// The version found in it.
        found: i64,
        /// The newest version this sandbox can use.
        supported: i64,
    },
    /// An option has an unusable value.
    #[error("{option}: {detail}")]
    Option {
        /// The option's name.
        option: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// The system refused a thread, a runtime or a TLS client.
    #[error("cannot start: {0}")]
    System(String),
}
