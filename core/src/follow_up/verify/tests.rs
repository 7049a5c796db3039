//! Deadline of verifying a callback, on a virtual clock.

use std::time::Duration;

use tokio::time::Instant;

use super::*;
use crate::testing::scripted::{Act, Scripted};

fn callback() -> Callback {
    let text = r#"{"orderNumber":"form-1","amount":390,"currency":"KGS","status":"CHARGE",
        "dateCreated":"2026-11-20T09:05:07","provider":"MBank"}"#;
    Callback::parse(text).unwrap()
}

fn expected() -> ExpectedPayment {
    let payment = PaymentRef::unnumbered(PaymentKind::PayForm);
    ExpectedPayment { payment, amount: Decimal::from(390), currency: "KGS".into() }
}

fn charged_after(seconds: u64) -> Act {
    let body = r#"{"code":"200","data":{"status":"CHARGE","amount":390}}"#;
    Act::Reply(Duration::from_secs(seconds), 200, None, body.to_owned())
}

/// Whether a pay-form was paid by a QR code is a second query within the same deadline.
#[tokio::test(start_paused = true)]
async fn both_questions_share_one_deadline() {
    let settings = |config: &mut crate::GatewayConfig| config.query_deadline = Duration::from_secs(30);
    for second_takes in [0, 60] {
        let answer = move |n| charged_after(if n == 0 { 20 } else { second_takes });
        let (gateway, memory) = Scripted::gateway_with(settings, answer);
        let started = Instant::now();
        let verdict = gateway.verify_callback(&callback(), Some(expected())).await;
        assert_eq!(memory.seen(), ["api/v1.1.0/get-status", "gen/qr/transaction/status"]);
        if second_takes == 0 {
            assert!(matches!(verdict, Ok(CallbackVerdict::Contradicted { .. })), "{verdict:?}");
        } else {
            assert!(matches!(verdict, Err(PaymentError::Unavailable { .. })), "{verdict:?}");
            assert_eq!(started.elapsed(), Duration::from_secs(30));
        }
    }
}
