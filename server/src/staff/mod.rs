//! The staff pages under `/staff`: for people of the merchant, who log in by a key of their own. They see checkouts
//! that need a person, find payments, read histories, decide unknown outcomes, view the payments of a day, and
//! reconcile with the gateway's statement.

mod admin_state;
mod amount;
mod checkout;
mod checkouts;
mod columns;
mod comparison_view;
mod context;
mod cookie;
mod day;
mod doubt;
mod export;
mod fields;
mod labels;
mod login;
mod mapping;
mod matching;
mod page;
mod reconciliation;
mod report;
mod router;
mod rows;
mod search;
mod statement;
mod story;
mod texts;
mod unknown_callbacks;

pub use router::staff_router;
