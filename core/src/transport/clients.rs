//! HTTP clients, all configured alike: a connection pool (keep-alive) for each async runtime in which queries run, and
//! a client without a pool for each payment.
//!
//! A kept-alive connection is driven by a task of the runtime in which it was made. A query that runs on its caller's
//! runtime therefore needs a pool there: another runtime's connection would wake another thread for each step, and die
//! with that runtime.

use std::{
    collections::{HashMap, hash_map::Entry},
    convert::Infallible,
    net::ToSocketAddrs as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use http::{HeaderValue, header::USER_AGENT};
use reqwest::{
    Client, ClientBuilder,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect, retry,
};
use rustls::{
    ClientConfig, Error, RootCertStore,
    crypto::{CryptoProvider, KeyProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::SigningKey,
};
use tokio::{
    runtime::{Handle, Id},
    sync::oneshot,
};

use crate::{
    config::peer::{Peer, ProxyRoute, unusable_proxy},
    error::PaymentError,
    text::without_mark,
    transport::{
        Connection, Observer,
        connection::{Stage, during},
        http_error::causes,
    },
};

/// Connection pool: how long a kept-alive connection may be idle. Only queries use the pool. A dead connection costs
/// them a retry, but could lose the answer of a payment, and no client can know in advance that it is dead
/// (`docs/adr/0001-http-in-rust.md`).
const IDLE_CONNECTIONS: Duration = Duration::from_secs(60);

/// All clients of one gateway.
pub(super) struct Clients {
    setup: Setup,
    own_runtime: Id,
    of_own_runtime: Client,
    of_others: Arc<Pools>,
}

/// The clients by runtime. An entry ends with its runtime, or with the gateway.
type Pools = Mutex<HashMap<Id, OfRuntime>>;

struct OfRuntime {
    /// `None` if the runtime cannot drive a connection.
    client: Option<Client>,
    /// Dropped with the gateway, which ends the [`Lifetime`]'s task.
    _gateway_lives: oneshot::Sender<Infallible>,
}

impl Clients {
    /// Creates the clients for a peer, with Kassa's own runtime.
    pub(super) fn new(peer: &Peer<'_>, own_runtime: &Handle) -> Result<Self, PaymentError> {
        let setup = Setup::new(peer)?;
        let of_own_runtime = setup.kept_alive().map_err(|problem| {
            PaymentError::misconfigured(format!("the HTTP client could not be set up: {}", causes(&problem)))
        })?;
        Ok(Self { setup, own_runtime: own_runtime.id(), of_own_runtime, of_others: Arc::default() })
    }

    /// Whether the calling task has its own runtime that can drive connections.
    pub(super) fn can_be_driven_here(&self) -> bool {
        Handle::try_current().is_ok_and(|current| {
            let can = |of_runtime: &OfRuntime| of_runtime.client.is_some();
            current.id() != self.own_runtime && lock(&self.of_others).get(&current.id()).is_none_or(can)
        })
    }

    /// Records that the calling task's runtime cannot drive connections: it was built without I/O or without timers,
    /// which cannot be detected beforehand.
    pub(super) fn cannot_be_driven_here(&self) {
        if let Ok(current) = Handle::try_current() {
            self.keep(&current, None);
        }
    }

    /// A client with the pool of the calling task's runtime.
    pub(super) fn kept_alive(&self) -> reqwest::Result<Client> {
        match Handle::try_current() {
            Ok(current) if current.id() != self.own_runtime => self.of(&current),
            _ => Ok(self.of_own_runtime.clone()),
        }
    }

    fn of(&self, runtime: &Handle) -> reqwest::Result<Client> {
        let of_runtime = lock(&self.of_others).get(&runtime.id()).and_then(|of_runtime| of_runtime.client.clone());
        if let Some(client) = of_runtime {
            return Ok(client);
        }
        let client = self.setup.kept_alive()?;
        self.keep(runtime, Some(client.clone()));
        Ok(client)
    }

    /// Keeps a runtime's client until the runtime is shut down.
    fn keep(&self, runtime: &Handle, client: Option<Client>) {
        let (gateway_lives, gateway_goes) = oneshot::channel();
        match lock(&self.of_others).entry(runtime.id()) {
            Entry::Occupied(mut known) => {
                known.get_mut().client = client;
                return;
            }
            Entry::Vacant(vacant) => vacant.insert(OfRuntime { client, _gateway_lives: gateway_lives }),
        };
        let lifetime = Lifetime { runtime: runtime.id(), pools: Arc::downgrade(&self.of_others) };
        // Spawned after the entry exists: a runtime that is shutting down drops this at once.
        runtime.spawn(async move {
            let _lifetime = lifetime;
            let _ = gateway_goes.await;
        });
    }

    /// A client without a pool: it makes a fresh connection, and notifies the observer when it is established.
    pub(super) fn observed(&self, connection: Arc<Connection>) -> reqwest::Result<Client> {
        self.setup.builder().pool_max_idle_per_host(0).connector_layer(Observer(Some(connection))).build()
    }
}

fn lock(pools: &Pools) -> MutexGuard<'_, HashMap<Id, OfRuntime>> {
    pools.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a task of a runtime, which drops its tasks at shutdown: the runtime's entry is removed then. Connections of
/// a dropped runtime would never answer, and a program may create one runtime after another.
struct Lifetime {
    runtime: Id,
    pools: Weak<Pools>,
}

impl Drop for Lifetime {
    fn drop(&mut self) {
        let removed = self.pools.upgrade().and_then(|pools| lock(&pools).remove(&self.runtime));
        // Outside the lock: it may hold the last connections.
        drop(removed);
    }
}

/// How each client is set up.
struct Setup {
    tls: ClientConfig,
    proxy: Option<reqwest::Proxy>,
    environment_proxies: bool,
    connect_timeout: Duration,
    user_agent: HeaderValue,
}

impl Setup {
    fn new(peer: &Peer<'_>) -> Result<Self, PaymentError> {
        let proxy = match peer.way {
            // Redaction: the problem is not quoted, as it may hold the proxy's password.
            ProxyRoute::Url(url) => Some(reqwest::Proxy::all(url.expose()).map_err(|_| unusable_proxy())?),
            ProxyRoute::Direct | ProxyRoute::Environment => None,
        };
        let suffix = peer.user_agent_suffix.map(|suffix| format!(" {suffix}")).unwrap_or_default();
        let user_agent = format!("kassa/{}{suffix}", env!("CARGO_PKG_VERSION"));
        Ok(Self {
            tls: client_config(peer.extra_root_certificates)?,
            proxy,
            environment_proxies: matches!(peer.way, ProxyRoute::Environment),
            connect_timeout: peer.connect_timeout,
            user_agent: HeaderValue::from_str(&user_agent).map_err(|_| {
                PaymentError::misconfigured("user_agent_suffix has a character that a header cannot carry")
            })?,
        })
    }

    fn kept_alive(&self) -> reqwest::Result<Client> {
        self.builder().pool_idle_timeout(IDLE_CONNECTIONS).connector_layer(Observer(None)).build()
    }

    fn builder(&self) -> ClientBuilder {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(self.tls.clone())
            .http1_only()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .connect_timeout(self.connect_timeout)
            .dns_resolver(Lookup)
            .default_headers([(USER_AGENT, self.user_agent.clone())].into_iter().collect());
        if !self.environment_proxies {
            builder = builder.no_proxy();
        }
        match &self.proxy {
            Some(proxy) => builder.proxy(proxy.clone()),
            None => builder,
        }
    }
}

// TLS and certificate validation: the trusted roots. For the choice of rustls, ring and these roots see
// `docs/adr/0003-ring-and-webpki-roots.md`.

/// TLS 1.2 or later, with Mozilla's roots and the extra ones.
pub(super) fn client_config(extra_root_certificates: &[String]) -> Result<ClientConfig, PaymentError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for pem in extra_root_certificates {
        add(pem, &mut roots)?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(provider()))
        .with_safe_default_protocol_versions()
        .map_err(|problem| PaymentError::misconfigured(format!("TLS could not be set up: {problem}")))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// Ring's provider, without signing by a private key: Kassa presents no client certificate (mutual TLS), so the linker can drop RSA and
/// ECDSA signing.
fn provider() -> CryptoProvider {
    CryptoProvider { key_provider: &NoKeys, ..ring::default_provider() }
}

#[derive(Debug)]
struct NoKeys;

impl KeyProvider for NoKeys {
    fn load_private_key(&self, _key: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        Err(Error::General("there are no client certificates".to_owned()))
    }
}

fn add(pem: &str, roots: &mut RootCertStore) -> Result<(), PaymentError> {
    let unusable =
        |problem: &dyn std::fmt::Display| PaymentError::misconfigured(format!("extra_root_certificates: {problem}"));
    let before = roots.len();
    for certificate in CertificateDer::pem_slice_iter(without_mark(pem).as_bytes()) {
        let certificate = certificate.map_err(|problem| unusable(&problem))?;
        roots.add(certificate).map_err(|problem| unusable(&problem))?;
    }
    if roots.len() == before { Err(unusable(&"a text holds no certificate in PEM form")) } else { Ok(()) }
}

// Host name lookup (DNS) by the system, as in the HTTP client itself. It is done here so that a request knows that it waits for it.

pub(super) struct Lookup;

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        Box::pin(during(Stage::LookingUp, Stage::Connecting, async move {
            // The port is set by the HTTP client. The system's resolver blocks its thread.
            let found = tokio::task::spawn_blocking(move || (host.as_str(), 0).to_socket_addrs()).await??;
            Ok::<Addrs, Box<dyn std::error::Error + Send + Sync>>(Box::new(found))
        }))
    }
}
