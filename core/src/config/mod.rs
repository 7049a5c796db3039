//! Configuration: where the gateway is, who asks, and what its replies are called.

pub(crate) mod address;
pub(crate) mod credentials;
pub(crate) mod dialect;
pub(crate) mod endpoint;
pub(crate) mod gateway_config;
pub(crate) mod proxy;
pub(crate) mod reply_field;
