//! The confirmation of a mobile-bank payment.

use kassa::{PaymentKind, PaymentRef, Provider};

use super::{Beginning, Flow};
use crate::{
    args::ConfirmArgs,
    failure::Failure,
    json_output,
    payer::Payer,
    report::{Outcome, Report},
    setup::Checkout,
    store::{Entry, State},
};

/// Confirms a payment that an earlier run has created.
pub(crate) async fn run(shop: &Checkout, args: &ConfirmArgs) -> Result<Report, Failure> {
    let order = &args.order_number;
    let stored = stored(shop, order)?;
    let identifier = args.identifier.clone().or_else(|| stored.as_ref().and_then(|entry| entry.identifier.clone()));
    let otp = otp(shop, args.otp.as_deref(), None).await?;
    let flow = match &stored {
        Some(entry) => Flow::resume(shop, entry, "mbank")?,
        None => Flow::begin(
            shop,
            Beginning {
                flow: "mbank",
                reference: kassa::new_order_number(),
                payment: PaymentRef::mbank(order),
                expected: None,
                awaits_callback: false,
            },
        )?,
    };
    let confirmation = Confirmation { order, otp: &otp, identifier: identifier.as_deref() };
    Ok(send(flow, confirmation, stored.is_some(), args.no_wait).await)
}

/// What a confirmation carries. It has no `Debug`.
pub(super) struct Confirmation<'a> {
    pub(super) order: &'a str,
    pub(super) otp: &'a str,
    pub(super) identifier: Option<&'a str>,
}

fn stored(shop: &Checkout, order: &str) -> Result<Option<Entry>, Failure> {
    let entries = shop.store.entries()?;
    Ok(entries.into_iter().rev().find(|entry| {
        let payment = entry.payment_ref();
        let same = payment
            .is_ok_and(|payment| payment.kind == PaymentKind::Mbank && payment.order_number.as_deref() == Some(order));
        same && entry.gateway == shop.gateway_name && entry.state == State::Open
    }))
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
pub(super) async fn send(mut flow: Flow<'_>, confirmation: Confirmation<'_>, created: bool, no_wait: bool) -> Report {
    let Confirmation { order, otp, identifier } = confirmation;
    flow.narrator.step("payer", "reads the one-time password from the phone and hands it over; we confirm");
    match flow.shop.gateway.confirm_mbank_payment(order, otp, identifier.map(Into::into)).await {
        Ok(reply) => {
            let code = reply.code.as_deref().unwrap_or("none");
            let status = reply.status.as_deref().unwrap_or("none");
            let text = format!("code {code}, took the confirmation, status {status:?}, which settles nothing: we ask");
            flow.narrator.step("gateway", &text);
            flow.answered(json_output::gateway_reply(&reply), Some(reply.payment.clone()));
        }
        Err(error) => {
            if !flow.failed(error) {
                return after_refusal(flow, order, created).await;
            }
        }
    }
    if no_wait {
        return flow.left_open(Outcome::Created);
    }
    flow.follow().await
}

/// The confirmation did nothing: the payment stands where it stood, and one question tells where. It may have been
/// created elsewhere, so only where the gateway does not know it either there is none.
async fn after_refusal(mut flow: Flow<'_>, order: &str, created: bool) -> Report {
    flow.report.outcome = if created { Outcome::Open } else { Outcome::NotMade };
    if let Ok(report) = flow.shop.gateway.provider_status(order, Provider::MBank).await {
        flow.narrator.step("status", &crate::follow::in_words(&report));
        flow.saw(report);
    }
    flow.finish()
}
