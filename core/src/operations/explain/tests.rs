use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::*;
use crate::{
    elqr::ElqrKind,
    qr_code::{QR_PNG_SIDE, QrCode, QrLevel},
};

/// A response, and its explanation: the fields as `name pointer value`, what code and status mean, what is not
/// read, and how the problem begins.
type Row<'a> = (&'a Dialect, &'a str, &'a str, &'a [&'a str], [Option<&'a str>; 2], &'a [&'a str], Option<&'a str>);

fn check(rows: &[Row<'_>]) {
    for (dialect, endpoint, response, fields, means, unread, problem) in rows {
        let reading = dialect.explain(endpoint, response).unwrap();
        let shown = |field: &DialectField| format!("{} {} {}", field.name, field.pointer, field.value);
        assert_eq!(reading.fields.iter().map(shown).collect::<Vec<_>>(), *fields, "{response}");
        assert_eq!([reading.code_means.as_deref(), reading.status_means.as_deref()], *means, "{response}");
        assert_eq!(reading.unread, *unread, "{response}");
        let begins = reading.problem.as_deref().zip(*problem).is_some_and(|(is, begin)| is.starts_with(begin));
        assert!(begins || (reading.problem.is_none() && problem.is_none()), "{response}: {:?}", reading.problem);
    }
}

#[test]
fn what_the_interface_shows_is_read() {
    let shown = Dialect::default();
    let lists = r#"{"endpoints": {"mbank_payment": {"refusal_codes": ["310"], "unknown_codes": ["91"],
        "duplicate_codes": ["409"]}}, "mbank_identifier": {"pointers": ["/data/id"], "confirm_field": "id"}}"#;
    let lists = Dialect::from_json(lists).unwrap();
    let page = "https://gw.example.kg/3ds?token=gw-1";
    let created = format!(
        r#"{{"code":"110","message":"CREATED","data":{{"amount":1.50,"name":"A","orderNumber":"o-1","ConfirmationUrl":"{page}"}}}}"#
    );
    let confirmation = format!("confirmation_url /data/ConfirmationUrl {page}");
    let created_fields: [&str; 6] = [
        "code /code 110",
        "reason /message CREATED",
        "order_number /data/orderNumber o-1",
        "amount /data/amount 1.50",
        "gateway_number /data/ConfirmationUrl gw-1",
        &confirmation,
    ];
    let status = r#"{"code":"200","data":{"status":"CHARGE","amount":"a lot","x":[true,{"a/b~":1}],"n":null,"e":""}}"#;
    check(&[
        (&shown, "card_payment", &created, &created_fields, [Some("success"), None], &["/data/name"], None),
        (
            &shown,
            "card_payment",
            r#"{"code":"111"}"#,
            &["code /code 111"],
            [None, None],
            &[],
            Some("the response has code 111, which is not known as a success"),
        ),
        // An amount that is none is not read as one.
        (
            &shown,
            "payment_status",
            status,
            &["code /code 200", "status /data/status CHARGE"],
            [None, Some("charged")],
            &["/data/amount", "/data/x/0", "/data/x/1/a~1b~0"],
            None,
        ),
        (
            &shown,
            "qr_status",
            r#"{"data":{"status":"reject"}}"#,
            &["status /data/status reject"],
            [None, Some("rejected")],
            &[],
            None,
        ),
        (
            &shown,
            "qr_status",
            r#"{"data":{"status":"NEW"}}"#,
            &["status /data/status NEW"],
            [None, Some("pending")],
            &[],
            None,
        ),
        (&shown, "qr_status", r#""CHARGE""#, &[], [None, None], &[""], Some("the response is not a JSON object")),
        (
            &shown,
            "qr_status",
            r#"{"data":"CHARGE"}"#,
            &[],
            [None, None],
            &["/data"],
            Some("the response has no status"),
        ),
        (
            &shown,
            "qr_status",
            "<html>",
            &[],
            [None, None],
            &[],
            Some("the response is not readable: it begins with <html> and is not JSON"),
        ),
        (&shown, "qr_status", "", &[], [None, None], &[], Some("the response is not readable: it is empty")),
        (&shown, "qr_status", r#"{"a":1,"a":1}"#, &[], [None, None], &[], Some("the response is not readable")),
        (
            &shown,
            "pay_form",
            r#"{"url":"https://x"}"#,
            &[],
            [None, None],
            &["/url"],
            Some("the response has no payFormUrl"),
        ),
        (
            &lists,
            "mbank_payment",
            r#"{"code":310}"#,
            &["code /code 310"],
            [Some("refusal"), None],
            &[],
            Some("the response has code 310"),
        ),
        (
            &lists,
            "mbank_payment",
            r#"{"code":"91"}"#,
            &["code /code 91"],
            [Some("unknown"), None],
            &[],
            Some("the response has code 91"),
        ),
        (
            &lists,
            "mbank_payment",
            r#"{"code":"409"}"#,
            &["code /code 409"],
            [Some("duplicate"), None],
            &[],
            Some("the response has code 409"),
        ),
        (
            &lists,
            "mbank_payment",
            r#"{"code":"1","data":{"id":7}}"#,
            &["code /code 1", "mbank_identifier /data/id 7"],
            [None, None],
            &[],
            None,
        ),
    ]);
}

/// As the gateway's own pages show them.
#[test]
fn responses_of_finipay_are_read() {
    let finipay = Dialect::named("finipay").unwrap();
    let code = Elqr {
        service_code: Some("01".to_owned()),
        transaction: Some("QPF17".to_owned()),
        amount_tyiyn: Some(39_000),
        ..Elqr::new(ElqrKind::Dynamic, "qr.example.kg", "SHOP", "5812")
    };
    let editable = Elqr { amount_editable: Some(true), ..code.clone() }.text().unwrap();
    let text = code.text().unwrap();
    let data = |text: &str| format!(r#"{{"code":"100","message":"SUCCESS","data":"{text}"}}"#);
    let (of_code, of_editable) = (data(&text), data(&editable));
    let damaged = data(&text.replace("SHOP", "SHOT"));
    let (payload, editable) = (format!("qr_payload /data {text}"), format!("qr_payload /data {editable}"));
    let damaged_payload = payload.replace("SHOP", "SHOT");
    let success = ["code /code 100", "reason /message SUCCESS"];
    let created =
        r#"{"code":"110","message":"CREATED","data":{"amount":1,"quid":"FP20","dateTime":"2024-03-19T16:50:58"}}"#;
    let confirmed = r#"{"code":"120","message":"CONFIRMED","data":{"quid":"FP20","dateTime":"2024-03-19T16:50:58"}}"#;
    let status = r#"{"code":"200","message":"PAYMENT_SUCCESS","data":{"orderNumber":"Fp01","amount":1.00,"status":"CHARGE","currency":"EUR"}}"#;
    check(&[
        (
            &finipay,
            "mbank_payment",
            created,
            &[
                "code /code 110",
                "reason /message CREATED",
                "amount /data/amount 1",
                "gateway_number /data/quid FP20",
                "mbank_identifier /data/quid FP20",
            ],
            [Some("success"), None],
            &["/data/dateTime"],
            None,
        ),
        (
            &finipay,
            "mbank_confirm",
            confirmed,
            &["code /code 120", "reason /message CONFIRMED", "gateway_number /data/quid FP20"],
            [Some("success"), None],
            &["/data/dateTime"],
            None,
        ),
        (
            &finipay,
            "payment_status",
            status,
            &[
                "code /code 200",
                "reason /message PAYMENT_SUCCESS",
                "status /data/status CHARGE",
                "order_number /data/orderNumber Fp01",
                "amount /data/amount 1.00",
                "currency /data/currency EUR",
            ],
            [None, Some("charged")],
            &[],
            None,
        ),
        (
            &finipay,
            "qr_data",
            &of_code,
            &[success[0], success[1], &payload, "transaction_id elqr:32.11 QPF17"],
            [Some("success"), None],
            &[],
            None,
        ),
        // The charged amount would be unknown.
        (&finipay, "qr_data", &of_editable, &[success[0], success[1], &editable], [Some("success"), None], &[], None),
        (
            &finipay,
            "qr_data",
            &damaged,
            &[success[0], success[1], &damaged_payload],
            [Some("success"), None],
            &[],
            Some("the response's QR code does not match the request: "),
        ),
        (
            &finipay,
            "qr_status",
            r#"{"code":"100","message":"Success","data":"SUCCESSFUL"}"#,
            &["code /code 100", "reason /message Success", "status /data SUCCESSFUL"],
            [None, Some("charged")],
            &[],
            None,
        ),
        // The first letter is Cyrillic.
        (
            &finipay,
            "qr_status",
            r#"{"code":"100","message":"Success","data":"СREATED"}"#,
            &["code /code 100", "reason /message Success", "status /data СREATED"],
            [None, Some("pending")],
            &[],
            None,
        ),
    ]);
}

/// An endpoint that is left out would be read as a status query.
#[test]
fn every_endpoint_is_read_by_its_own_operation() {
    let named: Vec<_> = ENDPOINTS
        .iter()
        .filter(|endpoint| {
            let reading = Dialect::default().explain(endpoint.name, r#"{"data":{"status":"CHARGE"}}"#).unwrap();
            reading.status_means.is_some()
        })
        .map(|endpoint| endpoint.name)
        .collect();
    assert_eq!(named, ["payment_status", "provider_status", "qr_status"]);
    let PaymentError::Invalid { violations } = Dialect::default().explain("cheque", "{}").unwrap_err() else {
        panic!()
    };
    assert_eq!((violations[0].field.as_str(), violations[0].rule), ("endpoint", Rule::OneOf));
    assert!(ENDPOINTS.iter().all(|endpoint| violations[0].text.contains(endpoint.name)), "{}", violations[0].text);
}

#[test]
fn explanation_of_large_response_is_limited() {
    let response = format!(r#"{{"{}":[{}1]}}"#, "x".repeat(1000), "1,".repeat(5000));
    let reading = Dialect::default().explain("qr_status", &response).unwrap();
    let listed: usize = reading.unread.iter().map(String::len).sum();
    assert!((MOST_UNREAD / 2..MOST_UNREAD).contains(&listed), "{listed}");
    let long = format!(r#"{{"data":"{}"}}"#, "x".repeat(1024 * 1024));
    let reading = Dialect::default().explain("qr_data", &long).unwrap();
    assert_eq!(reading.problem.as_deref(), Some("the response is not readable: the response is longer than 1 MiB"));
}

#[test]
fn picture_is_found_in_json_and_alone() {
    let png = QrCode::encode("x", QrLevel::Medium).unwrap().png(QR_PNG_SIDE).unwrap();
    let picture = STANDARD.encode(png);
    for (response, place) in
        [(format!(r#"{{"data":{{"text":"x","qr":"{picture}"}}}}"#), "/data/qr"), (picture.clone(), "")]
    {
        let reading = Dialect::default().explain("qr_image", &response).unwrap();
        assert_eq!(reading.problem, None);
        assert_eq!((reading.fields[0].pointer.as_str(), reading.fields[0].value.as_str()), (place, picture.as_str()));
    }
    let reading = Dialect::default().explain("qr_image", r#"{"data":{"picture":"x"}}"#).unwrap();
    assert_eq!(reading.problem.as_deref(), Some("the response holds no PNG in base64"));
    assert_eq!((reading.fields.len(), reading.unread), (0, vec!["/data/picture".to_owned()]));
}
