//! Asks once for the status of a payment.

use kassa::{PaymentKind, PaymentRef, Provider, StatusReport};
use serde_json::json;

use super::Ended;
use crate::{
    args::{StatusArgs, Subject},
    failure::Failure,
    follow::in_words,
    json_output,
    setup::Checkout,
};

/// Asks.
pub(super) async fn run(shop: &Checkout, args: &StatusArgs) -> Result<Ended, Failure> {
    let payment = payment_of(&args.subject)?;
    shop.narrator.step("ask", &format!("{payment}"));
    let report = ask(shop, &payment, args.language.as_deref()).await?;
    shop.narrator.step("status", &in_words(&report));
    if let Some(amount) = report.amount {
        shop.narrator.step("amount", &format!("{amount} {}", report.currency.as_deref().unwrap_or_default()));
    }
    Ok(Ended {
        exit_code: 0,
        body: json!({"payment": payment.to_string(), "answer": json_output::status_report(&report)}),
    })
}

async fn ask(shop: &Checkout, payment: &PaymentRef, language: Option<&str>) -> Result<StatusReport, Failure> {
    let gateway = &shop.gateway;
    let answer = match payment {
        PaymentRef { transaction_id: Some(id), .. } => gateway.qr_status(id).await,
        PaymentRef { gateway_number: Some(number), .. } => {
            gateway.payment_status(number, language.map(Into::into)).await
        }
        PaymentRef { order_number: Some(number), provider: Some(provider), .. } => {
            gateway.provider_status(number, provider.clone()).await
        }
        _ => return Err(Failure::Usage("this reference names nothing to ask with yet; its callback will".to_owned())),
    };
    Ok(answer?)
}

/// The payment that the command line names.
pub(super) fn payment_of(subject: &Subject) -> Result<PaymentRef, Failure> {
    if let Some(payment) = &subject.payment {
        return Ok(payment.clone());
    }
    let nothing = PaymentRef {
        kind: PaymentKind::Card,
        order_number: None,
        gateway_number: None,
        provider: None,
        transaction_id: None,
    };
    match (subject.order_number.as_deref(), subject.provider.as_deref().map(Provider::from_name)) {
        (Some(order), Some(Provider::Cards)) => return Ok(PaymentRef::card(order)),
        (Some(order), Some(Provider::MBank)) => return Ok(PaymentRef::mbank(order)),
        (Some(order), Some(provider)) => return Ok(PaymentRef::pay_form(order, provider)),
        _ => {}
    }
    if let Some(number) = &subject.gateway_number {
        return Ok(nothing.with_gateway_number(number));
    }
    subject.transaction_id.as_deref().map(PaymentRef::qr).ok_or_else(|| {
        Failure::Usage(
            "name the payment: --payment REF, --order-number with --provider, --gateway-number, or --transaction-id"
                .to_owned(),
        )
    })
}
