//! What a report is worth, by what was requested.

use super::*;
use crate::Provider;

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn parsed(number: Option<&str>, amount: Option<&str>, currency: Option<&str>) -> ParsedStatus {
    let report = StatusReport {
        status: PaymentStatus::Charged,
        code: None,
        reason: None,
        order_number: number.map(str::to_owned),
        amount: amount.map(decimal),
        currency: currency.map(str::to_owned),
        raw: "{}".to_owned(),
    };
    ParsedStatus { report, has_unreadable_amount: false, compares_numbers: true }
}

fn shown(payment: &PaymentRef, status: ParsedStatus, dialect: &str) -> String {
    match judge(payment, status, &Dialect::from_json(dialect).unwrap()) {
        Verdict::Charged { compared, .. } => format!("charged by {}", compared.join(" ")),
        Verdict::Mismatch { fields, .. } => format!("not {}", fields.join(" ")),
        Verdict::Unverifiable { why, .. } => format!("unverifiable: {why}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn own_number_matches_unless_report_differs() {
    let card = PaymentRef::card("order-1", decimal("100.10"), "KGS");
    for (status, verdict) in [
        (parsed(None, None, None), "charged by "),
        (parsed(Some("order-1"), Some("100.1"), Some("kgs")), "charged by orderNumber amount currency"),
        (parsed(None, Some("100.10"), Some("417")), "charged by amount currency"),
        (parsed(Some("gw-1"), None, None), "not orderNumber"),
        (parsed(None, Some("10010"), None), "not amount"),
        (parsed(None, Some("0"), None), "not amount"),
        (parsed(None, None, Some("840")), "not currency"),
        (parsed(Some("order-2"), Some("1"), Some("USD")), "not orderNumber amount currency"),
    ] {
        assert_eq!(shown(&card, status, "{}"), verdict);
    }
    let numbered = card.clone().with_gateway_number("gw-1");
    assert_eq!(shown(&numbered, parsed(Some("gw-1"), None, None), "{}"), "charged by orderNumber");
    // A reference without an amount would let a charge of any amount pass.
    let of_no_amount = PaymentRef { amount: None, ..card.clone() };
    assert!(shown(&of_no_amount, parsed(Some("order-1"), Some("1"), None), "{}").starts_with("unverifiable"));
    // Amount and currency stand at the end of the stored text: one that was cut off there lets nothing pass.
    let code = PaymentRef::qr(Some(10010)).with_transaction_id("tx-1");
    for payment in [card.clone(), code] {
        let text = payment.to_string();
        for (at, _) in text.match_indices('&') {
            let Ok(cut) = text[..at].parse::<PaymentRef>() else { continue };
            let verdict = shown(&cut, parsed(None, Some("7"), Some("USD")), "{}");
            assert!(!verdict.starts_with("charged"), "{cut}: {verdict}");
        }
    }
    let unreadable = ParsedStatus { has_unreadable_amount: true, ..parsed(None, None, None) };
    assert_eq!(shown(&card, unreadable, "{}"), "not amount");
}

/// With a dialect whose reports have numbers that the merchant does not know.
#[test]
fn other_number_matches_by_amount_and_currency() {
    let card = PaymentRef::card("order-1", decimal("100.10"), "KGS").with_gateway_number("gw-1");
    let any = |number, amount, currency| ParsedStatus { compares_numbers: false, ..parsed(number, amount, currency) };
    for (number, amount, currency, verdict) in [
        (Some("Fp1"), Some("100.1"), Some("417"), "charged by amount currency"),
        (Some("Fp1"), Some("100.11"), Some("KGS"), "not amount"),
        (Some("Fp1"), Some("100.10"), Some("USD"), "not currency"),
        (Some("Fp1"), Some("100.10"), None, "unverifiable"),
        (Some("Fp1"), None, Some("KGS"), "unverifiable"),
        (Some("Fp1"), None, None, "unverifiable"),
        // One of its own is compared as ever, and none at all is no other number.
        (Some("order-1"), None, None, "charged by orderNumber"),
        (Some("gw-1"), Some("100.10"), None, "charged by orderNumber amount"),
        (None, None, None, "charged by "),
    ] {
        let status = any(number, amount, currency);
        let shown = shown(&card, status, "{}");
        assert!(shown.starts_with(verdict) && (verdict == "unverifiable" || shown == verdict), "{number:?}: {shown}");
    }
    let unreadable = ParsedStatus { has_unreadable_amount: true, ..any(Some("Fp1"), None, Some("KGS")) };
    assert_eq!(shown(&card, unreadable, "{}"), "not amount");
    let of = |status: PaymentStatus, amount| {
        let mut parsed = any(Some("Fp1"), amount, Some("KGS"));
        parsed.report.status = status;
        judge(&card, parsed, &Dialect::default())
    };
    assert!(matches!(of(PaymentStatus::Rejected, Some("100.10")), Verdict::Rejected { .. }));
    assert!(matches!(of(PaymentStatus::Rejected, None), Verdict::Unverifiable { .. }));
    assert!(matches!(of(PaymentStatus::Rejected, Some("1")), Verdict::Mismatch { .. }));
    assert!(matches!(of(PaymentStatus::Other("NEW".into()), None), Verdict::Pending { .. }));
    // A QR payment goes by its transaction alone.
    let from_response = PaymentRef::qr(Some(10_010)).with_transaction_id("tx-1");
    let code = PaymentRef { transaction_from_code: true, ..from_response };
    for (number, amount, currency, verdict) in [
        ("tx-1", None, None, "charged by code.amount"),
        ("tx-2", Some("10010"), Some("KGS"), "charged by amount currency"),
        ("tx-2", Some("10011"), Some("KGS"), "not amount"),
    ] {
        assert_eq!(shown(&code, any(Some(number), amount, currency), "{}"), verdict, "{number}");
    }
    assert!(shown(&code, any(Some("tx-2"), None, None), "{}").starts_with("unverifiable"));
}

/// A report without an amount, of a payment whose transaction stood in the code that was shown.
#[test]
fn charge_without_amount_matches_by_code_amount() {
    let of_response = PaymentRef::qr(Some(39_000)).with_transaction_id("tx-1");
    let of_code = PaymentRef { transaction_from_code: true, ..of_response.clone() };
    let open_amount = PaymentRef { amount: None, ..of_code.clone() };
    let card = PaymentRef::card("order-1", decimal("390"), "KGS");
    for (payment, amount, verdict) in [
        (&of_code, None, "charged by code.amount"),
        (&of_code, Some("39000"), "charged by amount"),
        (&of_code, Some("39001"), "not amount"),
        (&of_response, Some("39000"), "charged by amount"),
        (&open_amount, None, "charged by "),
        (&card, None, "charged by "),
    ] {
        assert_eq!(shown(payment, parsed(None, amount, None), "{}"), verdict, "{payment}");
    }
    // By whatever dialect: where the transaction came from, its payment knows.
    let dialect = r#"{"endpoints":{"qr_data":{"transaction_id":["elqr:32.11"]}}}"#;
    let claimed = PaymentRef { is_claimed: true, ..of_code.clone() };
    let of_callback = of_code.with_transaction_id("tx-1");
    for payment in [&of_response, &of_callback, &claimed] {
        let verdict = shown(payment, parsed(None, None, None), dialect);
        assert!(verdict.starts_with("unverifiable") && verdict.contains("no amount"), "{payment}: {verdict}");
    }
    // A card has neither a code nor a transaction.
    let marked = PaymentRef { transaction_from_code: true, ..card };
    assert_eq!(shown(&marked, parsed(None, None, None), dialect), "charged by ");
}

#[test]
fn claimed_number_matches_by_reported_amount() {
    let form = PaymentRef::pay_form(decimal("390")).with_claimed_number("form-1", Some(Provider::MBank));
    assert_eq!(shown(&form, parsed(Some("form-1"), Some("390"), None), "{}"), "charged by orderNumber amount");
    assert!(shown(&form, parsed(Some("form-1"), None, Some("KGS")), "{}").starts_with("unverifiable"));
    // Stored since, or written by hand: a stored number is still only claimed.
    let unmarked = PaymentRef { is_claimed: false, ..form.clone() };
    assert!(shown(&unmarked, parsed(Some("form-1"), None, None), "{}").starts_with("unverifiable"));
    let card = PaymentRef::card("order-1", decimal("390"), "KGS").with_claimed_number("x", Some(Provider::Cards));
    assert!(shown(&card, parsed(Some("x"), None, None), "{}").starts_with("unverifiable"));
    let of_no_amount = PaymentRef { amount: None, ..form };
    assert!(shown(&of_no_amount, parsed(None, Some("390"), None), "{}").starts_with("unverifiable"));
}

#[test]
fn qr_amount_of_unknown_unit_must_be_in_tyiyn() {
    let own = PaymentRef::qr(Some(39_000)).with_transaction_id("tx-1");
    let (som, tyiyn) = (r#"{"qr_amount_unit":"som"}"#, r#"{"qr_amount_unit":"tyiyn"}"#);
    for (amount, dialect, verdict) in [
        ("39000", "{}", "charged by amount"),
        ("390.00", som, "charged by amount"),
        ("39000", tyiyn, "charged by amount"),
        ("3900", "{}", "not amount"),
        ("3.90", "{}", "not amount"),
        ("39000", som, "not amount"),
        ("390", tyiyn, "not amount"),
    ] {
        assert_eq!(shown(&own, parsed(None, Some(amount), None), dialect), verdict, "{amount} {dialect}");
    }
    // 390 may be tyiyn: a charge of 3.90 som would pay for 390.
    assert!(shown(&own, parsed(None, Some("390"), None), "{}").starts_with("unverifiable"));
    // The gateway's order number of a QR payment is not shown anywhere, so any is as good.
    assert_eq!(shown(&own, parsed(Some("q-9"), Some("39000"), None), "{}"), "charged by amount");
    let open_amount = PaymentRef::qr(None).with_transaction_id("tx-1");
    assert_eq!(shown(&open_amount, parsed(None, Some("7"), None), "{}"), "charged by ");
    // Another order's code of 390 tyiyn must not pay for 390 som.
    let claimed = PaymentRef { is_claimed: true, ..own };
    assert!(shown(&claimed, parsed(None, Some("390"), None), "{}").starts_with("unverifiable"));
    assert_eq!(shown(&claimed, parsed(None, Some("390"), None), tyiyn), "not amount");
    assert_eq!(shown(&claimed, parsed(None, Some("39000"), None), tyiyn), "charged by amount");
}
