//! The card of a payer in a body: the one place where a card number may stand, and only where the settings turn cards on.

use std::{mem::take, net::IpAddr};

use kassa::CardInput;
use zeroize::Zeroizing;

use super::fields::BodyFields;
use crate::{payments::payer_card::PayerCard, values::violation::Rule};

/// What the payer typed, and who calls. The number was taken out before, so that nothing else of the body may look like one.
pub(super) fn read(fields: &mut BodyFields, number: Option<Zeroizing<String>>, from: IpAddr) -> Option<PayerCard> {
    let language = fields.optional_text("language");
    let mut card = fields.object("card")?;
    let mut number = match number {
        Some(number) => number,
        None => Zeroizing::new(card.text("number")),
    };
    let month = card.text("expiry_month");
    let year = card.number("expiry_year", &(2000..=2099));
    card.require("expiry_year", year.is_some(), Rule::Required, "must be given");
    let mut cvc = Zeroizing::new(card.text("cvc"));
    let holder_name = card.text("holder_name");
    card.require("number", is_number(&number), Rule::Format, "must be digits; spaces and hyphens are allowed");
    card.require("expiry_month", are_digits(&month, 2), Rule::Format, "must be two digits, such as 08");
    card.require("cvc", are_digits(&cvc, 3), Rule::Format, "must be three digits");
    fields.finish_object("card", card);
    // Moved, not copied: what holds them from now on wipes them.
    let typed = CardInput::new()
        .with_number(take(&mut *number))
        .with_expiry(format!("{month}/{}", year.unwrap_or_default()))
        .with_cvc(take(&mut *cvc))
        .with_holder_name(holder_name);
    let payer = PayerCard::new(typed, from);
    let payer = match language {
        Some(language) => payer.with_language(language),
        None => payer,
    };
    fields.add_violations(payer.check());
    Some(payer)
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-'))
}

fn are_digits(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
}
