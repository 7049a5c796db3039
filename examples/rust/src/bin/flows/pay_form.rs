use std::io;

use kassa::{Callback, CallbackKey, Decimal, PayForm, PaymentError, ReturnRedirect};

use super::shop;

/// Creates a pay-form, on which the payer chooses a method.
///
/// The answer has no identifier, so the callback and return URLs have a signed payment reference. Their content is
/// only a hint, so the gateway is queried. Its dialect must have `qr_numbers`.
pub(crate) fn make(som: Decimal) -> Result<(), PaymentError> {
    let address = shop::setting("FLOWS_CALLBACK_URL", "https://shop.example.kg/callbacks");
    let mut form = PayForm::new(som, "Two coffees", &address).with_entry_id(kassa::new_order_number());
    let payment = form.payment_ref();
    form.callback_url = key()?.callback_url(&address, &payment)?;
    form.return_url = key()?.return_url("https://shop.example.kg/thanks", &payment)?;
    println!("open: {}", shop::open()?.create_pay_form(form)?.pay_form_url);
    Ok(())
}

/// Verifies a callback: the URL that was called, and the body from standard input.
pub(crate) fn called_back(address: &str) -> Result<(), PaymentError> {
    let payment = key()?.read_callback_url(address)?; // a forged one ends here
    let body = io::read_to_string(io::stdin()).unwrap_or_default();
    let gateway = shop::open()?;
    shop::act(&gateway, &gateway.verify_callback(&Callback::parse(&body)?, &payment)?)
}

/// Verifies the payer's return by the URL that was called.
pub(crate) fn came_back(address: &str) -> Result<(), PaymentError> {
    let payment = key()?.read_return_url(address)?;
    let gateway = shop::open()?;
    shop::act(&gateway, &gateway.verify_return(&ReturnRedirect::parse(address)?, &payment)?)
}

/// It has no default: whoever knows the secret can sign anything. `openssl rand -base64 32` makes one.
fn key() -> Result<CallbackKey, PaymentError> {
    CallbackKey::new(&shop::setting("FLOWS_SECRET", ""))
}
