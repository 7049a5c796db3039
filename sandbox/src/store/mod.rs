//! Where the sandbox remembers: one SQLite database, a file for each of its tables and each way to look at them.

pub(crate) mod attempts;
pub(crate) mod browse;
pub(crate) mod callback_queue;
mod change_flags;
mod database;
mod error;
pub(crate) mod exchanges;
pub(crate) mod filter;
mod group_commit;
pub(crate) mod history;
mod migrations;
pub(crate) mod payments;
pub(crate) mod received;
pub(crate) mod reset;
pub(crate) mod searched_text;
pub(crate) mod statistics;
pub(crate) mod stored_clock;
pub(crate) mod text_search;
mod word;
mod write_behind_log;
mod write_transaction;
mod writer;

pub(crate) use database::Store;
pub(crate) use error::StoreError;
pub(crate) use group_commit::grouped;
pub(crate) use write_behind_log::Flush;
pub(crate) use write_transaction::WriteTransaction;
