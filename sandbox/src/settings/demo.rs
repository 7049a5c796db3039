//! Which invented history a sandbox begins with.

/// An invented history to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demo {
    /// How many payments. With a hundred thousand the start takes some seconds.
    pub payments: u32,
    /// The same seed invents the same history, up to the present moment.
    pub seed: u64,
}

impl Demo {
    /// So many payments, by the first seed.
    pub fn of(payments: u32) -> Self {
        Self { payments, seed: 1 }
    }
}
