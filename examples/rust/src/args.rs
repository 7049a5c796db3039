//! The command line.

mod common;
mod payments;
mod queries;
mod values;

use clap::{Parser, Subcommand};

pub(crate) use common::{Connection, Following};
pub(crate) use payments::{AllArgs, CardArgs, CardFields, ConfirmArgs, MbankArgs, PayFormArgs, PayWith, QrArgs};
pub(crate) use queries::{AskedFor, CallbackArgs, FinishArgs, StatusArgs, Subject, WatchArgs};

const AFTER_HELP: &str = "\
Without --base-url an embedded sandbox takes the gateway's place, and a robot plays the payer.

Exit codes:
  0  ended as expected (charged; answered; confirmed)
  1  ended, but not as expected (rejected; an error that says no money moved; with `all` also a
     callback that never came)
  2  the command line is wrong; nothing was sent
  3  not known yet: the outcome of a payment is unknown, or it was still pending when
     following it ended";

/// A checkout on the command line: takes payments through a gateway and says what happened to the money.
#[derive(Parser)]
#[command(name = "checkout", version, after_help = AFTER_HELP, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(flatten)]
    pub(crate) following: Following,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Take a card payment: create it, let the payer confirm it (3DS), follow it to its end
    Card(CardArgs),
    /// Take a mobile-bank payment: create it, confirm it with the payer's one-time password, follow it
    Mbank(MbankArgs),
    /// Confirm a mobile-bank payment that was created before, and follow it
    Confirm(ConfirmArgs),
    /// Create a pay-form on which the payer chooses a method, and follow what is paid there
    PayForm(PayFormArgs),
    /// Make a dynamic QR code, draw it here or save the gateway's picture, and follow its payment
    Qr(QrArgs),
    /// Ask once for the status of a payment
    Status(StatusArgs),
    /// Follow a payment to its end; with --resume every one that an earlier run left unfinished
    Watch(WatchArgs),
    /// Receive callbacks and verify each with the gateway, or check one from a file
    Callback(CallbackArgs),
    /// Take a payment off the list of what is unfinished: a person has dealt with it
    Finish(FinishArgs),
    /// Run four payments from request to final status: card with 3DS, MBank, pay-form, QR
    All(AllArgs),
}

impl Command {
    /// Its name on the command line.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Card(_) => "card",
            Self::Mbank(_) => "mbank",
            Self::Confirm(_) => "confirm",
            Self::PayForm(_) => "pay-form",
            Self::Qr(_) => "qr",
            Self::Status(_) => "status",
            Self::Watch(_) => "watch",
            Self::Callback(_) => "callback",
            Self::Finish(_) => "finish",
            Self::All(_) => "all",
        }
    }

    /// The card that a command is given.
    pub(crate) fn card_mut(&mut self) -> Option<&mut CardFields> {
        match self {
            Self::Card(args) => Some(&mut args.card),
            Self::PayForm(args) => Some(&mut args.card),
            Self::All(args) => Some(&mut args.card),
            _ => None,
        }
    }

    /// The one-time password that a command is given.
    pub(crate) fn otp_mut(&mut self) -> Option<&mut Option<String>> {
        match self {
            Self::Card(args) => Some(&mut args.otp),
            Self::Mbank(args) => Some(&mut args.otp),
            Self::Confirm(args) => Some(&mut args.otp),
            Self::PayForm(args) => Some(&mut args.otp),
            _ => None,
        }
    }
}
