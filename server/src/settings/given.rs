//! A value that was given, and where.

use std::collections::BTreeMap;

use super::problem::Source;
use crate::values::hidden::Hidden;

/// A value, unread. It may be a secret, so it prints as nothing.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) text: Hidden,
    pub(super) source: Source,
}

/// What somebody said, by the names of settings.
pub(super) type Said = BTreeMap<&'static str, Given>;
