//! A shop's back end at kassa-server: opens checkouts, and verifies the events that report their outcome.
//!
//! ```no_run
//! use kassa_client::{Client, NewCheckout, verify_event};
//! use reqwest::header::HeaderMap;
//!
//! # fn deliver(order: &str) {}
//! async fn buy(client: &Client, order: &str) -> Result<String, kassa_client::Error> {
//!     let wanted = NewCheckout::new(order, 390.into(), "Two tickets", "https://shop.example.kg/paid");
//!     let checkout = client.open_checkout(&wanted).await?;
//!     Ok(checkout.page_url.unwrap_or_default()) // where to send the payer
//! }
//!
//! // What the server sends to `events.url`: the body as it came, and the request's headers.
//! fn take(body: &[u8], headers: &HeaderMap, secret: &str) -> Result<(), kassa_client::EventError> {
//!     let event = verify_event(body, headers, [secret])?;
//!     if event.is_paid() {
//!         deliver(&event.reference); // once for each order
//!     }
//!     Ok(())
//! }
//! # async fn start() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::from_environment()?; // KASSA_SERVER_URL, KASSA_API_KEY
//! # Ok(())
//! # }
//! ```
//!
//! To sign events in your own tests, use [`testing::sign_event`]. The payer's side of the same server is `kassa::Checkout`; the
//! gateway itself is `kassa::Gateway`.

#![forbid(unsafe_code)]

mod client;
mod error;
mod events;
mod http;
mod settings;
pub mod testing;
mod values;

pub use client::{Client, EventHistory, NewCheckout, Outcome};
pub use error::{Error, EventError, EventErrorReason, FieldViolation, Problem};
pub use events::{EventHeaders, EventVerifier, verify_event};
pub use rust_decimal::Decimal;
pub use settings::{ClientBuilder, SettingError};
pub use values::{Checkout, DialectAdvice, Event, EventAt, EventPage, EventPayment, EventVia, Failure, Payment, Token};

/// The README's program compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
