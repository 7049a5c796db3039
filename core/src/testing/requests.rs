//! Valid input for each operation.

use std::sync::Arc;

use crate::{
    Card, CardPayment, Decimal, Gateway, MbankPayment, PayForm, PaymentError, PaymentRef, Provider, QrPayment,
    transport::Boxed,
};

pub(crate) fn card_payment(order_number: &str, pan: &str) -> CardPayment {
    CardPayment {
        order_number: order_number.into(),
        description: "tea".into(),
        amount: Decimal::from(100),
        currency: "KGS".into(),
        card: Arc::new(Card::new(pan, "12", 2099, "123", "Aibek Usenov")),
        language: "en".into(),
        return_url: None,
        callback_url: "https://shop.example/callback".into(),
        ip: "203.0.113.7".into(),
        email: None,
    }
}

pub(crate) fn mbank_payment(order_number: &str) -> MbankPayment {
    MbankPayment {
        order_number: order_number.into(),
        phone: "996555000101".into(),
        amount_som: 100,
        comment: "tea".into(),
        callback_url: None,
    }
}

pub(crate) fn pay_form() -> PayForm {
    PayForm {
        amount: Decimal::from(100),
        service_name: "tea".into(),
        callback_url: "https://shop.example/callback".into(),
        return_url: "https://shop.example/done".into(),
        entry_id: None,
    }
}

pub(crate) fn qr_payment() -> QrPayment {
    QrPayment::new(10_000)
}

/// Calls the operation of an endpoint, by its name.
pub(crate) fn call(gateway: &Gateway, endpoint: &'static str) -> Boxed<Result<(), PaymentError>> {
    let gateway = gateway.clone();
    Box::pin(async move {
        match endpoint {
            "card_payment" => gateway.create_card_payment(card_payment("order-1", "4111111111111111")).await.map(drop),
            "mbank_payment" => gateway.create_mbank_payment(mbank_payment("order-1")).await.map(drop),
            "mbank_confirm" => {
                gateway.confirm_mbank_payment(&PaymentRef::mbank("order-1", 100), "123456").await.map(drop)
            }
            "pay_form" => gateway.create_pay_form(pay_form()).await.map(drop),
            "qr_image" => gateway.create_qr_image(qr_payment()).await.map(drop),
            "qr_data" => gateway.create_qr_data(qr_payment()).await.map(drop),
            "payment_status" => gateway.payment_status("gateway-1", None).await.map(drop),
            "provider_status" => gateway.provider_status("order-1", Provider::MBank).await.map(drop),
            "qr_status" => gateway.qr_status("transaction-1").await.map(drop),
            other => panic!("no request is known for {other}"),
        }
    })
}
