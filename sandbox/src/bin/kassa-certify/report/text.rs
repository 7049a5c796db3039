//! The report on the terminal: what was lost first, then a line for each kind.

use std::{collections::BTreeMap, fmt::Write};

use super::{Report, losses_of, plural, steps};
use crate::run::{Outcome, Verdict};

/// A line while it runs.
pub(crate) fn line(outcome: &Outcome) -> String {
    let word = match outcome.verdict {
        Verdict::Passed => "ok",
        Verdict::Lost => "LOST",
        Verdict::Skipped => "left out",
        Verdict::Broken => "NOT PLAYED",
    };
    format!("{word:<10} {}", outcome.situation.id)
}

pub(crate) fn report(report: &Report) -> String {
    let mut text = String::new();
    for outcome in report.outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Lost | Verdict::Broken)) {
        let _ = writeln!(text, "\n{}  {}", line(outcome), losses_of(outcome));
        let _ = writeln!(text, "  {}", outcome.situation.text);
        for step in steps(outcome) {
            let _ = writeln!(text, "    {}", step.replace('\n', "\n      "));
        }
    }
    let mut kinds: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for outcome in report.outcomes.iter().filter(|outcome| outcome.verdict != Verdict::Skipped) {
        let counts = kinds.entry(outcome.situation.kind()).or_default();
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
        let _ = writeln!(text, "{}: {}", loss.text(), plural(count, "situation"));
    }
    for (reason, (kind, count)) in report.skipped() {
        let _ =
            writeln!(text, "\nleft out: {count} ({kind}): {}", reason.trim_start_matches("left out by the settings: "));
    }
    for (remark, id) in report.remarks() {
        let _ = writeln!(text, "\nremark ({id}): {remark}");
    }
    if !report.counts_deliveries {
        let _ = writeln!(
            text,
            "\nremark: deliveries are not counted, so one that happens twice is not seen: set deliveries_line or deliveries_pointer"
        );
    }
    let _ = writeln!(text, "\n{}", report.summary());
    text
}
