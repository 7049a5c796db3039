//! Secrets: masked when printed (redaction), wiped from memory when dropped (zeroization).

use std::{fmt, io, sync::Arc};

use zeroize::{Zeroize, Zeroizing};

/// A card number, a CVC, a one-time password or a password. Clones are the same copy, which is wiped with the last of
/// them.
#[derive(Clone)]
pub(crate) struct Secret(Arc<Zeroizing<String>>);

impl Secret {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(Arc::new(Zeroizing::new(text.into())))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Bytes with secrets in them, such as a request body: wiped when dropped, and when they have to move to grow.
#[derive(Default)]
pub(crate) struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self(Zeroizing::new(Vec::with_capacity(capacity)))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Appends without leaving a copy behind, as a growing `Vec` would.
    pub(crate) fn append(&mut self, more: &[u8]) {
        let needed = self.0.len() + more.len();
        if needed > self.0.capacity() {
            let mut larger = Vec::with_capacity(needed.max(self.0.capacity() * 2));
            larger.extend_from_slice(&self.0);
            self.0.zeroize();
            *self.0 = larger;
        }
        self.0.extend_from_slice(more);
    }
}

impl AsRef<[u8]> for SecretBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl io::Write for SecretBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_and_keeps_every_byte() {
        let mut bytes = SecretBytes::with_capacity(2);
        bytes.append(b"abc");
        bytes.append(b"defghijkl");
        assert_eq!(bytes.as_ref(), b"abcdefghijkl");
    }

    #[test]
    fn prints_a_mask() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), "***");
    }
}
