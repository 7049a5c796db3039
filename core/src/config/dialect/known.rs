//! Known dialects: what Kassa knows of one gateway's responses, by a name.

/// A dialect that Kassa knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// What the interface shows, and no more: the default.
    Interface,
    /// What the public pages of the gateway FINIPAY show (`docs/finipay.md`).
    Finipay,
}

/// All of them, by name.
pub(crate) const KNOWN: [(&str, Known); 2] = [("interface", Known::Interface), ("finipay", Known::Finipay)];

impl Known {
    /// Its JSON form. It has no base: reading a base would not end otherwise.
    pub(crate) fn json(self) -> &'static str {
        match self {
            Self::Interface => "{}",
            Self::Finipay => include_str!("finipay.json"),
        }
    }
}
