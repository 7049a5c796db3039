//! TLS and certificate validation: whom to trust. Why rustls with ring and these roots:
//! `docs/adr/0003-ring-and-webpki-roots.md`.

use std::sync::Arc;

use rustls::{
    ClientConfig, Error, RootCertStore,
    crypto::{CryptoProvider, KeyProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::SigningKey,
};

use crate::{error::PaymentError, text::without_mark};

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

/// Ring's, without what signs by a private key: Kassa shows no client certificate (mutual TLS), so the linker can leave out
/// how RSA and ECDSA sign.
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
