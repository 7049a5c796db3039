use std::io;

use kassa::{Callback, CallbackKey, Decimal, PayForm, PaymentError, ReturnRedirect};

use super::shop;

/// Makes a page on which the payer chooses how to pay some som.
///
/// Its answer names no payment, so the addresses of the callback and of the return say which one they are about, signed. What is told
/// there is a hint, which anybody can give: the gateway is asked. Its dialect must have `qr_numbers`.
pub(crate) fn make(som: Decimal) -> Result<(), PaymentError> {
    let address = shop::setting("FLOWS_CALLBACK_URL", "https://shop.example.kg/callbacks");
    let mut form = PayForm::new(som, "Two coffees", &address).with_entry_id(kassa::new_order_number());
    let payment = form.payment_ref();
    form.callback_url = key()?.callback_url(&address, &payment)?;
    form.return_url = key()?.return_url("https://shop.example.kg/thanks", &payment)?;
    println!("open: {}", shop::open()?.create_pay_form(form)?.pay_form_url);
    Ok(())
}

/// Verifies a callback: the address that was called, and the body on standard input.
pub(crate) fn called_back(address: &str) -> Result<(), PaymentError> {
    let payment = key()?.read_callback_url(address)?; // a forged one ends here
    let body = io::read_to_string(io::stdin()).unwrap_or_default();
    let gateway = shop::open()?;
    shop::act(&gateway, &gateway.verify_callback(&Callback::parse(&body)?, &payment)?)
}

/// Verifies a payment when its payer is back, at this address.
pub(crate) fn came_back(address: &str) -> Result<(), PaymentError> {
    let payment = key()?.read_return_url(address)?;
    let gateway = shop::open()?;
    shop::act(&gateway, &gateway.verify_return(&ReturnRedirect::parse(address)?, &payment)?)
}

/// There is none that stands in for it: who knows the secret signs what they like. `openssl rand -base64 32` makes one.
fn key() -> Result<CallbackKey, PaymentError> {
    CallbackKey::new(&shop::setting("FLOWS_SECRET", ""))
}
