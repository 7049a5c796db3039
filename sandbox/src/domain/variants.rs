//! Every variant of an enum, as an array that maps and iterates by value.

use strum::VariantArray;

/// All of them, in their order; `N` is the enum's `COUNT`.
pub(crate) const fn all<T: Copy + VariantArray, const N: usize>() -> [T; N] {
    match T::VARIANTS.first_chunk() {
        Some(variants) => *variants,
        None => panic!("an enum has fewer variants than it counts"),
    }
}
