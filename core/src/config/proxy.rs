//! HTTP proxy: the way to the gateway.

use std::fmt;

use crate::values::secret::Secret;

/// The way to the gateway: direct, or through a proxy.
///
/// The URL of a proxy may hold a user and a password, so it is never printed.
///
/// ```
/// use kassa::Proxy;
/// assert_eq!(format!("{:?}", Proxy::url("http://me:secret@proxy.example:3128")), "Proxy(url, ***)");
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone, Default)]
pub struct Proxy(pub(crate) Way);

/// The ways there are.
#[derive(Clone, Default)]
pub(crate) enum Way {
    #[default]
    Direct,
    Environment,
    Url(Secret),
}

impl Proxy {
    /// No proxy, whatever the environment says. The default.
    pub fn direct() -> Self {
        Self(Way::Direct)
    }

    /// The proxies that the environment names (`HTTPS_PROXY` and the like).
    pub fn environment() -> Self {
        Self(Way::Environment)
    }

    /// A proxy by its http or https URL.
    pub fn url(url: impl Into<String>) -> Self {
        Self(Way::Url(Secret::new(url)))
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Way::Direct => "Proxy(direct)",
            Way::Environment => "Proxy(environment)",
            Way::Url(_) => "Proxy(url, ***)",
        })
    }
}
