//! Bundles the core for the foreign packages. It holds no code of its own.

kassa::uniffi_reexport_scaffolding!();
