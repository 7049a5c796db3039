//! Kassa's server: the merchant's side. It holds the credentials, writes every payment down before it is sent, follows it to
//! its end through crashes and restarts, and tells the shop by signed events.
//!
//! [`Server`] is what a program serves over HTTP, and what a test calls:
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use kassa::FakeGateway;
//! use kassa_server::{
//!     CheckoutState, NewCheckout, RealSurroundings, Server, ServerSettings, SqliteStorage,
//! };
//!
//! # let runtime = tokio::runtime::Runtime::new().unwrap();
//! # runtime.block_on(async {
//! # let folder = tempfile::tempdir().unwrap();
//! let fake = FakeGateway::new()?; // a `kassa::Gateway` in production
//! let storage = SqliteStorage::open(&folder.path().join("kassa.db"))?;
//! let surroundings = RealSurroundings::on(tokio::runtime::Handle::current());
//! let settings = ServerSettings::new("https://pay.shop.example.kg/callbacks");
//! let server = Server::new(Arc::new(storage), Arc::new(fake.gateway()), Arc::new(surroundings), settings, None)?;
//! server.run();
//!
//! // The shop opens a checkout, and its payer pays by mobile bank.
//! let order = NewCheckout::new("order-17", 390.into(), "Two tickets", "https://shop.example.kg/paid");
//! let id = server.open_checkout(order).await?.checkout.id;
//! let payment = server.pay_by_mbank(&id, "996700000001", Some("try-1")).await?;
//! let payment = server.confirm(&id, &payment.id, &fake.otp(), Some("try-1-otp")).await?;
//!
//! // Only the gateway's own report makes it paid.
//! let mut seen = server.checkout(&id).await?;
//! while seen.checkout.state != CheckoutState::Paid {
//!     seen = server.checkout_after(&id, seen.checkout.version, Duration::from_secs(25)).await?;
//! }
//! assert_eq!(seen.checkout.paid_by, Some(payment.id));
//! server.stop().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

#![forbid(unsafe_code)]

// The rooms. Which of them may use which is told, and tested, in docs/architecture.md.
mod callbacks;
mod checkouts;
mod delivery;
mod events;
mod following;
mod http;
mod limits;
mod metrics;
mod net;
mod pace;
mod pay;
mod payments;
mod probe;
mod rarely;
mod sending;
mod server;
pub mod settings;
mod spans;
mod staff;
pub mod storage;
mod surroundings;
mod tokens;
mod values;

pub use checkouts::{
    checkout::{Checkout, CheckoutView},
    new_checkout::NewCheckout,
};
pub use delivery::{
    Deliveries, HttpPost, NotTaken, Notice, Post,
    signature::{SigningSecret, sign},
};
pub use events::{Event, kind::EventKind};
pub use following::Followed;
pub use http::{HttpSettings, metrics_router, router};
pub use limits::RateLimit;
pub use metrics::{Metrics, Waiting};
pub use net::{BodyError, Listener, ListenerSettings, NetError, Peer, Proxies, TlsFiles, caller, read_body};
pub use pay::{Colour, Logo, Merchant, pay_router};
pub use payments::{
    exchange::{Asked, Exchange},
    payer_card::PayerCard,
    payment::{Failure, Payment},
};
pub use probe::{Probe, ProbeFinding, ProbePlan, ProbeStep, ProbeTalk};
pub use server::{Server, api_keys::make_api_key, settings::ServerSettings};
#[cfg(feature = "opentelemetry")]
pub use spans::Collector;
pub use spans::CollectorSettings;
pub use staff::staff_router;
pub use storage::{
    Storage,
    error::StorageError,
    postgres::{PostgresStorage, settings::PostgresSettings},
    sqlite::{SqliteStorage, look::DatabaseFile},
};
pub use surroundings::{Boxed, RealSurroundings, Surroundings};
pub use tokens::{
    ClientToken, TokenHash,
    api_key::{ApiKey, NoApiKey},
    decided_by::DecidedBy,
    permission::Permission,
    role::KeyRole,
};
pub use values::{
    Millis,
    card_number::looks_like_card_number,
    cursor::Cursor,
    error::ServerError,
    hidden::Hidden,
    ids::{ApiKeyId, CheckoutId, PaymentId},
    method::Method,
    states::{CheckoutState, ClaimState, PaymentState, Resolution},
    violation::{Rule, Violation},
};
