//! FFI bundle: the core's exported functions in one native library for the Kotlin, Swift and Python packages, and the
//! one way in which all of them make calls that take time.
//!
//! A call is a message ([`kassa::_calls::AsyncCall`]) in memory of the caller's, and so is its completion. Either the
//! calling thread waits for it ([`call`]), or it goes on by itself, and its completion is taken from a queue later
//! ([`submit`]). No future crosses the border, and no code of another language runs on the core's threads for a call,
//! except where a queue was made with a function as its signal.
//!
//! All of it needs pointers; the core has none. Why: `docs/adr/0002-runtime-and-boundary.md`.

#![warn(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]

mod call;
mod completions;
mod memory;
mod submit;
#[cfg(test)]
mod testing;

kassa::uniffi_reexport_scaffolding!();
