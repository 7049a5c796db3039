//! A constructor for each fault: `Fault::response_lost()`.

use crate::faults::{Fault, FaultName};

macro_rules! constructors {
    ($($(#[doc = $doc:literal])+ $variant:ident, $constructor:ident, $word:literal, $moment:ident;)*) => {
        impl Fault {
            $($(#[doc = $doc])+ pub fn $constructor() -> Self {
                Self::new(FaultName::$variant)
            })*
        }
    };
}

fault_table!(constructors);
