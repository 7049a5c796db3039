//! TLS by files. A renewed certificate is loaded without a restart: the files are checked at intervals, and
//! unusable files change nothing.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::TlsAcceptor;
use zeroize::Zeroizing;

use super::{error::NetError, settings::TlsFiles};
use crate::values::text_file;

const CERTIFICATE: &str = "tls.certificate";
const KEY: &str = "tls.key";

/// The signs that a file was replaced: its time of change and its length.
type Stamp = Option<(SystemTime, u64)>;

/// The current certificate, and its files.
pub(super) struct Certificates {
    files: TlsFiles,
    acceptor: TlsAcceptor,
    loaded: [Stamp; 2],
    look_every: Duration,
    looked: Instant,
}

impl Certificates {
    pub(super) fn load(files: TlsFiles, look_every: Duration, now: Instant) -> Result<Self, NetError> {
        // Before they are read, so that a write in between is found the next time.
        let loaded = stamps(&files);
        let acceptor = acceptor(&files)?;
        Ok(Self { files, acceptor, loaded, look_every, looked: now })
    }

    /// The key pair for a new connection. Between a new certificate and its new key, the old pair stays in use.
    pub(super) fn current(&mut self, now: Instant) -> TlsAcceptor {
        if now.saturating_duration_since(self.looked) >= self.look_every {
            self.looked = now;
            self.look(now);
        }
        self.acceptor.clone()
    }

    fn look(&mut self, now: Instant) {
        if stamps(&self.files) == self.loaded {
            return;
        }
        match Self::load(self.files.clone(), self.look_every, now) {
            Ok(renewed) => {
                tracing::info!(target: "kassa_server", "the renewed certificate is used from now on");
                *self = renewed;
            }
            Err(problem) => {
                tracing::error!(target: "kassa_server", %problem, "the renewed certificate cannot be used, the old one stays");
            }
        }
    }
}

/// Whether connections can be encrypted with these files.
pub(crate) fn check_files(files: &TlsFiles) -> Result<(), NetError> {
    acceptor(files).map(drop)
}

fn stamps(files: &TlsFiles) -> [Stamp; 2] {
    [&files.certificate, &files.key].map(|path| {
        let found = fs::metadata(path).ok()?;
        Some((found.modified().ok()?, found.len()))
    })
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, NetError> {
    let certificates = certificates(&files.certificate)?;
    let key = Zeroizing::new(pem(KEY, &files.key)?);
    let key = PrivateKeyDer::from_pem_slice(&key)
        .map_err(|problem| unusable(KEY, &files.key, &format!("no private key in PEM: {problem}")))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key));
    let mut config =
        config.map_err(|problem| unusable(KEY, &files.key, &format!("does not go with the certificate: {problem}")))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, NetError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem(CERTIFICATE, path)?).collect();
    let found = read.map_err(|problem| unusable(CERTIFICATE, path, &format!("no certificate in PEM: {problem}")))?;
    if found.is_empty() { Err(unusable(CERTIFICATE, path, "no certificate in PEM")) } else { Ok(found) }
}

/// The content of a file, without a byte order mark: after it, the first certificate would be read as a comment.
fn pem(setting: &'static str, path: &Path) -> Result<Vec<u8>, NetError> {
    text_file::read(path).map_err(|problem| unusable(setting, path, &problem.to_string()))
}

fn unusable(setting: &'static str, path: &Path, detail: &str) -> NetError {
    NetError::File { setting, path: path.to_owned(), detail: detail.to_owned() }
}
