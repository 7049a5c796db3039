//! How recovery follows payments.

use std::time::Duration;

use crate::{error::PaymentError, validation::Checks, violation::Rule};

/// How [`Gateway::recover`](crate::Gateway::recover) follows payments.
///
/// ```
/// use std::time::Duration;
/// use kassa::RecoveryPolicy;
///
/// // Once through, at a start, and not for long.
/// let policy = RecoveryPolicy::default().with_deadline(Duration::from_secs(30));
/// assert_eq!((policy.interval, policy.at_once), (Duration::from_secs(10), 8));
/// ```
///
/// Source: every 10 seconds until Reject or Charge (`docs/interface.md#polling`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveryPolicy {
    /// The time from the start of one question about a payment to the start of the next, while the payment is younger
    /// than 20 minutes. 10 s unless set. Older ones are asked about less often: up to 2 hours of age a sixth as often, to
    /// a day a sixtieth, to three days every 360th time, then every 8640th: daily.
    #[cfg_attr(feature = "serde", serde(rename = "interval_ms", with = "crate::serialized::milliseconds"))]
    pub interval: Duration,
    /// How long to go on. 20 minutes unless set.
    #[cfg_attr(feature = "serde", serde(rename = "deadline_ms", with = "crate::serialized::milliseconds"))]
    pub deadline: Duration,
    /// How many payments are asked about at the same time. 8 unless set.
    pub at_once: u32,
    /// Whether payments that are begun later are followed, too, as a worker of a back end does: the journal is read again
    /// after each interval, and the recovery goes on until its deadline though nothing is left. **Then it alone delivers**:
    /// whoever made such a payment and watches it, too, would deliver it as well. Not unless set.
    #[cfg_attr(feature = "uniffi", uniffi(default = false))]
    pub follow_new: bool,
}

impl RecoveryPolicy {
    /// The same with another time between two questions about a young payment.
    #[must_use]
    pub fn with_interval(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// The same with another time to go on.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// The same with another number of payments that are asked about at the same time.
    #[must_use]
    pub fn with_at_once(self, at_once: u32) -> Self {
        Self { at_once, ..self }
    }

    /// The same, for payments that are begun later as well.
    #[must_use]
    pub fn with_follow_new(self, follow_new: bool) -> Self {
        Self { follow_new, ..self }
    }

    pub(super) fn check(&self) -> Result<(), PaymentError> {
        let mut checks = Checks::default();
        for (field, value) in [("interval", self.interval), ("deadline", self.deadline)] {
            if value.is_zero() {
                checks.fail(field, Rule::Minimum, None, "must be longer than zero");
            }
        }
        if self.at_once == 0 {
            checks.fail("at_once", Rule::Minimum, Some("1"), "must be at least 1");
        }
        checks.finish()
    }
}

impl Default for RecoveryPolicy {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(10),
            deadline: Duration::from_secs(20 * 60),
            at_once: 8,
            follow_new: false,
        }
    }
}
