//! A checkout as the merchant's server returns it. Fields that a newer server adds are ignored.

use std::time::{Duration, SystemTime};

use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer};

use crate::{
    checkout::state::{CheckoutDetails, PaymentMethod},
    config::dialect::decline_reason::DeclineReason,
};

/// How many payments of a checkout can be replaced: the server allows no more, because each sends a text message.
const MOST_REPLACED: usize = 5;

/// A checkout, as the payer's app sees it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct View {
    pub(super) id: String,
    pub(super) reference: String,
    #[serde(deserialize_with = "amount")]
    pub(super) amount: Decimal,
    pub(super) currency: String,
    pub(super) description: String,
    #[serde(deserialize_with = "known_methods")]
    pub(super) methods: Vec<PaymentMethod>,
    pub(super) return_url: String,
    pub(super) state: StateOfCheckout,
    pub(super) version: i64,
    pub(super) expires_at_ms: u64,
    pub(super) payments: Vec<Payment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StateOfCheckout {
    Open,
    Paid,
    Expired,
    Cancelled,
    /// A value that only a newer server knows.
    #[serde(other)]
    Other,
}

/// A payment: one attempt to pay.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Payment {
    pub(super) id: String,
    #[serde(deserialize_with = "method")]
    pub(super) method: Option<PaymentMethod>,
    pub(super) state: StateOfPayment,
    pub(super) page_url: Option<String>,
    pub(super) qr_text: Option<String>,
    pub(super) attempts_left: Option<u32>,
    pub(super) failure: Option<Failure>,
    /// The last two digits of the phone that receives the code.
    #[serde(default)]
    pub(super) phone_last2: Option<String>,
    /// The payer's commission and total.
    #[serde(default, deserialize_with = "optional_amount")]
    pub(super) commission: Option<Decimal>,
    #[serde(default, deserialize_with = "optional_amount")]
    pub(super) total: Option<Decimal>,
    /// When the code expires.
    #[serde(default)]
    pub(super) code_expires_at_ms: Option<u64>,
    /// Another payment can replace it.
    #[serde(default)]
    pub(super) can_be_replaced: bool,
    /// The payer replaced it with another one.
    #[serde(default)]
    pub(super) is_replaced: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StateOfPayment {
    Prepared,
    Sending,
    NotMade,
    Unknown,
    Awaiting,
    Confirming,
    Charged,
    Rejected,
    Mismatch,
    Unverifiable,
    /// A value that only a newer server knows.
    #[serde(other)]
    Other,
}

/// Why a payment failed without a charge, or why its code was not accepted. The gateway's own message is not read: it is for the merchant's staff.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Failure {
    pub(super) kind: String,
    /// Why the gateway declined, by the server's dialect. A reason that only a newer server knows is `None`.
    #[serde(default, deserialize_with = "decline_reason")]
    pub(super) decline: Option<DeclineReason>,
}

/// A refusal (RFC 9457, problem details).
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Problem {
    r#type: String,
    title: String,
    detail: Option<String>,
    #[serde(default)]
    violations: Vec<Broken>,
}

#[derive(Clone, Debug, Deserialize)]
struct Broken {
    text: String,
}

impl View {
    pub(super) fn details(&self) -> CheckoutDetails {
        CheckoutDetails {
            reference: self.reference.clone(),
            amount: self.amount,
            currency: self.currency.clone(),
            description: self.description.clone(),
            methods: self.methods.clone(),
            return_url: self.return_url.clone(),
            expires_at: moment(self.expires_at_ms).unwrap_or(SystemTime::UNIX_EPOCH),
        }
    }

    /// The payer's current payment: one that may take money; else the newest page that can still be paid, because an open pay-form blocks
    /// no other payment.
    pub(super) fn current(&self) -> Option<&Payment> {
        let newest = |is: &dyn Fn(&&Payment) -> bool| self.payments.iter().rev().find(is);
        newest(&|payment| matches!(payment.state, StateOfPayment::Mismatch | StateOfPayment::Unverifiable))
            .or_else(|| newest(&|payment| payment.is_held()))
            .or_else(|| newest(&|payment| payment.state == StateOfPayment::Awaiting && !payment.is_replaced))
    }

    /// Whether the server accepts another payment in place of this one.
    pub(super) fn can_replace(&self, payment: &Payment) -> bool {
        let replaced = self.payments.iter().filter(|other| other.is_replaced).count();
        payment.can_be_replaced && replaced < MOST_REPLACED
    }
}

impl Payment {
    pub(super) fn is_confirmed_by_code(&self) -> bool {
        self.method.is_some_and(PaymentMethod::is_confirmed_by_code)
    }

    pub(super) fn code_expires_at(&self) -> Option<SystemTime> {
        self.code_expires_at_ms.and_then(moment)
    }

    /// No other payment can begin while this one is open.
    fn is_held(&self) -> bool {
        match self.state {
            StateOfPayment::Awaiting => self.method != Some(PaymentMethod::PayForm) && !self.is_replaced,
            StateOfPayment::NotMade | StateOfPayment::Rejected => false,
            _ => true,
        }
    }
}

impl Problem {
    /// The last segment of its type, if the merchant's server refused.
    pub(super) fn name(&self) -> Option<&str> {
        self.r#type.strip_prefix("urn:kassa:problem:")
    }

    /// The server's description of the problem.
    pub(super) fn words(&self) -> String {
        if self.violations.is_empty() {
            return self.detail.clone().unwrap_or_else(|| self.title.clone());
        }
        self.violations.iter().map(|violation| violation.text.as_str()).collect::<Vec<_>>().join("; ")
    }
}

fn moment(ms: u64) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(ms))
}

/// A string, digit for digit: a JSON number passes through a float.
fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decimal, D::Error> {
    Decimal::from_str_exact(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

fn optional_amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| Decimal::from_str_exact(&text).map_err(serde::de::Error::custom)).transpose()
}

/// Without methods that only a newer server knows.
fn known_methods<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PaymentMethod>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
}

fn decline_reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DeclineReason>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.and_then(|name| name.parse().ok()))
}

fn method<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PaymentMethod>, D::Error> {
    Ok(String::deserialize(deserializer)?.parse().ok())
}
