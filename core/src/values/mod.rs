//! Values: amounts, cards, identifiers, errors, and the rules that an input must keep. Plain data, which knows no
//! gateway.

pub(crate) mod byte_order_mark;
pub(crate) mod card;
pub(crate) mod card_brand;
pub(crate) mod card_input;
pub(crate) mod currency;
pub(crate) mod digits;
pub(crate) mod error;
pub(crate) mod expiry_input;
pub(crate) mod json;
pub(crate) mod language;
pub(crate) mod local_date_time;
pub(crate) mod money;
pub(crate) mod one_time_password;
pub(crate) mod order_number;
mod own_error;
pub(crate) mod payment_entry;
pub(crate) mod payment_ref;
pub(crate) mod phone;
pub(crate) mod provider;
pub(crate) mod return_url;
pub(crate) mod rule;
pub(crate) mod rules;
pub(crate) mod secret;
#[cfg(feature = "serde")]
pub(crate) mod serialized;
pub(crate) mod status;
pub(crate) mod texts;
pub(crate) mod typed;
pub(crate) mod violation;
