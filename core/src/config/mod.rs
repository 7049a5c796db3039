//! Configuration: where the gateway or the merchant's server is, the client's credentials, and what the responses are called.

pub(crate) mod dialect;
pub(crate) mod endpoint;
pub(crate) mod gateway_config;
pub(crate) mod peer;
