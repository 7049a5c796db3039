//! Test payers found by their numbers, or by the masks that are kept of these.

use crate::{
    domain::{
        Provider,
        test_data::{TEST_CARDS, TEST_PHONES, TestCard, TestPhone},
    },
    redact::mask,
};

/// The test card of a full card number.
pub(crate) fn card_of(pan: &str) -> Option<&'static TestCard> {
    TEST_CARDS.iter().find(|card| card.pan == pan)
}

/// The test card of a stored mask.
pub(crate) fn card_of_mask(masked: &str) -> Option<&'static TestCard> {
    TEST_CARDS.iter().find(|card| mask::card(card.pan) == masked)
}

/// The provider's test phone of a full number.
pub(crate) fn phone_of(provider: Provider, digits: &str) -> Option<&'static TestPhone> {
    TEST_PHONES.iter().find(|phone| phone.provider == provider && phone.phone == digits)
}

/// The test phone of a stored mask.
pub(crate) fn phone_of_mask(masked: &str) -> Option<&'static TestPhone> {
    TEST_PHONES.iter().find(|phone| mask::phone(phone.phone) == masked)
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
        for card in TEST_CARDS {
            assert!(luhn(card.pan), "{}", card.pan);
        }
        assert!(!luhn("4111111111111112"));
    }

    #[test]
    fn a_mask_tells_the_test_payers_apart() {
        let cards: HashSet<_> = TEST_CARDS.iter().map(|card| mask::card(card.pan)).collect();
        assert_eq!(cards.len(), TEST_CARDS.len());
        let phones: HashSet<_> = TEST_PHONES.iter().map(|phone| mask::phone(phone.phone)).collect();
        assert_eq!(phones.len(), TEST_PHONES.len());
    }
}
