//! A fault: its name, settings and a constructor for each.

use std::{fmt, time::Duration};

use serde::Serialize;

use crate::{
    domain::{EndpointName, PaymentStatus, RejectReason, codes},
    faults::{FaultName, Moment},
    rules::FieldError,
};

/// Defaults for the status word, the code, the delay and the `Retry-After` of a fault.
const UNKNOWN_STATUS: &str = "ON_HOLD";
const UNKNOWN_CODE: &str = "999";
const DELAY: Duration = Duration::from_secs(1);
const RETRY_AFTER_S: u32 = 1;
/// The longest delay.
pub(super) const MAX_DELAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A fault for `sandbox.faults().add(...)`: a name, and the settings that restrict it.
///
/// ```
/// use kassa_sandbox::{EndpointName, Fault};
///
/// Fault::response_lost().order("ORDER-1").times(1);
/// Fault::unavailable().endpoint(EndpointName::Status).probability(0.05).seed(7);
/// let same: Fault = "response-lost,order_number=ORDER-1,times=1".parse()?;
/// assert_eq!(same, Fault::response_lost().order("ORDER-1").times(1));
/// # Ok::<(), kassa_sandbox::FaultError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fault {
    #[serde(serialize_with = "as_word")]
    name: FaultName,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_path")]
    endpoint: Option<EndpointName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_s: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

impl Fault {
    /// The fault with a name. It applies to everything, always.
    pub fn new(name: FaultName) -> Self {
        Self {
            name,
            endpoint: None,
            order_number: None,
            probability: None,
            times: None,
            seed: None,
            delay_ms: None,
            retry_after_s: None,
            status: None,
            code: None,
        }
    }

    /// Only at this endpoint. For `stuck-pending`: only payments that are created or confirmed there.
    pub fn endpoint(mut self, endpoint: EndpointName) -> Self {
        self.endpoint = Some(endpoint);
        self
    }

    /// Only for this order: by the merchant's number, the gateway's number or the transaction id.
    pub fn order(mut self, number: impl Into<String>) -> Self {
        self.order_number = Some(number.into());
        self
    }

    /// The probability that it is injected, from 0 to 1. Default: 1.
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = Some(probability);
        self
    }

    /// The maximum number of injections. Default: no limit.
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// The seed of its random numbers: the same seed selects the same requests. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The delay of `delay` and `callback-late`, in whole milliseconds. Default: one second.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay_ms = Some(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// The `Retry-After` of `retry-after` (default: 1) and `unavailable` (default: none), in seconds.
    pub fn retry_after_seconds(mut self, seconds: u32) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// The status word of `unknown-status`.
    pub fn status(mut self, word: impl Into<String>) -> Self {
        self.status = Some(word.into());
        self
    }

    /// The code of `unknown-code`.
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Its name.
    pub fn name(&self) -> FaultName {
        self.name
    }

    pub(crate) fn shown_status(&self) -> &str {
        self.status.as_deref().unwrap_or(UNKNOWN_STATUS)
    }

    pub(crate) fn shown_code(&self) -> &str {
        self.code.as_deref().unwrap_or(UNKNOWN_CODE)
    }

    pub(crate) fn delay_or_default(&self) -> Duration {
        self.delay_ms.map_or(DELAY, Duration::from_millis)
    }

    /// The `Retry-After`, if any.
    pub(crate) fn shown_retry_after(&self) -> Option<u32> {
        let default = (self.name == FaultName::RetryAfter).then_some(RETRY_AFTER_S);
        self.retry_after_s.or(default)
    }

    pub(crate) fn seed_or_default(&self) -> u64 {
        self.seed.unwrap_or_default()
    }

    pub(crate) fn chance(&self) -> Option<f64> {
        self.probability
    }

    pub(crate) fn is_spent_after(&self, times_injected: u64) -> bool {
        self.times.is_some_and(|times| times_injected >= times)
    }

    /// True if it applies to one of these endpoints and to an order with one of these numbers.
    pub(crate) fn concerns(&self, endpoints: &[EndpointName], numbers: &[String]) -> bool {
        self.endpoint.is_none_or(|endpoint| endpoints.contains(&endpoint))
            && self.order_number.as_ref().is_none_or(|number| numbers.contains(number))
    }

    /// Rejects settings that could never take effect, instead of ignoring them.
    pub(crate) fn check(&self) -> Result<(), FaultError> {
        let mut errors = Vec::new();
        let mut reject = |is_wrong: bool, field: &str, rule: String| {
            if is_wrong {
                errors.push(FieldError::new(field, rule));
            }
        };
        let name = self.name;
        if let Some(rule) = self.endpoint.and_then(|endpoint| never_at(name, endpoint)) {
            reject(true, "endpoint", rule);
        }
        if let Some(rule) = self.order_number.as_deref().and_then(|number| self.never_for(number)) {
            reject(true, "order_number", rule);
        }
        let is_chance = self.probability.is_none_or(|probability| (0.0..=1.0).contains(&probability));
        reject(!is_chance, "probability", "must be from 0 to 1".to_owned());
        reject(self.times == Some(0), "times", "must be at least 1".to_owned());
        let is_too_late = self.delay_ms.is_some_and(|delay| delay > MAX_DELAY_MS);
        reject(is_too_late, "delay_ms", format!("must be at most {MAX_DELAY_MS}, a day"));
        for (field, is_given, takers) in [
            ("delay_ms", self.delay_ms.is_some(), [FaultName::Delay, FaultName::CallbackLate].as_slice()),
            ("retry_after_s", self.retry_after_s.is_some(), &[FaultName::RetryAfter, FaultName::Unavailable]),
            ("status", self.status.is_some(), &[FaultName::UnknownStatus]),
            ("code", self.code.is_some(), &[FaultName::UnknownCode]),
        ] {
            let takers_are: Vec<_> = takers.iter().map(|taker| taker.as_str()).collect();
            let rule = format!("is for {} only, not for {name}", takers_are.join(" and "));
            reject(is_given && !takers.contains(&name), field, rule);
        }
        let known = "must be one that the sandbox does not use itself, and not blank";
        reject(self.status.as_deref().is_some_and(is_no_unknown_status), "status", known.to_owned());
        reject(self.code.as_deref().is_some_and(is_no_unknown_code), "code", known.to_owned());
        if errors.is_empty() { Ok(()) } else { Err(FaultError { errors }) }
    }

    /// Why it can never apply to an order.
    fn never_for(&self, number: &str) -> Option<String> {
        if number.trim().is_empty() {
            return Some("must not be blank".to_owned());
        }
        let endpoint = self.endpoint.filter(|endpoint| !endpoint.names_the_payment());
        match (self.name.moment(), endpoint) {
            (Moment::Connection, _) => Some(format!("{} strikes before the order is known", self.name)),
            (Moment::Request | Moment::Response, Some(endpoint)) => {
                Some(format!("a request to {endpoint} carries no order number"))
            }
            _ => None,
        }
    }
}

/// Why a fault can never apply to an endpoint.
fn never_at(name: FaultName, endpoint: EndpointName) -> Option<String> {
    use EndpointName::{
        GetStatus, MbankConfirm, MegaCheck, MegaPay, PayForm, QrDynamic, QrDynamicData, QrTransactionStatus, Status,
    };
    match (name, endpoint) {
        (FaultName::OtpTwice, MbankConfirm | MegaPay) => None,
        (FaultName::OtpTwice, _) => Some(format!("{name} strikes at {MbankConfirm} and {MegaPay} only")),
        (FaultName::UnknownStatus, MegaCheck | PayForm | QrDynamic | QrDynamicData) => {
            Some(format!("an answer of {endpoint} has no status word"))
        }
        (FaultName::UnknownCode, QrDynamic) => Some(format!("an answer of {endpoint} has no code")),
        (FaultName::StuckPending, Status | GetStatus | QrTransactionStatus) => {
            Some(format!("{endpoint} makes no payment and confirms none"))
        }
        _ if name.moment() == Moment::Callback => Some("a callback belongs to no endpoint".to_owned()),
        _ => None,
    }
}

fn is_no_unknown_status(word: &str) -> bool {
    word.trim().is_empty() || PaymentStatus::ALL.iter().any(|known| known.as_str().eq_ignore_ascii_case(word.trim()))
}

fn is_no_unknown_code(code: &str) -> bool {
    let code = code.trim();
    code.is_empty() || codes::ALL.contains(&code) || RejectReason::ALL.iter().any(|known| known.code() == code)
}

/// Why a fault is rejected, by field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultError {
    /// All fields that violate a rule.
    pub errors: Vec<FieldError>,
}

impl fmt::Display for FaultError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(formatter, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FaultError {}

fn as_word<S: serde::Serializer>(name: &FaultName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name.as_str())
}

fn as_path<S: serde::Serializer>(endpoint: &Option<EndpointName>, serializer: S) -> Result<S::Ok, S::Error> {
    endpoint.map(EndpointName::as_str).serialize(serializer)
}

macro_rules! constructors {
    ($($(#[doc = $doc:literal])+ $variant:ident, $constructor:ident, $word:literal, $moment:ident;)*) => {
        impl Fault {
            $($(#[doc = $doc])+ pub fn $constructor() -> Self {
                Self::new(FaultName::$variant)
            })*
        }
    };
}

fault_table!(constructors);
