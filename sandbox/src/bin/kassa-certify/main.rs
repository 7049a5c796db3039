//! Certifies a shop: runs scenarios in which payments go wrong against it, and reports what it would have lost. See docs/certify.md.

#![forbid(unsafe_code)]

mod backend;
mod case;
mod event;
mod http;
mod options;
mod pay_method;
mod report;
mod run;
mod scenarios;
mod server_process;
mod shop;

use std::{
    env, fs,
    io::{self, Write},
    path::PathBuf,
    process::{self, ExitCode},
    sync::Arc,
    time::Instant,
};

use clap::Parser;
use tokio::sync::Mutex;

use crate::{
    backend::Backend,
    case::Stage,
    options::{Behind, Cli, Options, Problems},
    report::Report,
    scenarios::Scenario,
    shop::Shop,
};

/// Exit code if the run could not start or finish.
const COULD_NOT_RUN: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|answer| end(&answer));
    match run(&cli) {
        Ok(code) => ExitCode::from(code),
        Err(problems) => {
            for problem in problems {
                let _ = writeln!(io::stderr().lock(), "kassa-certify: {problem}");
            }
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// Prints the help, the version or the error in the command line, and exits.
fn end(answer: &clap::Error) -> ! {
    let written = answer.print().and_then(|()| io::stdout().flush());
    process::exit(if written.is_ok() { answer.exit_code() } else { COULD_NOT_RUN.into() })
}

fn run(cli: &Cli) -> Result<u8, Problems> {
    let options = Options::merged(cli)?;
    let scenarios: Vec<Scenario> = scenarios::all(options.behind())
        .into_iter()
        .filter(|scenario| {
            options.only.is_empty() || options.only.iter().any(|name| scenario.id.starts_with(name.as_str()))
        })
        .collect();
    if scenarios.is_empty() {
        return Err(vec![format!("only names no scenario: {}; --list prints all", options.only.join(", "))]);
    }
    if cli.list {
        let width = scenarios.iter().map(|scenario| scenario.id.len()).max().unwrap_or(0);
        let lines: Vec<String> =
            scenarios.iter().map(|scenario| format!("{:<width$}  {}", scenario.id, scenario.text)).collect();
        print(&format!("{}\n{} scenarios\n", lines.join("\n"), scenarios.len()))?;
        return Ok(0);
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| vec![error.to_string()])?;
    let report = runtime.block_on(certify(options, &scenarios))?;
    print(&report::text::report(&report))?;
    write(cli.html.as_ref(), "html", || report::html::report(&report))?;
    write(cli.junit.as_ref(), "junit", || report::junit::report(&report))?;
    Ok(report.exit_code())
}

fn print(text: &str) -> Result<(), Problems> {
    io::stdout()
        .lock()
        .write_all(text.as_bytes())
        .map_err(|error| vec![format!("the report cannot be printed: {error}")])
}

fn write(path: Option<&PathBuf>, name: &str, text: impl FnOnce() -> String) -> Result<(), Problems> {
    let Some(path) = path else {
        return Ok(());
    };
    fs::write(path, text()).map_err(|error| vec![format!("--{name} {} cannot be written: {error}", path.display())])
}

async fn certify(options: Options, scenarios: &[Scenario]) -> Result<Report, Problems> {
    let one = |problem: String| vec![problem];
    let failed = |error: io::Error| vec![error.to_string()];
    let begun = Instant::now();
    let (listener, port) = http::listen(0).await.map_err(failed)?;
    drop(listener);
    let problems = options.problems(port);
    if !problems.is_empty() {
        return Err(problems);
    }
    let folder = tempfile::tempdir().map_err(failed)?;
    let client = http::client().map_err(one)?;
    let program = server_program(&options)?;
    let backend = Backend::start(options.behind(), &program, folder.path(), client.clone()).await.map_err(one)?;
    let counts_deliveries = options.deliveries_line.is_some() || options.deliveries_pointer.is_some();
    let shop = Shop::new(options, client.clone(), port, &backend.given(), folder.path());
    let stage = Arc::new(Stage { shop, backend, client, ordering: Mutex::new(0) });
    // The shop is in a process group of its own, which Ctrl-C does not reach.
    let played = tokio::select! {
        played = play(&stage, scenarios) => played,
        () = interrupted() => Err(vec!["interrupted".to_owned()]),
    };
    stage.shop.kill().await;
    stage.backend.stop().await;
    let outcomes = played?;
    Ok(Report { outcomes, time: begun.elapsed(), counts_deliveries })
}

async fn play(stage: &Arc<Stage>, scenarios: &[Scenario]) -> Result<Vec<run::Outcome>, Problems> {
    stage.shop.start().await.map_err(|problem| vec![problem])?;
    case::Case::new(stage).probe().await.map_err(|problem| {
        let last = stage.shop.last_lines();
        vec![if last.is_empty() { problem } else { format!("{problem}\nThe last lines of the shop:\n{last}") }]
    })?;
    Ok(run::all(stage, scenarios, |outcome| {
        let _ = writeln!(io::stderr().lock(), "{}", report::text::line(outcome));
    })
    .await)
}

/// Completes on Ctrl-C or SIGTERM.
async fn interrupted() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        return;
    }
    let _signal = tokio::signal::ctrl_c().await;
}

/// kassa-server: as set, beside this program, or in PATH.
fn server_program(options: &Options) -> Result<PathBuf, Problems> {
    if options.behind() == Behind::Gateway {
        return Ok(PathBuf::new());
    }
    if let Some(program) = &options.server {
        let found = fs::canonicalize(program);
        return found.map_err(|error| vec![format!("server: {} cannot be read: {error}", program.display())]);
    }
    let name = if cfg!(windows) { "kassa-server.exe" } else { "kassa-server" };
    // pipx links to the program: kassa-server is beside the program itself.
    let own = env::current_exe().ok().map(|program| fs::canonicalize(&program).unwrap_or(program));
    let beside = own.map(|program| program.with_file_name(name)).filter(|program| program.exists());
    let in_path =
        || env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|program| program.exists());
    beside
        .or_else(in_path)
        .ok_or_else(|| vec![format!("server is needed: {name} is neither beside this program nor in PATH")])
}
