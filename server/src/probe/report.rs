//! The report in Markdown, to be sent to whoever maintains the dialect.

use std::fmt::Write;

use super::finding::ProbeFinding;

/// The most characters of a reply.
const LONGEST_REPLY: usize = 4000;

pub(super) fn report(findings: &[ProbeFinding], money: &[String], advice: &[String], dialect: &str) -> String {
    let mut text =
        format!("# Probe of a gateway's test environment\n\nBy kassa-server {}.\n", env!("CARGO_PKG_VERSION"));
    let problems: Vec<String> =
        findings.iter().flat_map(|one| one.problems.iter().map(|problem| of(one, problem))).collect();
    section(&mut text, "Problems", &problems, "None: everything was read.");
    section(&mut text, "What happened to the money", money, "");
    section(&mut text, "Advice on the dialect", advice, "None.");
    let _ = write!(text, "\n## The dialect that fits\n\n{}", fenced("json", dialect.trim_end()));
    text.push_str("\n## What was sent and answered\n");
    for finding in findings {
        let _ = write!(text, "\n### {} (`{}`)\n\n", line(&finding.step), finding.endpoint);
        let _ = writeln!(text, "- Sent: {}\n- Answer: {}", line(&finding.request), line(&finding.answer));
        for (name, place, value) in &finding.fields {
            let _ = writeln!(text, "- Reads `{name}` at `{}`: {}", line(place), line(value));
        }
        if !finding.unread.is_empty() {
            let _ = writeln!(text, "- Not read: {}", line(&finding.unread.join(", ")));
        }
        for (word, sentences) in [("Note", &finding.notes), ("Problem", &finding.problems)] {
            for sentence in sentences {
                let _ = writeln!(text, "- {word}: {}", line(sentence));
            }
        }
        if let Some(raw) = &finding.raw {
            let _ = write!(text, "\n{}", fenced("", &cut(raw, LONGEST_REPLY)));
        }
    }
    text
}

fn of(finding: &ProbeFinding, problem: &str) -> String {
    format!("{} (`{}`): {problem}", finding.step, finding.endpoint)
}

fn section(text: &mut String, heading: &str, lines: &[String], if_none: &str) {
    let _ = write!(text, "\n## {heading}\n\n");
    for entry in lines {
        let _ = writeln!(text, "- {}", line(entry));
    }
    if lines.is_empty() {
        let _ = writeln!(text, "{if_none}");
    }
}

/// A text of the gateway's begins no line of its own.
fn line(text: &str) -> String {
    cut(text, LONGEST_REPLY).split(char::is_control).collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, longest: usize) -> String {
    let mut shown: String = text.chars().take(longest).collect();
    if text.chars().nth(longest).is_some() {
        shown.push('…');
    }
    shown
}

/// A block of code with a fence that the text does not hold.
fn fenced(language: &str, text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}{language}\n{text}\n{fence}\n")
}
