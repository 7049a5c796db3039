//! TLS: the certificate of the sandbox, the trust roots of its own calls, and the byte stream of a connection, plain or encrypted.

use std::{
    fs, io,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Timeout, timeout},
};
use tokio_rustls::{Accept, TlsAcceptor, server::TlsStream};

use crate::settings::{SandboxError, SandboxOptions, TlsFiles};

const CERTIFICATE: &str = "tls.certificate";
const KEY: &str = "tls.key";
const CALLBACK_CA: &str = "callback_ca";

/// Reads the files.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, SandboxError> {
    let certificates = certificates(CERTIFICATE, &files.certificate)?;
    let key = PrivateKeyDer::from_pem_slice(&pem(KEY, &files.key)?)
        .map_err(|error| unusable(KEY, &files.key, &format!("no private key in PEM: {error}")))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key));
    let mut config =
        config.map_err(|error| unusable(KEY, &files.key, &format!("does not go with the certificate: {error}")))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The trust roots of callbacks: the public roots, those of the options, and the issuers in the sandbox's own certificate
/// file, so that the built-in receiver can be called.
pub(crate) fn callback_roots(options: &SandboxOptions) -> Result<RootCertStore, SandboxError> {
    let mut roots = roots(CALLBACK_CA, &options.callback_ca)?;
    if let Some(files) = &options.tls {
        // A certificate that cannot be a root is ignored: the file's purpose is to be presented, not to be trusted.
        let _added = roots.add_parsable_certificates(certificates(CERTIFICATE, &files.certificate)?);
    }
    Ok(roots)
}

/// The public roots and those in files.
pub(crate) fn roots(option: &'static str, paths: &[PathBuf]) -> Result<RootCertStore, SandboxError> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    for path in paths {
        for certificate in certificates(option, path)? {
            roots.add(certificate).map_err(|error| unusable(option, path, &format!("no usable root: {error}")))?;
        }
    }
    Ok(roots)
}

fn certificates(option: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, SandboxError> {
    let rejection = |detail: String| unusable(option, path, &detail);
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem(option, path)?).collect();
    let certificates = read.map_err(|error| rejection(format!("no certificate in PEM: {error}")))?;
    if certificates.is_empty() { Err(rejection("no certificate in PEM".to_owned())) } else { Ok(certificates) }
}

/// The content of a file without the byte order mark that Notepad writes. Otherwise the first certificate would be read as a comment.
fn pem(option: &'static str, path: &Path) -> Result<Vec<u8>, SandboxError> {
    let mut bytes = fs::read(path).map_err(|error| unusable(option, path, &error.to_string()))?;
    if matches!(bytes[..], [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 1..=255, ..] | [1..=255, 0, ..]) {
        return Err(unusable(option, path, "it is in UTF-16: save it as UTF-8"));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    Ok(bytes)
}

fn unusable(option: &'static str, path: &Path, detail: &str) -> SandboxError {
    SandboxError::Option { option, detail: format!("{}: {detail}", path.display()) }
}

/// A connection. The TLS handshake happens at the first read, so that accepting other connections does not wait for it.
pub(crate) enum Transport {
    Plain(TcpStream),
    Handshake(Pin<Box<Timeout<Accept<TcpStream>>>>),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Transport {
    /// An encrypted connection, with the time limit of its handshake.
    pub(crate) fn encrypted(stream: TcpStream, tls: &TlsAcceptor, handshake_limit: Duration) -> Self {
        Self::Handshake(Box::pin(timeout(handshake_limit, tls.accept(stream))))
    }

    /// Makes the end of the connection a TCP reset.
    pub(crate) fn set_zero_linger(&self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.set_zero_linger(),
            Self::Handshake(handshake) => handshake.get_ref().get_ref().map_or(Ok(()), TcpStream::set_zero_linger),
            Self::Encrypted(stream) => stream.get_ref().0.set_zero_linger(),
        }
    }

    /// The connection after the handshake.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Pin<&mut dyn Stream>>> {
        if let Self::Handshake(handshake) = self {
            let stream = ready!(handshake.as_mut().poll(context)).map_err(|_| io::ErrorKind::TimedOut)??;
            *self = Self::Encrypted(Box::new(stream));
        }
        match self {
            Self::Plain(stream) => Poll::Ready(Ok(Pin::new(stream))),
            Self::Encrypted(stream) => Poll::Ready(Ok(Pin::new(stream.as_mut()))),
            Self::Handshake(_) => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }
}

/// The stream for reading and writing.
trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

impl AsyncRead for Transport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(context))?.poll_read(context, buffer)
    }
}

impl AsyncWrite for Transport {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_ready(context))?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_ready(context))?.poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Handshake(_) => false,
            Self::Encrypted(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(context))?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            // Before the handshake there is no TLS session to close.
            Self::Handshake(_) => Poll::Ready(Ok(())),
            _ => ready!(self.poll_ready(context))?.poll_shutdown(context),
        }
    }
}
