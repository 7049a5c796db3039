//! Completions: the calls that nobody waits for in the library, and what came of them until somebody takes it.
//!
//! Nothing here knows of UniFFI or has a pointer. [`interleavings`] therefore runs the same file under a model checker.

#[cfg(test)]
mod interleavings;
mod queue;
mod sync;

pub use self::queue::{GivenUp, Queue};
