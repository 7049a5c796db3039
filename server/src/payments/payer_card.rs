//! A payer's card on its way through memory: it lives for one call and is wiped after it (zeroization).

use std::net::IpAddr;

use kassa::{Card, CardInput, PaymentError};

use crate::values::{checks::Checks, error::ServerError, violation::Rule};

const LONGEST_NAME: usize = 100;
/// What the gateway's page for the payer speaks unless the app says otherwise.
const LANGUAGE: &str = "ru";

/// A card as its payer typed it, with what the gateway wants to know of the payer beside.
///
/// It prints as nothing. The number and the security code are wiped with the last copy; of all this the last four digits
/// alone are ever written down.
///
/// ```
/// use kassa::CardInput;
/// use kassa_server::PayerCard;
///
/// let typed = CardInput::new().with_number("4111 1111 1111 1111").with_expiry("08/2031").with_cvc("123");
/// let card = PayerCard::new(typed.with_holder_name("Aibek Usenov"), [203, 0, 113, 7].into()).with_language("ky");
/// assert!(card.check().is_ok());
/// assert!(!format!("{card:?}").contains("1111"));
/// ```
#[derive(Clone, Debug)]
pub struct PayerCard {
    typed: CardInput,
    ip: IpAddr,
    language: String,
}

impl PayerCard {
    /// A card, and the address that its payer calls from.
    pub fn new(typed: CardInput, ip: IpAddr) -> Self {
        Self { typed, ip, language: LANGUAGE.to_owned() }
    }

    /// The same with the payer's language, two letters such as `ky`; `ru` unless it says so.
    #[must_use]
    pub fn with_language(self, language: impl Into<String>) -> Self {
        Self { language: language.into(), ..self }
    }

    /// Whether it keeps all rules. They are the core's ([`CardInput::card`]), by the names that the fields have here.
    ///
    /// # Errors
    /// [`ServerError::Invalid`] with all that is wrong. No value is part of it.
    pub fn check(&self) -> Result<(), ServerError> {
        let mut checks = Checks::default();
        if let Err(PaymentError::Invalid { violations, .. }) = self.typed.card() {
            for violation in violations {
                let (field, rule, sentence) = told(&violation);
                checks.fail(field, rule, sentence);
            }
        }
        checks.text("card.holder_name", self.typed.holder_name(), LONGEST_NAME);
        if self.language.len() != 2 || !self.language.bytes().all(|byte| byte.is_ascii_lowercase()) {
            checks.fail("language", Rule::Format, "must be two small letters, such as ky");
        }
        checks.finish()
    }

    /// The card itself.
    pub(crate) fn card(&self) -> Result<Card, ServerError> {
        self.check()?;
        self.typed.card().map_err(|_| ServerError::unavailable("the card cannot be read"))
    }

    pub(crate) fn ip(&self) -> IpAddr {
        self.ip
    }

    pub(crate) fn language(&self) -> &str {
        &self.language
    }
}

/// What may be shown and kept of a card.
pub(crate) fn last4(card: &Card) -> Option<String> {
    card.masked_number().strip_prefix("**** ").map(str::to_owned)
}

/// A rule of the core's as the server names it.
fn told(violation: &kassa::Violation) -> (&'static str, Rule, &'static str) {
    let (field, rule, sentence) = match violation.field.as_str() {
        "pan" => ("card.number", Rule::Format, "must be a card's number, with its right check digit"),
        "expiryMonth" => ("card.expiry_month", Rule::Range, "must be 01 to 12"),
        "expiryYear" => ("card.expiry_year", Rule::Range, "must be a year in which the card is good"),
        "cvc" => ("card.cvc", Rule::Format, "must be three digits"),
        _ => ("card.holder_name", Rule::Format, "must be a name"),
    };
    if violation.rule == kassa::Rule::Required {
        (field, Rule::Required, "must be given")
    } else {
        (field, rule, sentence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(typed: CardInput) -> Vec<(String, Rule)> {
        let Err(ServerError::Invalid { violations }) = PayerCard::new(typed, [127, 0, 0, 1].into()).check() else {
            return Vec::new();
        };
        violations.into_iter().map(|violation| (violation.field, violation.rule)).collect()
    }

    #[test]
    fn every_broken_rule_is_named_as_it_is_called_here() {
        let typed = CardInput::new().with_number("4000 0000 0000 2016").with_expiry("08/2031").with_cvc("737");
        let typed = typed.with_holder_name("Aibek Usenov");
        assert_eq!(broken(typed.clone()), []);
        for (typed, field, rule) in [
            (typed.with_number("4000 0000 0000 2017"), "card.number", Rule::Format),
            (typed.with_expiry("13/2031"), "card.expiry_month", Rule::Range),
            (typed.with_expiry("01/2020"), "card.expiry_year", Rule::Range),
            (typed.with_cvc("73"), "card.cvc", Rule::Format),
            (typed.with_cvc(""), "card.cvc", Rule::Required),
            (typed.with_holder_name("4000 0000 0000 2016"), "card.holder_name", Rule::CardNumber),
        ] {
            assert_eq!(broken(typed), [(field.to_owned(), rule)]);
        }
    }

    #[test]
    fn the_last_four_digits_alone_are_shown() {
        let card = Card::new("4000 0000 0000 2016", "08", 2031, "737", "Aibek Usenov");
        assert_eq!(last4(&card).as_deref(), Some("2016"));
        assert_eq!(last4(&Card::new("2016", "08", 2031, "737", "Aibek Usenov")), None);
    }
}
