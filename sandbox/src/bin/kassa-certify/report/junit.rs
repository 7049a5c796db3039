//! The report as JUnit XML for CI, one suite for each kind.

use std::fmt::Write;

use super::{Report, steps};
use crate::run::{Outcome, Verdict};

pub(crate) fn report(report: &Report) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for outcome in &report.outcomes {
        if kinds.last() != Some(&outcome.scenario.kind()) && !kinds.contains(&outcome.scenario.kind()) {
            kinds.push(outcome.scenario.kind());
        }
    }
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kassa-certify\">\n".to_owned();
    for kind in kinds {
        let of: Vec<&Outcome> = report.outcomes.iter().filter(|outcome| outcome.scenario.kind() == kind).collect();
        let count = |verdict| of.iter().filter(|outcome| outcome.verdict == verdict).count();
        let time: f64 = of.iter().map(|outcome| outcome.time.as_secs_f64()).sum();
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{time:.3}\">",
            escaped(kind),
            of.len(),
            count(Verdict::Lost),
            count(Verdict::Broken),
            count(Verdict::Skipped),
        );
        for outcome in of {
            case(&mut xml, outcome);
        }
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn case(xml: &mut String, outcome: &Outcome) {
    let (kind, name) = (outcome.scenario.kind(), &outcome.scenario.id);
    let _ = writeln!(
        xml,
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\">",
        escaped(kind),
        escaped(name),
        outcome.time.as_secs_f64()
    );
    let log = escaped(&steps(outcome).join("\n"));
    match outcome.verdict {
        Verdict::Passed => {}
        Verdict::Skipped => {
            let _ = writeln!(xml, "      <skipped message=\"{log}\"/>");
        }
        Verdict::Lost => {
            let losses: Vec<String> =
                outcome.losses.iter().map(|(loss, detail)| format!("{}: {detail}", loss.text())).collect();
            let _ = writeln!(xml, "      <failure message=\"{}\">{log}</failure>", escaped(&losses.join("; ")));
        }
        Verdict::Broken => {
            let _ = writeln!(
                xml,
                "      <error message=\"{}\">{log}</error>",
                escaped(outcome.log.last().map_or("", String::as_str))
            );
        }
    }
    let _ = writeln!(xml, "      <system-out>{}\n{log}</system-out>\n    </testcase>", escaped(&outcome.scenario.text));
}

/// Without the control characters that XML does not allow.
fn escaped(text: &str) -> String {
    let allowed: String =
        text.chars().filter(|character| !character.is_control() || "\n\t".contains(*character)).collect();
    let text = allowed.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\n', "&#10;")
}
