//! A simulation of the payment gateway on your own machine, a stateful stub: the gateway's endpoints, the payer's pages,
//! callbacks and test cards.
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
//! The README documents the test data, the faults, the admin interface, the pages' form fields, and every choice made
//! where the gateway's interface is silent.

#![forbid(unsafe_code)]

// The rooms. docs/architecture.md lists them in the order of their dependencies, and a test checks it.
mod admin;
mod callbacks;
mod demo;
mod domain;
mod encoding;
mod endpoints;
mod faults;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod learn;
mod messages;
mod net;
mod openapi;
mod pages;
mod payments;
mod record;
mod recording;
mod redact;
mod replay;
mod rules;
mod server;
mod settings;
mod staff;
mod state;
mod store;
mod web;

pub use domain::{
    EndpointName, Language, Payment, PaymentKind, PaymentStatus, Provider, RejectReason,
    test_data::{TEST_CARDS, TEST_PHONES, TestCard, TestOutcome, TestPhone, ThreeDs},
};
pub use faults::{ActiveFault, Fault, FaultError, FaultName, Faults};
pub use learn::{Confirmation, LearnError, LearnOptions, Learned, NamedPlace, learn};
pub use payments::decide::DecisionError;
pub use record::{RecordError, RecordOptions, Recorder};
pub use recording::RecordingError;
pub use replay::{ReplayOptions, ReplayReport, Speed};
pub use rules::FieldError;
pub use server::{ClockControl, ClockError, Replay, ReplayError, Sandbox};
pub use settings::{
    Database, Demo, Dialect, MbankQuid, ResolvePending, ReusedOrderNumber, SandboxError, SandboxOptions, StatusNumbers,
    Switches, TlsFiles,
};
pub use store::{callback_queue::CallbackAttempt, exchanges::ReceivedRequest};

/// The README's programs run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
