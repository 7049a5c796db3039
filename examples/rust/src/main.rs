//! A checkout on the command line: every kind of payment Kassa can take, from request to final status.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod deliver;
mod failure;
mod flows;
mod follow;
mod json_output;
mod narrator;
mod payer;
mod payments;
mod qr_drawing;
mod receiver;
mod report;
mod robot;
mod secrets;
mod setup;
mod table;

use std::process::ExitCode;

use clap::Parser;

use args::Cli;

#[tokio::main]
async fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => commands::run(cli).await,
        Err(error) => json_output::refuse_command_line(&error),
    }
}
