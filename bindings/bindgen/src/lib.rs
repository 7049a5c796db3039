//! The generator of the code through which other languages call the native library.

pub use uniffi::uniffi_bindgen_main as generate;
