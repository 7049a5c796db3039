//! What the benchmarks of this folder have in common: figures taken in turn, and printed one finding a line, as JSON.

mod allocations;
mod finding;
mod process;
mod sandbox;
mod turns;

pub use allocations::{Counting, Counts, counts};
pub use finding::{Comparison, Figures};
pub use process::{processor_time, processor_time_of, resident_memory, resident_memory_of};
pub use sandbox::Sandbox;
pub use turns::{in_turn, microseconds};
