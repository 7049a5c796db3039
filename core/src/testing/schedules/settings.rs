//! What the environment says of schedules.

/// A whole number that the environment names, such as `KASSA_SEED`.
///
/// # Panics
/// Where it is no whole number.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} must be a whole number")))
}
