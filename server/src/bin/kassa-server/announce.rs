//! What the program prints when it listens: for people, or as one line of JSON for the program that started it.

use std::{
    io::{self, Write},
    net::SocketAddr,
};

use kassa_server::settings::ProgramSettings;
use serde::Serialize;

/// Where the server can be reached.
#[derive(Serialize)]
pub(crate) struct Addresses {
    /// The one for shops, apps and the gateway.
    pub(crate) url: String,
    /// The one for metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metrics_url: Option<String>,
}

impl Addresses {
    pub(crate) fn new(listen: SocketAddr, is_tls: bool, metrics: Option<SocketAddr>) -> Self {
        let scheme = if is_tls { "https" } else { "http" };
        Self {
            url: format!("{scheme}://{listen}"),
            metrics_url: metrics.map(|address| format!("http://{address}/metrics")),
        }
    }

    /// Prints them.
    pub(crate) fn print(&self, settings: &ProgramSettings, as_json: bool, out: &mut impl Write) -> io::Result<()> {
        if as_json {
            let line = serde_json::to_string(self)?;
            writeln!(out, "{line}")?;
            return out.flush();
        }
        writeln!(out, "Kassa server {}\n", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "  listens at   {}", self.url)?;
        writeln!(out, "  public URL   {}", settings.http.public_url)?;
        if settings.has_staff_pages {
            writeln!(out, "  staff pages  {}/staff", settings.http.public_url.trim_end_matches('/'))?;
        }
        if let Some(url) = &self.metrics_url {
            writeln!(out, "  metrics      {url}")?;
        }
        writeln!(out, "  database     {}", settings.database)?;
        writeln!(out, "  gateway      {}", settings.gateway.base_url)?;
        writeln!(out, "\nStop it with Ctrl-C.")?;
        out.flush()
    }
}
