//! FFI bundle: the core's exported functions in one native library for the Kotlin, Swift and Python packages.
//!
//! The only code of its own is a way to call and to wake, for each kind of caller whom UniFFI's generated way costs too
//! much: [`jvm`], [`asyncio`] and [`blocking`]; and one to say which call is polled: [`numbered`]. What they share is in
//! [`wake_up`]. All of it needs pointers; the core has none. The decision, and what it rests on:
//! `docs/adr/0005-fast-calls-from-other-languages.md`.

#![warn(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]

#[cfg(unix)]
mod asyncio;
mod blocking;
mod jvm;
mod numbered;
mod wake_up;

kassa::uniffi_reexport_scaffolding!();
