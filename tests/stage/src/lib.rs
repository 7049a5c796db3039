//! The stage that the vectors of a checkout are played on (`tests/conformance/checkout`): the real server with a real sandbox
//! behind it, and a network between app and server that fails as it is told to (fault injection).
//!
//! A runner in any language plays the app; everybody else (the shop, the payer at the gateway, whoever pulls the plug) is played
//! here. Rust calls [`Scene`], the other languages the program `kassa-stage` over HTTP.

mod gateway_side;
mod merchant;
mod network;
mod scene;

pub use scene::Scene;

/// What went wrong, for whoever reads the test's output.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
