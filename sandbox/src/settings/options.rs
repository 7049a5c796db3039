//! The options of a sandbox, the switches that can be changed while it runs, and the errors of a start.

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
    /// Address and port to listen on. Default: 127.0.0.1, a free port.
    pub listen: SocketAddr,
    /// Database in which payments are stored. Default: in memory.
    pub database: Database,
    /// The merchant's login. Default: `kassa`.
    pub login: String,
    /// The merchant's password. Default: `sandbox-password`.
    pub password: String,
    /// Language of messages if the request does not specify one. Default: English.
    pub language: Language,
    /// Behavior when an order number is used again. Default: refuse.
    pub reused_order_number: ReusedOrderNumber,
    /// Whether 3DS 1.0 cards also get a confirmation page. Default: no, as the interface specifies.
    pub three_ds_1_page: bool,
    /// Whether declined payers are also redirected to the return URL. Default: no.
    pub redirect_declines: bool,
    /// Numbers that the two status endpoints accept. Default: strict.
    pub status_numbers: StatusNumbers,
    /// Gateway whose response format the sandbox uses. Default: that of the interface.
    pub acts_as: Dialect,
    /// Field of a confirmation that carries the `quid` of an MBank payment, if the sandbox acts as FINIPAY. Default: a field of its own.
    pub mbank_quid: MbankQuid,
    /// Faults to inject from the start. Default: none.
    pub faults: Vec<Fault>,
    /// Demo history with which to fill a database that has no payments. Default: none.
    pub demo: Option<Demo>,
    /// Backoff: the pauses between attempts to deliver a callback; the last one repeats until a 2xx.
    /// An empty list means one attempt. Default: 1 s, growing to an hour.
    pub callback_pauses: Vec<Duration>,
    /// Timeout for a callback delivery attempt. Default: 10 s.
    pub callback_timeout: Duration,
    /// Certificates (PEM) to trust for callbacks in addition to the public roots, for receivers with a private authority.
    /// Those of `tls` are always trusted. Default: none.
    pub callback_ca: Vec<PathBuf>,
    /// Token for the admin interface under `/admin/`: visible ASCII, at least 16 characters if other machines can reach the sandbox.
    /// Default: a random token at each start, returned by `Sandbox::admin_token`.
    pub admin_token: Option<String>,
    /// Base URL of absolute links (pages, QR codes), e.g. the URL of a tunnel. A URL of another host requires a password other
    /// than the default. Default: the listening URL.
    pub public_url: Option<String>,
    /// Certificate and key for https. Default: none, which means http.
    pub tls: Option<TlsFiles>,
    /// When pending payments become final automatically. Default: never.
    pub resolve_pending: ResolvePending,
    /// Offset of the gateway's clock ahead of the machine's, at most a hundred years. A database file with a larger offset
    /// keeps it. Default: zero.
    pub clock_ahead: Duration,
}

/// The default password. With it, the sandbox serves this machine only.
pub(crate) const WELL_KNOWN_PASSWORD: &str = "sandbox-password";

/// Where payments are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// In memory: lost when the sandbox stops.
    Memory,
    /// In a SQLite file, created if missing.
    File(PathBuf),
}

/// Idempotency: the behavior when a payment is created with an order number that was already used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum ReusedOrderNumber {
    /// Return HTTP 409 and create nothing.
    Refuse,
    /// Return the response of the first payment and create nothing. If kind, amount or currency differ, return HTTP 409.
    Replay,
    /// Create a second payment, as a gateway without idempotency would.
    ChargeTwice,
}

impl ReusedOrderNumber {
    /// All values.
    pub const ALL: [Self; Self::COUNT] = all();

    /// The name on the command line and in the admin interface.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The numbers that `status` and `get-status` accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum StatusNumbers {
    /// `status` accepts the gateway's number, `get-status` the merchant's.
    Strict,
    /// Both endpoints accept both numbers.
    Any,
}

impl StatusNumbers {
    /// All values.
    pub const ALL: [Self; Self::COUNT] = all();

    /// The name on the command line and in the admin interface.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The gateway whose response format the gateway's endpoints use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Dialect {
    /// The envelope and field names of the interface.
    Interface,
    /// Another envelope and other field names, for clients with configurable response parsing.
    Other,
    /// The responses documented on FINIPAY's public pages; undocumented ones are as in the interface.
    Finipay,
}

impl Dialect {
    /// All values.
    pub const ALL: [Self; Self::COUNT] = all();

    /// The name on the command line and in the admin interface.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The field of a confirmation that carries the `quid` of an MBank payment. FINIPAY's pages do not specify it clearly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum MbankQuid {
    /// `orderNumber`, instead of the merchant's number.
    OrderNumber,
    /// A field `quid`, in addition to the merchant's number in `orderNumber`.
    Field,
    /// None: the merchant's number alone confirms.
    NotSent,
}

impl MbankQuid {
    /// All values.
    pub const ALL: [Self; Self::COUNT] = all();

    /// The name on the command line and in the admin interface.
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
    /// The offset of the clock, in milliseconds.
    pub(crate) fn clock_ahead_ms(&self) -> i64 {
        i64::try_from(self.clock_ahead.as_millis()).unwrap_or(i64::MAX)
    }
}

impl fmt::Debug for SandboxOptions {
    /// All options except the password and the admin token.
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

/// The options that can be changed at run time, with the meaning that they have in [`SandboxOptions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// Behavior when an order number is used again.
    pub reused_order_number: ReusedOrderNumber,
    /// Numbers that the two status endpoints accept.
    pub status_numbers: StatusNumbers,
    /// Whether 3DS 1.0 cards also get a confirmation page.
    pub three_ds_1_page: bool,
    /// Whether declined payers are also redirected to the return URL.
    pub redirect_declines: bool,
    /// Language of messages if the request does not specify one.
    pub language: Language,
    /// Gateway whose response format the sandbox uses.
    pub acts_as: Dialect,
    /// Field of a confirmation that carries the `quid` of an MBank payment, if the sandbox acts as FINIPAY.
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

/// When a pending payment becomes final automatically: charged, or rejected if a fault had prevented the rejection.
/// If neither is set, it stays pending until it is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResolvePending {
    /// After this number of status queries, at least 1. Each of these queries still returns `PENDING`.
    pub after_queries: Option<u32>,
    /// After it has been pending for this time, by the gateway's clock.
    pub after: Option<Duration>,
}

/// Files for https, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
}

/// A demo history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demo {
    /// Number of payments. With a hundred thousand, startup takes a few seconds.
    pub payments: u32,
    /// Seed. The same seed generates the same history, up to the present time.
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
    /// The address is in use or not permitted.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The database cannot be opened, or is not one.
    #[error("cannot use the database {}: {detail}", path.display())]
    Database {
        /// The requested file, or `:memory:`.
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
        /// The requested file.
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
