//! The canonical JSON form of every public type.

use std::{collections::BTreeSet, fmt::Debug, sync::Mutex, time::SystemTime};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kassa::{
    Advice, Callback, CardBrand, CardPaymentCreated, Decimal, DialectReading, Elqr, ElqrField, FieldState,
    JournalEntry, JournalState, LocalDateTime, MbankConfirmed, MbankPaymentCreated, MegapayAccepted, MegapayChecked,
    NextStep, PayFormCreated, PaymentEntry, PaymentError, PaymentRef, PaymentStatus, Provider, QrCode, QrData, QrImage,
    Recovered, ReturnRedirect, StatusReport, Unfinished, Verdict, Violation, WatchReport,
};
use serde::{Serialize, de::DeserializeOwned};
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

/// The canonical form of a type that the feature `serde` writes, too.
trait Form {
    fn form(&self) -> Value;
}

impl<T: Form + Serialize + DeserializeOwned + Debug> Canonical for T {
    fn canonical(&self) -> Value {
        let form = self.form();
        let written = serde_json::to_value(self).unwrap();
        assert_eq!(stored(&written), stored(&form), "what serde writes of {self:?}");
        let read: T = serde_json::from_value(written.clone()).unwrap_or_else(|problem| panic!("{self:?}: {problem}"));
        assert_eq!(serde_json::to_value(&read).unwrap(), written, "it is read back as it was written");
        form
    }
}

/// A form without what serde does not write: what methods say of a value, marks of decimals and bytes, and nulls.
fn stored(form: &Value) -> Value {
    match form {
        Value::Array(items) => items.iter().map(stored).collect(),
        Value::Object(map) => match map.iter().next() {
            Some((mark, text)) if matches!(mark.as_str(), "$decimal" | "$bytes") => text.clone(),
            _ => {
                // Of a violation and of advice, the text is a field.
                let says_its_text = map.contains_key("is_retryable") || map.contains_key("nanosecond");
                let is_said = |name: &str| {
                    let methods = ["is_charged", "dedup_key", "payment_ref", "payment_may_exist", "is_retryable"];
                    methods.contains(&name) || says_its_text && name == "text"
                };
                // As in a reference's text, only a QR payment has one. An answer has no kind.
                let has_transaction = map.get("kind").is_none_or(|kind| kind == "qr");
                let is_left_out = |name: &str| is_said(name) || name == "transaction_id" && !has_transaction;
                let kept = map.iter().filter(|(name, value)| !is_left_out(name) && !value.is_null());
                Value::Object(kept.map(|(name, value)| (name.clone(), stored(value))).collect())
            }
        },
        other => other.clone(),
    }
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

impl Form for Provider {
    fn form(&self) -> Value {
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

impl Form for PaymentRef {
    fn form(&self) -> Value {
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
            "entry_id": self.entry_id,
            "transaction_from_code": self.transaction_from_code.then_some(true),
        })
    }
}

impl Form for PaymentEntry {
    fn form(&self) -> Value {
        note("PaymentEntry");
        json!({"payment": self.payment.canonical(), "page_url": self.page_url, "qr_text": self.qr_text})
    }
}

impl Form for JournalEntry {
    fn form(&self) -> Value {
        let begun = self.begun.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        json!({
            "id": self.id,
            "payment": self.payment.canonical(),
            "begun_ms": u64::try_from(begun).unwrap(),
            "state": self.state.canonical(),
            "is_finished": self.is_finished.then_some(true),
            "reason": self.reason,
            "code": self.code,
            "page_url": self.page_url,
            "qr_text": self.qr_text,
            "note": self.note,
        })
    }
}

impl Form for JournalState {
    fn form(&self) -> Value {
        let name = match self {
            Self::Unknown => "unknown",
            Self::Pending => "pending",
            Self::Charged => "charged",
            Self::Mismatch => "mismatch",
            Self::Rejected => "rejected",
            other => panic!("no form of {other:?}"),
        };
        note(&format!("JournalState::{name}"));
        name.into()
    }
}

impl Form for Unfinished {
    fn form(&self) -> Value {
        let form = match self {
            Self::Payment { entry } => json!({"kind": "payment", "entry": entry.canonical()}),
            Self::Unreadable { id, why } => json!({"kind": "unreadable", "id": id, "why": why}),
            other => panic!("no form of {other:?}"),
        };
        note(&format!("Unfinished::{}", form["kind"].as_str().unwrap()));
        form
    }
}

impl Form for Recovered {
    fn form(&self) -> Value {
        let form = match self {
            Self::Payment { entry } => json!({"kind": "payment", "entry": entry.canonical()}),
            Self::Unreadable { id, why } => json!({"kind": "unreadable", "id": id, "why": why}),
            other => panic!("no form of {other:?}"),
        };
        note(&format!("Recovered::{}", form["kind"].as_str().unwrap()));
        form
    }
}

impl Form for PaymentStatus {
    fn form(&self) -> Value {
        note("PaymentStatus");
        match self {
            Self::Charged => json!("charged"),
            Self::Rejected => json!("rejected"),
            Self::Other(word) => json!({"kind": "other", "word": word}),
            other => panic!("no form of {other:?}"),
        }
    }
}

impl Form for StatusReport {
    fn form(&self) -> Value {
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

impl Form for CardPaymentCreated {
    fn form(&self) -> Value {
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

impl Form for NextStep {
    fn form(&self) -> Value {
        match self {
            Self::OpenConfirmation { url, .. } => {
                note("NextStep::OpenConfirmation");
                json!({"kind": "open_confirmation", "url": url})
            }
            Self::CheckStatus { status, .. } => {
                note("NextStep::CheckStatus");
                json!({"kind": "check_status", "status": status})
            }
            other => panic!("no form of {other:?}"),
        }
    }
}

impl Form for MbankPaymentCreated {
    fn form(&self) -> Value {
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

impl Form for MbankConfirmed {
    fn form(&self) -> Value {
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

impl Form for MegapayChecked {
    fn form(&self) -> Value {
        note("MegapayChecked");
        let lifetime = self.pin_lifetime.map(|lifetime| u64::try_from(lifetime.as_millis()).unwrap());
        json!({
            "payment": self.payment.canonical(),
            "commission": self.commission.canonical(),
            "total": self.total.canonical(),
            "pin_lifetime_ms": lifetime,
            "code": self.code,
            "reason": self.reason,
            "raw": self.raw,
        })
    }
}

impl Form for MegapayAccepted {
    fn form(&self) -> Value {
        note("MegapayAccepted");
        json!({
            "payment": self.payment.canonical(),
            "transaction_id": self.transaction_id,
            "code": self.code,
            "reason": self.reason,
            "status": self.status,
            "raw": self.raw,
        })
    }
}

impl Form for PayFormCreated {
    fn form(&self) -> Value {
        note("PayFormCreated");
        json!({"payment": self.payment.canonical(), "pay_form_url": self.pay_form_url, "raw": self.raw})
    }
}

impl Form for QrImage {
    fn form(&self) -> Value {
        note("QrImage");
        let png = json!({"$bytes": STANDARD.encode(&self.png)});
        json!({"payment": self.payment.canonical(), "png": png, "raw": self.raw})
    }
}

impl Form for QrData {
    fn form(&self) -> Value {
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

impl Canonical for DialectReading {
    fn canonical(&self) -> Value {
        note("DialectReading");
        let fields: Value = self
            .fields
            .iter()
            .map(|field| json!({"name": field.name, "pointer": field.pointer, "value": field.value}))
            .collect();
        json!({
            "fields": fields,
            "code_means": self.code_means,
            "status_means": self.status_means,
            "unread": self.unread,
            "problem": self.problem,
        })
    }
}

impl Form for LocalDateTime {
    fn form(&self) -> Value {
        note("LocalDateTime");
        json!({
            "year": self.year, "month": self.month, "day": self.day,
            "hour": self.hour, "minute": self.minute, "second": self.second, "nanosecond": self.nanosecond,
            "text": self.to_string(),
        })
    }
}

impl Form for Callback {
    fn form(&self) -> Value {
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
            "missing": self.missing,
            "raw": self.raw,
            "dedup_key": self.dedup_key(),
            "payment_ref": self.payment_ref().canonical(),
        })
    }
}

impl Form for Verdict {
    fn form(&self) -> Value {
        let mut form = match self {
            Self::Charged { payment, report, compared, .. } => {
                let (payment, report) = (payment.canonical(), report.canonical());
                json!({"kind": "charged", "payment": payment, "report": report, "compared": compared})
            }
            Self::Rejected { payment, report, .. } => {
                json!({"kind": "rejected", "payment": payment.canonical(), "report": report.canonical()})
            }
            Self::Pending { payment, report, .. } => {
                json!({"kind": "pending", "payment": payment.canonical(), "report": report.canonical()})
            }
            Self::Mismatch { payment, fields, report, .. } => {
                let (payment, report) = (payment.canonical(), report.canonical());
                json!({"kind": "mismatch", "payment": payment, "fields": fields, "report": report})
            }
            Self::Unverifiable { payment, why, report, .. } => {
                let (payment, report) = (payment.canonical(), report.canonical());
                json!({"kind": "unverifiable", "payment": payment, "why": why, "report": report})
            }
            other => panic!("no form of {other:?}"),
        };
        note(&format!("Verdict::{}", form["kind"].as_str().unwrap()));
        form["is_charged"] = self.is_charged().into();
        form
    }
}

impl Form for ReturnRedirect {
    fn form(&self) -> Value {
        note("ReturnRedirect");
        json!({"order_number": self.order_number, "status_code": self.status_code})
    }
}

impl Form for Elqr {
    fn form(&self) -> Value {
        note("Elqr");
        let tagged = |fields: &[ElqrField]| -> Value {
            fields.iter().map(|field| json!({"tag": field.tag, "text": field.text})).collect()
        };
        json!({
            "link": self.link,
            "kind": self.kind.to_string(),
            "provider": self.provider,
            "service_code": self.service_code,
            "recipient": self.recipient,
            "transaction": self.transaction,
            "amount_editable": self.amount_editable,
            "recipient_editable": self.recipient_editable,
            "merchant_id": self.merchant_id,
            "merchant_service": self.merchant_service,
            "comment": self.comment,
            "fields": tagged(&self.fields),
            "mcc": self.mcc,
            "currency": self.currency,
            "amount_tyiyn": self.amount_tyiyn,
            "payee": self.payee,
            "other": tagged(&self.other),
            "checksum_ok": self.checksum_ok,
        })
    }
}

impl Form for Violation {
    fn form(&self) -> Value {
        note(&format!("Rule::{}", self.rule));
        json!({"field": self.field, "rule": self.rule.to_string(), "limit": self.limit, "text": self.text})
    }
}

impl Form for CardBrand {
    fn form(&self) -> Value {
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

impl Form for Advice {
    fn form(&self) -> Value {
        note(&format!("AdviceTopic::{}", self.topic));
        json!({"field": self.field, "topic": self.topic.to_string(), "text": self.text})
    }
}

impl Form for WatchReport {
    fn form(&self) -> Value {
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

impl Form for PaymentError {
    fn form(&self) -> Value {
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
