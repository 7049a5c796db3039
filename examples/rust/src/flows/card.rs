//! A card payment: created, confirmed by the payer on the 3DS page, followed.

use kassa::{Card, CardPayment, NextStep};

use super::{Beginning, Flow};
use crate::{
    args::CardArgs,
    failure::Failure,
    json_output,
    report::{Outcome, Report},
    robot,
    setup::Checkout,
};

/// Runs it.
pub(crate) async fn run(shop: &Checkout, args: &CardArgs) -> Result<Report, Failure> {
    let reference = kassa::new_order_number();
    let payment = request(shop, args, &reference)?;
    shop.narrator.step(
        "request",
        &format!(
            "card payment of {} {}, card {}, order {}",
            payment.amount,
            payment.currency,
            payment.card(),
            payment.order_number
        ),
    );
    let mut flow = Flow::begin(
        shop,
        Beginning { flow: "card", reference, payment: payment.payment_ref(), awaits_callback: true },
    )?;
    flow.advise(&payment.advice());
    match flow.gateway.create_card_payment(payment).await {
        Ok(created) => {
            flow.answered(json_output::card_payment_created(&created), Some(created.payment.clone()));
            let code = created.code.as_deref().unwrap_or("none");
            confirm(&flow, args, code, &created.next_step).await;
            if args.no_wait {
                return Ok(flow.left_open(Outcome::Created).await);
            }
        }
        Err(error) => {
            if !flow.failed(error) {
                return Ok(flow.not_made().await);
            }
        }
    }
    Ok(flow.follow().await)
}

fn request(shop: &Checkout, args: &CardArgs, reference: &str) -> Result<CardPayment, Failure> {
    let card = &args.card;
    // The text is not repeated: it may be a part of a real card.
    let year = card
        .expiry_year
        .parse()
        .map_err(|_| Failure::Usage("the card's year of expiry must be four digits".to_owned()))?;
    let return_url = args.return_url.clone().unwrap_or_else(|| shop.receiver.return_url(reference));
    let order = args.order_number.clone().unwrap_or_else(kassa::new_order_number);
    let card = Card::new(card.pan.as_str(), card.expiry_month.as_str(), year, card.cvc.as_str(), card.name.as_str());
    let callback_url = shop.required_callback_url(reference)?;
    let mut payment = CardPayment::new(order, args.amount, &args.currency, card, callback_url)
        .with_description(&args.description)
        .with_language(&args.language)
        .with_ip(&args.ip);
    payment.return_url = Some(return_url).filter(|url| !url.is_empty());
    payment.email = args.email.clone();
    Ok(payment)
}

async fn confirm(flow: &Flow<'_>, args: &CardArgs, code: &str, next_step: &NextStep) {
    match next_step {
        NextStep::OpenConfirmation { url, .. } => {
            flow.narrator.step("gateway", &format!("code {code}, accepted; the payer has to confirm it (3DS):"));
            flow.narrator.step("page", url);
            if args.no_wait {
                return;
            }
            let otp = args.otp.as_deref().or_else(|| robot::otp_of_card(&args.card.pan));
            super::tell_test_otp(flow.shop, otp);
            let story = "opens the page and enters the one-time password of the bank";
            flow.shop.payer.go(&flow.narrator, url, story, otp.map(|otp| vec![robot::otp_form(otp)])).await;
        }
        NextStep::CheckStatus { status, .. } => {
            let status = status.as_deref().unwrap_or("none");
            let text =
                format!("code {code}, accepted; nothing to confirm, status {status:?}: not proof, so query the status");
            flow.narrator.step("gateway", &text);
        }
        other => flow.narrator.warn("gateway", &format!("a step that this program does not know: {other:?}")),
    }
}
