//! FFI bundle: the core's exported functions in one native library for the Kotlin, Swift and Python packages, and the
//! one way in which all of them make calls that take time.
//!
//! A call is a message ([`kassa::_calls::AsyncCall`]) in the caller's memory, and so is its completion. Either the
//! calling thread waits for it ([`call`]), or it runs on its own, and its completion is taken from a queue later
//! ([`submit`]). No future crosses the boundary, and no code of another language runs on the core's threads for a call,
//! unless a queue has a function as its signal.
//!
//! All of it needs pointers; the core has none. For the reasons see `docs/adr/0002-runtime-and-boundary.md`.

#![warn(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]

mod call;
mod completions;
mod memory;
mod submit;
#[cfg(test)]
mod testing;

kassa::uniffi_reexport_scaffolding!();
