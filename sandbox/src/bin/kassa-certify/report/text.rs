//! The report on the terminal: losses first, then a line for each kind.

use std::{collections::BTreeMap, fmt::Write};

use super::{Report, losses_of, plural, steps};
use crate::run::{Outcome, Verdict};

/// The progress line of a scenario.
pub(crate) fn line(outcome: &Outcome) -> String {
    let word = match outcome.verdict {
        Verdict::Passed => "ok",
        Verdict::Lost => "LOST",
        Verdict::Skipped => "skipped",
        Verdict::Broken => "NOT RUN",
    };
    format!("{word:<10} {}", outcome.scenario.id)
}

pub(crate) fn report(report: &Report) -> String {
    let mut text = String::new();
    for outcome in report.outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Lost | Verdict::Broken)) {
        let _ = writeln!(text, "\n{}  {}", line(outcome), losses_of(outcome));
        let _ = writeln!(text, "  {}", outcome.scenario.text);
        for step in steps(outcome) {
            let _ = writeln!(text, "    {}", step.replace('\n', "\n      "));
        }
    }
    let mut kinds: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for outcome in report.outcomes.iter().filter(|outcome| outcome.verdict != Verdict::Skipped) {
        let counts = kinds.entry(outcome.scenario.kind()).or_default();
        counts[0] += usize::from(outcome.verdict == Verdict::Passed);
        counts[1] += 1;
    }
    let _ = writeln!(text, "\n{:<20} {:>7}", "Kind", "Passed");
    for (kind, [passed, all]) in kinds {
        let _ = writeln!(text, "{kind:<20} {:>7}", format!("{passed}/{all}"));
    }
    if !report.losses().is_empty() {
        text.push('\n');
    }
    for (loss, count) in report.losses() {
        let _ = writeln!(text, "{}: {}", loss.text(), plural(count, "scenario"));
    }
    for (reason, (kind, count)) in report.skipped() {
        let _ =
            writeln!(text, "\nskipped: {count} ({kind}): {}", reason.trim_start_matches("skipped by the settings: "));
    }
    for (remark, id) in report.remarks() {
        let _ = writeln!(text, "\nremark ({id}): {remark}");
    }
    if !report.counts_deliveries {
        let _ = writeln!(
            text,
            "\nremark: deliveries are not counted, so double deliveries are not found: set deliveries_line or deliveries_pointer"
        );
    }
    let _ = writeln!(text, "\n{}", report.summary());
    text
}
