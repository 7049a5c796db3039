//! The commands that ask and listen.

use std::path::PathBuf;

use clap::Args;
use kassa::{Decimal, PaymentRef};

use super::values::amount;

/// Which payment a query is about.
#[derive(Args)]
#[group(required = false, multiple = true)]
pub(crate) struct Subject {
    /// The payment as its stored reference (kassa1:...)
    #[arg(long, value_name = "REF", conflicts_with_all = ["order_number", "gateway_number", "transaction_id"])]
    pub(crate) payment: Option<PaymentRef>,

    /// The merchant's order number; needs --provider
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "provider",
        conflicts_with_all = ["gateway_number", "transaction_id"]
    )]
    pub(crate) order_number: Option<String>,

    /// Who carries the payment out: Cards, MBank or MegaPay
    #[arg(long, requires = "order_number")]
    pub(crate) provider: Option<String>,

    /// The gateway's own order number (the token of the confirmation page)
    #[arg(long, value_name = "NUMBER", conflicts_with = "transaction_id")]
    pub(crate) gateway_number: Option<String>,

    /// The identifier of a QR transaction
    #[arg(long, value_name = "ID")]
    pub(crate) transaction_id: Option<String>,
}

/// `checkout status`
#[derive(Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) subject: Subject,

    /// The language of the gateway's messages, two letters; with --gateway-number only
    #[arg(long, requires = "gateway_number")]
    pub(crate) language: Option<String>,
}

/// What was requested, where no stored reference tells it.
#[derive(Args)]
pub(crate) struct AskedFor {
    /// The amount that was requested, in units of the currency; needed where no --payment tells it
    #[arg(long, value_parser = amount)]
    pub(crate) amount: Option<Decimal>,

    /// The currency that was requested
    #[arg(long, default_value = "KGS")]
    pub(crate) currency: String,
}

/// `checkout watch`
#[derive(Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) subject: Subject,

    #[command(flatten)]
    pub(crate) asked_for: AskedFor,

    /// Follow every unfinished payment of this gateway's journal, and deliver what is charged
    #[arg(long, conflicts_with_all = ["payment", "order_number", "gateway_number", "transaction_id"])]
    pub(crate) resume: bool,
}

/// `checkout callback`
#[derive(Args)]
pub(crate) struct CallbackArgs {
    /// Check one callback from this file (`-` is standard input) instead of listening
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Stop after so many callbacks, duplicates not counted [default: at the deadline or Ctrl-C]
    #[arg(long, value_name = "NUMBER", conflicts_with = "file")]
    pub(crate) count: Option<usize>,

    /// The payment that it must be about [default: the one in the journal that the
    /// called address or the callback's number names]
    #[command(flatten)]
    pub(crate) subject: Subject,

    #[command(flatten)]
    pub(crate) asked_for: AskedFor,
}

/// `checkout finish`
#[derive(Args)]
pub(crate) struct FinishArgs {
    /// The payment as its reference (kassa1:...), or the name of an entry that cannot be read
    pub(crate) entry: String,
}
