//! Webhooks: what a callback says, and how it is delivered, with retries and backoff.

mod client;
pub(crate) mod delivery;
pub(crate) mod notice;

pub(crate) use client::client;
