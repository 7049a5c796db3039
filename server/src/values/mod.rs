//! What everybody uses: identifiers, states, what is wrong with an input, errors.

pub mod card_number;
pub mod checks;
pub mod cursor;
pub mod error;
pub mod hidden;
pub mod ids;
pub mod method;
pub mod states;
pub mod text_file;
pub mod violation;

/// A moment by the database's clock: milliseconds since the beginning of 1970.
pub type Millis = i64;

/// Milliseconds of a duration, cut at the largest that a database keeps.
pub fn millis(duration: std::time::Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}
