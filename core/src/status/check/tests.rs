//! Which queries are sent, within one deadline, on a virtual clock.

use std::{path::Path, time::Duration};

use tokio::time::Instant;

use super::reason_of;
use crate::{
    Callback, Decimal, Dialect, GatewayConfig, Journal, JournalState, PaymentError, PaymentRef, PaymentStatus,
    PollPolicy, StatusReport, Verdict,
    journal::tests::memory_disk::MemoryDisk,
    testing::scripted::{Act, Scripted},
};

fn callback() -> Callback {
    let text = r#"{"orderNumber":"form-1","amount":390,"currency":"KGS","status":"CHARGE",
        "dateCreated":"2026-11-20T09:05:07","provider":"MBank"}"#;
    Callback::parse(text).unwrap()
}

fn after(seconds: u64, status: u16, body: &str) -> Act {
    Act::Response(Duration::from_secs(seconds), status, None, body.to_owned())
}

const CHARGED: &str = r#"{"code":"200","data":{"status":"CHARGE","amount":390}}"#;

/// Whether a pay-form was paid by a QR code is a second query within the same deadline.
#[tokio::test(start_paused = true)]
async fn all_queries_share_one_deadline() {
    let settings = |config: &mut GatewayConfig| {
        config.query_deadline = Duration::from_secs(30);
        config.dialect = Dialect::from_json(r#"{"qr_numbers":"transaction_id"}"#).unwrap().into();
    };
    for second_takes in [0, 60] {
        let answer = move |n| after(if n == 0 { 20 } else { second_takes }, 200, CHARGED);
        let (gateway, memory) = Scripted::gateway_with(settings, answer);
        let started = Instant::now();
        let payment = PaymentRef::pay_form(Decimal::from(390));
        let verdict = gateway.verify_callback(&callback(), &payment).await;
        assert_eq!(memory.seen(), ["api/v1.1.0/get-status", "gen/qr/transaction/status"]);
        if second_takes == 0 {
            assert!(matches!(verdict, Ok(Verdict::Mismatch { .. })), "{verdict:?}");
        } else {
            assert!(matches!(verdict, Err(PaymentError::Unavailable { .. })), "{verdict:?}");
            assert_eq!(started.elapsed(), Duration::from_secs(30));
        }
    }
}

/// "Not known" by one number must not hide that the other one could not be queried by: the payment may be charged.
#[tokio::test(start_paused = true)]
async fn check_returns_less_conclusive_of_two_failures() {
    let unknown = r#"{"code":"404","message":"no such order"}"#;
    let payment = PaymentRef::card("order-1", Decimal::ONE_HUNDRED, "KGS").with_gateway_number("gw-1");
    let settings = |config: &mut GatewayConfig| config.query_retries = 0;
    for (first, second, kind) in [
        ((404, unknown), (503, "{}"), "Unavailable"),
        ((404, unknown), (404, unknown), "Refused"),
        ((200, "<html>"), (404, unknown), "Unexpected"),
    ] {
        let (gateway, memory) = Scripted::gateway_with(settings, move |n| {
            let (status, body) = if n == 0 { first } else { second };
            after(0, status, body)
        });
        assert_eq!(gateway.check(&payment).await.unwrap_err().kind(), kind);
        assert_eq!(memory.seen().len(), 2);
    }
}

/// A gateway that repeats itself may have told this payment another one's number.
#[tokio::test(start_paused = true)]
async fn final_status_by_gateway_number_is_verified() {
    let response = |number: &str, status: &str, amount: u32| {
        let number = if number.is_empty() { String::new() } else { format!(r#""orderNumber":"{number}","#) };
        (200, format!(r#"{{"code":"200","data":{{{number}"status":"{status}","amount":{amount}}}}}"#))
    };
    let unknown = || (404, r#"{"code":"404","message":"no such order"}"#.to_owned());
    let payment = PaymentRef::card("order-1", Decimal::ONE_HUNDRED, "KGS").with_gateway_number("gw-1");
    let settings = |config: &mut GatewayConfig| config.query_retries = 0;
    for (first, second, expected, questions) in [
        (response("order-1", "CHARGE", 100), unknown(), "Charged", 1),
        (response("gw-1", "CHARGE", 100), response("order-1", "CHARGE", 100), "Charged", 2),
        (response("", "CHARGE", 100), response("", "CHARGE", 100), "Charged", 2),
        (response("", "CHARGE", 100), response("order-1", "NEW", 100), "Pending", 2),
        (response("", "CHARGE", 100), response("order-1", "CHARGE", 1), "Mismatch", 2),
        (response("", "CHARGE", 100), response("", "REJECT", 100), "Unverifiable", 2),
        (response("", "CHARGE", 100), unknown(), "Unverifiable", 2),
        (response("", "CHARGE", 100), (503, "{}".to_owned()), "Unavailable", 2),
        (response("", "CHARGE", 100), (404, "<html>".to_owned()), "Misconfigured", 2),
        (response("", "REJECT", 100), response("", "CHARGE", 100), "Charged", 2),
        (response("gw-1", "REJECT", 100), response("", "NEW", 100), "Pending", 2),
        (response("", "REJECT", 100), response("", "REJECT", 100), "Rejected", 2),
        (response("", "REJECT", 100), unknown(), "Rejected", 2),
        (response("", "REJECT", 100), (503, "{}".to_owned()), "Unavailable", 2),
        (response("order-1", "REJECT", 100), unknown(), "Rejected", 1),
        (response("", "NEW", 100), unknown(), "Pending", 1),
    ] {
        let responses = [first, second];
        let (gateway, memory) = Scripted::gateway_with(settings, {
            let responses = responses.clone();
            move |n| after(0, responses[n].0, &responses[n].1)
        });
        let verdict = match gateway.check(&payment).await {
            Ok(verdict) => format!("{verdict:?}"),
            Err(error) => error.kind().to_owned(),
        };
        assert!(verdict.starts_with(expected), "{responses:?}: {verdict}");
        assert_eq!(memory.seen().len(), questions, "{responses:?}");
    }
}

/// By a dialect that lets the gateway's reports name numbers of its own. The answer by the merchant's number counts. If
/// there is none, amount and currency decide.
#[tokio::test(start_paused = true)]
async fn other_number_needs_amount_and_currency() {
    let response = |number: &str, status: &str, amount: &str| {
        let number = if number.is_empty() { String::new() } else { format!(r#""orderNumber":"{number}","#) };
        (200, format!(r#"{{"code":"200","data":{{{number}{amount}"status":"{status}"}}}}"#))
    };
    let (both, no_currency, other) =
        (r#""amount":100.00,"currency":"KGS","#, r#""amount":100,"#, r#""amount":1,"currency":"KGS","#);
    let unknown = || (404, r#"{"code":"404","message":"no such order"}"#.to_owned());
    let payment = PaymentRef::card("order-1", Decimal::ONE_HUNDRED, "KGS").with_gateway_number("gw-1");
    let settings = |config: &mut GatewayConfig| {
        config.query_retries = 0;
        config.dialect = Dialect::from_json(r#"{"base":"finipay"}"#).unwrap().into();
    };
    for (first, second, expected, questions) in [
        (response("Fp1", "CHARGE", both), response("order-1", "CHARGE", both), "Charged", 2),
        (response("Fp1", "CHARGE", both), unknown(), "Charged", 2),
        (response("Fp1", "CHARGE", both), (404, "<html>".to_owned()), "Charged", 2),
        (response("Fp1", "CHARGE", both), (200, "<html>".to_owned()), "Charged", 2),
        (response("", "CHARGE", both), unknown(), "Charged", 2),
        // The gateway's own number ties no more than at any other gateway.
        (response("gw-1", "CHARGE", no_currency), unknown(), "Unverifiable", 2),
        (response("Fp1", "CHARGE", both), (503, "{}".to_owned()), "Unavailable", 2),
        (response("Fp1", "CHARGE", both), (401, "{}".to_owned()), "Unauthorized", 2),
        (response("Fp1", "CHARGE", both), response("order-1", "NEW", both), "Pending", 2),
        (response("Fp1", "CHARGE", both), response("order-1", "REJECT", both), "Unverifiable", 2),
        (response("Fp1", "CHARGE", both), response("order-1", "CHARGE", other), "Mismatch", 2),
        (response("Fp1", "CHARGE", no_currency), unknown(), "Unverifiable", 2),
        (response("Fp1", "CHARGE", no_currency), response("order-1", "CHARGE", both), "Charged", 2),
        (response("Fp1", "CHARGE", no_currency), response("order-1", "REJECT", both), "Unverifiable", 2),
        (response("Fp1", "CHARGE", other), unknown(), "Mismatch", 1),
        (response("Fp1", "REJECT", both), unknown(), "Rejected", 2),
        (response("Fp1", "REJECT", both), (404, "<html>".to_owned()), "Rejected", 2),
        (response("Fp1", "REJECT", both), response("order-1", "CHARGE", both), "Charged", 2),
        (response("Fp1", "REJECT", no_currency), unknown(), "Unverifiable", 2),
        (response("Fp1", "NEW", ""), unknown(), "Pending", 1),
    ] {
        let responses = [first, second];
        let (gateway, memory) = Scripted::gateway_with(settings, {
            let responses = responses.clone();
            move |n| after(0, responses[n].0, &responses[n].1)
        });
        let verdict = match gateway.check(&payment).await {
            Ok(verdict) => format!("{verdict:?}"),
            Err(error) => error.kind().to_owned(),
        };
        assert!(verdict.starts_with(expected), "{responses:?}: {verdict}");
        assert_eq!(memory.seen().len(), questions, "{responses:?}");
    }
}

/// Callbacks, watches and the journal go by the same verdict.
#[tokio::test(start_paused = true)]
async fn other_number_is_charged_if_dialect_allows_any() {
    const UNDER_ANOTHER: &str =
        r#"{"code":"200","data":{"orderNumber":"Fp1","status":"CHARGE","amount":390,"currency":"KGS"}}"#;
    let payment = PaymentRef::mbank("form-1", 390);
    for (numbers, is_charged) in [("any", true), ("own", false)] {
        let settings = |config: &mut GatewayConfig| {
            let text = format!(r#"{{"endpoints":{{"provider_status":{{"numbers":"{numbers}"}}}}}}"#);
            config.dialect = Dialect::from_json(&text).unwrap().into();
        };
        let journal = Journal::on(Box::new(MemoryDisk::default()), Path::new("shop")).unwrap();
        journal.begin(&payment, None).unwrap();
        let (gateway, _) = Scripted::gateway_with(settings, |_| after(0, 200, UNDER_ANOTHER));
        let gateway = gateway.with_journal(journal.clone());
        let verified = gateway.verify_callback(&callback(), &payment).await.unwrap();
        assert_eq!(verified.is_charged(), is_charged, "{numbers}: {verified:?}");
        let watched = gateway.watch(payment.clone(), PollPolicy::default()).unwrap().outcome().await;
        assert_eq!(watched.is_ok_and(|end| end.is_some_and(|verdict| verdict.is_charged())), is_charged, "{numbers}");
        let state = journal.entry(&payment).unwrap().unwrap().state;
        assert_eq!(state == JournalState::Charged, is_charged, "{numbers}: {state:?}");
    }
}

/// The journal and who looks into it learn the number that the gateway reported, where a dialect lets it name any.
#[test]
fn reason_names_the_reported_order_number() {
    let card = PaymentRef::card("order-1", Decimal::ONE_HUNDRED, "KGS").with_gateway_number("gw-1");
    for (number, words, expected) in [
        (Some("Fp1"), Some("PAYMENT_SUCCESS"), Some("reported under the number Fp1: PAYMENT_SUCCESS")),
        (Some("Fp1"), None, Some("reported under the number Fp1")),
        (Some("order-1"), Some("PAYMENT_SUCCESS"), Some("PAYMENT_SUCCESS")),
        (Some("gw-1"), None, None),
        (None, None, None),
    ] {
        let mut report = StatusReport::new(PaymentStatus::Charged);
        (report.order_number, report.reason) = (number.map(str::to_owned), words.map(str::to_owned));
        for verdict in [Verdict::charged(card.clone(), report.clone()), Verdict::rejected(card.clone(), report.clone())]
        {
            assert_eq!(reason_of(&verdict).as_deref(), expected, "{number:?} {words:?}");
        }
    }
}

/// The words of one status query decide no other.
#[tokio::test(start_paused = true)]
async fn word_counts_for_its_endpoint_alone() {
    let settings = |config: &mut GatewayConfig| config.dialect = Dialect::named("finipay").unwrap().into();
    let card = PaymentRef::card("order-1", Decimal::ONE_HUNDRED, "KGS");
    let from_response = PaymentRef::qr(Some(10_000)).with_transaction_id("FNP1");
    let code = PaymentRef { transaction_from_code: true, ..from_response };
    for (payment, body, expected) in [
        (&code, r#"{"code":"100","message":"Success","data":"SUCCESSFUL"}"#, "Charged"),
        (&code, r#"{"code":"100","message":"Success","data":"\u0421REATED"}"#, "Pending"),
        (&code, r#"{"code":"100","message":"Success","data":"CHARGE"}"#, "Pending"),
        (&code, r#"{"code":"100","message":"Success","data":"SUCCESSFUL "}"#, "Pending"),
        (&code, r#"{"code":"777","data":"SUCCESSFUL"}"#, "Charged"),
        (&code, r#"{"code":"100","data":{"status":"SUCCESSFUL"}}"#, "Unexpected"),
        (&card, r#"{"code":"200","data":{"status":"SUCCESSFUL","amount":100,"currency":"KGS"}}"#, "Pending"),
        (&card, r#"{"code":"200","data":{"status":"CHARGE","amount":100,"currency":"KGS"}}"#, "Charged"),
    ] {
        let (gateway, _) = Scripted::gateway_with(settings, move |_| after(0, 200, body));
        let result = match gateway.check(payment).await {
            Ok(verdict) => format!("{verdict:?}"),
            Err(error) => error.kind().to_owned(),
        };
        assert!(result.starts_with(expected), "{payment}, {body}: {result}");
        assert_eq!(result.contains("code.amount"), payment == &code && expected == "Charged", "{result}");
    }
}

#[tokio::test(start_paused = true)]
async fn payment_without_number_is_not_queried() {
    let (gateway, memory) = Scripted::gateway(|_| Act::status("CHARGE"));
    let form = PaymentRef::pay_form(Decimal::ONE_HUNDRED);
    assert!(matches!(gateway.check(&form).await, Err(PaymentError::Invalid { .. })));
    assert!(memory.seen().is_empty());
}

/// On a pay-form a declined card and the wallet that paid after it may have one number: the rejection must not hide the
/// charge, nor be the last word where the others could not be queried.
#[tokio::test(start_paused = true)]
async fn rejection_by_provider_hides_no_other_charge() {
    const REJECTED: &str = r#"{"code":"200","data":{"status":"Reject","amount":390}}"#;
    const OPEN: &str = r#"{"code":"200","data":{"status":"NEW","amount":390}}"#;
    let settings = |config: &mut GatewayConfig| {
        config.query_retries = 0;
        config.dialect = Dialect::from_json(r#"{"qr_numbers":"none"}"#).unwrap().into();
    };
    let unknown = (404, r#"{"code":"404","message":"no such order"}"#);
    let form = PaymentRef::pay_form(Decimal::from(390)).with_claimed_number("form-1", None);
    for (responses, expected) in [
        ([(200, REJECTED), (200, CHARGED), unknown], "Charged"),
        ([unknown, (200, REJECTED), (200, CHARGED)], "Charged"),
        ([(200, REJECTED), unknown, (200, OPEN)], "Pending"),
        ([(200, REJECTED), unknown, unknown], "Rejected"),
        ([(200, REJECTED), (200, REJECTED), (200, REJECTED)], "Rejected"),
        ([(200, REJECTED), unknown, (503, "{}")], "Unavailable"),
        ([(200, REJECTED), unknown, (401, "{}")], "Unauthorized"),
    ] {
        let (gateway, _) = Scripted::gateway_with(settings, move |n| after(0, responses[n].0, responses[n].1));
        let result = match gateway.check(&form).await {
            Ok(verdict) => format!("{verdict:?}"),
            Err(error) => error.kind().to_owned(),
        };
        assert!(result.starts_with(expected), "{expected}: {result}");
    }
    // A card has one provider: its rejection is final at once.
    let (gateway, memory) = Scripted::gateway_with(settings, |_| after(0, 200, REJECTED));
    let card = PaymentRef::card("order-1", Decimal::from(390), "KGS");
    assert!(matches!(gateway.check(&card).await, Ok(Verdict::Rejected { .. })));
    assert_eq!(memory.seen().len(), 1);
}
