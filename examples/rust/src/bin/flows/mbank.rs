use kassa::{MbankPayment, PaymentError};

use super::shop;

/// Takes a mobile-bank payment of whole som, and asks for the code from the payer's message.
pub(crate) fn take(phone: &str, som: i64) -> Result<(), PaymentError> {
    let gateway = shop::open()?;
    let payment = MbankPayment::new(kassa::new_order_number(), som, phone, "Two coffees");
    let reference = payment.payment_ref();
    let sent = gateway
        .create_mbank_payment(payment) // the journal has it before it is sent
        .and_then(|created| gateway.confirm_mbank_payment(&created.payment, &shop::ask("code")));
    match sent {
        Err(error) if !error.payment_may_exist() => Err(error),
        Err(error) => {
            println!("{error}"); // it may have been charged: never send it again, ask
            shop::follow(&gateway, reference)
        }
        Ok(_) => shop::follow(&gateway, reference),
    }
}
