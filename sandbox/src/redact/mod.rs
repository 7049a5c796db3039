//! Redaction: no card number, password or one-time password is stored or logged.

pub(crate) mod card_numbers;
mod secrets;
pub(crate) mod transcript;

pub(crate) use card_numbers::without_card_numbers;
pub(crate) use secrets::{without_secret_members, without_secrets, words};
