//! The command line, and its conversion to the library's options.

use std::{net::SocketAddr, path::PathBuf, str::FromStr, time::Duration};

use clap::{
    ArgAction, Args, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use kassa_sandbox::{
    Confirmation, Database, Demo, Dialect, Fault, Language, LearnOptions, MbankQuid, NamedPlace, RecordOptions,
    ReplayOptions, ResolvePending, ReusedOrderNumber, SandboxOptions, Speed, StatusNumbers, TlsFiles,
};

/// A payment gateway on your own machine: endpoints, payer's pages, callbacks and test cards.
#[derive(Parser)]
#[command(name = "kassa-sandbox", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one, read at the start")]
pub(crate) enum Command {
    /// Record the traffic between a merchant and a gateway, without secrets
    Record(RecordArgs),
    /// Simulate a recorded gateway for new payments; the sandbox answers requests that were not recorded
    Replay(ReplayArgs),
    /// Infer a gateway's dialect from recordings, each key with its evidence
    Learn(LearnArgs),
}

/// The options of `learn`.
#[derive(Args)]
pub(crate) struct LearnArgs {
    /// The recordings, in the order in which they were made
    #[arg(value_name = "FILE.jsonl", required = true)]
    files: Vec<PathBuf>,

    /// File for the dialect; an existing file is refused [default: standard output]
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: Option<PathBuf>,

    /// File for the report, as JSON if its name ends with .json; an existing file is refused [default: standard error]
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Replace the files of --out and --report if they exist
    #[arg(long, action = ArgAction::SetTrue)]
    pub(crate) overwrite: bool,

    /// Numbers of recorded orders that were charged
    #[arg(long, value_delimiter = ',', value_name = "ORDER")]
    approved: Vec<String>,

    /// Numbers of recorded orders that were not charged and never will be
    #[arg(long, value_delimiter = ',', value_name = "ORDER")]
    declined: Vec<String>,

    /// Confirm a meaning: WORD=charged, =rejected or =open; ENDPOINT:WORD=...; ENDPOINT:CODE=success, =refusal, =unknown or
    /// =duplicate; ENDPOINT.numbers=any; qr_numbers=none; can be repeated
    #[arg(long, value_name = "WHAT=MEANING", value_parser = Confirmation::from_str)]
    confirm: Vec<Confirmation>,

    /// Place of a field, if several match, e.g. qr_status.amount=/data/total; can be repeated
    #[arg(long, value_name = "ENDPOINT.FIELD=POINTER", value_parser = NamedPlace::from_str)]
    place: Vec<NamedPlace>,
}

impl LearnArgs {
    /// The library's options.
    pub(crate) fn options(&self) -> LearnOptions {
        LearnOptions {
            files: self.files.clone(),
            confirmations: self.confirm.clone(),
            places: self.place.clone(),
            approved: self.approved.clone(),
            declined: self.declined.clone(),
        }
    }
}

/// The options of `replay`.
#[derive(Args)]
pub(crate) struct ReplayArgs {
    /// The recording
    #[arg(value_name = "FILE.jsonl")]
    file: PathBuf,

    /// Speed of recorded time: a factor, or max = each status query returns the next recorded answer
    #[arg(long, default_value = "1", value_name = "N|max")]
    speed: Speed,

    /// Base URL of the merchant for recorded callbacks [default: the callback URL of each new request]
    #[arg(long, value_name = "URL")]
    callbacks: Option<String>,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

impl ReplayArgs {
    /// The options of the replay, and those of the sandbox.
    pub(crate) fn options(self) -> (ReplayOptions, SandboxArgs) {
        let options = ReplayOptions { speed: self.speed, callbacks: self.callbacks, ..ReplayOptions::new(self.file) };
        (options, self.sandbox)
    }
}

/// The options of `record`.
#[derive(Args)]
pub(crate) struct RecordArgs {
    /// Base URL of the gateway, http or https, with its path, if any
    #[arg(long, value_name = "URL")]
    upstream: String,

    /// File to write; an existing file is refused
    #[arg(long, value_name = "FILE.jsonl")]
    out: PathBuf,

    /// Append to the file if it exists
    #[arg(long, action = ArgAction::SetTrue)]
    append: bool,

    /// Address and port for the merchant's requests
    #[arg(long, default_value = "127.0.0.1:8401")]
    listen: SocketAddr,

    /// Base URL of the merchant, to which the gateway's callbacks are passed and recorded [default: none]
    #[arg(long, value_name = "URL_OF_MERCHANT")]
    callbacks: Option<String>,

    /// Address and port for the gateway's callbacks
    #[arg(long, default_value = "127.0.0.1:8402", requires = "callbacks")]
    callbacks_listen: SocketAddr,

    /// Certificates (PEM) to trust for https in addition to the public roots; can be repeated
    #[arg(long, value_name = "FILE")]
    upstream_ca: Vec<PathBuf>,

    /// Format in which to print the addresses, instead of text for people
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) announce: Option<Announce>,

    /// Stop when standard input is closed, so that the recorder ends with the program that started it
    #[arg(long, action = ArgAction::SetTrue)]
    pub(crate) exit_with_stdin: bool,
}

impl From<RecordArgs> for RecordOptions {
    fn from(args: RecordArgs) -> Self {
        Self {
            append: args.append,
            listen: args.listen,
            callbacks: args.callbacks,
            callbacks_listen: args.callbacks_listen,
            upstream_ca: args.upstream_ca,
            ..Self::new(args.upstream, args.out)
        }
    }
}

/// The options of the sandbox.
#[derive(Args)]
pub(crate) struct SandboxArgs {
    /// Address and port to listen on
    #[arg(long, default_value = "127.0.0.1:8400")]
    listen: SocketAddr,

    /// SQLite file in which payments are stored [default: in memory]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,

    /// Merchant login
    #[arg(long, env = "KASSA_SANDBOX_LOGIN", default_value = "kassa")]
    login: String,

    /// Merchant password; prefer the environment variable
    #[arg(long, env = "KASSA_SANDBOX_PASSWORD", default_value = "sandbox-password", hide_env_values = true)]
    password: String,

    /// Language of messages if the request does not specify one
    #[arg(long, value_parser = one_of(Language::ALL, Language::code), default_value = "en")]
    language: Language,

    /// Behavior when an order number is used again
    #[arg(
        long,
        value_parser = one_of(ReusedOrderNumber::ALL, ReusedOrderNumber::as_str),
        default_value = "refuse",
        value_name = "BEHAVIOR"
    )]
    reused_order_number: ReusedOrderNumber,

    /// Numbers that the status endpoints accept: strict = each its own kind, any = both kinds at both endpoints
    #[arg(
        long,
        value_parser = one_of(StatusNumbers::ALL, StatusNumbers::as_str),
        default_value = "strict",
        value_name = "NUMBERS"
    )]
    status_numbers: StatusNumbers,

    /// Also show a confirmation page for 3DS 1.0 cards
    #[arg(long, action = ArgAction::SetTrue)]
    three_ds_1_page: bool,

    /// Also redirect declined payers to the return URL
    #[arg(long, action = ArgAction::SetTrue)]
    redirect_declines: bool,

    /// Response format: that of the interface, another envelope with other field names, or that of FINIPAY's public
    /// pages
    #[arg(
        long = "as",
        env = "KASSA_SANDBOX_AS",
        value_parser = one_of(Dialect::ALL, Dialect::as_str),
        default_value = "interface",
        value_name = "DIALECT"
    )]
    acts_as: Dialect,

    /// Field of a confirmation that carries the quid of an MBank payment; applies only with --as finipay
    #[arg(
        long,
        value_parser = one_of(MbankQuid::ALL, MbankQuid::as_str),
        default_value = "field",
        value_name = "FIELD"
    )]
    mbank_quid: MbankQuid,

    /// Number of status queries after which a pending payment becomes final [default: never]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    resolve_after_queries: Option<u32>,

    /// Time after which a pending payment becomes final, in seconds [default: never]
    #[arg(long, value_name = "SECONDS")]
    resolve_after: Option<u32>,

    /// Offset of the gateway's clock ahead of the machine's, in seconds
    #[arg(long, default_value_t = 0, value_name = "SECONDS")]
    clock_ahead: u32,

    /// Fault to inject from the start, e.g. response-lost,order_number=ORDER-1,times=1; can be repeated
    #[arg(long = "fault", value_name = "NAME[,KEY=VALUE]...")]
    faults: Vec<Fault>,

    /// Number of demo payments from the last 90 days with which to fill a database that has no payments
    #[arg(long, value_name = "PAYMENTS", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    seed_demo: Option<u32>,

    /// Pauses between callback delivery attempts, in seconds; the last one repeats
    #[arg(long, value_delimiter = ',', default_value = "1,2,5,15,60,300,900,3600", value_name = "SECONDS")]
    callback_pauses: Vec<u32>,

    /// Timeout for a callback delivery attempt, in seconds
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    callback_timeout: u32,

    /// Certificates (PEM) to trust for callbacks in addition to the public roots; can be repeated
    #[arg(long, value_name = "FILE")]
    callback_ca: Vec<PathBuf>,

    /// Token for the admin interface; prefer the environment variable [default: random, printed at startup]
    #[arg(long, env = "KASSA_SANDBOX_ADMIN_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) admin_token: Option<String>,

    /// Format in which to print the address and credentials, instead of the welcome text
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) announce: Option<Announce>,

    /// Stop when standard input is closed, so that the sandbox ends with the program that started it
    #[arg(long, action = ArgAction::SetTrue)]
    pub(crate) exit_with_stdin: bool,

    /// Base URL of links to pages, e.g. the URL of a tunnel [default: the listening URL]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,

    /// Certificate chain (PEM); enables https
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

/// A format for programs.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Announce {
    /// A single line of JSON.
    Json,
}

/// Parses one of a set of names.
fn one_of<T, const N: usize>(all: [T; N], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name))
        .try_map(move |word| all.into_iter().find(|item| name(*item) == word).ok_or("is not one of the names"))
}

impl From<SandboxArgs> for SandboxOptions {
    fn from(cli: SandboxArgs) -> Self {
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        Self {
            listen: cli.listen,
            database: cli.db.map_or(Database::Memory, Database::File),
            login: cli.login,
            password: cli.password,
            language: cli.language,
            reused_order_number: cli.reused_order_number,
            three_ds_1_page: cli.three_ds_1_page,
            redirect_declines: cli.redirect_declines,
            status_numbers: cli.status_numbers,
            acts_as: cli.acts_as,
            mbank_quid: cli.mbank_quid,
            faults: cli.faults,
            demo: cli.seed_demo.map(Demo::of),
            callback_pauses: cli.callback_pauses.into_iter().map(seconds).collect(),
            callback_timeout: seconds(cli.callback_timeout),
            callback_ca: cli.callback_ca,
            admin_token: cli.admin_token,
            public_url: cli.public_url,
            resolve_pending: ResolvePending {
                after_queries: cli.resolve_after_queries,
                after: cli.resolve_after.map(seconds),
            },
            clock_ahead: seconds(cli.clock_ahead),
            tls: cli.tls_cert.zip(cli.tls_key).map(|(certificate, key)| TlsFiles { certificate, key }),
        }
    }
}
