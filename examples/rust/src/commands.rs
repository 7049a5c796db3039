//! Runs a command and says how it ended: in words, in JSON, and by the exit code.

mod all;
mod callback;
mod finish;
mod resume;
mod status;
mod watch;

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::{
    args::{Cli, Command},
    failure::Failure,
    flows::{card, confirm, mbank, pay_form, qr},
    json_output,
    report::Report,
    secrets,
    setup::Checkout,
};

/// What a command came to.
struct Ended {
    exit_code: u8,
    /// What programs get to read.
    body: Value,
}

/// Runs the command.
pub(crate) async fn run(mut cli: Cli) -> ExitCode {
    let command = cli.command.name();
    let json = cli.following.json;
    let ended = match prepare_and_dispatch(&mut cli).await {
        Ok(ended) => ended,
        Err(failure) => {
            eprintln!("checkout: {}: {}", failure.kind(), failure.describe());
            Ended { exit_code: failure.exit_code(), body: json!({"error": json_output::failure(&failure)}) }
        }
    };
    if json {
        json_output::print(command, ended.exit_code, ended.body);
    }
    ExitCode::from(ended.exit_code)
}

async fn prepare_and_dispatch(cli: &mut Cli) -> Result<Ended, Failure> {
    secrets::take_from_stdin(cli)?;
    let shop = Checkout::open(cli).await?;
    let ended = dispatch(&shop, &cli.command).await;
    shop.close().await;
    ended
}

async fn dispatch(shop: &Checkout, command: &Command) -> Result<Ended, Failure> {
    match command {
        Command::Card(args) => one(shop, "Card payment", card::run(shop, args)).await,
        Command::Mbank(args) => one(shop, "MBank payment", mbank::run(shop, args)).await,
        Command::Confirm(args) => one(shop, "Confirmation of an MBank payment", confirm::run(shop, args)).await,
        Command::PayForm(args) => one(shop, "Pay-form", pay_form::run(shop, args)).await,
        Command::Qr(args) => one(shop, "QR payment", qr::run(shop, args)).await,
        Command::Status(args) => status::run(shop, args).await,
        Command::Watch(args) => watch::run(shop, args).await,
        Command::Callback(args) => callback::run(shop, args).await,
        Command::Finish(args) => finish::run(shop, args).await,
        Command::All(args) => all::run(shop, args).await,
    }
}

/// Runs one flow under its title.
async fn one(
    shop: &Checkout,
    title: &str,
    flow: impl Future<Output = Result<Report, Failure>>,
) -> Result<Ended, Failure> {
    shop.introduce();
    shop.narrator.title(title);
    let report = flow.await?;
    Ok(Ended { exit_code: report.exit_code(), body: json_output::report(&report) })
}

/// The worst of several exit codes: a payment that nobody knows about goes before one that failed.
fn worst(codes: impl IntoIterator<Item = u8>) -> u8 {
    codes.into_iter().max().unwrap_or_default()
}
