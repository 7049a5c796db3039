//! The generator of the code through which other languages call the native library. A library as well as a program, because cargo takes no
//! program for a dev-dependency, and a source distribution has only what its crate depends on.

pub use uniffi::uniffi_bindgen_main as generate;
