//! The last report of a watch, in one allocation, because there may be a million waiting watches.

use rust_decimal::Decimal;

use crate::payment_ref::report::{PaymentStatus, StatusReport};

/// A report with its texts in one allocation.
pub(super) struct LastReport {
    status: PaymentStatus,
    amount: Option<Decimal>,
    /// Code, reason, order number and currency, each if present, and the whole response.
    texts: Box<str>,
    /// The lengths of the first four.
    lengths: [u32; 4],
}

/// The length that marks an absent text. No response is that long.
const ABSENT: u32 = u32::MAX;

impl LastReport {
    pub(super) fn of(report: &StatusReport) -> Self {
        let StatusReport { status, code, reason, order_number, amount, currency, raw } = report;
        let parts = [code, reason, order_number, currency].map(Option::as_deref);
        let length = |part: Option<&str>| part.and_then(|part| u32::try_from(part.len()).ok()).unwrap_or(ABSENT);
        let texts: Vec<&str> = parts.into_iter().flatten().chain([raw.as_str()]).collect();
        Self { status: status.clone(), amount: *amount, texts: texts.concat().into(), lengths: parts.map(length) }
    }

    pub(super) fn report(&self) -> StatusReport {
        let mut rest = &*self.texts;
        let [code, reason, order_number, currency] = self.lengths.map(|length| {
            let (part, others) = rest.split_at(usize::try_from(length).ok().filter(|_| length != ABSENT)?);
            rest = others;
            Some(part.to_owned())
        });
        StatusReport {
            status: self.status.clone(),
            code,
            reason,
            order_number,
            amount: self.amount,
            currency,
            raw: rest.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_report_again_whatever_is_there() {
        for bits in 0..32_u32 {
            let text = |bit: u32, text: &str| (bits & (1 << bit) != 0).then(|| text.to_owned());
            let report = StatusReport {
                status: if bits % 2 == 0 { PaymentStatus::Charged } else { PaymentStatus::Other("ON_HOLD".to_owned()) },
                code: text(0, "200"),
                reason: text(1, ""),
                order_number: text(2, "заказ-1"),
                amount: text(4, "").map(|_| Decimal::new(10_010, 2)),
                currency: text(3, "KGS"),
                raw: "{\"code\":\"200\"}".to_owned(),
            };
            assert_eq!(LastReport::of(&report).report(), report);
        }
    }
}
