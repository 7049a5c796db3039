use kassa::{BlockingGateway, Decimal, MegapayPayment, PaymentError, Verdict};

use super::shop;

/// Takes a payment from a MegaPay wallet: shows the total, then asks for the PIN. `account` is the merchant's account (requisite).
pub(crate) fn take(phone: &str, som: Decimal, account: &str) -> Result<(), PaymentError> {
    let gateway = shop::open()?;
    let payment = MegapayPayment::new(kassa::new_order_number(), som, phone, account);
    let reference = payment.payment_ref();
    let sent = gateway.check_megapay(payment.clone()).and_then(|checked| {
        match (checked.total, checked.commission) {
            (Some(total), Some(commission)) => println!("total: {total} som, {commission} of it commission"),
            _ => println!("MegaPay may charge a commission"),
        }
        pay(&gateway, &payment)
    });
    match sent {
        Err(error) if !error.payment_may_exist() => return Err(error),
        Err(error) => println!("{error}"), // it may have been charged: query it, and never send it again
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
            Ok(_) | Err(PaymentError::Refused { .. }) => return Ok(()), // the watch reports the result
            Err(error) => return Err(error),
        }
    }
}
