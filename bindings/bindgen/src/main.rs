//! Generates the foreign side from the native library.

fn main() {
    kassa_bindgen::generate()
}
