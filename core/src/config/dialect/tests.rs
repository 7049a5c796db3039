use super::*;
use crate::{
    error::PaymentError,
    operations::status_queries::{PAYMENT_STATUS, QR_STATUS},
};

fn read(text: &str) -> Dialect {
    Dialect::from_json(text).unwrap_or_else(|problem| panic!("{text}: {problem}"))
}

/// The fields that an error names.
fn wrong(text: &str) -> Vec<String> {
    let Err(PaymentError::Invalid { violations }) = Dialect::from_json(text) else { panic!("{text}") };
    violations.into_iter().map(|violation| violation.field).collect()
}

#[test]
fn status_words_match_whole_in_any_letter_case() {
    let dialect = Dialect::from_json(r#"{"charged_words": ["CHARGE", "ТӨЛӨНДҮ"]}"#).unwrap();
    for word in ["CHARGE", "charge", "Charge", "төлөндү"] {
        assert_eq!(dialect.status(word), PaymentStatus::Charged, "{word}");
    }
    assert_eq!(dialect.status("REJECT"), PaymentStatus::Rejected);
    for word in ["CHARGED", "CHARGE ", "", "REJECTED", "SUCCESS"] {
        assert_eq!(dialect.status(word), PaymentStatus::Other(word.to_owned()), "{word}");
    }
}

#[test]
fn default_survives_its_json() {
    assert_eq!(Dialect::from_json(&Dialect::default().to_json()).unwrap(), Dialect::default());
    assert_eq!(Dialect::from_json("{}").unwrap(), Dialect::default());
    assert_eq!(Dialect::from_json("\u{feff}{}\r\n").unwrap(), Dialect::default());
}

#[test]
fn its_page_names_all_that_it_can_hold() {
    let page = include_str!("../../../../docs/dialect.md");
    // One with everything that an endpoint can hold, and the key that is only read.
    let endpoint = r#"{"charged_words": ["A"], "rejected_words": ["B"], "numbers": "any"}"#;
    let full = read(&format!(r#"{{"base": "finipay", "endpoints": {{"qr_status": {endpoint}}}}}"#)).to_json();
    let parts: Vec<_> = full.split('"').collect();
    let keys = parts.windows(2).filter(|pair| pair[1].starts_with(':')).map(|pair| pair[0]);
    for name in keys.chain(["base"]) {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
    let shown = page.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(shown.trim(), include_str!("../../../../examples/sandbox-dialect.json").trim());
    for page in [page, include_str!("../../../../docs/finipay.md")] {
        for block in page.split("```json").skip(1).filter_map(|rest| rest.split("```").next()) {
            read(block);
        }
    }
}

#[test]
fn every_mistake_is_named_at_once() {
    let text = r#"{
        "endpoints": {
            "card_payment": {"code": ["code"], "success_codes": ["1"], "refusal_codes": ["1"]},
            "payment_status": {"confirmation_url": ["/x"]},
            "mbank_payment": {"code": ["/a~2"]}
        },
        "charged_words": ["YES"], "rejected_words": ["yes"],
        "mbank_identifier": {"pointers": [], "confirm_field": "otp"}
    }"#;
    let PaymentError::Invalid { violations } = Dialect::from_json(text).unwrap_err() else { panic!() };
    let fields: Vec<_> = violations.iter().map(|violation| violation.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "dialect.endpoints.card_payment.code",
            "dialect.endpoints.card_payment.refusal_codes",
            "dialect.endpoints.payment_status.confirmation_url",
            "dialect.endpoints.mbank_payment.code",
            "dialect.charged_words",
            "dialect.mbank_identifier.pointers",
            "dialect.mbank_identifier.confirm_field",
        ]
    );
}

/// Of whatever kind they are: names, types and values.
#[test]
fn one_mistake_hides_no_other() {
    let text = r#"{
        "colour": 1, "charged_words": "CHARGE", "rejected_words": [1], "qr_amount_unit": "dollar", "qr_numbers": true,
        "endpoints": {"cheque": {}, "card_payment": [], "qr_status": {"status": "/status", "success_codes": [110]}},
        "mbank_identifier": {"pointer": ["/id"], "confirm_field": 1}, "callback": {"tx": []}
    }"#;
    let PaymentError::Invalid { violations } = Dialect::from_json(text).unwrap_err() else { panic!() };
    let fields: Vec<_> = violations.iter().map(|violation| violation.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "dialect.colour",
            "dialect.endpoints.cheque",
            "dialect.endpoints.card_payment",
            "dialect.endpoints.qr_status.status",
            "dialect.endpoints.qr_status.success_codes",
            "dialect.charged_words",
            "dialect.rejected_words",
            "dialect.qr_amount_unit",
            "dialect.qr_numbers",
            "dialect.mbank_identifier.pointer",
            "dialect.mbank_identifier.pointers",
            "dialect.mbank_identifier.confirm_field",
            "dialect.callback.tx",
        ]
    );
}

#[test]
fn known_dialects_are_read_by_their_exact_names() {
    assert_eq!(Dialect::names(), ["interface", "finipay"]);
    for name in Dialect::names() {
        let known = Dialect::named(&name).unwrap();
        assert_eq!(read(&known.to_json()), known, "{name} survives its JSON");
        assert_eq!(read(&format!(r#"{{"base": "{name}"}}"#)), known, "{name} as a base");
    }
    assert_eq!(Dialect::named("interface").unwrap(), Dialect::default());
    assert_ne!(Dialect::named("finipay").unwrap(), Dialect::default());
    for (_, known) in form::KNOWN {
        assert!(!known.contains("\"base\""), "reading it would not end");
    }
    for name in ["", "Finipay", " finipay", "finipay.json", "../finipay", "default"] {
        let Err(PaymentError::Invalid { violations }) = Dialect::named(name) else { panic!("{name}") };
        let said = (violations[0].field.as_str(), violations[0].limit.as_deref(), violations[0].text.as_str());
        let expected = ("dialect", Some("interface, finipay"), "dialect must be one of interface, finipay");
        assert_eq!(said, expected, "{name}");
    }
}

#[test]
fn base_is_replaced_key_by_key() {
    let finipay = || Dialect::named("finipay").unwrap();
    for left_out in [
        r#"{"base": "finipay", "endpoints": {}}"#,
        r#"{"base": "finipay", "endpoints": {"qr_status": {}}, "callback": {}}"#,
        r#"{"base": "finipay", "endpoints": {"qr_status": {"status": null, "charged_words": null}}}"#,
        r#"{"base": "finipay", "mbank_identifier": null, "callback": {"transaction_id": null}}"#,
    ] {
        assert_eq!(read(left_out), finipay(), "{left_out}");
    }
    assert_eq!(read(r#"{"base": null}"#), Dialect::default());
    // One key of an endpoint, beside those that stay.
    let own = read(r#"{"base": "finipay", "endpoints": {"qr_status": {"rejected_words": ["FAILED"]}}}"#);
    let responses = own.endpoint(&QR_STATUS);
    assert_eq!(own.status_at(responses, "SUCCESSFUL"), PaymentStatus::Charged);
    assert_eq!(own.status_at(responses, "FAILED"), PaymentStatus::Rejected);
    // The default of a key is as good as any other value.
    let back = read(
        r#"{"base": "finipay", "endpoints": {
            "payment_status": {"numbers": "own"}, "mbank_payment": {"success_codes": [], "gateway_number": []}
        }}"#,
    );
    assert!(!back.endpoint(&PAYMENT_STATUS).any_number());
    assert!(finipay().endpoint(&PAYMENT_STATUS).any_number());
    let written = back.to_json();
    assert!(!written.contains("\"numbers\"") && !written.contains("\"base\""), "{written}");
    assert_eq!(read(&written), back);
}

#[test]
fn dialect_with_base_reports_all_mistakes() {
    let text = r#"{
        "base": "finipay", "colour": 1,
        "endpoints": {
            "qr_data": {"transaction_id": ["elqr:54"]}, "qr_image": {"refusal_codes": ["100"]},
            "qr_status": {"numbers": "some", "rejected_words": []}
        },
        "rejected_words": ["successful"], "mbank_identifier": {"pointers": ["/data/quid"]}
    }"#;
    let own = [
        "dialect.colour",
        "dialect.endpoints.qr_image.refusal_codes",
        "dialect.endpoints.qr_data.transaction_id",
        "dialect.endpoints.qr_status.numbers",
        "dialect.endpoints.qr_status.rejected_words",
        "dialect.mbank_identifier.confirm_field",
    ];
    assert_eq!(wrong(text), own);
    let unknown = text.replace("finipay", "Finipay");
    assert_eq!(wrong(&unknown)[..2], ["dialect.colour", "dialect.base"], "and the rest");
    assert_eq!(wrong(&unknown).len(), own.len());
}

#[test]
fn endpoint_has_words_of_its_own() {
    let dialect = Dialect::named("finipay").unwrap();
    let (of_qr, of_card) = (dialect.endpoint(&QR_STATUS), dialect.endpoint(&PAYMENT_STATUS));
    for (word, qr, card) in [
        ("SUCCESSFUL", PaymentStatus::Charged, PaymentStatus::Other("SUCCESSFUL".into())),
        ("CHARGE", PaymentStatus::Other("CHARGE".into()), PaymentStatus::Charged),
        ("reject", PaymentStatus::Rejected, PaymentStatus::Rejected),
        // With a Cyrillic first letter, as the gateway's page has it.
        ("\u{421}REATED", PaymentStatus::Other("\u{421}REATED".into()), PaymentStatus::Other("\u{421}REATED".into())),
    ] {
        assert_eq!(dialect.status_at(of_qr, word), qr, "{word}");
        assert_eq!(dialect.status_at(of_card, word), card, "{word}");
    }
    // A callback is read by the words of the whole dialect.
    assert_eq!(dialect.status("SUCCESSFUL"), PaymentStatus::Other("SUCCESSFUL".into()));
    for (text, field) in [
        (r#"{"endpoints": {"qr_status": {"charged_words": []}}}"#, "charged_words"),
        (r#"{"endpoints": {"qr_status": {"rejected_words": [" "]}}}"#, "rejected_words"),
        (r#"{"endpoints": {"qr_status": {"charged_words": ["REJECT"]}}}"#, "charged_words"),
        (r#"{"endpoints": {"qr_status": {"rejected_words": ["charge"]}}}"#, "rejected_words"),
        (r#"{"endpoints": {"qr_status": {"charged_words": ["A"], "rejected_words": ["a"]}}}"#, "charged_words"),
        (r#"{"rejected_words": ["OK"], "endpoints": {"qr_status": {"charged_words": ["ok"]}}}"#, "charged_words"),
        (r#"{"base": "finipay", "rejected_words": ["SUCCESSFUL"]}"#, "charged_words"),
    ] {
        assert_eq!(wrong(text), [format!("dialect.endpoints.qr_status.{field}")], "{text}");
    }
    // Two lists that never count together may share a word.
    read(
        r#"{"rejected_words": ["OK"], "endpoints": {
        "qr_status": {"charged_words": ["OK"], "rejected_words": ["NO"]}
    }}"#,
    );
}

#[test]
fn what_does_not_exist_is_refused() {
    for text in [
        "",
        "[]",
        "\u{feff}",
        "\u{feff}\u{feff}{}",
        r#"{"colour": 1}"#,
        r#"{"endpoints": {"cheque": {}}}"#,
        r#"{"qr_amount_unit": "dollar"}"#,
        r#"{"charged_words": []}"#,
        r#"{"rejected_words": [""]}"#,
        r#"{"base": 1}"#,
        r#"{"base": ["finipay"]}"#,
        r#"{"base": ""}"#,
        r#"{"endpoints": {"card_payment": {"numbers": "any"}}}"#,
        r#"{"endpoints": {"mbank_payment": {"charged_words": ["PAID"]}}}"#,
        r#"{"endpoints": {"qr_status": {"numbers": true}}}"#,
        r#"{"endpoints": {"qr_status": {"numbres": null}}}"#,
        r#"{"endpoints": {"qr_data": {"transaction_id": ["elqr:"]}}}"#,
        r#"{"endpoints": {"qr_data": {"transaction_id": ["elqr:3211"]}}}"#,
        r#"{"endpoints": {"qr_data": {"transaction_id": ["elqr:32.1"]}}}"#,
        r#"{"endpoints": {"qr_data": {"transaction_id": ["elqr:32.11.00"]}}}"#,
        r#"{"endpoints": {"qr_data": {"transaction_id": ["ELQR:32.11"]}}}"#,
        r#"{"endpoints": {"qr_data": {"transaction_id": ["/data/id", "elqr:59"]}}}"#,
        r#"{"endpoints": {"qr_data": {"transaction_id": ["elqr:32.01"]}}}"#,
        r#"{"endpoints": {"qr_data": {"transaction_id": ["/data/id", "elqr:33.01"]}}}"#,
        r#"{"endpoints": {"qr_data": {"qr_payload": ["elqr:32.11"]}}}"#,
        r#"{"endpoints": {"qr_status": {"status": ["elqr:34"]}}}"#,
        r#"{"callback": {"transaction_id": ["elqr:32.11"]}}"#,
        r#"{"mbank_identifier": {"pointers": ["/id"]}}"#,
        r#"{"mbank_identifier": {"confirm_field": null}}"#,
        r#"{"mbank_identifier": {"pointers": ["/id"], "confirm_field": "otp"}}"#,
        r#"{"base": "finipay", "mbank_identifier": {"pointers": ["/data/quid"]}}"#,
    ] {
        assert!(Dialect::from_json(text).is_err(), "{text}");
    }
    for tag in ["32.11", "32.10", "33.00", "34", "35.00", "62"] {
        let text = format!(r#"{{"endpoints": {{"qr_data": {{"transaction_id": ["/data/id", "elqr:{tag}"]}}}}}}"#);
        let dialect = read(&text);
        assert_eq!(read(&dialect.to_json()), dialect, "{tag}");
    }
    for field in [r#""orderNumber""#, r#""quid""#, "null"] {
        let text = format!(r#"{{"mbank_identifier": {{"pointers": ["/id"], "confirm_field": {field}}}}}"#);
        let dialect = read(&text);
        assert_eq!(read(&dialect.to_json()), dialect, "{field}");
    }
}
