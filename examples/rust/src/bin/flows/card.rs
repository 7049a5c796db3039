use kassa::{CardInput, CardPayment, Decimal, NextStep, PaymentError};

use super::shop;

/// Takes a card payment in som. **Handling card numbers puts you under PCI DSS**; a pay-form avoids that.
pub(crate) fn take(som: Decimal) -> Result<(), PaymentError> {
    let form = CardInput::new()
        .with_number(shop::ask("card number"))
        .with_expiry(shop::ask("valid until, as 08/31"))
        .with_cvc(shop::ask("security code"))
        .with_holder_name(shop::ask("name on the card"));
    let callback_url = shop::setting("FLOWS_CALLBACK_URL", "https://shop.example.kg/callbacks");
    let payment = CardPayment::new(kassa::new_order_number(), som, "KGS", form.card()?, callback_url)
        .with_description("Two coffees")
        .with_language("en")
        .with_ip("203.0.113.7"); // the payer's
    let reference = payment.payment_ref();

    let gateway = shop::open()?;
    match gateway.create_card_payment(payment) {
        Ok(created) => {
            if let NextStep::OpenConfirmation { url, .. } = created.next_step {
                println!("open: {url}"); // the payer confirms it there
            }
        }
        Err(error) if error.payment_may_exist() => println!("{error}"), // query it, and never send it again
        Err(error) => return Err(error),
    }
    shop::follow(&gateway, reference)
}
