//! The report: as text, as an HTML page, and as JUnit XML.

pub(crate) mod html;
pub(crate) mod junit;
pub(crate) mod text;

use std::{collections::BTreeMap, time::Duration};

use crate::{
    case::Loss,
    run::{Outcome, Verdict},
};

/// All outcomes, and their totals.
pub(crate) struct Report {
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) time: Duration,
    /// Whether the settings say how deliveries are counted.
    pub(crate) counts_deliveries: bool,
}

impl Report {
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.verdict == verdict).count()
    }

    /// The number of scenarios by kind of loss.
    pub(crate) fn losses(&self) -> BTreeMap<Loss, usize> {
        let mut counts = BTreeMap::new();
        for outcome in &self.outcomes {
            let mut kinds: Vec<Loss> = outcome.losses.iter().map(|(loss, _)| *loss).collect();
            kinds.sort();
            kinds.dedup();
            for loss in kinds {
                *counts.entry(loss).or_default() += 1;
            }
        }
        counts
    }

    /// Skipped scenarios by reason: the kind of the first one, and their number.
    pub(crate) fn skipped(&self) -> BTreeMap<String, (String, usize)> {
        let mut reasons: BTreeMap<String, (String, usize)> = BTreeMap::new();
        for outcome in self.outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Skipped) {
            let reason = outcome.log.first().cloned().unwrap_or_default();
            let entry = reasons.entry(reason).or_insert_with(|| (outcome.scenario.kind().to_owned(), 0));
            entry.1 += 1;
        }
        reasons
    }

    /// Each remark once, with its first scenario.
    pub(crate) fn remarks(&self) -> BTreeMap<&str, &str> {
        let mut remarks = BTreeMap::new();
        for outcome in &self.outcomes {
            for remark in &outcome.remarks {
                remarks.entry(remark.as_str()).or_insert(outcome.scenario.id.as_str());
            }
        }
        remarks
    }

    /// 0: nothing lost; 1: something lost; 2: a scenario could not be run.
    pub(crate) fn exit_code(&self) -> u8 {
        if self.count(Verdict::Lost) > 0 {
            1
        } else if self.count(Verdict::Broken) > 0 {
            2
        } else {
            0
        }
    }

    pub(crate) fn summary(&self) -> String {
        let played = self.outcomes.len() - self.count(Verdict::Skipped);
        let mut parts = vec![format!("{} in {:.0} s", plural(played, "scenario"), self.time.as_secs_f64())];
        parts.push(match self.count(Verdict::Lost) {
            0 => "nothing lost".to_owned(),
            lost => format!("something lost in {lost}"),
        });
        let others = [(Verdict::Broken, "not run"), (Verdict::Skipped, "skipped")];
        let others =
            others.into_iter().map(|(verdict, text)| (self.count(verdict), text)).filter(|(count, _)| *count > 0);
        parts.extend(others.map(|(count, text)| format!("{count} {text}")));
        parts.join(", ")
    }
}

/// The losses in a scenario, each kind once.
pub(crate) fn losses_of(outcome: &Outcome) -> String {
    let mut texts: Vec<&str> = Vec::new();
    for (loss, _) in &outcome.losses {
        if !texts.contains(&loss.text()) {
            texts.push(loss.text());
        }
    }
    texts.join(", ")
}

/// The steps of a scenario. Repeated steps are one line with their number.
pub(crate) fn steps(outcome: &Outcome) -> Vec<String> {
    let repeated = outcome.log.chunk_by(|one, next| one == next);
    let step = |steps: &[String]| match steps {
        [step] => step.clone(),
        steps => format!("{} ({} times)", steps.first().map_or("", String::as_str), steps.len()),
    };
    repeated.map(step).collect()
}

/// A count with its noun.
pub(crate) fn plural(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{options::Behind, scenarios};

    fn report_of(verdicts: &[Verdict]) -> Report {
        let scenarios = scenarios::all(Behind::Server);
        let outcomes = scenarios.into_iter().zip(verdicts).map(|(scenario, verdict)| Outcome {
            scenario,
            verdict: *verdict,
            losses: if *verdict == Verdict::Lost {
                vec![
                    (Loss::DeliveredTwice, "order <1> & \"2\"".to_owned()),
                    (Loss::DeliveredTwice, "order 3".to_owned()),
                ]
            } else {
                Vec::new()
            },
            remarks: Vec::new(),
            log: ["a step\u{7}", "HTTP 404", "HTTP 404", "HTTP 204"].map(str::to_owned).to_vec(),
            time: Duration::from_millis(1500),
        });
        Report { outcomes: outcomes.collect(), time: Duration::from_secs(3), counts_deliveries: true }
    }

    #[test]
    fn loss_weighs_more_than_what_was_not_played() {
        use Verdict::{Broken, Lost, Passed, Skipped};
        assert_eq!(report_of(&[Passed, Skipped]).exit_code(), 0);
        assert_eq!(report_of(&[Passed, Broken]).exit_code(), 2);
        assert_eq!(report_of(&[Broken, Lost]).exit_code(), 1);
    }

    #[test]
    fn reports_escape_what_they_show() {
        let report = report_of(&[Verdict::Lost, Verdict::Passed]);
        let xml = junit::report(&report);
        assert!(xml.contains("message=\"delivered twice: order &lt;1&gt; &amp; &quot;2&quot;; delivered"), "{xml}");
        assert!(!xml.contains('\u{7}') && xml.matches("<testcase ").count() == 2, "{xml}");
        let page = html::report(&report);
        assert!(page.contains("<b class=\"lost\">delivered twice</b>") && page.contains("a step"), "{page}");
        assert!(page.contains("<li>HTTP 404 (2 times)</li><li>HTTP 204</li>"), "{page}");
        let text = text::report(&report);
        assert!(text.contains("\ndelivered twice: 1 scenario\n") && text.contains("something lost in 1"), "{text}");
        assert!(text.contains("  delivered twice\n") && text.contains("HTTP 404 (2 times)"), "{text}");
    }
}
