//! Judging recorded responses again (dialect regression test): which verdicts another dialect, or another version of Kassa, changes.
//! The responses come from a recording, or from the exchanges that the server stored. Nothing is sent, and nothing is changed.

mod judging;
mod known;
mod recording;
mod report;
mod run;
mod stored;

pub use report::{NotJudged, RejudgeReport, Verdict, VerdictChange};
pub use run::{Rejudge, RejudgeError, RepliesPage, Verdicts};
