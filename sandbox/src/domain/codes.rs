//! The codes of the envelope; those of reject reasons are in `payment`.

pub(crate) const CREATED: &str = "110";
pub(crate) const PENDING: &str = "120";
pub(crate) const SUCCESS: &str = "200";
pub(crate) const INVALID: &str = "400";
pub(crate) const UNAUTHORIZED: &str = "401";
pub(crate) const NOT_FOUND: &str = "404";
pub(crate) const WRONG_METHOD: &str = "405";
pub(crate) const TIMEOUT: &str = "408";
pub(crate) const CONFLICT: &str = "409";
pub(crate) const TOO_LARGE: &str = "413";
pub(crate) const WRONG_OTP: &str = "422";
pub(crate) const TOO_MANY: &str = "429";
pub(crate) const INTERNAL: &str = "500";
pub(crate) const UNAVAILABLE: &str = "503";

/// Every code.
pub(crate) const ALL: [&str; 14] = [
    CREATED,
    PENDING,
    SUCCESS,
    INVALID,
    UNAUTHORIZED,
    NOT_FOUND,
    WRONG_METHOD,
    TIMEOUT,
    CONFLICT,
    TOO_LARGE,
    WRONG_OTP,
    TOO_MANY,
    INTERNAL,
    UNAVAILABLE,
];
