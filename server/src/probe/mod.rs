//! The probe: runs every flow against the gateway's test environment, shows each response with the values that the dialect reads
//! in it, and finds the dialect that fits.

mod finding;
mod ledger;
mod plan;
mod proposal;
mod report;
mod run;
mod scrub;
mod talk;
mod text;

pub use finding::ProbeFinding;
pub use plan::{ProbePlan, ProbeStep};
pub use run::Probe;
pub use talk::ProbeTalk;
