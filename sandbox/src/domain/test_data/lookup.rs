//! Test payers found by their numbers, or by the masks that are kept of these.

use crate::{
    domain::{
        Provider,
        test_data::{FINIPAY_CARDS, FINIPAY_PHONES, TEST_CARDS, TEST_PHONES, TestCard, TestPhone},
    },
    redact::mask,
};

/// Every card that is taken.
pub(crate) fn cards() -> impl Iterator<Item = &'static TestCard> {
    TEST_CARDS.iter().chain(&FINIPAY_CARDS)
}

/// Every phone that is taken.
pub(crate) fn phones() -> impl Iterator<Item = &'static TestPhone> {
    TEST_PHONES.iter().chain(&FINIPAY_PHONES)
}

/// The test card of a full card number.
pub(crate) fn card_of(pan: &str) -> Option<&'static TestCard> {
    cards().find(|card| card.pan == pan)
}

/// The test card of a stored mask.
pub(crate) fn card_of_mask(masked: &str) -> Option<&'static TestCard> {
    cards().find(|card| mask::card(card.pan) == masked)
}

/// The provider's test phone of a full number.
pub(crate) fn phone_of(provider: Provider, digits: &str) -> Option<&'static TestPhone> {
    phones().find(|phone| phone.provider == provider && phone.phone == digits)
}

/// The test phone of a stored mask.
pub(crate) fn phone_of_mask(masked: &str) -> Option<&'static TestPhone> {
    phones().find(|phone| mask::phone(phone.phone) == masked)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn luhn(pan: &str) -> bool {
        let sum: u32 = pan
            .bytes()
            .rev()
            .enumerate()
            .map(|(index, digit)| {
                let digit = u32::from(digit - b'0') << (index % 2);
                if digit > 9 { digit - 9 } else { digit }
            })
            .sum();
        sum.is_multiple_of(10)
    }

    #[test]
    fn every_card_number_passes_the_luhn_check() {
        for card in cards() {
            assert!(luhn(card.pan), "{}", card.pan);
        }
        assert!(!luhn("4111111111111112"));
    }

    #[test]
    fn a_mask_tells_the_test_payers_apart() {
        let card_masks: HashSet<_> = cards().map(|card| mask::card(card.pan)).collect();
        assert_eq!(card_masks.len(), cards().count());
        let phone_masks: HashSet<_> = phones().map(|phone| mask::phone(phone.phone)).collect();
        assert_eq!(phone_masks.len(), phones().count());
    }
}
