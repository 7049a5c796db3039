//! Serialization (feature `serde`): what is read and what is not, and what is never written. That the forms are those of
//! the conformance vectors, their runner shows with every value that it sees; that no secret gets into them, `secrets.rs`.

use std::{fmt::Debug, time::Duration};

use kassa::{
    Callback, CallbackKey, Card, CardBrand, CardInput, CardPayment, CardPaymentCreated, Credentials, Decimal, Gateway,
    GatewayConfig, Language, LocalDateTime, MbankConfirmed, NextStep, PayFormCreated, PaymentError, PaymentRef,
    PaymentStatus, PollPolicy, Provider, Proxy, QrImage, ReturnRedirect, StatusReport, Verdict,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{from_str, from_value, json, to_string, to_value};

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, text: &str) {
    assert_eq!(to_string(value).unwrap(), text);
    assert_eq!(from_str::<T>(text).unwrap(), *value);
}

#[test]
fn values_are_written_as_the_vectors_have_them() {
    comes_back(&PaymentStatus::Charged, r#""charged""#);
    comes_back(&PaymentStatus::Other("charged".into()), r#"{"kind":"other","word":"charged"}"#);
    comes_back(&Provider::MegaPay, r#""mega_pay""#);
    comes_back(&Provider::Other("ELSOM".into()), r#"{"kind":"other","name":"ELSOM"}"#);
    comes_back(&Language::Kyrgyz, r#""ky""#);
    comes_back(&CardBrand::UnionPay, r#""union_pay""#);
    let policy = PollPolicy::default().with_interval(Duration::from_millis(250));
    comes_back(&policy, r#"{"interval_ms":250,"deadline_ms":1200000}"#);
    let error = PaymentError::unavailable("?").with_retry_after(Duration::from_secs(7)).with_response(429, "{}");
    comes_back(
        &error,
        r#"{"kind":"Unavailable","detail":"?","retry_after_ms":7000,"http_status":429,"code":null,"body":"{}"}"#,
    );
    let tiny = PollPolicy::default().with_interval(Duration::from_nanos(1));
    assert_eq!(to_value(tiny).unwrap()["interval_ms"], 1, "it does not become zero, which no watch takes");
}

#[test]
fn amount_keeps_every_digit() {
    for text in ["100.10", "79228162514264337593543950335", "-0.0000000000000000000000000001", "0", "12345678901234.89"]
    {
        let mut report = StatusReport::new(PaymentStatus::Charged);
        report.amount = Some(text.parse().unwrap());
        let written = to_value(&report).unwrap();
        assert_eq!(written["amount"], text);
        assert_eq!(from_value::<StatusReport>(written).unwrap().amount.unwrap().to_string(), text);
    }
    for amount in ["100.10", "1", "true", r#""1e2""#, r#""12,50""#, r#""""#, r#""NaN""#, r#""1_000""#] {
        let text = format!(r#"{{"status":"charged","raw":"","amount":{amount}}}"#);
        assert!(from_str::<StatusReport>(&text).is_err(), "{amount}");
    }
    let too_exact = format!(r#"{{"status":"charged","raw":"","amount":"0.{}1"}}"#, "0".repeat(28));
    assert!(from_str::<StatusReport>(&too_exact).is_err(), "it is not rounded");
}

#[test]
fn what_a_later_version_adds_is_left_alone() {
    let read: StatusReport = from_str(r#"{"status":"refunded","raw":"{}","colour":["red"]}"#).unwrap();
    let mut expected = StatusReport::new(PaymentStatus::Other("refunded".into()));
    expected.raw = "{}".into();
    assert_eq!(read, expected);
    let rejected = r#"{"kind":"rejected","payment":{"kind":"card","order_number":"1","provider":"cards","amount":"5",
        "currency":"KGS"},"report":{"status":"rejected","raw":"","x":1},"is_charged":false}"#;
    let payment = PaymentRef::card("1", Decimal::from(5), "KGS");
    let verdict = Verdict::rejected(payment, StatusReport::new(PaymentStatus::Rejected));
    assert_eq!(from_str::<Verdict>(rejected).unwrap(), verdict);
    assert!(from_str::<Verdict>(r#"{"kind":"refunded"}"#).is_err(), "a verdict that is not known is none");
    let card: PaymentRef =
        from_str(r#"{"kind":"card","order_number":"1","provider":"cards","amount":"5","currency":"KGS"}"#).unwrap();
    assert_eq!(card, PaymentRef::card("1", Decimal::from(5), "KGS"));
    assert_eq!(from_str::<PollPolicy>("{}").unwrap(), PollPolicy::default());
}

#[test]
fn absent_callback_fields_stay_absent() {
    let alone = Callback::parse(r#"{"orderNumber":"1"}"#).unwrap();
    let written = to_value(&alone).unwrap();
    assert_eq!(written["missing"], json!(["amount", "status", "dateCreated", "provider"]));
    assert!(written["amount"].is_null() && written["status"].is_null() && written["provider"].is_null());
    assert_eq!(from_value::<Callback>(written).unwrap(), alone);
    let bare: Callback = from_str(r#"{"order_number":"1","raw":""}"#).unwrap();
    assert_eq!((bare.order_number.as_str(), bare.status, bare.missing.len()), ("1", None, 0));
}

#[track_caller]
fn refused<T: DeserializeOwned + Debug>(value: serde_json::Value) {
    let read = from_value::<T>(value.clone());
    assert!(read.is_err(), "{value} is read as {read:?}");
}

#[test]
fn what_parsing_refuses_is_not_read_either() {
    refused::<PaymentRef>(json!({"kind": "card", "order_number": "1", "transaction_id": "tx-1"}));
    refused::<PaymentRef>(json!({"kind": "qr", "transaction_from_code": true}));
    refused::<PaymentRef>(json!({"kind": "cheque"}));
    refused::<MbankConfirmed>(json!({"payment": {"kind": "mbank", "transaction_id": "tx-1"}, "raw": ""}));
    assert_eq!(from_value::<Provider>(json!({"kind": "other", "name": "MBank"})).unwrap(), Provider::MBank);

    let body = r#"{"orderNumber":"1","amount":5,"status":"NEW","dateCreated":"2026-11-20T09:05","provider":"Cards"}"#;
    let mut callback = to_value(Callback::parse(body).unwrap()).unwrap();
    assert!(from_value::<Callback>(callback.clone()).is_ok());
    callback["order_number"] = " ".into();
    refused::<Callback>(callback);
    refused::<ReturnRedirect>(json!({"order_number": ""}));
    let (day, time) = (json!({"year": 2026, "month": 2, "day": 30}), json!({"hour": 9, "minute": 5, "second": 0}));
    let mut moment = json!({"nanosecond": 0});
    for (name, part) in [day, time].iter().flat_map(|parts| parts.as_object().unwrap()) {
        moment[name] = part.clone();
    }
    refused::<LocalDateTime>(moment.clone());
    moment["day"] = 28.into();
    assert_eq!(from_value::<LocalDateTime>(moment).unwrap().to_string(), "2026-02-28T09:05:00");

    let payment = to_value(PaymentRef::card("1", Decimal::from(5), "KGS")).unwrap();
    for url in ["http://gw.example.kg/3ds", "javascript:alert(1)", "file:///etc/passwd", "gw.example.kg", ""] {
        refused::<NextStep>(json!({"kind": "open_confirmation", "url": url}));
        refused::<CardPaymentCreated>(
            json!({"payment": payment, "next_step": {"kind": "open_confirmation", "url": url}, "raw": ""}),
        );
        refused::<PayFormCreated>(json!({"payment": payment, "pay_form_url": url, "raw": ""}));
    }
    for png in ["", "iVBORw0KGgo=", "%"] {
        refused::<QrImage>(json!({"payment": payment, "png": png, "raw": ""}));
    }
}

/// Fails to compile where one of the types can be serialized: then two implementations fit.
macro_rules! never_written {
    ($($type:ty),*) => {
        $({
            trait FitsOnce<A> { fn fits() {} }
            impl<T: ?Sized> FitsOnce<()> for T {}
            struct Written;
            impl<T: ?Sized + Serialize> FitsOnce<Written> for T {}
            <$type as FitsOnce<_>>::fits();
            struct Read;
            trait Reads<A> { fn fits() {} }
            impl<T: ?Sized> Reads<()> for T {}
            impl<T: DeserializeOwned> Reads<Read> for T {}
            <$type as Reads<_>>::fits();
        })*
    };
}

#[test]
fn secrets_are_never_written() {
    never_written!(Card, CardInput, CardPayment, Credentials, CallbackKey, GatewayConfig, Proxy, Gateway);
}
