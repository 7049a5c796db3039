//! The command line: its options, as the library's.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{
    ArgAction, Parser, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use kassa_sandbox::{
    Database, Demo, Dialect, Fault, Language, MbankQuid, ResolvePending, ReusedOrderNumber, SandboxOptions,
    StatusNumbers, TlsFiles,
};

/// The payment gateway's side on your own machine: endpoints, payer's pages, callbacks, test cards.
#[derive(Parser)]
#[command(name = "kassa-sandbox", version)]
pub(crate) struct Cli {
    /// Address and port to listen on
    #[arg(long, default_value = "127.0.0.1:8400")]
    listen: SocketAddr,

    /// SQLite file to keep payments in [default: in memory]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,

    /// The merchant's login
    #[arg(long, env = "KASSA_SANDBOX_LOGIN", default_value = "kassa")]
    login: String,

    /// The merchant's password; better given by the environment
    #[arg(long, env = "KASSA_SANDBOX_PASSWORD", default_value = "sandbox-password", hide_env_values = true)]
    password: String,

    /// Language of messages where a request names none
    #[arg(long, value_parser = one_of(Language::ALL, Language::code), default_value = "en")]
    language: Language,

    /// What a reused order number does
    #[arg(
        long,
        value_parser = one_of(ReusedOrderNumber::ALL, ReusedOrderNumber::as_str),
        default_value = "refuse",
        value_name = "WHAT"
    )]
    reused_order_number: ReusedOrderNumber,

    /// Which numbers the status endpoints know: strict = each its own, any = both know both
    #[arg(
        long,
        value_parser = one_of(StatusNumbers::ALL, StatusNumbers::as_str),
        default_value = "strict",
        value_name = "WHICH"
    )]
    status_numbers: StatusNumbers,

    /// Give 3DS 1.0 cards a confirmation page, too
    #[arg(long, action = ArgAction::SetTrue)]
    three_ds_1_page: bool,

    /// Redirect a declined payer to the return URL, too
    #[arg(long, action = ArgAction::SetTrue)]
    redirect_declines: bool,

    /// Whose responses it gives: those of the interface, the same in another envelope under other names, or those that
    /// FINIPAY's public pages show
    #[arg(
        long = "as",
        env = "KASSA_SANDBOX_AS",
        value_parser = one_of(Dialect::ALL, Dialect::as_str),
        default_value = "interface",
        value_name = "WHOSE"
    )]
    acts_as: Dialect,

    /// As finipay: where a confirmation carries the quid of an MBank payment
    #[arg(
        long,
        value_parser = one_of(MbankQuid::ALL, MbankQuid::as_str),
        default_value = "field",
        value_name = "WHERE"
    )]
    mbank_quid: MbankQuid,

    /// Let pending payments become final once their status was asked for so often [default: never]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    resolve_after_queries: Option<u32>,

    /// Let pending payments become final after so many seconds [default: never]
    #[arg(long, value_name = "SECONDS")]
    resolve_after: Option<u32>,

    /// Put the gateway's clock ahead of the machine's by so many seconds
    #[arg(long, default_value_t = 0, value_name = "SECONDS")]
    clock_ahead: u32,

    /// A fault to start with, e.g. response-lost,order_number=ORDER-1,times=1; may be given again
    #[arg(long = "fault", value_name = "NAME[,KEY=VALUE]...")]
    faults: Vec<Fault>,

    /// Fill a database that has no payments with so many invented ones, of the last 90 days
    #[arg(long, value_name = "PAYMENTS", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    seed_demo: Option<u32>,

    /// Seconds between attempts to deliver a callback; the last pause repeats
    #[arg(long, value_delimiter = ',', default_value = "1,2,5,15,60,300,900,3600", value_name = "SECONDS")]
    callback_pauses: Vec<u32>,

    /// Seconds a callback's receiver may take
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    callback_timeout: u32,

    /// Certificates in PEM that callbacks trust besides the public roots; may be given again
    #[arg(long, value_name = "FILE")]
    callback_ca: Vec<PathBuf>,

    /// The admin interface's token; better given by the environment [default: a random one, printed]
    #[arg(long, env = "KASSA_SANDBOX_ADMIN_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) admin_token: Option<String>,

    /// How to say where it listens and how to get in, instead of by the welcome text
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) announce: Option<Announce>,

    /// Stop when the standard input ends: with the program that holds its other end
    #[arg(long, action = ArgAction::SetTrue)]
    pub(crate) exit_with_stdin: bool,

    /// What links to pages start with, e.g. a tunnel's address [default: the listening URL]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,

    /// Certificate, and those that lead to its root, in PEM: with it the sandbox speaks https
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The certificate's private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

/// A form that programs read.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Announce {
    /// One line of JSON.
    Json,
}

/// Reads one of the names of a set.
fn one_of<T, const N: usize>(all: [T; N], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name))
        .try_map(move |word| all.into_iter().find(|item| name(*item) == word).ok_or("is not one of the names"))
}

impl From<Cli> for SandboxOptions {
    fn from(cli: Cli) -> Self {
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
