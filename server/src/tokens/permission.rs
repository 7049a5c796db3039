//! What a person of the staff may do (role-based access control): each permission holds the one before it.

use strum::{Display, EnumString, IntoStaticStr};

/// What a key's owner may do on the staff's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Permission {
    /// Read everything there, reconcile, and change nothing.
    Look,
    /// Also decide, cancel, note what was given back, ask the gateway, and deliver events again.
    Decide,
}
