//! The payment gateway's side on your own machine: nine endpoints, the payer's pages, callbacks and test cards.
//!
//! ```
//! use kassa_sandbox::{Sandbox, SandboxOptions};
//!
//! let sandbox = Sandbox::start(SandboxOptions::default())?;
//! println!("{} {} {}", sandbox.url(), sandbox.login(), sandbox.password());
//! assert!(sandbox.payments().is_empty());
//! sandbox.stop();
//! # Ok::<(), kassa_sandbox::SandboxError>(())
//! ```
//!
//! The README documents the test data, the pages' form fields, and every choice made where the gateway's
//! interface is silent.

#![forbid(unsafe_code)]

mod actions;
mod amount;
mod api;
mod auth;
mod clock;
mod deliveries;
mod error;
mod fields;
mod flows;
mod gateway;
mod language;
mod mask;
mod messages;
mod options;
mod pages;
mod payment;
mod problem;
mod qr_png;
mod refusal;
mod reply;
mod rules;
mod sandbox;
mod server;
mod state;
mod store;
mod test_data;

pub use error::SandboxError;
pub use language::Language;
pub use options::{Database, ReusedOrderNumber, SandboxOptions, StatusNumbers};
pub use payment::{Payment, PaymentKind, Provider};
pub use sandbox::Sandbox;
pub use state::{PaymentStatus, RejectReason};
pub use store::{callbacks::CallbackAttempt, exchanges::ReceivedRequest};
pub use test_data::{TEST_CARDS, TEST_PHONES, TestCard, TestOutcome, TestPhone, ThreeDs};

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
