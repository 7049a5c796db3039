//! `probe`: runs every flow against the gateway's test environment. It needs no database, and uses none.

use std::{
    fmt::Display,
    fs::{self, File},
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
};

use kassa_server::{
    Boxed, Probe, ProbeTalk,
    settings::{GatewaySettings, Sources},
};
use tokio::{signal::ctrl_c, sync::oneshot};
use url::Url;

use super::{
    cli::ProbeOptions,
    output::{self, Failure},
};

const NOT_CLEAN: u8 = 1;
const COULD_NOT_RUN: u8 = 2;
const INTERRUPTED: u8 = 130;

pub(crate) fn run(sources: &Sources, options: ProbeOptions) -> ExitCode {
    let code = match begin(sources, options) {
        Ok(code) => code,
        Err(failure) => {
            output::note(failure);
            COULD_NOT_RUN
        }
    };
    ExitCode::from(code)
}

fn begin(sources: &Sources, mut options: ProbeOptions) -> Result<u8, Failure> {
    let creates = options.plan.status_query.is_none();
    if creates && !options.says_yes && !io::stdin().is_terminal() {
        let sentence =
            "there is no terminal to permit payments on: run it in a terminal, or permit all payments by --yes";
        return Err(Failure::new(sentence));
    }
    let settings = GatewaySettings::read(sources).map_err(|problems| Failure::settings(&problems))?;
    for warning in &settings.warnings {
        output::note(format_args!("warning: {warning}"));
    }
    let host = test_environment(&settings.config.base_url, options.test_environment.as_deref())?;
    options.plan.check_words(settings.config.dialect()).map_err(Failure::new)?;
    are_new(&[&options.dialect_file, &options.report_file])?;
    output::line(format_args!("The gateway's host is {host}.")).map_err(output::unwritten)?;
    options.plan.secrets.push(settings.login.expose().to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::new)?;
    runtime.block_on(play(settings, options))
}

/// The host of the gateway, which a person has named as a test environment.
fn test_environment(base_url: &str, named: Option<&str>) -> Result<String, Failure> {
    let url = Url::parse(base_url).map_err(Failure::new)?;
    let name = url.host_str().unwrap_or_default();
    // The port is absent if it is the scheme's default.
    let host = url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
    let Some(named) = named else {
        return Err(Failure::new(format_args!(
            "the probe creates and confirms payments, so it runs only against a test environment: if {host} is one, say \
             --test-environment {host}"
        )));
    };
    let of_scheme = if url.scheme() == "https" { ":443" } else { ":80" };
    let is_default =
        url.port().is_none() && named.strip_suffix(of_scheme).is_some_and(|rest| rest.eq_ignore_ascii_case(&host));
    if !is_default && !named.eq_ignore_ascii_case(&host) {
        return Err(Failure::new(format_args!(
            "--test-environment names {named}, and the host of gateway.url is {host}: nothing was sent"
        )));
    }
    Ok(host)
}

/// The results of a run must not overwrite those of another run.
fn are_new(files: &[&Option<PathBuf>]) -> Result<(), Failure> {
    let mut seen: Vec<&PathBuf> = Vec::new();
    for path in files.iter().copied().flatten() {
        if seen.contains(&path) || fs::symlink_metadata(path).is_ok() {
            return Err(Failure::new(format_args!("{} exists already: name a new file", path.display())));
        }
        if path.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
            return Err(Failure::new(format_args!("{} cannot be written: its folder does not exist", path.display())));
        }
        seen.push(path);
    }
    Ok(())
}

async fn play(settings: GatewaySettings, options: ProbeOptions) -> Result<u8, Failure> {
    let mut terminal = Terminal { says_yes: options.says_yes, written: Ok(()) };
    let (ended, findings) = {
        let mut probe = Probe::new(settings.config, options.plan, &mut terminal).map_err(Failure::new)?;
        let ended = tokio::select! {
            ended = probe.run() => ProbeEnd::Run(ended),
            _ = ctrl_c() => ProbeEnd::Interrupted,
        };
        probe.conclude();
        (ended, (probe.is_clean(), probe.dialect_file(), probe.report()))
    };
    let (is_clean, dialect, report) = findings;
    if !matches!(ended, ProbeEnd::Run(Err(_))) {
        // If one file cannot be written, the other one still is.
        let files = [(&options.dialect_file, dialect), (&options.report_file, report)];
        let written = files.map(|(path, text)| path.as_ref().map_or(Ok(()), |path| write(path, &text)));
        written.into_iter().collect::<Result<(), _>>()?;
    }
    terminal.written.map_err(output::unwritten)?;
    match ended {
        ProbeEnd::Run(Err(sentence)) => Err(Failure::new(sentence)),
        ProbeEnd::Run(Ok(())) if is_clean => Ok(0),
        ProbeEnd::Run(Ok(())) => Ok(NOT_CLEAN),
        ProbeEnd::Interrupted => Ok(INTERRUPTED),
    }
}

/// The end of the run.
enum ProbeEnd {
    Run(Result<(), String>),
    Interrupted,
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let unwritten = |problem: io::Error| Failure::new(format_args!("{} cannot be written: {problem}", path.display()));
    File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(unwritten)
}

/// A person at a terminal, or a script that permits everything.
struct Terminal {
    says_yes: bool,
    written: io::Result<()>,
}

impl Terminal {
    fn line(&mut self, text: impl Display) {
        if self.written.is_ok() {
            self.written = output::line(text);
        }
    }
}

impl ProbeTalk for Terminal {
    fn say(&mut self, line: &str) {
        self.line(line);
    }

    fn may<'a>(&'a mut self, question: &'a str) -> Boxed<'a, bool> {
        Box::pin(async move {
            self.line("");
            let ways = if self.says_yes { "yes, by --yes" } else { "y or N" };
            self.line(format_args!("{question} [{ways}]"));
            // If the output cannot be written, nothing is created.
            if self.written.is_err() {
                return false;
            }
            self.says_yes || read_line().await.is_some_and(|answer| matches!(answer.trim(), "y" | "Y" | "yes"))
        })
    }

    fn wait_for<'a>(&'a mut self, what: &'a str) -> Boxed<'a, bool> {
        Box::pin(async move {
            self.line("");
            self.line(what);
            !self.says_yes && self.written.is_ok() && read_line().await.is_some()
        })
    }
}

/// A line of the standard input, on a thread that Ctrl-C leaves behind; `None` at its end.
async fn read_line() -> Option<String> {
    let (answer, answered) = oneshot::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let is_line = io::stdin().read_line(&mut line).is_ok_and(|length| length > 0);
        let _ = answer.send(is_line.then_some(line));
    });
    answered.await.ok().flatten()
}
