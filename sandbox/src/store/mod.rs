//! Storage: one SQLite database, with a file for each table or for each kind of query.

pub(crate) mod browse;
pub(crate) mod callback_queue;
mod columns;
pub(crate) mod database;
pub(crate) mod exchanges;
pub(crate) mod filter;
mod group_commit;
pub(crate) mod payments;
pub(crate) mod received;
pub(crate) mod statistics;
pub(crate) mod text_search;
pub(crate) mod transaction;

pub(crate) use database::Store;
pub(crate) use exchanges::Flush;
pub(crate) use group_commit::grouped;
pub(crate) use transaction::{StoreError, WriteTransaction};
