//! The report: what was learned and what was not, with evidence. As text for people, and as JSON for programs.

use std::{collections::BTreeSet, fmt, path::Path};

use serde::Serialize;
use serde_json::{Value, json};

/// How many exchanges a line of the text lists. The JSON lists all.
const SHOWN: usize = 6;

/// An exchange in one of the recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    /// The index of the recording on the command line.
    pub(super) file: usize,
    pub(super) exchange: u64,
}

/// A learned key with its evidence.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// A key of the dialect, such as `qr_status.amount`.
    pub(super) key: String,
    pub(super) value: String,
    pub(super) because: String,
    pub(super) at: Vec<At>,
}

/// Something that was not learned, and what to do.
#[derive(Debug, Clone)]
pub(super) struct OpenPoint {
    pub(super) subject: String,
    pub(super) because: String,
    pub(super) at: Vec<At>,
    /// The command-line options that decide it, or the payment to record.
    pub(super) to_do: Vec<String>,
}

/// All findings about recordings.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) learned: Vec<Finding>,
    pub(super) needs_yes: Vec<OpenPoint>,
    pub(super) ambiguous: Vec<OpenPoint>,
    pub(super) inexpressible: Vec<OpenPoint>,
    pub(super) missing: Vec<OpenPoint>,
    /// Endpoints that were not recorded, and what other payments would show. The dialect is complete without it.
    pub(super) hints: Vec<OpenPoint>,
    /// Answers of a person that contradict the recordings.
    pub(super) contradicted: Vec<OpenPoint>,
    /// Why no dialect can be written.
    pub(super) forbidden: Vec<OpenPoint>,
}

impl Finding {
    pub(super) fn new(
        key: impl fmt::Display,
        value: impl fmt::Display,
        because: impl Into<String>,
        at: Vec<At>,
    ) -> Self {
        Self { key: key.to_string(), value: value.to_string(), because: because.into(), at }
    }
}

impl OpenPoint {
    pub(super) fn new(subject: impl fmt::Display, because: impl Into<String>, at: Vec<At>) -> Self {
        Self { subject: subject.to_string(), because: because.into(), at, to_do: Vec::new() }
    }

    pub(super) fn with(mut self, to_do: impl Into<String>) -> Self {
        self.to_do.push(to_do.into());
        self
    }
}

impl Findings {
    /// Whether the dialect covers everything that was recorded.
    pub(super) fn are_whole(&self) -> bool {
        [&self.needs_yes, &self.ambiguous, &self.inexpressible, &self.missing, &self.contradicted, &self.forbidden]
            .iter()
            .all(|points| points.is_empty())
    }

    fn sections(&self) -> [(&'static str, &'static str, &[OpenPoint]); 7] {
        [
            ("forbidden", "No dialect was written", &self.forbidden),
            ("contradicted", "Your answers that the recording contradicts", &self.contradicted),
            ("needs_yes", "Needs your confirmation", &self.needs_yes),
            ("ambiguous", "Ambiguous, so not in the dialect", &self.ambiguous),
            ("inexpressible", "What a dialect cannot express", &self.inexpressible),
            ("missing", "Missing: make these payments, and record them", &self.missing),
            ("hints", "Not recorded", &self.hints),
        ]
    }

    /// The report as text. `heads` has a line about each recording.
    pub(super) fn text(&self, files: &[&Path], heads: &[String]) -> String {
        let mut text = heads.join("\n");
        text.push_str("\n\nLearned\n");
        for group in groups(&self.learned) {
            let Some(first) = group.first() else { continue };
            let (_, field) = first.key.split_once('.').unwrap_or(("", &first.key));
            let name = if group.len() > 1 { field } else { &first.key };
            text.push_str(&format!("  {name:<32} {}\n", first.value));
            if group.len() > 1 {
                let endpoints: Vec<_> = group.iter().filter_map(|found| found.key.split_once('.')).collect();
                let endpoints: Vec<_> = endpoints.iter().map(|(endpoint, _)| *endpoint).collect();
                text.push_str(&format!("      of {}\n", endpoints.join(", ")));
            }
            let at: Vec<At> = group.iter().flat_map(|found| found.at.clone()).collect();
            text.push_str(&format!("      {}{}\n", first.because, places(files, &at, SHOWN)));
        }
        if self.learned.is_empty() {
            text.push_str("  nothing that differs from the interface\n");
        }
        for (_, title, points) in self.sections().into_iter().filter(|(_, _, points)| !points.is_empty()) {
            text.push_str(&format!("\n{title}\n"));
            for point in points {
                text.push_str(&format!("  {}: {}{}\n", point.subject, point.because, places(files, &point.at, SHOWN)));
                for to_do in &point.to_do {
                    text.push_str(&format!("      {to_do}\n"));
                }
            }
        }
        let end = if self.are_whole() { "The dialect is complete." } else { "The dialect is incomplete." };
        text.push_str(&format!("\n{end}\n"));
        text
    }

    /// The report as JSON.
    pub(super) fn json(&self, files: &[&Path], heads: &[String], dialect: Option<&Value>) -> Value {
        let learned: Vec<_> = self
            .learned
            .iter()
            .map(|found| {
                json!({
                    "key": found.key, "value": found.value, "because": found.because,
                    "exchanges": references(files, &found.at),
                })
            })
            .collect();
        let mut report = json!({
            "kassa_learned": 1, "recordings": heads, "whole": self.are_whole(), "dialect": dialect, "learned": learned,
        });
        for (name, _, points) in self.sections() {
            let points = points.iter().map(|point| {
                json!({
                    "subject": point.subject, "because": point.because, "exchanges": references(files, &point.at),
                    "to_do": point.to_do,
                })
            });
            report[name] = points.collect();
        }
        report
    }
}

/// Findings that were learned in the same way for several endpoints, joined.
fn groups(learned: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    for found in learned {
        let field = |found: &Finding| found.key.split_once('.').map(|(_, field)| field.to_owned());
        let is_same = |group: &&mut Vec<&Finding>| {
            group.iter().any(|other| {
                let is_named_alike = field(other).is_some() && field(other) == field(found);
                is_named_alike && (&other.value, &other.because) == (&found.value, &found.because)
            })
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(found),
            None => groups.push(vec![found]),
        }
    }
    groups
}

#[derive(Serialize)]
struct Reference<'a> {
    file: &'a Path,
    exchange: u64,
}

fn references(files: &[&Path], at: &[At]) -> Value {
    let all: BTreeSet<&At> = at.iter().collect();
    let reference = |at: &At| Some(json!(Reference { file: files.get(at.file)?, exchange: at.exchange }));
    all.into_iter().filter_map(reference).collect()
}

/// The exchanges, such as ` (exchanges 3, 5)`; with several recordings, each with its file.
fn places(files: &[&Path], at: &[At], most: usize) -> String {
    let all: BTreeSet<&At> = at.iter().collect();
    if all.is_empty() {
        return String::new();
    }
    let one = |at: &&At| match files.get(at.file).filter(|_| files.len() > 1) {
        Some(file) => format!("{}:{}", file.display(), at.exchange),
        None => at.exchange.to_string(),
    };
    let shown: Vec<_> = all.iter().take(most).map(one).collect();
    let more = if all.len() > most { format!(" and {} more", all.len() - most) } else { String::new() };
    let noun = if all.len() == 1 { "exchange" } else { "exchanges" };
    format!(" ({noun} {}{more})", shown.join(", "))
}
