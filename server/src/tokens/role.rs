//! What a key is for. A key of one role opens nothing of another's.

use strum::{Display, EnumString, IntoStaticStr};

/// Who calls with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum KeyRole {
    /// A shop's back end: all of `/v1`.
    Shop,
    /// A person of the merchant's: the pages under `/staff`, by the name that the key was made with.
    Staff,
}

impl KeyRole {
    /// What its keys begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Shop => "ak_",
            Self::Staff => "sk_",
        }
    }
}
