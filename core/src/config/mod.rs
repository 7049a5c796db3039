//! Configuration: where the gateway or the merchant's server is, who asks, and what its responses are called.

pub(crate) mod dialect;
pub(crate) mod endpoint;
pub(crate) mod gateway_config;
pub(crate) mod peer;
