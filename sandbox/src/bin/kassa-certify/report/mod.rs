//! The report: as text, as a page, as JUnit XML.

pub(crate) mod html;
pub(crate) mod junit;
pub(crate) mod text;

use std::{collections::BTreeMap, time::Duration};

use crate::{
    case::Loss,
    run::{Outcome, Verdict},
};

/// All outcomes, and what they add up to.
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

    /// By kind of loss, in how many situations.
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

    /// By reason, the kinds of situations that were left out, and how many.
    pub(crate) fn skipped(&self) -> BTreeMap<String, (String, usize)> {
        let mut reasons: BTreeMap<String, (String, usize)> = BTreeMap::new();
        for outcome in self.outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Skipped) {
            let reason = outcome.log.first().cloned().unwrap_or_default();
            let entry = reasons.entry(reason).or_insert_with(|| (outcome.situation.kind().to_owned(), 0));
            entry.1 += 1;
        }
        reasons
    }

    /// Remarks, each once, with the first situation that made it.
    pub(crate) fn remarks(&self) -> BTreeMap<&str, &str> {
        let mut remarks = BTreeMap::new();
        for outcome in &self.outcomes {
            for remark in &outcome.remarks {
                remarks.entry(remark.as_str()).or_insert(outcome.situation.id.as_str());
            }
        }
        remarks
    }

    /// 0: nothing lost; 1: something lost; 2: something could not be played.
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
        let mut parts = vec![format!("{} in {:.0} s", plural(played, "situation"), self.time.as_secs_f64())];
        parts.push(match self.count(Verdict::Lost) {
            0 => "nothing lost".to_owned(),
            lost => format!("something lost in {lost}"),
        });
        let others = [(Verdict::Broken, "not played"), (Verdict::Skipped, "left out")];
        let others =
            others.into_iter().map(|(verdict, text)| (self.count(verdict), text)).filter(|(count, _)| *count > 0);
        parts.extend(others.map(|(count, text)| format!("{count} {text}")));
        parts.join(", ")
    }
}

/// What was lost in a situation, each kind of loss once.
pub(crate) fn losses_of(outcome: &Outcome) -> String {
    let mut texts: Vec<&str> = Vec::new();
    for (loss, _) in &outcome.losses {
        if !texts.contains(&loss.text()) {
            texts.push(loss.text());
        }
    }
    texts.join(", ")
}

/// The steps of a situation. One that was repeated is a line with how often.
pub(crate) fn steps(outcome: &Outcome) -> Vec<String> {
    let repeated = outcome.log.chunk_by(|one, next| one == next);
    let step = |steps: &[String]| match steps {
        [step] => step.clone(),
        steps => format!("{} ({} times)", steps.first().map_or("", String::as_str), steps.len()),
    };
    repeated.map(step).collect()
}

/// A number of things.
pub(crate) fn plural(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{options::Behind, situations};

    fn report_of(verdicts: &[Verdict]) -> Report {
        let situations = situations::all(Behind::Server);
        let outcomes = situations.into_iter().zip(verdicts).map(|(situation, verdict)| Outcome {
            situation,
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
    fn a_loss_weighs_more_than_what_was_not_played() {
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
        assert!(text.contains("\ndelivered twice: 1 situation\n") && text.contains("something lost in 1"), "{text}");
        assert!(text.contains("  delivered twice\n") && text.contains("HTTP 404 (2 times)"), "{text}");
    }
}
