//! Configuration: the address of the gateway or the merchant's server, the credentials, and the dialect of responses.

pub(crate) mod dialect;
pub(crate) mod endpoint;
pub(crate) mod gateway_config;
pub(crate) mod peer;
