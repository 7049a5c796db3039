//! Configuration: the options at the start, and the switches at run time. This file validates the
//! options: a sandbox does not start with an unusable option, or with one that gives everybody access.

mod options;

pub use options::{
    Database, Demo, Dialect, MbankQuid, ResolvePending, ReusedOrderNumber, SandboxError, SandboxOptions, StatusNumbers,
    Switches, TlsFiles,
};

pub(crate) use options::WELL_KNOWN_PASSWORD;

use std::net::IpAddr;

use url::{Host, Url};

use crate::domain::clock::MAX_AHEAD_MS;

/// The maximum length. With a longer one, links to pages would not fit into a QR code that scans well.
const MAX_PUBLIC_URL: usize = 500;
/// The minimum length of the admin token if other machines can reach the sandbox.
const MIN_PUBLIC_TOKEN: usize = 16;

/// Rejects the first unusable option.
pub(crate) fn check(options: &SandboxOptions) -> Result<(), SandboxError> {
    credentials(options)?;
    settings(options)?;
    public_url(options)?;
    match public_exposure(options) {
        Some((option, address)) => check_public_secrets(options, option, &address),
        None => Ok(()),
    }
}

fn credentials(options: &SandboxOptions) -> Result<(), SandboxError> {
    if options.login.is_empty() || options.login.contains(':') {
        return reject("login", "must not be empty or contain a colon");
    }
    if options.password.is_empty() {
        return reject("password", "must not be empty");
    }
    if options.admin_token.as_deref().is_some_and(|token| !is_token(token)) {
        return reject("admin_token", "must be visible ASCII characters, without spaces");
    }
    Ok(())
}

fn settings(options: &SandboxOptions) -> Result<(), SandboxError> {
    if options.resolve_pending.after_queries == Some(0) {
        return reject("resolve_pending", "after_queries must be at least 1");
    }
    if options.clock_ahead_ms() > MAX_AHEAD_MS {
        return reject("clock_ahead", "must be at most a hundred years");
    }
    Ok(())
}

fn public_url(options: &SandboxOptions) -> Result<(), SandboxError> {
    let Some(public_url) = &options.public_url else {
        return Ok(());
    };
    let is_plain = Url::parse(public_url).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none() && url.fragment().is_none()
    });
    if !is_plain || public_url.len() > MAX_PUBLIC_URL || !public_url.is_ascii() {
        return reject("public_url", "must be an http or https URL without a query");
    }
    Ok(())
}

/// The option that lets other machines reach the sandbox, if any, with its value.
/// A public URL of another host means that a tunnel or a proxy leads here.
fn public_exposure(options: &SandboxOptions) -> Option<(&'static str, String)> {
    if !is_own(options.listen.ip()) {
        return Some(("listen", options.listen.to_string()));
    }
    let public_url = options.public_url.as_ref().filter(|url| !leads_to_this_machine(url))?;
    Some(("public_url", public_url.clone()))
}

/// The well-known password and short tokens are rejected if other machines can reach the sandbox.
fn check_public_secrets(options: &SandboxOptions, option: &'static str, address: &str) -> Result<(), SandboxError> {
    if options.password == WELL_KNOWN_PASSWORD {
        let instead = if option == "listen" { "listen on 127.0.0.1" } else { "omit --public-url" };
        let detail = format!(
            "other machines can reach {address}, and the default login and password are public: set your own password \
             (--password or KASSA_SANDBOX_PASSWORD), or {instead}"
        );
        return reject(option, &detail);
    }
    if options.admin_token.as_ref().is_some_and(|token| token.len() < MIN_PUBLIC_TOKEN) {
        let detail = format!(
            "other machines can reach {address}, and such a short token can be guessed: use at least {MIN_PUBLIC_TOKEN} \
             characters (--admin-token or KASSA_SANDBOX_ADMIN_TOKEN), or omit it for a random token"
        );
        return reject("admin_token", &detail);
    }
    Ok(())
}

fn is_own(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

fn leads_to_this_machine(url: &str) -> bool {
    let url = Url::parse(url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => is_own(address.into()),
        Some(Host::Ipv6(address)) => is_own(address.into()),
        None => false,
    }
}

/// Whether a header can contain it unchanged.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn reject(option: &'static str, detail: &str) -> Result<(), SandboxError> {
    Err(SandboxError::Option { option, detail: detail.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejection(public_url: &str, password: &str, token: Option<&str>) -> Option<String> {
        let options = SandboxOptions {
            public_url: Some(public_url.to_owned()),
            password: password.to_owned(),
            admin_token: token.map(str::to_owned),
            ..SandboxOptions::default()
        };
        check(&options).err().map(|error| error.to_string())
    }

    #[test]
    fn foreign_public_url_needs_custom_password() {
        for tunnel in
            ["https://x.example", "http://192.0.2.1:8400", "https://localhost.example", "http://[2001:db8::1]/"]
        {
            let error = rejection(tunnel, WELL_KNOWN_PASSWORD, None).expect("rejected");
            assert!(error.starts_with("public_url: ") && error.contains("--password"), "{error}");
            assert_eq!(rejection(tunnel, "my own", None), None);
        }
        for own in [
            "http://localhost:9000",
            "https://shop.localhost/x",
            "http://127.8.0.1",
            "http://[::1]:1",
            "http://LOCALHOST",
        ] {
            assert_eq!(rejection(own, WELL_KNOWN_PASSWORD, Some("short")), None, "{own}");
        }
    }

    #[test]
    fn public_sandbox_rejects_short_admin_token() {
        let error = rejection("https://x.example", "my own", Some("fifteen-letters")).expect("rejected");
        assert!(error.starts_with("admin_token: ") && error.contains("16"), "{error}");
        assert_eq!(rejection("https://x.example", "my own", Some("sixteen-letters!")), None);
    }
}
