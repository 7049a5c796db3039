use kassa::{BlockingGateway, MbankPayment, PaymentError, PaymentRef, Verdict};

use super::shop;

/// Takes a mobile-bank payment of whole som, and asks for the code from the payer's message.
pub(crate) fn take(phone: &str, som: i64) -> Result<(), PaymentError> {
    let gateway = shop::open()?;
    let payment = MbankPayment::new(kassa::new_order_number(), som, phone, "Two coffees");
    let reference = payment.payment_ref();
    let sent = gateway
        .create_mbank_payment(payment) // the journal has it before it is sent
        .and_then(|created| confirm(&gateway, &created.payment));
    match sent {
        Err(error) if !error.payment_may_exist() => return Err(error),
        Err(error) => println!("{error}"), // it may have been charged: query it, and never send it again
        Ok(()) => {}
    }
    shop::follow(&gateway, reference)
}

/// Asks for the code until the gateway takes one. Too many wrong ones, and it rejects the payment.
fn confirm(gateway: &BlockingGateway, payment: &PaymentRef) -> Result<(), PaymentError> {
    loop {
        match gateway.confirm_mbank_payment(payment, &shop::ask("code")) {
            Err(PaymentError::Refused { reason, .. }) if matches!(gateway.check(payment)?, Verdict::Pending { .. }) => {
                println!("{}", reason.unwrap_or_default());
            }
            Ok(_) | Err(PaymentError::Refused { .. }) => return Ok(()), // how it ended, the watch says
            Err(error) => return Err(error),
        }
    }
}
