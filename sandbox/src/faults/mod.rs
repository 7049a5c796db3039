//! Fault injection: failures on request, set while the sandbox runs. This file has the names of the faults and the moments of injection.

#[macro_use]
mod table;

mod fault;
mod set;
mod settings;

pub use fault::{Fault, FaultError};
pub use set::{ActiveFault, Faults};

pub(crate) use set::FaultSet;
pub(crate) use settings::{settings, settings_shown};

use strum::{Display, IntoStaticStr, VariantArray};

/// When a fault is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The first line of a connection's first request arrived.
    Connection,
    /// A request was read, and has not taken effect.
    Request,
    /// A request took effect, and has no response yet.
    Response,
    /// A payment is about to become final.
    Payment,
    /// A callback is about to enter the queue.
    Callback,
}

macro_rules! names {
    ($($(#[doc = $doc:literal])+ $variant:ident, $constructor:ident, $word:literal, $moment:ident;)*) => {
        /// The name of a fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
        #[non_exhaustive]
        pub enum FaultName {
            $($(#[doc = $doc])+ #[strum(serialize = $word)] $variant,)*
        }

        impl FaultName {
            /// All faults.
            pub const ALL: &'static [Self] = Self::VARIANTS;

            /// The name.
            pub fn as_str(self) -> &'static str {
                self.into()
            }

            pub(crate) fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|name| name.as_str() == word)
            }

            /// Its effect, in Markdown.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc),+).trim_start(),)*
                }
            }

            pub(crate) fn moment(self) -> Moment {
                match self {
                    $(Self::$variant => Moment::$moment,)*
                }
            }
        }
    };
}

fault_table!(names);
