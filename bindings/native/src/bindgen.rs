//! Generates the foreign side from the native library.

fn main() {
    uniffi::uniffi_bindgen_main()
}
