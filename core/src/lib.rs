//! Kassa accepts payments through a gateway: cards with 3DS, the mobile bank with a one-time password, a hosted pay-form and
//! dynamic QR codes. **It always says what happened to the money.**
//!
//! Begin with [`Gateway`] (or [`BlockingGateway`]) and a [`GatewayConfig`]. Every call that gives no answer gives a
//! [`PaymentError`] that says whether it may have moved money; a payment whose outcome is not known is never sent again but
//! watched, by the [`PaymentRef`] that was stored before it was sent ([`Gateway::watch`]).
//!
//! | To do this | call | and then |
//! |---|---|---|
//! | take a card payment | [`Gateway::create_card_payment`] | open the confirmation page, watch |
//! | take a mobile-bank payment | [`Gateway::create_mbank_payment`] | [`Gateway::confirm_mbank_payment`], watch |
//! | let the payer choose on a hosted page | [`Gateway::create_pay_form`] | open the page, take the callback |
//! | show a QR code | [`Gateway::create_qr_data`], [`QrCode`] | watch |
//! | show the gateway's own QR picture | [`Gateway::create_qr_image`] | take the callback |
//! | take a callback | [`Callback::parse`] | [`Gateway::verify_callback`] |
//! | take the payer's return | [`ReturnRedirect::parse`] | ask for the status |
//!
//! Amounts are exact decimals, never floats. What a payment is called, where it goes and what comes back follows the gateway's
//! interface; what that interface does not show is configuration ([`Dialect`]), and the raw reply is always at hand.

#![cfg_attr(not(feature = "uniffi"), forbid(unsafe_code))]

mod blocking;
mod call;
mod callback;
mod card;
mod config;
mod credentials;
mod dialect;
mod endpoint;
mod engine;
mod error;
#[cfg(feature = "uniffi")]
mod ffi;
mod flows;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod gateway;
mod in_flight;
mod json;
mod local_date_time;
#[cfg(feature = "measuring")]
#[doc(hidden)]
pub mod measuring;
mod money;
mod operation;
mod order_number;
mod outcome;
mod payment_ref;
mod per_process;
mod provider;
mod proxy;
mod qr_code;
mod question;
mod redact;
mod redirect;
mod reply;
mod rules;
#[cfg(test)]
mod schedules;
mod secret;
mod status;
#[cfg(test)]
mod testing;
mod transport;
mod verify;
mod violation;
mod watch;

#[cfg(feature = "uniffi")]
uniffi::setup_scaffolding!();

pub use blocking::{BlockingGateway, BlockingStatusWatch};
pub use callback::Callback;
pub use card::Card;
pub use config::{GatewayConfig, StatusQueryForm};
pub use credentials::Credentials;
pub use dialect::{Dialect, QrAmountUnit};
pub use error::PaymentError;
pub use flows::{
    card_payment::{CardPayment, CardPaymentCreated, NextStep},
    mbank_confirm::GatewayReply,
    mbank_payment::{MbankPayment, MbankPaymentCreated},
    pay_form::{PayForm, PayFormCreated},
    qr_data::QrData,
    qr_image::QrImage,
    qr_payment::QrPayment,
};
pub use gateway::Gateway;
pub use local_date_time::LocalDateTime;
pub use money::{som_to_tyiyn, tyiyn_to_som};
pub use order_number::new_order_number;
pub use payment_ref::{PaymentKind, PaymentRef};
pub use provider::Provider;
pub use proxy::Proxy;
pub use qr_code::{QR_PNG_SIDE, QrCode, QrLevel};
pub use redirect::ReturnRedirect;
pub use rust_decimal::Decimal;
pub use status::{PaymentStatus, StatusReport};
pub use verify::{CallbackVerdict, ExpectedPayment};
pub use violation::{Advice, AdviceTopic, Rule, Violation};
pub use watch::{PollPolicy, StatusWatch, WatchOutcome, WatchReport};

/// The README's program compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
