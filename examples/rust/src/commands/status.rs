//! Asks once for the status of a payment.

use kassa::{PaymentRef, Provider, StatusReport};
use serde_json::json;

use super::Ended;
use crate::{
    args::{AskedFor, StatusArgs, Subject},
    failure::Failure,
    follow::{in_words, verdict_in_words, word},
    json_output,
    setup::Checkout,
};

/// Asks. A stored reference tells what was requested, so the report is judged by it.
pub(super) async fn run(shop: &Checkout, args: &StatusArgs) -> Result<Ended, Failure> {
    if let Some(payment) = &args.subject.payment {
        return judged(shop, payment).await;
    }
    let report = ask(shop, &args.subject, args.language.as_deref()).await?;
    shop.narrator.step("status", &in_words(&report));
    if let Some(amount) = report.amount {
        shop.narrator.step("amount", &format!("{amount} {}", report.currency.as_deref().unwrap_or_default()));
    }
    Ok(Ended { exit_code: 0, body: json!({"answer": json_output::status_report(&report)}) })
}

async fn judged(shop: &Checkout, payment: &PaymentRef) -> Result<Ended, Failure> {
    let payment = &shop.payments.with_known_number(payment)?;
    if !payment.can_be_checked() {
        return Err(Failure::Usage("this reference names nothing to ask with yet; its callback will".to_owned()));
    }
    shop.narrator.step("query", &payment.to_string());
    let verdict = shop.gateway.check(payment).await?;
    shop.narrator.step("verdict", &verdict_in_words(&verdict));
    let answer = verdict.report().map(json_output::status_report);
    let body = json!({"payment": payment.to_string(), "verdict": word(&verdict), "answer": answer});
    Ok(Ended { exit_code: 0, body })
}

async fn ask(shop: &Checkout, subject: &Subject, language: Option<&str>) -> Result<StatusReport, Failure> {
    let gateway = &shop.gateway;
    if let (Some(number), Some(provider)) = (&subject.order_number, &subject.provider) {
        return Ok(gateway.provider_status(number, Provider::from_name(provider)).await?);
    }
    if let Some(number) = &subject.gateway_number {
        return Ok(gateway.payment_status(number, language).await?);
    }
    if let Some(id) = &subject.transaction_id {
        return Ok(gateway.qr_status(id).await?);
    }
    Err(nothing_named())
}

/// The payment that the command line names, if it names one.
pub(super) fn payment_of(subject: &Subject, asked_for: &AskedFor) -> Result<Option<PaymentRef>, Failure> {
    if subject.payment.is_some() {
        return Ok(subject.payment.clone());
    }
    if subject.order_number.is_none() && subject.gateway_number.is_none() && subject.transaction_id.is_none() {
        return Ok(None);
    }
    let missing = "say by --amount what was requested, or name the payment by --payment REF";
    let amount = asked_for.amount.ok_or_else(|| Failure::Usage(missing.to_owned()))?;
    if let Some(id) = &subject.transaction_id {
        let som = kassa::som_to_tyiyn(amount)?;
        return Ok(Some(PaymentRef::qr(Some(som)).with_transaction_id(id)));
    }
    if let Some(number) = &subject.gateway_number {
        let mut unnumbered = PaymentRef::card("", amount, &asked_for.currency).with_gateway_number(number);
        unnumbered.order_number = None;
        return Ok(Some(unnumbered));
    }
    let order_number = subject.order_number.clone().unwrap_or_default();
    let named = match subject.provider.as_deref().map(Provider::from_name) {
        Some(Provider::Cards) => PaymentRef::card(order_number, amount, &asked_for.currency),
        Some(Provider::MBank) => {
            let mut payment = PaymentRef::mbank(order_number, 0);
            payment.amount = Some(amount);
            payment
        }
        provider => PaymentRef::pay_form(amount).with_claimed_number(order_number, provider),
    };
    Ok(Some(named))
}

pub(super) fn nothing_named() -> Failure {
    Failure::Usage(
        "name the payment: --payment REF, --order-number with --provider, --gateway-number, or --transaction-id"
            .to_owned(),
    )
}
