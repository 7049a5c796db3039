//! The sandbox as a program.

#![forbid(unsafe_code)]

mod announce;
mod cli;
mod stop;
mod welcome;

use std::{
    error::Error,
    io::{self, IsTerminal},
    process::ExitCode,
};

use clap::Parser;
use cli::Announce;
use kassa_sandbox::Sandbox;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kassa-sandbox: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: cli::Cli) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Signal handlers are set before the start, so that an early signal ends it in order, too.
    let ordered = runtime.block_on(async { stop::ordered(cli.exit_with_stdin) })?;
    let (announce, own_token) = (cli.announce, cli.admin_token.is_some());
    let sandbox = Sandbox::start(cli.into())?;
    match announce {
        Some(Announce::Json) => announce::print(&sandbox, &mut io::stdout().lock())?,
        None => welcome::print(&sandbox, own_token, &mut io::stdout().lock())?,
    }
    runtime.block_on(ordered);
    sandbox.stop();
    Ok(())
}
