//! The domain: payments and their state machine, amounts, languages, the endpoints' names, the simulation clock, the
//! test data.

pub(crate) mod amount;
pub(crate) mod clock;
pub(crate) mod codes;
mod endpoint_name;
mod language;
mod payment;
pub(crate) mod test_data;

pub use endpoint_name::EndpointName;
pub use language::Language;
pub use payment::{Payment, PaymentKind, PaymentStatus, Provider, RejectReason};

pub(crate) use payment::Event;

use strum::VariantArray;

/// All variants in order; `N` is the enum's `COUNT`.
pub(crate) const fn all<T: Copy + VariantArray, const N: usize>() -> [T; N] {
    match T::VARIANTS.first_chunk() {
        Some(variants) => *variants,
        None => panic!("an enum has fewer variants than it counts"),
    }
}
