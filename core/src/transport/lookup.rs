//! Looking a host name up (DNS), by the system, as the HTTP client does it by itself. It is done here so that a request knows
//! that it waits for it.

use std::{error::Error, net::ToSocketAddrs as _};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::stage::{Stage, during};

pub(super) struct Lookup;

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        Box::pin(during(Stage::LookingUp, Stage::Connecting, async move {
            // The port is set by the HTTP client. The system's resolver blocks its thread.
            let found = tokio::task::spawn_blocking(move || (host.as_str(), 0).to_socket_addrs()).await??;
            Ok::<Addrs, Box<dyn Error + Send + Sync>>(Box::new(found))
        }))
    }
}
