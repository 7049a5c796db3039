//! What every flow and page works with: the options, the store, and the way to wake the deliveries.

use rusqlite::{Connection, Transaction};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::{
    language::Language,
    options::SandboxOptions,
    store::{Store, StoreError},
};

/// The gateway's inside, shared by all that runs.
pub(crate) struct Gateway {
    pub(crate) options: SandboxOptions,
    pub(crate) store: Store,
    /// What absolute links start with, no trailing slash.
    pub(crate) public_url: String,
    /// Told after every write that may have enqueued a callback.
    pub(crate) deliveries: Notify,
}

impl Gateway {
    /// Reads the store.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.store.read(work)
    }

    /// Writes the store in one transaction, then wakes the deliveries.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let value = self.store.write(work)?;
        self.deliveries.notify_one();
        Ok(value)
    }

    /// The absolute URL of a payer's page.
    pub(crate) fn page_url(&self, path: &str, gateway_number: &str) -> String {
        format!("{}{path}?token={gateway_number}", self.public_url)
    }

    /// The language of a code, or the merchant's where it is not spoken here.
    pub(crate) fn language(&self, code: Option<&str>) -> Language {
        code.and_then(Language::from_code).unwrap_or(self.options.language)
    }
}

/// A number nobody can guess: the key to a payment's pages.
pub(crate) fn new_gateway_number() -> String {
    Uuid::new_v4().to_string()
}
