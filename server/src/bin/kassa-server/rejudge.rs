//! `rejudge`: which verdicts on recorded responses another dialect, or another version of Kassa, changes.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
    process::ExitCode,
};

use kassa::Dialect;
use kassa_server::{
    DatabaseFile, PostgresStorage, Rejudge, RejudgeReport, SqliteStorage, VerdictChange, Verdicts,
    settings::{DatabasePlace, Sources, read_dialect},
};

use super::{
    cli::RejudgeOptions,
    database,
    output::{self, CommandResult, Failure},
};

const CHANGES: u8 = 1;
const UNREADABLE: u8 = 2;

pub(crate) fn run(sources: &Sources, options: &RejudgeOptions) -> ExitCode {
    let code = judge(sources, options).and_then(|report| {
        print(&report, options).map_err(output::unwritten)?;
        let is_useless = report.judged == 0 && report.read > 0;
        if is_useless {
            output::note("kassa-server: nothing could be judged");
        }
        Ok(match report.changes.is_empty() {
            _ if is_useless => UNREADABLE,
            true => 0,
            false => CHANGES,
        })
    });
    let code = code.unwrap_or_else(|failure| {
        output::note(failure);
        UNREADABLE
    });
    ExitCode::from(code)
}

fn judge(sources: &Sources, options: &RejudgeOptions) -> CommandResult<RejudgeReport> {
    let mut rejudge = Rejudge::by(dialect("--dialect", &options.dialect)?);
    if let Some(other) = &options.against {
        rejudge = rejudge.against(dialect("--against", other)?);
    }
    if let Some(path) = &options.compare {
        rejudge = rejudge.compared_with(Verdicts::read(path).map_err(Failure::new)?);
    }
    let mut written = options.write_verdicts.as_deref().map(create).transpose()?;
    if let Some(file) = &mut written {
        rejudge = rejudge.written_to(file);
    }
    match &options.recording {
        Some(path) => rejudge.recording(path).map_err(Failure::new),
        None => of_database(rejudge, sources),
    }
}

fn dialect(flag: &str, value: &str) -> CommandResult<Dialect> {
    read_dialect(value).map_err(|problem| Failure::new(format_args!("{flag} {problem}")))
}

/// Creates a new file, so that verdicts of another run are never overwritten.
fn create(path: &Path) -> CommandResult<BufWriter<File>> {
    let problem = |problem: io::Error| Failure::new(format_args!("{} cannot be written: {problem}", path.display()));
    File::create_new(path).map(BufWriter::new).map_err(problem)
}

/// Reads the server's database page by page, while a server may be using it.
fn of_database(rejudge: Rejudge<'_>, sources: &Sources) -> CommandResult<RejudgeReport> {
    let place = database::place(sources)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::new)?;
    let found = runtime.block_on(database::look(&place));
    if found.map_err(|problem| Failure::new(format_args!("{place}: {problem}")))? != DatabaseFile::Current {
        let sentence = "there is no database of this server's version: name it by --database, or name a recording";
        return Err(Failure::new(format_args!("{place}: {sentence}")));
    }
    let mut after = (String::new(), 0);
    let mut page = || {
        let page = match &place {
            DatabasePlace::File(path) => SqliteStorage::replies(path, &after),
            DatabasePlace::Postgres(settings) => runtime.block_on(PostgresStorage::replies(settings, &after)),
        };
        let page = page.map_err(|problem| format!("{place}: {problem}"))?;
        if let Some(last) = page.last() {
            after = (last.payment_id.clone(), last.number);
        }
        Ok(page)
    };
    rejudge.replies(&mut page).map_err(Failure::new)
}

fn print(report: &RejudgeReport, options: &RejudgeOptions) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    if options.json {
        serde_json::to_writer(&mut out, report)?;
        writeln!(out)?;
        return out.flush();
    }
    let is_compared = options.against.is_some() || options.compare.is_some();
    let (of_charges, others) = report.changes.split_at(report.of_charges());
    if !of_charges.is_empty() {
        writeln!(out, "!!! {} to or from charged:", verdicts_change(of_charges.len()))?;
        of_charges.iter().try_for_each(|change| print_change(&mut out, "!!! ", change))?;
        writeln!(out)?;
    }
    if !others.is_empty() {
        writeln!(out, "{} otherwise:", verdicts_change(others.len()))?;
        others.iter().try_for_each(|change| print_change(&mut out, "", change))?;
        writeln!(out)?;
    }
    if !report.not_judged.is_empty() {
        writeln!(out, "Not judged:")?;
        for one in &report.not_judged {
            let line = one.line.map(|line| format!("line {line}"));
            let payment = one.payment.as_ref().map(|payment| format!("payment {payment}"));
            let exchange = one.exchange.map(|exchange| format!("exchange {exchange}"));
            let place: Vec<String> = [line, payment, exchange].into_iter().flatten().collect();
            writeln!(out, "  {}: {}", place.join(", "), one.why)?;
        }
        writeln!(out)?;
    }
    let counts = |counts: &std::collections::BTreeMap<String, u64>| {
        counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect::<Vec<_>>().join(", ")
    };
    if is_compared {
        writeln!(out, "Before: {}", counts(&report.before))?;
    }
    writeln!(out, "{}: {}", if is_compared { "Now" } else { "Verdicts" }, counts(&report.after))?;
    if report.compared_with_nothing > 0 {
        let count = report.compared_with_nothing;
        writeln!(out, "{count} reports are about payments that are not in the input, and were compared with nothing")?;
    }
    let (read, judged, left) = (report.read, report.judged, report.not_judged.len());
    write!(out, "{read} read, {judged} judged, {left} not judged")?;
    if is_compared {
        write!(out, "; {}, {} of them to or from charged", verdicts_change(report.changes.len()), of_charges.len())?;
    }
    writeln!(out)?;
    out.flush()
}

fn verdicts_change(count: usize) -> String {
    if count == 1 { "1 verdict changes".to_owned() } else { format!("{count} verdicts change") }
}

fn print_change(out: &mut impl Write, mark: &str, change: &VerdictChange) -> io::Result<()> {
    let before = &change.before;
    let payment = before.payment.as_ref().map(|payment| format!("payment {payment}, ")).unwrap_or_default();
    let number = before.number.as_deref().unwrap_or("-");
    let (exchange, at, endpoint) = (before.exchange, &before.at, &before.endpoint);
    writeln!(
        out,
        "{mark}  {payment}exchange {exchange}  {at}  {endpoint}  {number}: {} -> {}",
        before.verdict, change.after
    )?;
    for (side, why) in [("before", &change.why_before), ("now", &change.why_after)] {
        if let Some(why) = why.as_ref().filter(|why| !why.is_empty()) {
            writeln!(out, "{mark}      {side}: {why}")?;
        }
    }
    Ok(())
}
