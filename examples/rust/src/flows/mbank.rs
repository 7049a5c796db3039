//! A mobile-bank payment: created, confirmed with the payer's one-time password, followed.

use kassa::MbankPayment;
use kassa_sandbox::Provider;

use super::{Beginning, Flow, confirm};
use crate::{
    args::MbankArgs,
    failure::Failure,
    json_output,
    report::{Outcome, Report},
    robot,
    setup::Checkout,
};

/// Runs it.
pub(crate) async fn run(shop: &Checkout, args: &MbankArgs) -> Result<Report, Failure> {
    let reference = kassa::new_order_number();
    let order = args.order_number.clone().unwrap_or_else(kassa::new_order_number);
    let mut payment = MbankPayment::new(&order, args.amount, &args.phone, &args.comment);
    payment.callback_url = shop.callback_url(&reference).filter(|_| !args.no_callback);
    shop.narrator
        .step("request", &format!("MBank payment of {} KGS from {}, order {order}", payment.amount_som, payment.phone));
    let mut flow = Flow::begin(
        shop,
        Beginning {
            flow: "mbank",
            reference,
            payment: payment.payment_ref(),
            awaits_callback: payment.callback_url.is_some(),
        },
    )?;
    flow.advise(&payment.advice());
    let created = match flow.gateway.create_mbank_payment(payment).await {
        Ok(created) => created,
        Err(error) => {
            let may_exist = flow.failed(error);
            return Ok(if may_exist { flow.follow().await } else { flow.not_made().await });
        }
    };
    flow.answered(json_output::mbank_payment_created(&created), Some(created.payment.clone()));
    let code = created.code.as_deref().unwrap_or("none");
    flow.narrator.step("gateway", &format!("code {code}, accepted, not paid; a one-time password goes to the phone"));
    if args.no_wait {
        return Ok(flow.left_open(Outcome::Created).await);
    }
    match confirm::otp(shop, args.otp.as_deref(), robot::otp_of_phone(Provider::MBank, &args.phone)).await {
        Ok(otp) => Ok(confirm::send(flow, &otp, true, false).await),
        Err(failure) => {
            flow.narrator.warn("payer", &failure.describe());
            flow.narrator.step("later", &format!("checkout confirm --order-number {order} goes on with it"));
            Ok(flow.left_open(Outcome::Pending).await)
        }
    }
}
