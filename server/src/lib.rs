//! Kassa's server: the merchant's side. It holds the credentials, stores every payment before sending it, polls it until it is
//! final, through crashes and restarts, and sends the shop signed events.
//!
//! A program serves a [`Server`] over HTTP; a test calls it directly:
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use kassa::FakeGateway;
//! use kassa_server::{
//!     CheckoutState, NewCheckout, TokioRuntime, Server, ServerSettings, SqliteStorage,
//! };
//!
//! # let runtime = tokio::runtime::Runtime::new().unwrap();
//! # runtime.block_on(async {
//! # let folder = tempfile::tempdir().unwrap();
//! let fake = FakeGateway::new()?; // a `kassa::Gateway` in production
//! let storage = SqliteStorage::open(&folder.path().join("kassa.db"))?;
//! let runtime = TokioRuntime::on(tokio::runtime::Handle::current());
//! let settings = ServerSettings::new("https://pay.shop.example.kg/callbacks");
//! let server = Server::new(Arc::new(storage), Arc::new(fake.gateway()), Arc::new(runtime), settings, None)?;
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

// The rooms. docs/architecture.md lists which of them may use which, and a test checks it.
mod callbacks;
mod checkouts;
mod dispatch;
mod events;
mod http;
mod locale;
mod metrics;
mod net;
mod pace;
mod pay;
mod payments;
mod polling;
mod probe;
mod rate_limit;
mod rejudge;
mod runtime;
mod server;
pub mod settings;
mod staff;
pub mod storage;
mod telemetry;
mod tokens;
mod values;
mod webhooks;

pub use checkouts::{Checkout, CheckoutView, new_checkout::NewCheckout};
pub use events::{Event, EventKind};
pub use http::{HttpSettings, metrics_router, router};
pub use metrics::{Metrics, WaitingGuard};
pub use net::{BodyError, Listener, ListenerSettings, NetError, Peer, Proxies, TlsFiles, caller, read_body};
pub use pay::{Colour, Logo, Merchant, pay_router};
pub use payments::{
    Failure, PayerCard, Payment,
    exchange::{Exchange, ExchangeKind},
};
pub use polling::PollSummary;
pub use probe::{Probe, ProbeFinding, ProbePlan, ProbeStep, ProbeTalk};
pub use rate_limit::RateLimit;
pub use rejudge::{NotJudged, Rejudge, RejudgeError, RejudgeReport, RepliesPage, Verdict, VerdictChange, Verdicts};
pub use runtime::{Boxed, Runtime, TokioRuntime};
pub use server::{Server, settings::ServerSettings, staff::make_api_key};
pub use staff::staff_router;
pub use storage::{
    Storage, StorageError,
    postgres::{PostgresStorage, settings::PostgresSettings},
    sqlite::{SqliteStorage, connection::DatabaseFile},
};
#[cfg(feature = "opentelemetry")]
pub use telemetry::Collector;
pub use telemetry::CollectorSettings;
pub use tokens::{ApiKey, ClientToken, DecidedBy, InvalidApiKey, KeyRole, Permission, TokenHash};
pub use values::{
    ApiKeyId, CheckoutId, CheckoutState, ClaimState, Cursor, Hidden, Method, Millis, PaymentId, PaymentState,
    Resolution,
    card_number::looks_like_card_number,
    error::{Rule, ServerError, Violation},
};
pub use webhooks::{Deliveries, DeliveryError, HttpWebhookSender, SigningSecret, WebhookMessage, WebhookSender, sign};
