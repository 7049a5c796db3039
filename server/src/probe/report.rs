//! The report in Markdown, for the people who maintain the dialect.

use std::fmt::Write;

use super::{
    finding::ProbeFinding,
    text::{code, cut, fenced, prose},
};

/// The most characters of a response in the report.
const LONGEST_RESPONSE: usize = 4000;

/// The summary of a report, without the findings. Every text is masked.
pub(super) struct Conclusion {
    /// Everything unread, unknown, contradictory or skipped.
    pub(super) summary: Vec<String>,
    /// The money of each payment, one line each.
    pub(super) money: Vec<String>,
    /// The advice that the proposed dialect leaves open.
    pub(super) advice: Vec<String>,
    /// The proposed dialect.
    pub(super) dialect: String,
}

pub(super) fn report(findings: &[ProbeFinding], conclusion: &Conclusion) -> String {
    let mut text =
        format!("# Probe of a gateway's test environment\n\nBy kassa-server {}.\n", env!("CARGO_PKG_VERSION"));
    section(&mut text, "Summary", conclusion.summary.iter().map(|entry| line(entry)));
    let problems = findings.iter().flat_map(|finding| finding.problems.iter().map(move |problem| of(finding, problem)));
    section(&mut text, "Problems", problems);
    section(&mut text, "What happened to the money", conclusion.money.iter().map(|entry| line(entry)));
    section(&mut text, "Advice on the dialect", conclusion.advice.iter().map(|entry| line(entry)));
    let _ = write!(text, "\n## The dialect that fits\n\n{}", fenced("json", conclusion.dialect.trim_end()));
    text.push_str("\n## What was sent and answered\n");
    for finding in findings {
        let _ = write!(text, "\n### {} ({})\n\n", line(&finding.step), code(&finding.endpoint));
        let _ = writeln!(text, "- Sent: {}\n- Answer: {}", line(&finding.request), line(&finding.answer));
        for (name, place, value) in &finding.fields {
            let _ = writeln!(text, "- Reads {} at {}: {}", code(name), code(place), line(value));
        }
        if !finding.unread.is_empty() {
            let places: Vec<String> = finding.unread.iter().map(|place| code(place)).collect();
            let _ = writeln!(text, "- Not read: {}", places.join(", "));
        }
        for (word, sentences) in [("Note", &finding.notes), ("Problem", &finding.problems)] {
            for sentence in sentences {
                let _ = writeln!(text, "- {word}: {}", line(sentence));
            }
        }
        if let Some(raw) = &finding.raw {
            let _ = write!(text, "\n{}", fenced("", &cut(raw, LONGEST_RESPONSE)));
        }
    }
    text
}

fn of(finding: &ProbeFinding, problem: &str) -> String {
    format!("{} ({}): {}", line(&finding.step), code(&finding.endpoint), line(problem))
}

fn section(text: &mut String, heading: &str, entries: impl Iterator<Item = String>) {
    let _ = write!(text, "\n## {heading}\n\n");
    let mut is_empty = true;
    for entry in entries {
        is_empty = false;
        let _ = writeln!(text, "- {entry}");
    }
    if is_empty {
        text.push_str("None.\n");
    }
}

fn line(text: &str) -> String {
    prose(&cut(text, LONGEST_RESPONSE))
}
