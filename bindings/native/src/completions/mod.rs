//! Completions: calls without a waiting thread in the library, and their results until they are taken.
//!
//! Nothing here depends on UniFFI or uses a pointer. [`interleavings`] therefore runs the same file under a model checker.

#[cfg(test)]
mod interleavings;
mod queue;
mod sync;

pub use self::queue::{GivenUp, Queue};
