use kassa::{BlockingGateway, Decimal, MegapayPayment, PaymentError, Verdict};

use super::shop;

/// Takes a payment from a MegaPay wallet: tells the total, and asks for the PIN from the payer's message. `account` is the merchant's
/// requisite.
pub(crate) fn take(phone: &str, som: Decimal, account: &str) -> Result<(), PaymentError> {
    let gateway = shop::open()?;
    let payment = MegapayPayment::new(kassa::new_order_number(), som, phone, account);
    let reference = payment.payment_ref();
    let sent = gateway.check_megapay(payment.clone()).and_then(|checked| {
        match (checked.total, checked.commission) {
            (Some(total), Some(commission)) => println!("total: {total} som, {commission} of it commission"),
            _ => println!("the wallet may take a commission"),
        }
        pay(&gateway, &payment)
    });
    match sent {
        Err(error) if !error.payment_may_exist() => return Err(error),
        Err(error) => println!("{error}"), // it may have been charged: never send it again, ask
        Ok(()) => {}
    }
    shop::follow(&gateway, reference)
}

/// Asks for the PIN until the gateway takes one. Too many wrong ones, and it rejects the payment.
fn pay(gateway: &BlockingGateway, payment: &MegapayPayment) -> Result<(), PaymentError> {
    loop {
        match gateway.pay_by_megapay(payment.clone(), &shop::ask("PIN")) {
            Err(PaymentError::Refused { reason, .. })
                if matches!(gateway.check(&payment.payment_ref())?, Verdict::Pending { .. }) =>
            {
                println!("{}", reason.unwrap_or_default());
            }
            Ok(_) | Err(PaymentError::Refused { .. }) => return Ok(()), // how it ended, the watch says
            Err(error) => return Err(error),
        }
    }
}
