//! Bundles the core for the foreign packages. The only code of its own is how they call it, and how their threads and event loops are
//! woken, where generated code costs too much. That needs pointers; the core has none.

#[cfg(unix)]
mod bell;
mod calls;
mod waiting;

kassa::uniffi_reexport_scaffolding!();
