//! The report as one HTML page, without requests to other hosts.

use std::{collections::BTreeMap, fmt::Write};

use super::{Report, losses_of, plural, steps};
use crate::run::{Outcome, Verdict};

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#0002;--soft:#0008;--lost:#b3261e;--broken:#8a5300;--passed:#1b6e2f;--tile:#f4f4f5;\
font:16px/1.5 system-ui,sans-serif}\
@media(prefers-color-scheme:dark){:root{--line:#fff3;--soft:#fffa;--lost:#ffb4ab;--broken:#ffcf8b;--passed:#9bd7a4;--tile:#232326}}\
body{max-width:56rem;margin:0 auto;padding:1.5rem 1rem 4rem;overflow-wrap:anywhere}\
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}h2{font-size:1.2rem;margin:2.5rem 0 .5rem}p{margin:.5rem 0}\
.soft{color:var(--soft)}.lost{color:var(--lost)}.broken{color:var(--broken)}.passed{color:var(--passed)}\
.tiles{display:flex;flex-wrap:wrap;gap:.75rem;list-style:none;margin:1.25rem 0;padding:0}\
.tiles li{background:var(--tile);border-radius:.6rem;padding:.6rem 1rem;min-width:7rem}.tiles b{display:block;font-size:1.5rem;line-height:1.2}\
.remark{border-left:3px solid var(--broken);padding-left:.75rem}\
details{border-top:1px solid var(--line)}details details{margin-left:1.1rem}summary{cursor:pointer;padding:.5rem 0}\
summary>span{margin-left:.5rem}code{font-size:.92em}\
ol{margin:.25rem 0 1rem;padding-left:2.2rem}li.loss{color:var(--lost);font-weight:600}ol li{white-space:pre-wrap}";

pub(crate) fn report(report: &Report) -> String {
    let (word, class) = match report.exit_code() {
        0 => ("Nothing would have been lost", "passed"),
        1 => ("The shop would have lost something", "lost"),
        _ => ("Some scenarios could not be run", "broken"),
    };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{word} – kassa-certify</title><style>{STYLE}</style>\n<p class=\"soft\">kassa-certify</p>\n\
         <h1 class=\"{class}\">{word}</h1>\n<p>{}</p>\n",
        escaped(&report.summary())
    );
    if !report.losses().is_empty() {
        page.push_str("<ul class=\"tiles\">\n");
        for (loss, count) in report.losses() {
            let _ = writeln!(page, "<li><b class=\"lost\">{count}</b> {}</li>", loss.text());
        }
        page.push_str("</ul>\n");
    }
    for (remark, id) in report.remarks() {
        let _ =
            writeln!(page, "<p class=\"remark\">{} <code class=\"soft\">{}</code></p>", escaped(remark), escaped(id));
    }
    for (title, class, verdict) in [
        ("Lost", "lost", Verdict::Lost),
        ("Not run", "broken", Verdict::Broken),
        ("Passed", "passed", Verdict::Passed),
        ("Skipped", "soft", Verdict::Skipped),
    ] {
        let mut kinds: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
        for outcome in report.outcomes.iter().filter(|outcome| outcome.verdict == verdict) {
            kinds.entry(outcome.scenario.kind()).or_default().push(outcome);
        }
        if !kinds.is_empty() {
            let _ = writeln!(page, "<h2>{title}: {}</h2>", plural(report.count(verdict), "scenario"));
        }
        for (kind, outcomes) in kinds {
            let played = report.outcomes.iter().filter(|outcome| outcome.scenario.kind() == kind).count();
            // Losses are read first, so each such kind shows its first scenario.
            let is_open = matches!(verdict, Verdict::Lost | Verdict::Broken);
            let open = if is_open { " open" } else { "" };
            let _ = writeln!(
                page,
                "<details{open}><summary><b class=\"{class}\">{}</b><span class=\"soft\">{} of {played}</span></summary>",
                escaped(kind),
                outcomes.len()
            );
            for (index, outcome) in outcomes.into_iter().enumerate() {
                scenario(&mut page, outcome, is_open && index == 0);
            }
            page.push_str("</details>\n");
        }
    }
    page
}

fn scenario(page: &mut String, outcome: &Outcome, is_open: bool) {
    let open = if is_open { " open" } else { "" };
    let name = outcome.scenario.id.split_once('/').map_or(outcome.scenario.id.as_str(), |(_, name)| name);
    let losses = losses_of(outcome);
    let losses = if losses.is_empty() { losses } else { format!(" <b class=\"lost\">{losses}</b>") };
    let _ = write!(
        page,
        "<details{open}><summary><code>{}</code> {}{losses}</summary><ol>",
        escaped(name),
        escaped(&outcome.scenario.text),
    );
    for step in steps(outcome) {
        let class = if step.starts_with("LOSS") { " class=\"loss\"" } else { "" };
        let _ = write!(page, "<li{class}>{}</li>", escaped(&step));
    }
    page.push_str("</ol></details>\n");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
