//! The shop whose history is invented.

/// Where the invented shop took its callbacks: a name that leads nowhere.
pub(super) const CALLBACK_URL: &str = "https://shop.example/kassa/callback";
/// ... and where its payers came back to.
pub(super) const RETURN_URL: &str = "https://shop.example/kassa/thanks";
/// A number that has nothing to do with the next one's.
pub(super) fn scattered(number: i64) -> i64 {
    (number.wrapping_mul(2_654_435_761) >> 16).rem_euclid(65_521)
}
