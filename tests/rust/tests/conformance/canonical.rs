//! The canonical JSON form of every public type.

use std::{collections::BTreeSet, sync::Mutex};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kassa::{
    Advice, Callback, CardBrand, CardPaymentCreated, Decimal, FieldState, LocalDateTime, MbankConfirmed,
    MbankPaymentCreated, NextStep, PayFormCreated, PaymentError, PaymentRef, PaymentStatus, Provider, QrCode, QrData,
    QrImage, ReturnRedirect, StatusReport, Verdict, Violation, WatchReport,
};
use serde_json::{Value, json};

/// The types and variants that came out of the SDK so far, for the check that all of them did.
static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

pub fn seen() -> BTreeSet<String> {
    SEEN.lock().unwrap().clone()
}

fn note(name: &str) {
    let mut seen = SEEN.lock().unwrap();
    if !seen.contains(name) {
        seen.insert(name.to_owned());
    }
}

/// A public type, as it is compared.
pub trait Canonical {
    fn canonical(&self) -> Value;
}

impl<T: Canonical> Canonical for Option<T> {
    fn canonical(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::canonical)
    }
}

impl<T: Canonical> Canonical for Vec<T> {
    fn canonical(&self) -> Value {
        self.iter().map(T::canonical).collect()
    }
}

impl Canonical for Decimal {
    fn canonical(&self) -> Value {
        json!({"$decimal": self.to_string()})
    }
}

impl Canonical for Provider {
    fn canonical(&self) -> Value {
        note("Provider");
        match self {
            Self::Cards => json!("cards"),
            Self::MegaPay => json!("mega_pay"),
            Self::MBank => json!("mbank"),
            Self::Other(name) => json!({"kind": "other", "name": name}),
            other => panic!("no form of {other:?}"),
        }
    }
}

impl Canonical for PaymentRef {
    fn canonical(&self) -> Value {
        note("PaymentRef");
        note(&format!("PaymentKind::{}", self.kind));
        json!({
            "kind": self.kind.to_string(),
            "order_number": self.order_number,
            "gateway_number": self.gateway_number,
            "provider": self.provider.canonical(),
            "transaction_id": self.transaction_id,
            "confirm_identifier": self.confirm_identifier,
            "amount": self.amount.canonical(),
            "currency": self.currency,
            "is_claimed": self.is_claimed.then_some(true),
        })
    }
}

impl Canonical for PaymentStatus {
    fn canonical(&self) -> Value {
        note("PaymentStatus");
        match self {
            Self::Charged => json!("charged"),
            Self::Rejected => json!("rejected"),
            Self::Other(word) => json!({"kind": "other", "word": word}),
            other => panic!("no form of {other:?}"),
        }
    }
}

impl Canonical for StatusReport {
    fn canonical(&self) -> Value {
        note("StatusReport");
        json!({
            "status": self.status.canonical(),
            "code": self.code,
            "reason": self.reason,
            "order_number": self.order_number,
            "amount": self.amount.canonical(),
            "currency": self.currency,
            "raw": self.raw,
        })
    }
}

impl Canonical for CardPaymentCreated {
    fn canonical(&self) -> Value {
        note("CardPaymentCreated");
        json!({
            "payment": self.payment.canonical(),
            "next_step": self.next_step.canonical(),
            "code": self.code,
            "amount": self.amount.canonical(),
            "currency": self.currency,
            "raw": self.raw,
        })
    }
}

impl Canonical for NextStep {
    fn canonical(&self) -> Value {
        match self {
            Self::OpenConfirmation { url, .. } => {
                note("NextStep::OpenConfirmation");
                json!({"kind": "open_confirmation", "url": url})
            }
            Self::AskStatus { status, .. } => {
                note("NextStep::AskStatus");
                json!({"kind": "ask_status", "status": status})
            }
            other => panic!("no form of {other:?}"),
        }
    }
}

impl Canonical for MbankPaymentCreated {
    fn canonical(&self) -> Value {
        note("MbankPaymentCreated");
        json!({
            "payment": self.payment.canonical(),
            "code": self.code,
            "reason": self.reason,
            "status": self.status,
            "raw": self.raw,
        })
    }
}

impl Canonical for MbankConfirmed {
    fn canonical(&self) -> Value {
        note("MbankConfirmed");
        json!({
            "payment": self.payment.canonical(),
            "code": self.code,
            "reason": self.reason,
            "status": self.status,
            "raw": self.raw,
        })
    }
}

impl Canonical for PayFormCreated {
    fn canonical(&self) -> Value {
        note("PayFormCreated");
        json!({"payment": self.payment.canonical(), "pay_form_url": self.pay_form_url, "raw": self.raw})
    }
}

impl Canonical for QrImage {
    fn canonical(&self) -> Value {
        note("QrImage");
        let png = json!({"$bytes": STANDARD.encode(&self.png)});
        json!({"payment": self.payment.canonical(), "png": png, "raw": self.raw})
    }
}

impl Canonical for QrData {
    fn canonical(&self) -> Value {
        note("QrData");
        json!({
            "payload": self.payload,
            "transaction_id": self.transaction_id,
            "payment": self.payment.canonical(),
            "raw": self.raw,
        })
    }
}

impl Canonical for QrCode {
    fn canonical(&self) -> Value {
        note("QrCode");
        let rows: Vec<String> =
            self.modules().iter().map(|row| row.iter().map(|dark| if *dark { '1' } else { '0' }).collect()).collect();
        json!({"size": rows.len(), "rows": rows})
    }
}

impl Canonical for LocalDateTime {
    fn canonical(&self) -> Value {
        note("LocalDateTime");
        json!({
            "year": self.year, "month": self.month, "day": self.day,
            "hour": self.hour, "minute": self.minute, "second": self.second, "nanosecond": self.nanosecond,
            "text": self.to_string(),
        })
    }
}

impl Canonical for Callback {
    fn canonical(&self) -> Value {
        note("Callback");
        json!({
            "order_number": self.order_number,
            "amount": self.amount.canonical(),
            "currency": self.currency,
            "status": self.status.canonical(),
            "date_created": self.date_created.canonical(),
            "date_created_text": self.date_created_text,
            "requisite": self.requisite,
            "provider": self.provider.canonical(),
            "raw": self.raw,
            "dedup_key": self.dedup_key(),
            "payment_ref": self.payment_ref().canonical(),
        })
    }
}

impl Canonical for Verdict {
    fn canonical(&self) -> Value {
        let mut form = match self {
            Self::Charged { payment, report, compared, .. } => {
                let (payment, report) = (payment.canonical(), report.canonical());
                json!({"kind": "charged", "payment": payment, "report": report, "compared": compared})
            }
            Self::Rejected { report, .. } => json!({"kind": "rejected", "report": report.canonical()}),
            Self::Open { payment, report, .. } => {
                json!({"kind": "open", "payment": payment.canonical(), "report": report.canonical()})
            }
            Self::Contradicted { fields, report, .. } => {
                json!({"kind": "contradicted", "fields": fields, "report": report.canonical()})
            }
            Self::Unverifiable { why, report, .. } => {
                json!({"kind": "unverifiable", "why": why, "report": report.canonical()})
            }
            other => panic!("no form of {other:?}"),
        };
        note(&format!("Verdict::{}", form["kind"].as_str().unwrap()));
        form["is_charged"] = self.is_charged().into();
        form
    }
}

impl Canonical for ReturnRedirect {
    fn canonical(&self) -> Value {
        note("ReturnRedirect");
        json!({"order_number": self.order_number, "status_code": self.status_code})
    }
}

impl Canonical for Violation {
    fn canonical(&self) -> Value {
        note(&format!("Rule::{}", self.rule));
        json!({"field": self.field, "rule": self.rule.to_string(), "limit": self.limit, "text": self.text})
    }
}

impl Canonical for CardBrand {
    fn canonical(&self) -> Value {
        note(&format!("CardBrand::{self}"));
        self.to_string().into()
    }
}

impl Canonical for FieldState {
    fn canonical(&self) -> Value {
        let form = match self {
            Self::Incomplete => json!("incomplete"),
            Self::Complete => json!("complete"),
            Self::Wrong { violation, .. } => json!({"kind": "wrong", "violation": violation.canonical()}),
            other => panic!("no form of {other:?}"),
        };
        note(&format!("FieldState::{}", form.as_str().unwrap_or("wrong")));
        form
    }
}

impl Canonical for Advice {
    fn canonical(&self) -> Value {
        note(&format!("AdviceTopic::{}", self.topic));
        json!({"field": self.field, "topic": self.topic.to_string(), "text": self.text})
    }
}

impl Canonical for WatchReport {
    fn canonical(&self) -> Value {
        match self {
            Self::Status { verdict, .. } => {
                note("WatchReport::Status");
                json!({"kind": "status", "verdict": verdict.canonical()})
            }
            Self::QueryFailed { error, .. } => {
                note("WatchReport::QueryFailed");
                json!({"kind": "query_failed", "error": error.canonical()})
            }
            other => panic!("no form of {other:?}"),
        }
    }
}

impl Canonical for PaymentError {
    fn canonical(&self) -> Value {
        note(&format!("PaymentError::{}", self.kind()));
        let mut form = error_fields(self);
        form["http_status"] = self.http_status().into();
        form["code"] = self.code().into();
        form["body"] = self.body().into();
        form["kind"] = self.kind().into();
        form["text"] = self.describe().into();
        form["payment_may_exist"] = self.payment_may_exist().into();
        form["is_retryable"] = self.is_retryable().into();
        form
    }
}

fn error_fields(error: &PaymentError) -> Value {
    match error {
        PaymentError::Invalid { violations, .. } => json!({"violations": violations.canonical()}),
        PaymentError::Misconfigured { detail, .. }
        | PaymentError::Unauthorized { detail, .. }
        | PaymentError::Unexpected { detail, .. } => json!({"detail": detail}),
        PaymentError::Unavailable { detail, retry_after, .. } => {
            let milliseconds = retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap());
            json!({"detail": detail, "retry_after_ms": milliseconds})
        }
        PaymentError::Refused { reason, .. } => json!({"reason": reason}),
        PaymentError::OutcomeUnknown { payment, reason, detail, .. } => {
            json!({"payment": payment.canonical(), "reason": reason, "detail": detail})
        }
        PaymentError::DeadlineExpired { last, .. } => json!({"last": last.as_deref().map(StatusReport::canonical)}),
        other => panic!("no form of {other:?}"),
    }
}
