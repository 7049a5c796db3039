//! The confirmation of a mobile-bank payment.

use kassa::PaymentRef;

use super::Flow;
use crate::{
    args::ConfirmArgs,
    failure::Failure,
    json_output,
    payer::Payer,
    report::{Outcome, Report},
    setup::Checkout,
};

/// Confirms a payment that an earlier run has created.
pub(crate) async fn run(shop: &Checkout, args: &ConfirmArgs) -> Result<Report, Failure> {
    let order = &args.order_number;
    let known = shop.payments.mbank(order)?;
    let otp = otp(shop, args.otp.as_deref(), None).await?;
    let mut flow = match &known {
        Some(entry) => Flow::resume(shop, entry, "mbank")?,
        None => Flow::bare(shop, PaymentRef::mbank(order, amount(args)?), "mbank")?,
    };
    if let Some(identifier) = &args.identifier {
        let mut payment = flow.report.payment.clone();
        payment.confirm_identifier = Some(as_json(identifier));
        flow.learned(payment);
    }
    Ok(send(flow, &otp, known.is_some(), args.no_wait).await)
}

/// A payment that the journal does not know must be told apart by its amount, too.
fn amount(args: &ConfirmArgs) -> Result<i64, Failure> {
    let missing = "the journal does not know this payment: say by --amount how many som it is about";
    args.amount.ok_or_else(|| Failure::Usage(missing.to_owned()))
}

/// A number stays one; anything else is a text.
fn as_json(identifier: &str) -> String {
    match identifier.parse::<serde_json::Number>() {
        Ok(_) => identifier.to_owned(),
        Err(_) => serde_json::Value::from(identifier).to_string(),
    }
}

/// The one-time password: as given, as the robot knows it, or from a person.
pub(super) async fn otp(shop: &Checkout, given: Option<&str>, known: Option<&'static str>) -> Result<String, Failure> {
    if let Some(otp) = given {
        return Ok(otp.to_owned());
    }
    match known {
        Some(otp) if shop.payer.is_robot() => Ok(otp.to_owned()),
        _ if !shop.payer.is_robot() || Payer::can_be_asked() => {
            super::tell_test_otp(shop, known);
            Payer::ask_otp(&shop.narrator).await
        }
        _ => Err(Failure::Usage("no one-time password: give it by KASSA_OTP, --secrets-stdin or --otp".to_owned())),
    }
}

/// Sends the confirmation and follows the payment. `created` says whether this program knows that the payment exists.
pub(super) async fn send(mut flow: Flow<'_>, otp: &str, created: bool, no_wait: bool) -> Report {
    flow.narrator.step("payer", "reads the one-time password from the phone; the shop confirms with it");
    match flow.gateway.confirm_mbank_payment(&flow.report.payment, otp).await {
        Ok(response) => {
            let code = response.code.as_deref().unwrap_or("none");
            let status = response.status.as_deref().unwrap_or("none");
            let text = format!("code {code}, confirmation accepted, status {status:?}: not proof, so query the status");
            flow.narrator.step("gateway", &text);
            flow.answered(json_output::mbank_confirmed(&response), Some(response.payment.clone()));
        }
        Err(error) => {
            if !flow.failed(error) {
                return after_refusal(flow, created).await;
            }
        }
    }
    if no_wait {
        return flow.left_open(Outcome::Created).await;
    }
    flow.follow().await
}

/// The confirmation did nothing: the payment stands where it stood, and one question tells where. It may have been
/// created elsewhere, so only where the gateway does not know it either there is none.
async fn after_refusal(mut flow: Flow<'_>, created: bool) -> Report {
    flow.report.outcome = if created { Outcome::Pending } else { Outcome::NotMade };
    if let Ok(verdict) = flow.gateway.check(&flow.report.payment).await {
        flow.narrator.step("status", &crate::follow::verdict_in_words(&verdict));
        flow.heard(&verdict);
    }
    flow.finish().await
}
