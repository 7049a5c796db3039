//! The sandbox as a program.

#![forbid(unsafe_code)]

mod cli;
mod welcome;

use std::{
    error::Error,
    io::{self, IsTerminal},
    process::ExitCode,
};

use clap::Parser;
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
    // Listened for before the start, so that an early signal ends it cleanly, too.
    let signal = runtime.block_on(async { stop_signal() })?;
    let sandbox = Sandbox::start(cli.into())?;
    welcome::print(&sandbox, &mut io::stdout().lock())?;
    runtime.block_on(signal);
    sandbox.stop();
    Ok(())
}

/// Completes on Ctrl-C and, where there is such a thing, SIGTERM.
#[cfg(unix)]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _pressed = tokio::signal::ctrl_c().await;
    })
}
