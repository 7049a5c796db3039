//! The upstream of a recorder: its address, the connection to it, and the two parts of a request that depend on it.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use url::Url;

use crate::settings::SandboxError;

/// The address of the upstream.
pub(super) struct Upstream {
    /// The URL without a trailing slash.
    pub(super) url: String,
    host: String,
    port: u16,
    scheme: &'static str,
    /// The value of `Host`.
    authority: String,
    /// The path in front of each request's path.
    prefix: String,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Upstream {
    /// Parses the URL of an option.
    pub(super) fn parse(option: &'static str, text: &str, roots: RootCertStore) -> Result<Self, SandboxError> {
        let reject = |detail: &str| SandboxError::Option { option, detail: detail.to_owned() };
        let url = Url::parse(text).map_err(|error| reject(&format!("{text:?} is not a URL: {error}")))?;
        let scheme = match url.scheme() {
            "http" => "http",
            "https" => "https",
            _ => return Err(reject("must be an http or https URL")),
        };
        let host = url.host_str().ok_or_else(|| reject("must name a host"))?.to_owned();
        if url.query().is_some() || url.fragment().is_some() {
            return Err(reject("must have no query and no fragment"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(reject("must have no credentials: the client sends its own"));
        }
        let host_alone = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let tls = match scheme {
            "https" => {
                let name = ServerName::try_from(host_alone.clone()).map_err(|error| reject(&error.to_string()))?;
                Some((connector(roots)?, name))
            }
            _ => None,
        };
        Ok(Self {
            url: url.as_str().trim_end_matches('/').to_owned(),
            port: url.port_or_known_default().unwrap_or(80),
            authority: url.port().map_or(host.clone(), |port| format!("{host}:{port}")),
            prefix: url.path().trim_end_matches('/').to_owned(),
            host: host_alone,
            scheme,
            tls,
        })
    }

    /// Connects once. Sends nothing except a TLS handshake.
    pub(super) async fn connect(&self) -> io::Result<UpstreamStream> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        match &self.tls {
            None => Ok(UpstreamStream::Plain(stream)),
            Some((tls, name)) => Ok(UpstreamStream::Encrypted(Box::new(tls.connect(name.clone(), stream).await?))),
        }
    }

    /// The first line of a request with the upstream's path.
    pub(super) fn request_line(&self, line: &[u8]) -> Vec<u8> {
        let Some(start) = line.iter().position(|byte| *byte == b' ').map(|at| at + 1) else {
            return line.to_vec();
        };
        let target = &line[start..];
        let (replacement, rest): (String, &[u8]) = if target.starts_with(b"/") {
            (self.prefix.clone(), target)
        } else if let Some(path) = path_of_absolute(target) {
            (format!("{}://{}{}", self.scheme, self.authority, self.prefix), path)
        } else {
            return line.to_vec();
        };
        [&line[..start], replacement.as_bytes(), rest].concat()
    }

    /// A `Host` line with the upstream's name.
    pub(super) fn host_line(&self, line: &[u8]) -> Vec<u8> {
        let name = line.iter().position(|byte| *byte == b':').map_or(0, |at| at + 1);
        let end: &[u8] = if line.ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
        [&line[..name], b" ", self.authority.as_bytes(), end].concat()
    }
}

/// The path in the absolute form of a target, as clients send it to a forward proxy.
fn path_of_absolute(target: &[u8]) -> Option<&[u8]> {
    let scheme = target.windows(3).position(|window| window == b"://")?;
    let authority = &target[scheme + 3..];
    let end = authority.iter().position(|byte| matches!(byte, b'/' | b'?' | b' '))?;
    Some(&authority[end..])
}

fn connector(roots: RootCertStore) -> Result<TlsConnector, SandboxError> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| SandboxError::System(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// A connection to the upstream.
pub(super) enum UpstreamStream {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl UpstreamStream {
    /// Makes the end of the connection a TCP reset.
    pub(super) fn set_zero_linger(&self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.set_zero_linger(),
            Self::Encrypted(stream) => stream.get_ref().0.set_zero_linger(),
        }
    }
}

impl AsyncRead for UpstreamStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Encrypted(stream) => Pin::new(stream.as_mut()).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for UpstreamStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Encrypted(stream) => Pin::new(stream.as_mut()).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Encrypted(stream) => Pin::new(stream.as_mut()).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Encrypted(stream) => Pin::new(stream.as_mut()).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(upstream: &str, line: &str) -> String {
        let upstream = Upstream::parse("upstream", upstream, RootCertStore::empty()).expect("a URL");
        let changed = if line.starts_with("H") {
            upstream.host_line(line.as_bytes())
        } else {
            upstream.request_line(line.as_bytes())
        };
        String::from_utf8(changed).expect("a text")
    }

    #[test]
    fn target_and_host_alone_are_changed() {
        for (upstream, request, changed) in [
            ("http://g.example", "POST /a?x=/1 HTTP/1.1\r\n", "POST /a?x=/1 HTTP/1.1\r\n"),
            ("https://g.example/v2/", "POST /a?x=1 HTTP/1.1\r\n", "POST /v2/a?x=1 HTTP/1.1\r\n"),
            ("http://g.example:81/v2", "GET http://me:1/a HTTP/1.1\n", "GET http://g.example:81/v2/a HTTP/1.1\n"),
            ("http://g.example/v2", "OPTIONS * HTTP/1.1\r\n", "OPTIONS * HTTP/1.1\r\n"),
            ("http://g.example/v2", "nonsense\r\n", "nonsense\r\n"),
            ("http://[::1]:8400/x", "HOST:127.0.0.1\r\n", "HOST: [::1]:8400\r\n"),
            ("https://g.example:443", "Host: a\n", "Host: g.example\n"),
        ] {
            assert_eq!(line(upstream, request), changed);
        }
    }

    #[test]
    fn unusable_upstream_is_rejected() {
        for text in ["g.example", "ftp://g.example", "http://g.example/?a=1", "http://a:b@g.example"] {
            assert!(Upstream::parse("upstream", text, RootCertStore::empty()).is_err(), "{text}");
        }
    }
}
