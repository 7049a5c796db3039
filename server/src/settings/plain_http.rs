//! The setting `plain_http_hosts`: hosts in the operator's own network that plain HTTP may reach.

use url::{Host, Url};

use super::{
    table::PLAIN_HTTP_HOSTS,
    values::{Parsed, Values},
};
use crate::runtime::{is_loopback, is_one_of};

/// The hosts other than this machine that plain HTTP may reach, and which of them are in use.
pub(super) struct PlainHttp {
    hosts: Parsed<Vec<String>>,
    used: Vec<String>,
}

impl PlainHttp {
    pub(super) fn read(values: &mut Values) -> Self {
        Self { hosts: values.optional(&PLAIN_HTTP_HOSTS, hosts).map(Option::unwrap_or_default), used: Vec::new() }
    }

    /// The permitted hosts for checking this URL. If the setting itself is invalid, that is the only problem,
    /// so the URL counts as permitted.
    pub(super) fn hosts_for(&self, url: &str) -> Vec<String> {
        match &self.hosts {
            Ok(hosts) => hosts.clone(),
            Err(_) => Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).into_iter().collect(),
        }
    }

    /// Warns if a setting's URL is reached by plain HTTP in the network.
    pub(super) fn warn(&mut self, values: &mut Values, name: &str, url: &str, what: &str) {
        let url = Url::parse(url).ok().filter(|url| url.scheme() == "http" && !is_loopback(url));
        let Some(host) = url.as_ref().and_then(Url::host_str) else { return };
        values.warnings.push(format!(
            "{name}: {what} unencrypted to {host}, as plain_http_hosts permits: use https where others share that network"
        ));
        self.used.push(host.to_owned());
    }

    /// Warns of unused hosts: an unneeded permission should be removed.
    pub(super) fn warn_of_unused(&self, values: &mut Values) {
        for host in self.hosts.iter().flatten().filter(|host| !self.used.contains(host)) {
            values
                .warnings
                .push(format!("plain_http_hosts has {host}, which no setting calls by plain HTTP: remove it"));
        }
    }

    /// Whether a URL is https, on this machine, or on a permitted host.
    pub(super) fn permits(&self, url: &Url) -> bool {
        url.scheme() == "https" || is_loopback(url) || is_one_of(url, &self.hosts_for(url.as_str()))
    }
}

/// The rule for a URL with plain HTTP to another machine, with the setting that permits it.
pub(super) fn or_named_host(rule: &str) -> String {
    let is_about_https = rule.starts_with("must be") && rule.contains("https") && rule.ends_with("a loopback address");
    let permission = if is_about_https { ", or to a host that plain_http_hosts names" } else { "" };
    format!("{rule}{permission}")
}

/// Names or addresses, as URLs have them.
fn hosts(text: &str) -> Result<Vec<String>, String> {
    let host = |name: &str| match Host::parse(name) {
        Ok(host) if !name.contains('*') => Some(host.to_string()),
        _ => name.parse().ok().map(|address| Host::<&str>::Ipv6(address).to_string()),
    };
    let all: Option<Vec<_>> = text.split(',').map(|name| host(name.trim())).collect();
    all.ok_or_else(|| {
        "must be a comma-separated list of host names or IP addresses, such as sandbox or 10.0.0.7, without scheme, port and *"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_and_addresses() {
        let found = hosts("Sandbox, shop.internal ,10.0.0.7,fd00::7,[fd00::8]").unwrap();
        assert_eq!(found, ["sandbox", "shop.internal", "10.0.0.7", "[fd00::7]", "[fd00::8]"]);
        for text in ["", "a,", "http://sandbox", "sandbox:8400", "*", "*.internal", "a/b", "a b", "user@sandbox"] {
            assert!(hosts(text).is_err(), "{text}");
        }
    }
}
