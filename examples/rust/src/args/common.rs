//! What every command takes: how to reach the gateway, and how to follow payments.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::values::duration;

/// How to reach the gateway.
#[derive(Args)]
#[command(next_help_heading = "Gateway")]
pub(crate) struct Connection {
    /// The gateway's base URL [default: an embedded sandbox]
    #[arg(long, global = true, env = "KASSA_URL", value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// The merchant's login
    #[arg(long, global = true, env = "KASSA_LOGIN")]
    pub(crate) login: Option<String>,

    /// The merchant's password; better given by the environment or --secrets-stdin
    #[arg(long, global = true, env = "KASSA_PASSWORD", hide_env_values = true)]
    pub(crate) password: Option<String>,

    /// Read secrets from standard input: one line of JSON with any of the texts password, pan, expiry_month,
    /// expiry_year, cvc, otp. They go before flags and environment
    #[arg(long, global = true)]
    pub(crate) secrets_stdin: bool,

    /// Read the gateway's responses by this dialect: a known one, such as finipay, or a file (JSON) [default for the embedded
    /// sandbox: its own]
    #[arg(long, global = true, value_name = "NAME|FILE", env = "KASSA_DIALECT")]
    pub(crate) dialect: Option<PathBuf>,

    /// Let the embedded sandbox keep its payments in this file, so that a later run finds them
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "base_url")]
    pub(crate) sandbox_db: Option<PathBuf>,

    /// How long one call to the gateway may take, retries included
    #[arg(long, global = true, value_name = "TIME", default_value = "30", value_parser = duration)]
    pub(crate) timeout: Duration,

    /// Trust the certificates in this PEM file, too; may be given again
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) root_certificates: Vec<PathBuf>,

    /// Send status queries as a query string, for a proxy that drops the body of a GET
    #[arg(long, global = true)]
    pub(crate) status_as_query: bool,
}

/// How to follow payments, and how to tell about them.
#[derive(Args)]
#[command(next_help_heading = "Following payments")]
pub(crate) struct Following {
    /// The time between two status queries, such as 10, 0.5 or 500ms [default: 10; with the embedded sandbox 1]
    #[arg(long, global = true, value_name = "TIME", value_parser = duration)]
    pub(crate) poll_interval: Option<Duration>,

    /// How long to follow an open payment [default: 20m; with the sandbox and its robot 1m]
    #[arg(long, global = true, value_name = "TIME", value_parser = duration)]
    pub(crate) deadline: Option<Duration>,

    /// A public URL that leads to this program's callback port [default: that port on 127.0.0.1]
    #[arg(long, global = true, env = "KASSA_CALLBACK_URL", value_name = "URL")]
    pub(crate) callback_url: Option<String>,

    /// The port on 127.0.0.1 for callbacks and returning payers; 0 takes a free one
    #[arg(long, global = true, value_name = "PORT", default_value_t = 0)]
    pub(crate) callback_port: u16,

    /// How long to wait for a callback once the payment is over
    #[arg(long, global = true, value_name = "TIME", default_value = "10", value_parser = duration)]
    pub(crate) callback_wait: Duration,

    /// The folder of the journals, one for each gateway and merchant: payments are written down there before they are
    /// sent. Those of an embedded sandbox are beside its file, or end with it
    #[arg(long, global = true, env = "KASSA_JOURNAL", value_name = "FOLDER", default_value = ".kassa-checkout")]
    pub(crate) journal: PathBuf,

    /// Let a person play the payer: print the pages' links, ask for one-time passwords
    #[arg(long, global = true)]
    pub(crate) interactive: bool,

    /// Print the answer or the error as one line of JSON, the only one on standard output; the story goes to standard
    /// error
    #[arg(long, global = true)]
    pub(crate) json: bool,
}
