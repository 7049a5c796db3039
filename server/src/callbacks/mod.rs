//! Callbacks (webhooks) of the gateway. They are not signed, so what arrives is a hint: it makes the payment due to be asked
//! about, and settles nothing.

use kassa::Callback;
use ring::digest::{SHA256, digest};

use crate::{
    storage::inputs::{Claim, Hint},
    values::{
        error::ServerError,
        ids::{PaymentId, is_hex_128},
        violation::{Rule, Violation},
    },
};

/// The longest body that is read.
const LONGEST_BODY: usize = 64 * 1024;
const LONGEST_NUMBER: usize = 128;

/// The end of the address to which callbacks about a payment go: 128 random bits of its checkout, and its number.
pub(crate) fn address(secret: &str, payment: &PaymentId) -> String {
    format!("{secret}/{}", payment.bare())
}

/// What a callback hints at.
pub(crate) fn hint(address: &str, body: &str) -> Result<Hint, ServerError> {
    let nowhere = || ServerError::NotFound { what: "callback address" };
    let (secret, payment) = address.split_once('/').ok_or_else(nowhere)?;
    let payment = format!("pay_{payment}").parse().map_err(|_| nowhere())?;
    if !is_hex_128(secret) {
        return Err(nowhere());
    }
    if body.len() > LONGEST_BODY {
        return Err(ServerError::invalid(Violation::new("callback", Rule::Length, "must have at most 64 KiB")));
    }
    // One that cannot be read still says that something happened.
    let callback = Callback::parse(body).ok();
    let same = callback.as_ref().map(|callback| {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, callback.dedup_key().as_bytes()).as_ref());
        hash
    });
    let claim = callback.filter(|callback| can_be_number(&callback.order_number));
    let claim = claim.map(|callback| Claim { number: callback.order_number, provider: Some(callback.provider) });
    Ok(Hint::Callback { secret: secret.to_owned(), payment, claim, same })
}

fn can_be_number(text: &str) -> bool {
    text.chars().count() <= LONGEST_NUMBER && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_back_and_others_are_nowhere() {
        let payment = PaymentId::from_random([7; 16]);
        let secret = "0f".repeat(16);
        let Ok(Hint::Callback { secret: read, payment: whose, claim, same }) = hint(&address(&secret, &payment), "x")
        else {
            panic!("it is an address")
        };
        assert_eq!((read, whose), (secret, payment));
        assert!(claim.is_none() && same.is_none(), "an unreadable body claims nothing");
        for other in ["", "/", "0f", "0f/0f", &format!("{}/x", "0f".repeat(16))] {
            assert!(matches!(hint(other, "{}"), Err(ServerError::NotFound { .. })), "{other}");
        }
    }
}
