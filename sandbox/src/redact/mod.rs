//! Redaction: what is kept or logged has no card number, no password and no one-time password in it.

pub(crate) mod card_numbers;
mod secrets;
pub(crate) mod transcript;

pub(crate) use card_numbers::without_card_numbers;
pub(crate) use secrets::{without_secret_members, without_secrets};
