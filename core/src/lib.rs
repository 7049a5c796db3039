//! Kassa accepts payments through a gateway: cards with 3DS, MBank with a one-time password, MegaPay with a PIN, the gateway's pay-form and
//! dynamic QR codes. **It always says what happened to the money.**
//!
//! Begin with [`Gateway`] (or [`BlockingGateway`]) and a [`GatewayConfig`]. Every call that fails returns a [`PaymentError`] that says
//! whether it may have moved money. A payment whose outcome is unknown is never sent again (at-most-once delivery). You watch it instead,
//! by the [`PaymentRef`] that you stored before sending ([`Gateway::watch`]).
//!
//! | To do this | call | and then |
//! |---|---|---|
//! | take a card payment | [`Gateway::create_card_payment`] | open the confirmation page, watch |
//! | take a mobile-bank payment | [`Gateway::create_mbank_payment`] | [`Gateway::confirm_mbank_payment`], watch |
//! | take a payment from a MegaPay wallet, if the [`Dialect`] offers it | [`Gateway::check_megapay`] | show the total, [`Gateway::pay_by_megapay`], watch |
//! | let the payer choose on a pay-form | [`Gateway::create_pay_form`] | open the page, take the callback; `qr_numbers` in the [`Dialect`] |
//! | show a QR code | [`Gateway::create_qr_data`], [`QrCode`] | watch |
//! | show the gateway's own QR picture | [`Gateway::create_qr_image`] | take the callback |
//! | forget no payment when the program dies | [`Gateway::with_journal`] | [`Gateway::recover`] |
//! | deliver what is charged, as a worker of a back end | [`Gateway::deliver_forever`] | |
//! | know which order a callback is about | [`CallbackKey`] | take the callback |
//! | query a payment once, or until it is final | [`Gateway::check`], [`Gateway::watch`] | ship if it is [`Verdict::Charged`] |
//! | take a callback (webhook) | [`Callback::parse`] | [`Gateway::verify_callback`] |
//! | read a card form as it is typed | [`CardInput`] | [`CardInput::card`] |
//! | take the payer's return | [`ReturnRedirect::parse`] | [`Gateway::verify_return`] |
//! | store a payment with the page or code to show again | [`PaymentEntry`], `entry()` of the answers | |
//! | take a payment in an app, with no secret in it | [`Checkout`] | deliver by the server's event |
//! | say to the payer what a screen shows, in their language | [`CheckoutTexts`], [`CheckoutLabels`], [`amount_text`], [`phone_hint`] | |
//! | write a dialect from the gateway's responses | [`Dialect::explain`], [`Dialect::advice`] | |
//! | try a dialect on recorded responses | [`RecordedExchange`] | |
//! | test a program without a socket | `FakeGateway`, with the feature `fake` | |
//! | put a stub in the gateway's place | [`PaymentGateway`], [`BlockingPaymentGateway`] | |
//!
//! Amounts are exact decimals, never floats. Names, paths and responses follow the gateway's interface (`docs/interface.md`); what the
//! interface does not show is configuration ([`Dialect`]). Every answer has the raw response.
//!
//! # The feature `serde`
//!
//! Off by default. With it answers, errors, verdicts, references, reports, callbacks, redirects, violations, advice and [`PollPolicy`] are
//! `Serialize` and `Deserialize`, in the form of the conformance vectors (`tests/conformance/README.md#canonical-form`), without the
//! results of methods:
//!
//! * names are in snake_case; a variant with fields is an object with its `kind`, a variant without fields is a string;
//! * amounts are strings, digit for digit; a JSON number is rejected, because it would pass through a float;
//! * durations are whole milliseconds, in a field that ends in `_ms`; bytes are base64; an absent value is `null`;
//! * a missing field is read as absent, and an unknown field is ignored, because a later version may write it.
//!
//! Deserialization rejects invalid values, as parsing does: a transaction id of a payment that is not a QR payment, a page that is not
//! https, a damaged picture. It does not prove that a value is genuine: read it only from storage that you control, and query the gateway
//! again before you ship.
//!
//! Types that hold a secret are neither `Serialize` nor `Deserialize`: [`Card`], [`CardInput`], [`CardPayment`], [`Credentials`], [`CallbackKey`], [`GatewayConfig`] and
//! [`Proxy`].
//!
#![cfg_attr(feature = "serde", doc = "```")]
#![cfg_attr(not(feature = "serde"), doc = "```ignore")]
//! use kassa::{Decimal, PaymentRef};
//!
//! let payment = PaymentRef::card("order-1", Decimal::new(10010, 2), "KGS");
//! let json = serde_json::to_value(&payment)?;
//! assert_eq!((&json["kind"], &json["amount"]), (&"card".into(), &"100.10".into()));
//! assert_eq!(serde_json::from_value::<PaymentRef>(json)?, payment);
//! # Ok::<(), serde_json::Error>(())
//! ```

#![cfg_attr(not(feature = "uniffi"), forbid(unsafe_code))]

// The rooms. docs/architecture.md defines their order, and a test checks it.
mod card;
mod checkout;
mod config;
mod currency;
mod elqr;
mod error;
#[cfg(any(test, feature = "fake", feature = "_internals"))]
#[cfg_attr(not(any(test, feature = "fake")), expect(dead_code, reason = "simulations use its responses"))]
mod fake;
#[cfg(feature = "uniffi")]
mod ffi;
mod gateway;
mod i18n;
mod journal;
mod json;
mod money;
mod operations;
mod payment_entry;
mod payment_ref;
mod pipeline;
mod qr_code;
mod response;
mod rule;
mod secret;
#[cfg(feature = "serde")]
mod serialized;
mod status;
#[cfg(any(test, feature = "_internals"))]
mod testing;
mod text;
mod transport;
mod validation;
mod violation;

/// For this project's own fuzz targets, benchmarks and tests. Not a part of the public API: it may change at any time.
#[cfg(feature = "_internals")]
#[doc(hidden)]
pub mod _internals {
    pub use crate::testing::{
        fixed_response::{PASSWORD, gateway_responding},
        schedules,
    };
}

#[cfg(feature = "uniffi")]
uniffi::setup_scaffolding!();

/// For the bundle of the foreign packages. Not a part of the public API: it may change at any time.
#[cfg(feature = "uniffi")]
#[doc(hidden)]
pub mod _calls {
    pub use crate::{
        ffi::call::{AsyncCall, Completion, CompletionCode, Running, Untaken, spawn},
        pipeline::log::as_call,
        transport::calling_thread::CallingThread,
    };
}

pub use card::{
    Card, CardBrand,
    input::{CardInput, FieldState},
};
pub use checkout::{
    Checkout, CheckoutStates,
    message::{CheckoutMessage, MessageTopic},
    screen_texts::{CheckoutLabels, CheckoutTexts, amount_text, pay_text, phone_hint},
    settings::CheckoutSettings,
    state::{CheckoutDetails, CheckoutState, PaymentMethod},
};
pub use config::{
    dialect::{Dialect, QrAmountUnit, decline_reason::DeclineReason},
    gateway_config::{Credentials, GatewayConfig, StatusQueryForm},
    peer::Proxy,
};
pub use elqr::{BankLink, Elqr, ElqrField, ElqrKind};
pub use error::PaymentError;
#[cfg(any(test, feature = "fake"))]
pub use fake::{
    FakeGateway,
    books::{FakeFault, FakeNotification, FakePayment, FakePlan},
};
pub use gateway::{
    Gateway,
    blocking::{BlockingGateway, BlockingRecovery, BlockingStatusWatch},
    contract::{BlockingPaymentGateway, GatewayFuture, PaymentGateway},
};
pub use i18n::Language;
pub use journal::{
    Journal, UnfinishedEntries,
    entry::{JournalEntry, JournalState, Unfinished},
};
pub use money::{som_to_tyiyn, tyiyn_to_som};
pub use operations::{
    card_payment::{CardPayment, CardPaymentCreated, NextStep},
    explain::{DialectField, DialectReading},
    mbank_confirm::MbankConfirmed,
    mbank_payment::{MbankPayment, MbankPaymentCreated},
    megapay::{MegapayAccepted, MegapayChecked, MegapayPayment},
    pay_form::{PayForm, PayFormCreated},
    qr_data::QrData,
    qr_image::QrImage,
    qr_payment::QrPayment,
};
pub use payment_entry::PaymentEntry;
pub use payment_ref::{
    PaymentKind, PaymentRef, new_order_number,
    report::{PaymentStatus, Provider, StatusReport},
};
pub use qr_code::{QR_PNG_SIDE, QrCode, QrLevel};
pub use rust_decimal::Decimal;
pub use status::local_date_time::LocalDateTime;
pub use status::{
    callback::Callback,
    callback_key::CallbackKey,
    delivery::{BlockingDeliveryHandler, DeliveryHandler, DeliveryPolicy, DeliverySummary, StopSignal},
    recorded::{RecordedExchange, RecordedOutcome},
    recovery::{Recovered, Recovery, RecoveryPolicy},
    redirect::ReturnRedirect,
    verdict::Verdict,
    watch::{PollPolicy, StatusWatch, WatchReport},
};
pub use validation::phone_and_otp::{normalized_otp, normalized_phone};
pub use violation::{Advice, AdviceTopic, Rule, Violation};

/// The README's program compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
