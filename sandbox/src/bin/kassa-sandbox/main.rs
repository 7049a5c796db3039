//! The sandbox as a program.

#![forbid(unsafe_code)]

mod announce;
mod cli;
mod learn;
mod stop;

use std::{
    error::Error,
    io::{self, IsTerminal, Write},
    process::{self, ExitCode},
};

use clap::Parser;
use cli::{Announce, Command};
use kassa_sandbox::{Recorder, Replay, Sandbox};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = cli::Cli::try_parse().unwrap_or_else(|answer| end(&answer));
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        // A line that cannot be written is lost. The subscriber would report that with `eprintln!`, which panics.
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_target(false)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
    let result = match cli.command {
        None => run(cli.sandbox),
        Some(Command::Record(args)) => record(args),
        Some(Command::Replay(args)) => replay(args),
        Some(Command::Learn(args)) => return learn::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr().lock(), "kassa-sandbox: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the help, the version or the error in the command line, and exits.
fn end(answer: &clap::Error) -> ! {
    let written = answer.print().and_then(|()| io::stdout().flush());
    process::exit(if written.is_ok() { answer.exit_code() } else { 1 })
}

fn run(cli: cli::SandboxArgs) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Signal handlers are set before the start, so that an early signal also causes a graceful shutdown.
    let requested = runtime.block_on(async { stop::requested(cli.exit_with_stdin) })?;
    let (format, own_token) = (cli.announce, cli.admin_token.is_some());
    let sandbox = Sandbox::start(cli.into())?;
    announce(&sandbox, format, own_token);
    runtime.block_on(requested);
    sandbox.stop();
    Ok(())
}

fn announce(sandbox: &Sandbox, format: Option<Announce>, own_token: bool) {
    let printed = match format {
        Some(Announce::Json) => announce::json(sandbox, &mut io::stdout().lock()),
        None => announce::welcome(sandbox, own_token, &mut io::stdout().lock()),
    };
    if let Err(error) = printed {
        tracing::warn!(%error, url = sandbox.url(), "the address could not be printed; the sandbox continues");
    }
}

fn replay(args: cli::ReplayArgs) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (options, sandbox) = args.options();
    let requested = runtime.block_on(async { stop::requested(sandbox.exit_with_stdin) })?;
    let (format, own_token) = (sandbox.announce, sandbox.admin_token.is_some());
    let replay = Replay::start(sandbox.into(), options)?;
    announce(replay.sandbox(), format, own_token);
    runtime.block_on(requested);
    let report = replay.stop();
    let _is_written = writeln!(io::stderr().lock(), "kassa-sandbox: {report}");
    Ok(())
}

fn record(args: cli::RecordArgs) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let requested = runtime.block_on(async { stop::requested(args.exit_with_stdin) })?;
    let (announce, options) = (args.announce, args.into());
    let recorder = Recorder::start(options)?;
    let printed = announce::recorder(&recorder, announce.is_some(), &mut io::stdout().lock());
    if let Err(error) = printed {
        tracing::warn!(%error, url = recorder.url(), "the address could not be printed; recording continues");
    }
    runtime.block_on(requested);
    let exchanges = recorder.stop()?;
    tracing::info!(exchanges, "recorded");
    Ok(())
}
