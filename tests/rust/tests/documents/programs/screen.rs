use kassa::{Checkout, CheckoutState, Language, PaymentError};

pub async fn screen(server_url: &str, client_token: &str) -> Result<bool, PaymentError> {
    let checkout = Checkout::open(server_url, client_token)?;
    let states = checkout.states();
    while let Some(state) = states.next().await {
        match state {
            CheckoutState::Ready { methods, message: Some(message), .. } => {
                println!("{} Another try? {methods:?}", message.text_in(Language::Kyrgyz));
            }
            CheckoutState::Ready { methods, .. } => {
                println!("How would you like to pay? {methods:?}");
                checkout.pay_by_mbank("996555000101")?; // what the payer's button does
            }
            CheckoutState::EnterOtp { attempts_left, message: None, .. } => {
                println!("The code from the SMS? {attempts_left} tries left");
                checkout.confirm("101101")?; // what the payer typed
            }
            CheckoutState::OpenPage { url, begun_here: true, .. } => {
                println!("open {url} in a browser tab");
                checkout.page_opened();
            }
            CheckoutState::Paid { amount, currency, .. } => {
                println!("paid: {amount} {currency}");
                return Ok(true);
            }
            CheckoutState::NotPaid { .. } | CheckoutState::Expired => return Ok(false),
            other => println!("{other:?}"),
        }
    }
    Ok(false)
}
