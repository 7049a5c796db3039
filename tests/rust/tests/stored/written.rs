//! Writes what the present version stores.

use std::{fs, path::Path};

use kassa::{
    CallbackKey, Decimal, Dialect, FakeFault, FakeGateway, Journal, MbankPayment, PayForm, PaymentEntry, PaymentRef,
    Provider, QrPayment,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{KEY, means};

pub fn write(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let references = references();
    put(folder, "references.json", &references.iter().map(meaning).collect::<Vec<_>>());
    put(folder, "entries.json", &entries().iter().map(meaning).collect::<Vec<_>>());
    let key = CallbackKey::new(KEY).unwrap();
    let signed = |url: fn(&CallbackKey, &str, &PaymentRef) -> Result<String, kassa::PaymentError>| {
        let texts = references.iter().map(|payment| {
            json!({ "text": url(&key, "https://shop.example.kg/back?cart=7", payment).unwrap(), "means": payment.to_string() })
        });
        texts.collect::<Vec<_>>()
    };
    put(folder, "callback_urls.json", &signed(CallbackKey::callback_url));
    put(folder, "return_urls.json", &signed(CallbackKey::return_url));
    put(folder, "dialects.json", &dialects());
    put(folder, "journal.json", &journal(&folder.join("journal")));
}

fn put(folder: &Path, name: &str, values: &[Value]) {
    fs::write(folder.join(name), serde_json::to_string_pretty(values).unwrap() + "\n").unwrap();
}

fn meaning(value: &(impl ToString + Serialize)) -> Value {
    json!({ "text": value.to_string(), "means": value })
}

/// Of every kind, with every field there is, and with signs that a text has to escape.
fn references() -> Vec<PaymentRef> {
    let amount = Decimal::new(10010, 2);
    let mut confirmed = PaymentRef::mbank("order-2", 250).with_gateway_number("gw-2");
    confirmed.confirm_identifier = Some(r#""id & 2""#.to_owned());
    let mut of_code = PaymentRef::qr(Some(12550)).with_transaction_id("tx-4");
    of_code.transaction_from_code = true;
    vec![
        PaymentRef::card("order-1", amount, "KGS"),
        PaymentRef::card("заказ & 17=?", amount, "USD").with_gateway_number("gw 1/2"),
        PaymentRef::mbank("order-2", 250),
        PaymentRef::mbank("order-2", 250).with_gateway_number("gw-2"),
        PaymentRef::pay_form(amount),
        PaymentRef::pay_form(amount).with_entry_id("entry-3").with_claimed_number("gw-3", Some(Provider::MegaPay)),
        PaymentRef::qr(Some(12550)).with_transaction_id("tx-4").with_entry_id("entry-4"),
        PaymentRef::qr(None),
        confirmed,
        of_code,
    ]
}

fn entries() -> Vec<PaymentEntry> {
    let amount = Decimal::new(10010, 2);
    vec![
        PaymentEntry::new(PaymentRef::mbank("order-2", 250)),
        PaymentEntry::new(PaymentRef::card("order-1", amount, "KGS"))
            .with_page_url("https://gateway.example.kg/3ds?token=a%20b"),
        PaymentEntry::new(PaymentRef::qr(Some(100)).with_transaction_id("tx-4"))
            .with_qr_text("https://qr.example.kg/#0002&x=1"),
    ]
}

fn dialects() -> Vec<Value> {
    let sandbox = include_str!("../../../../examples/sandbox-dialect.json");
    let texts = [sandbox, include_str!("../../../../examples/sandbox-other-dialect.json"), r#"{"qr_numbers": "none"}"#];
    let whole = Dialect::default().to_json();
    let texts = texts.into_iter().chain([whole.as_str()]);
    let mean = |text: &str| serde_json::from_str::<Value>(&Dialect::from_json(text).unwrap().to_json()).unwrap();
    texts.map(|text| json!({ "text": text, "means": mean(text) })).collect()
}

/// A journal with payments in each state; what is known of each.
fn journal(folder: &Path) -> Vec<Value> {
    let fake = FakeGateway::new().unwrap();
    let journal = Journal::open(folder).unwrap();
    let gateway = fake.gateway().with_journal(journal.clone());
    let payments = pollster::block_on(async {
        let mbank = |order: &str| MbankPayment::new(order, 250, "996555000101", "Two tickets");
        let mut payments = vec![];
        for order in ["open-1", "charged-1", "finished-1", "rejected-1"] {
            let with_note = gateway.with_note(&format!("cart of {order}")).unwrap();
            payments.push(with_note.create_mbank_payment(mbank(order)).await.unwrap().payment);
        }
        for order in ["charged-1", "finished-1"] {
            let payment = payments.iter().find(|payment| payment.order_number.as_deref() == Some(order)).unwrap();
            gateway.confirm_mbank_payment(payment, &fake.otp()).await.unwrap();
            assert!(gateway.check(payment).await.unwrap().is_charged());
        }
        fake.reject("rejected-1").unwrap();
        gateway.check(&payments[3]).await.unwrap();
        gateway.finish(&journal.entry(&payments[2]).unwrap().unwrap().id).await.unwrap();

        fake.fail_next(FakeFault::ResponseLost);
        payments.push(mbank("unknown-1").payment_ref());
        gateway.create_mbank_payment(mbank("unknown-1")).await.unwrap_err();

        let form = PayForm::new(Decimal::new(10010, 2), "Two tickets", "https://shop.example.kg/back")
            .with_return_url("https://shop.example.kg/thanks")
            .with_entry_id("form-1");
        payments.push(gateway.create_pay_form(form).await.unwrap().payment);
        payments.push(gateway.create_qr_data(QrPayment::new(12550).with_entry_id("qr-1")).await.unwrap().payment);
        payments
    });
    let entries = payments.iter().map(|payment| journal.entry(payment).unwrap().unwrap());
    entries.map(|entry| means(&entry)).collect()
}
