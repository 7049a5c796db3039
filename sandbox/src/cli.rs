//! The command line: its options, as the library's.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{ArgAction, Parser, ValueEnum};
use kassa_sandbox::{Database, Language, ReusedOrderNumber, SandboxOptions, StatusNumbers};

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
    #[arg(long, env = "KASSA_SANDBOX_PASSWORD", default_value = "sandbox", hide_env_values = true)]
    password: String,

    /// Language of messages where a request names none
    #[arg(long, value_enum, default_value = "en")]
    language: LanguageName,

    /// What a reused order number does
    #[arg(long, value_enum, default_value = "refuse", value_name = "WHAT")]
    reused_order_number: Reused,

    /// Which numbers the status endpoints know: strict = each its own, any = both know both
    #[arg(long, value_enum, default_value = "strict", value_name = "WHICH")]
    status_numbers: Numbers,

    /// Give 3DS 1.0 cards a confirmation page, too
    #[arg(long, action = ArgAction::SetTrue)]
    three_ds_1_page: bool,

    /// Redirect a declined payer to the return URL, too
    #[arg(long, action = ArgAction::SetTrue)]
    redirect_declines: bool,

    /// Seconds between attempts to deliver a callback; the last pause repeats
    #[arg(long, value_delimiter = ',', default_value = "1,2,5,15,60,300,900,3600", value_name = "SECONDS")]
    callback_pauses: Vec<u32>,

    /// Seconds a callback's receiver may take
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    callback_timeout: u32,

    /// What links to pages start with, e.g. a tunnel's address [default: the listening URL]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum LanguageName {
    En,
    Ru,
    Ky,
}

#[derive(Clone, Copy, ValueEnum)]
enum Reused {
    Refuse,
    Replay,
    ChargeTwice,
}

#[derive(Clone, Copy, ValueEnum)]
enum Numbers {
    Strict,
    Any,
}

impl From<Cli> for SandboxOptions {
    fn from(cli: Cli) -> Self {
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        Self {
            listen: cli.listen,
            database: cli.db.map_or(Database::Memory, Database::File),
            login: cli.login,
            password: cli.password,
            language: match cli.language {
                LanguageName::En => Language::English,
                LanguageName::Ru => Language::Russian,
                LanguageName::Ky => Language::Kyrgyz,
            },
            reused_order_number: match cli.reused_order_number {
                Reused::Refuse => ReusedOrderNumber::Refuse,
                Reused::Replay => ReusedOrderNumber::Replay,
                Reused::ChargeTwice => ReusedOrderNumber::ChargeTwice,
            },
            three_ds_1_page: cli.three_ds_1_page,
            redirect_declines: cli.redirect_declines,
            status_numbers: match cli.status_numbers {
                Numbers::Strict => StatusNumbers::Strict,
                Numbers::Any => StatusNumbers::Any,
            },
            callback_pauses: cli.callback_pauses.into_iter().map(seconds).collect(),
            callback_timeout: seconds(cli.callback_timeout),
            public_url: cli.public_url,
        }
    }
}
