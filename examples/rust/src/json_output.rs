//! The line of JSON for programs: the last one, and the only one on standard output.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use kassa::{
    CardPaymentCreated, MbankConfirmed, MbankPaymentCreated, NextStep, PayFormCreated, PaymentError, QrData, QrImage,
    StatusReport,
};
use serde_json::{Value, json};

use crate::{
    failure::{Failure, USAGE},
    report::{Report, SeenCallback},
};

/// Prints the line.
pub(crate) fn print(command: &str, exit_code: u8, mut body: Value) {
    if let Some(fields) = body.as_object_mut() {
        fields.insert("command".to_owned(), command.into());
        fields.insert("ok".to_owned(), (exit_code == 0).into());
        fields.insert("exit_code".to_owned(), exit_code.into());
    }
    let mut out = io::stdout().lock();
    // A reader that has gone away misses nothing that can be helped here.
    let _printed = writeln!(out, "{body}").and_then(|()| out.flush());
}

/// A command line that is not understood, or one that asks for help.
pub(crate) fn refuse_command_line(error: &clap::Error) -> ExitCode {
    // What cannot be printed cannot be helped.
    let _told = error.print();
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    if std::env::args_os().any(|argument| argument == "--json") {
        let refusal = Failure::Usage("the command line is not understood; standard error says why".to_owned());
        print("", USAGE, json!({"error": failure(&refusal)}));
    }
    ExitCode::from(USAGE)
}

/// What came of a payment.
pub(crate) fn report(report: &Report) -> Value {
    json!({
        "flow": report.flow,
        "reference": report.reference,
        "order_number": report.order,
        "payment": report.payment.to_string(),
        "outcome": report.outcome.word(),
        "answer": report.answer,
        "status": report.status.as_ref().map(status_report),
        "error": report.error.as_ref().map(payment_error),
        "watch_error": report.watch_error.as_ref().map(payment_error),
        "callbacks": report.callbacks.iter().map(callback).collect::<Vec<_>>(),
        "seconds": report.elapsed.as_secs_f64(),
    })
}

/// A callback that came in.
pub(crate) fn callback(seen: &SeenCallback) -> Value {
    json!({
        "order_number": seen.order_number,
        "status": seen.status,
        "amount": seen.amount.map(|amount| amount.to_string()),
        "verdict": seen.verdict,
        "fields": seen.fields,
    })
}

/// Why a command could not do its work.
pub(crate) fn failure(failure: &Failure) -> Value {
    match failure {
        Failure::Payment(error) => payment_error(error),
        other => json!({
            "kind": other.kind(), "payment_may_exist": false, "retryable": false, "describe": other.describe(),
        }),
    }
}

/// A payment's error: its variant, its fields, what it means for the money, and the same in a sentence.
pub(crate) fn payment_error(error: &PaymentError) -> Value {
    let mut value = match error {
        PaymentError::Invalid { violations, .. } => {
            let violations: Vec<_> = violations
                .iter()
                .map(|violation| {
                    json!({
                        "field": violation.field,
                        "rule": violation.rule.to_string(),
                        "limit": violation.limit,
                        "text": violation.text,
                    })
                })
                .collect();
            json!({ "violations": violations })
        }
        PaymentError::Misconfigured { detail, .. }
        | PaymentError::Unauthorized { detail, .. }
        | PaymentError::Unexpected { detail, .. } => json!({ "detail": detail }),
        PaymentError::Unavailable { detail, retry_after, .. } => {
            json!({"detail": detail, "retry_after_seconds": retry_after.map(|wait| wait.as_secs())})
        }
        PaymentError::Refused { reason, .. } => json!({ "reason": reason }),
        PaymentError::OutcomeUnknown { payment, reason, detail, .. } => {
            json!({"payment": payment.to_string(), "reason": reason, "detail": detail})
        }
        PaymentError::DeadlineExpired { last, .. } => json!({"last": last.as_deref().map(status_report)}),
        _ => json!({}),
    };
    value["http_status"] = error.http_status().into();
    value["code"] = error.code().into();
    value["body"] = error.body().into();
    value["kind"] = error.kind().into();
    value["payment_may_exist"] = error.payment_may_exist().into();
    value["retryable"] = error.is_retryable().into();
    value["describe"] = error.describe().into();
    value
}

/// A status as the gateway reports it. Amounts are texts, so that no reader rounds them.
pub(crate) fn status_report(report: &StatusReport) -> Value {
    json!({
        "status": report.status.to_string(),
        "is_final": report.status.is_final(),
        "code": report.code,
        "reason": report.reason,
        "order_number": report.order_number,
        "amount": report.amount.map(|amount| amount.to_string()),
        "currency": report.currency,
        "raw": report.raw,
    })
}

/// The answer to a card payment.
pub(crate) fn card_payment_created(created: &CardPaymentCreated) -> Value {
    let next_step = match &created.next_step {
        NextStep::OpenConfirmation { url, .. } => json!({"kind": "OpenConfirmation", "url": url}),
        NextStep::CheckStatus { status, .. } => json!({"kind": "CheckStatus", "status": status}),
        other => json!({"kind": format!("{other:?}")}),
    };
    json!({
        "payment": created.payment.to_string(),
        "next_step": next_step,
        "code": created.code,
        "amount": created.amount.map(|amount| amount.to_string()),
        "currency": created.currency,
        "raw": created.raw,
    })
}

/// The answer to a mobile-bank payment.
pub(crate) fn mbank_payment_created(created: &MbankPaymentCreated) -> Value {
    json!({
        "payment": created.payment.to_string(),
        "code": created.code,
        "reason": created.reason,
        "raw": created.raw,
    })
}

/// The answer to a confirmation.
pub(crate) fn mbank_confirmed(response: &MbankConfirmed) -> Value {
    json!({
        "payment": response.payment.to_string(),
        "code": response.code,
        "reason": response.reason,
        "status": response.status,
        "raw": response.raw,
    })
}

/// The answer to a pay-form.
pub(crate) fn pay_form_created(created: &PayFormCreated) -> Value {
    json!({"payment": created.payment.to_string(), "pay_form_url": created.pay_form_url, "raw": created.raw})
}

/// The data of a QR code.
pub(crate) fn qr_data(data: &QrData) -> Value {
    json!({
        "payment": data.payment.to_string(),
        "payload": data.payload,
        "transaction_id": data.transaction_id,
        "raw": data.raw,
    })
}

/// The picture of a QR code: where it is, not what is in it.
pub(crate) fn qr_image(image: &QrImage, file: &Path) -> Value {
    json!({"payment": image.payment.to_string(), "file": file.display().to_string(), "bytes": image.png.len()})
}
