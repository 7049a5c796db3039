//! `kassa-sandbox learn`: prints or writes the dialect and the report.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use kassa_sandbox::{Learned, learn};

use crate::cli::LearnArgs;

/// The dialect is incomplete: it needs a confirmation or another payment.
const NOT_WHOLE: u8 = 1;
/// No dialect was written.
const FAILED: u8 = 2;

pub(crate) fn run(args: &LearnArgs) -> ExitCode {
    let learned = learn(&args.options()).map_err(|error| error.to_string());
    match learned.and_then(|learned| write(args, &learned).map(|()| learned)) {
        Ok(learned) if learned.dialect.is_none() => ExitCode::from(FAILED),
        Ok(learned) if !learned.is_whole => ExitCode::from(NOT_WHOLE),
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            let _is_written = writeln!(io::stderr().lock(), "kassa-sandbox: {error}");
            ExitCode::from(FAILED)
        }
    }
}

fn write(args: &LearnArgs, learned: &Learned) -> Result<(), String> {
    let is_json = |path: &Path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    match &args.report {
        Some(path) => {
            let report = if is_json(path) { &learned.report_json } else { &learned.report };
            write_file(path, report, args.overwrite, "--report")?;
        }
        None => print(&mut io::stderr().lock(), &learned.report)?,
    }
    match (&learned.dialect, &args.out) {
        (None, _) => Ok(()),
        (Some(dialect), Some(path)) => write_file(path, dialect, args.overwrite, "--out"),
        (Some(dialect), None) => print(&mut io::stdout().lock(), dialect),
    }
}

fn write_file(path: &Path, text: &str, may_replace: bool, option: &str) -> Result<(), String> {
    let mut options = OpenOptions::new();
    options.write(true);
    let options = if may_replace { options.create(true).truncate(true) } else { options.create_new(true) };
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let hint = if error.kind() == io::ErrorKind::AlreadyExists { ": use another file, or --overwrite" } else { "" };
        format!("cannot write {} ({option}): {error}{hint}", path.display())
    })
}

fn print(output: &mut impl Write, text: &str) -> Result<(), String> {
    let printed = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    printed.map_err(|error| format!("cannot print the result: {error}"))
}
