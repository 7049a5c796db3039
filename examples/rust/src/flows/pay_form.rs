//! A pay-form: the gateway's own page on which the payer chooses a method.
//!
//! The answer names no order: which payment was made there, its callback claims. Our own reference in its URL is also the
//! name of the journal's entry, so that the address that was called tells which one the callback is about.

use kassa::PayForm;
use kassa_sandbox::Provider;

use super::{Beginning, Flow};
use crate::{
    args::{PayFormArgs, PayWith},
    failure::Failure,
    json_output,
    report::{Outcome, Report},
    robot::{self, Form},
    setup::Checkout,
};

/// Where no --phone is given, the sandbox's phones whose payments are approved.
const MBANK_PHONE: &str = "996555000101";
const MEGAPAY_PHONE: &str = "996755000201";

/// Runs it.
pub(crate) async fn run(shop: &Checkout, args: &PayFormArgs) -> Result<Report, Failure> {
    let reference = kassa::new_order_number();
    let return_url = args.return_url.clone().unwrap_or_else(|| shop.receiver.return_url(&reference));
    let form = PayForm::new(args.amount, &args.service_name, shop.required_callback_url(&reference)?)
        .with_return_url(return_url)
        .with_entry_id(&reference);
    shop.narrator.step("request", &format!("a pay-form for {} KGS, our reference {reference}", form.amount));
    let mut flow = Flow::begin(
        shop,
        Beginning { flow: "pay-form", reference, payment: form.payment_ref(), awaits_callback: true },
    )?;
    flow.advise(&form.advice());
    let created = match flow.gateway.create_pay_form(form).await {
        Ok(created) => created,
        Err(error) => {
            flow.failed(error);
            return Ok(flow.not_made().await);
        }
    };
    flow.answered(json_output::pay_form_created(&created), Some(created.payment.clone()));
    flow.narrator.step("gateway", "the page is ready:");
    flow.narrator.step("page", &created.pay_form_url);
    if args.no_wait {
        return Ok(flow.left_open(Outcome::Created).await);
    }
    let story = match args.pay_with {
        PayWith::Card => "picks the card on the page, types it in and enters the one-time password",
        PayWith::Mbank => "picks MBank on the page, types the phone number and the one-time password",
        PayWith::Megapay => "picks MegaPay on the page, types the phone number and the one-time password",
    };
    let forms = forms(args);
    if shop.is_sandbox() && !shop.payer.is_robot() {
        flow.narrator.step("payer", "test cards, phones and their one-time passwords are listed in sandbox/README.md");
    }
    shop.payer.go(&flow.narrator, &created.pay_form_url, story, forms).await;
    Ok(flow.follow().await)
}

/// What the robot fills in: the choice, then the one-time password.
fn forms(args: &PayFormArgs) -> Option<Vec<Form>> {
    let (choice, known) = match args.pay_with {
        PayWith::Card => (robot::card_form(&args.card), robot::otp_of_card(&args.card.pan)),
        PayWith::Mbank => wallet(Provider::MBank, args.phone.as_deref().unwrap_or(MBANK_PHONE)),
        PayWith::Megapay => wallet(Provider::MegaPay, args.phone.as_deref().unwrap_or(MEGAPAY_PHONE)),
    };
    let otp = args.otp.as_deref().or(known)?;
    Some(vec![choice, robot::otp_form(otp)])
}

fn wallet(provider: Provider, phone: &str) -> (Form, Option<&'static str>) {
    (robot::wallet_form(provider, phone), robot::otp_of_phone(provider, phone))
}
