//! The report as one page, without requests to anywhere.

use std::fmt::Write;

use super::Report;
use crate::run::{Outcome, Verdict};

const STYLE: &str = "\
:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{max-width:60rem;margin:2rem auto;padding:0 1rem}\
h1{margin-bottom:0}table{border-collapse:collapse}td,th{text-align:left;padding:.2rem 1rem .2rem 0}\
details{border-top:1px solid #8884;padding:.4rem 0}summary{cursor:pointer}pre{white-space:pre-wrap;margin:.4rem 0 .4rem 1.2rem}\
.lost{color:#c62828}.broken{color:#b26a00}.passed{color:#2e7d32}.skipped{opacity:.7}\
@media(prefers-color-scheme:dark){.lost{color:#ff8a80}.broken{color:#ffd180}.passed{color:#a5d6a7}}";

pub(crate) fn report(report: &Report) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>kassa-certify</title><style>{STYLE}</style>\n<h1>kassa-certify</h1>\n<p>{}</p>\n",
        escaped(&report.summary())
    );
    if !report.losses().is_empty() {
        page.push_str("<table><tr><th>What the shop would have lost</th><th>Situations</th></tr>\n");
        for (loss, count) in report.losses() {
            let _ = writeln!(page, "<tr><td class=\"lost\">{}</td><td>{count}</td></tr>", loss.text());
        }
        page.push_str("</table>\n");
    }
    for (remark, id) in report.remarks() {
        let _ = writeln!(page, "<p>Remark ({}): {}</p>", escaped(id), escaped(remark));
    }
    for (title, verdict) in [
        ("Lost", Verdict::Lost),
        ("Not played", Verdict::Broken),
        ("Passed", Verdict::Passed),
        ("Left out", Verdict::Skipped),
    ] {
        let of: Vec<&Outcome> = report.outcomes.iter().filter(|outcome| outcome.verdict == verdict).collect();
        if of.is_empty() {
            continue;
        }
        let _ = writeln!(page, "<h2>{title}: {}</h2>", of.len());
        for outcome in of {
            situation(&mut page, outcome);
        }
    }
    page
}

fn situation(page: &mut String, outcome: &Outcome) {
    let (class, open) = match outcome.verdict {
        Verdict::Passed => ("passed", ""),
        Verdict::Lost => ("lost", " open"),
        Verdict::Skipped => ("skipped", ""),
        Verdict::Broken => ("broken", " open"),
    };
    let losses: Vec<&str> = outcome.losses.iter().map(|(loss, _)| loss.text()).collect();
    let _ = writeln!(
        page,
        "<details{open}><summary><b class=\"{class}\">{}</b> {} <b class=\"lost\">{}</b></summary><pre>{}</pre></details>",
        escaped(&outcome.situation.id),
        escaped(&outcome.situation.text),
        losses.join(", "),
        escaped(&outcome.log.join("\n")),
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
