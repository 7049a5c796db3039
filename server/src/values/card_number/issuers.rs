//! The card numbers of issuers: their ranges, the lengths in use, and the check digit (Luhn).

use std::ops::RangeInclusive;

use kassa::{CardBrand, CardInput};

/// Thirteen digits in a text are a barcode of goods (EAN-13: 4 begins those of Germany, Japan and Kyrgyzstan, 50 those of
/// Britain), a book's number or a time in milliseconds. Visa and Maestro allow thirteen digits, and no longer issue such cards.
const BARCODE: usize = 13;

const SIXTEEN: &[usize] = &[16];
const SIXTEEN_OR_NINETEEN: &[usize] = &[16, 19];
const SIXTEEN_TO_NINETEEN: &[usize] = &[16, 17, 18, 19];
/// Not 15: Russian numbers of sole traders (OGRNIP) have that length, and most begin with 304.
const DINERS: &[usize] = &[14, 16, 17, 18, 19];

/// Issuers without a brand in the core, because no card form depends on it: their first four digits,
/// and the lengths that they use.
const OTHER_ISSUERS: [(RangeInclusive<u32>, &[usize]); 14] = [
    // Diners Club.
    (3000..=3059, DINERS),
    (3095..=3095, DINERS),
    (3600..=3699, DINERS),
    (3800..=3999, DINERS),
    // Maestro, and debit cards that share its ranges. The core has more exact ones, which come first.
    (5000..=5099, SIXTEEN_TO_NINETEEN),
    (5600..=5899, SIXTEEN_TO_NINETEEN),
    // Discover (6011, 644 to 649, 65), RuPay, and the rest of Maestro. A time in .NET's ticks has 18 digits, and begins with 63.
    (6000..=6999, SIXTEEN_OR_NINETEEN),
    // UnionPay's second range.
    (8100..=8171, SIXTEEN_TO_NINETEEN),
    // Uzcard.
    (8600..=8600, SIXTEEN),
    // National systems: 9, and the country's number (ISO/IEC 7812-1). Armenia, Belarus, Tajikistan, Turkey, Uzbekistan.
    (9051..=9051, SIXTEEN),
    (9112..=9112, SIXTEEN),
    (9762..=9762, SIXTEEN),
    (9792..=9792, SIXTEEN),
    (9860..=9860, SIXTEEN),
];

/// Whether an issuer has numbers with this beginning and length.
pub(super) fn is_issued(digits: &str) -> bool {
    let typed = CardInput::new().with_number(digits);
    let (brand, length) = (typed.brand(), digits.len());
    if length == BARCODE || (brand != CardBrand::Mir && begins_with_time(digits)) {
        return false;
    }
    if brand == CardBrand::Unknown {
        let first = digits.get(..4).and_then(|first| first.parse::<u32>().ok());
        let is_of = |range: &RangeInclusive<u32>| first.is_some_and(|first| range.contains(&first));
        return OTHER_ISSUERS.iter().any(|(range, lengths)| is_of(range) && lengths.contains(&length));
    }
    u32::try_from(length).is_ok_and(|length| typed.number_lengths().contains(&length))
}

/// Order numbers are often made of a time: `261126140506` (or the day first) or `26112026140506`, with a few digits behind
/// it. In the years from 2022 on they stand in Mastercard's range 2221 to 2720, and on the 30th of a month in Diners Club's:
/// one in ten would be refused. Of the cards of these ranges three in a thousand begin with a time, too, and are not found.
/// In Mir's range are the cards of one bank that begin with 220220, which would be far more.
fn begins_with_time(digits: &str) -> bool {
    let two = |at: usize| digits.get(at..at + 2).and_then(|two| two.parse::<u8>().ok()).unwrap_or(u8::MAX);
    let is_clock = |at: usize| two(at) < 24 && two(at + 2) < 60 && two(at + 4) < 60;
    let has_month = two(0) <= 31 && (1..=12).contains(&two(2));
    let is_short = (1..=31).contains(&two(4)) && is_clock(6);
    let is_long = two(4) == 20 && is_clock(8);
    has_month && (is_short || is_long)
}

/// The last digit fits the others (Luhn).
pub(super) fn has_check_digit(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| match u32::from(byte.saturating_sub(b'0')) {
            digit if place % 2 == 0 => digit,
            digit if digit > 4 => digit * 2 - 9,
            digit => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::card_number::looks_like_card_number;

    fn with_check_digit(digits: &str) -> String {
        (0..10).map(|last| format!("{digits}{last}")).find(|number| has_check_digit(number)).unwrap()
    }

    /// Numbers from 0 to below a limit, the same ones each time (a linear congruential generator).
    fn random(state: &mut u64, below: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 16) % below
    }

    #[test]
    fn card_number_is_detected_by_prefix_and_length() {
        let issuers: &[(&str, &[usize])] = &[
            ("4", &[16, 19]),
            ("51", SIXTEEN),
            ("55", SIXTEEN),
            ("2221", SIXTEEN),
            ("2720", SIXTEEN),
            ("34", &[15]),
            ("37", &[15]),
            ("2200", SIXTEEN_TO_NINETEEN),
            ("2204", SIXTEEN_TO_NINETEEN),
            ("62", SIXTEEN_TO_NINETEEN),
            ("9417", SIXTEEN),
            ("3528", SIXTEEN_TO_NINETEEN),
            ("3589", SIXTEEN_TO_NINETEEN),
            ("6759", &[14, 15, 16, 17, 18, 19]),
            ("5018", &[14, 15, 16, 17, 18, 19]),
            ("300", DINERS),
            ("305", DINERS),
            ("36", DINERS),
            ("39", DINERS),
            ("6011", SIXTEEN_OR_NINETEEN),
            ("644", SIXTEEN_OR_NINETEEN),
            ("65", SIXTEEN_OR_NINETEEN),
            ("5614", SIXTEEN_TO_NINETEEN),
            ("8600", SIXTEEN),
            ("9860", SIXTEEN),
            // None of any issuer.
            ("0", &[]),
            ("1", &[]),
            ("2026", &[]),
            ("2205", &[]),
            ("2220", &[]),
            ("2721", &[]),
            ("306", &[]),
            ("3527", &[]),
            ("3590", &[]),
            ("470", &[16, 19]),
            ("7", &[]),
            ("9418", &[]),
        ];
        for (begins, lengths) in issuers {
            for length in 12..=21 {
                // No clock has a 99 in it.
                let width = length - 1;
                let number = with_check_digit(&format!("{begins:9<width$}"));
                let is_one = lengths.contains(&length);
                assert_eq!(looks_like_card_number(&number), is_one, "{number}, {length} digits");
                let fours = number.as_bytes().chunks(4).map(|four| std::str::from_utf8(four).unwrap());
                let in_fours = fours.collect::<Vec<_>>().join(" ");
                assert!(!is_one || looks_like_card_number(&in_fours), "{in_fours}");
            }
        }
    }

    /// Each of them has a right check digit; of numbers as they come, one in ten has.
    #[test]
    fn shop_order_numbers_are_not_card_numbers() {
        let mut state = 7;
        for _ in 0..2000 {
            let mut any = |least: u64, most: u64| least + random(&mut state, most - least + 1);
            let (year, month, day) = (any(24, 31), any(1, 12), any(1, 28));
            let time = format!("{:02}{:02}{:02}", any(0, 23), any(0, 59), any(0, 59));
            // What begins with 2201 to 2204 may be a card of Mir's.
            let other_day = if day == 22 { 23 } else { day };
            let (trader, birth, bank) = (any(4, 26), any(1930, 2025), [128, 103, 109, 118, 135][any(0, 4) as usize]);
            let device = [35, 86, 1][any(0, 2) as usize];
            for digits in [
                // Order numbers.
                format!("20{year}{month:02}{day:02}{time}{}", any(0, 9)),
                format!("20{year}{month:02}{day:02}{time}"),
                format!("20{year}{month:02}{day:02}{time}{:02}", any(0, 99)),
                format!("{year}{month:02}{day:02}{time}{:03}", any(0, 999)),
                format!("{year}{month:02}{day:02}{time}"),
                format!("{other_day:02}{month:02}20{year}{time}{}", any(0, 9)),
                format!("{other_day:02}{month:02}{year}{time}{:03}", any(0, 999)),
                format!("30{month:02}20{year}{}", &time[..5]),
                // Times in milliseconds, microseconds, nanoseconds and ticks.
                format!("17{:010}", any(0, 9_999_999_999)),
                format!("17{:013}", any(0, 9_999_999_999)),
                format!("17{:016}", any(0, 9_999_999_999)),
                format!("6390{:013}", any(0, 9_999_999_999)),
                // Barcodes and devices.
                format!("470{:09}", any(0, 999_999_999)),
                format!("{:03}{:09}", any(400, 440), any(0, 999_999_999)),
                format!("50{:010}", any(0, 9_999_999_999)),
                format!("1470{:09}", any(0, 999_999_999)),
                format!("{device:02}{:012}", any(0, 9_999_999_999)),
                // Tax numbers of people and of companies, of traders in Russia, and accounts.
                format!("{}{day:02}{month:02}{birth}{:04}", any(0, 2), any(0, 9999)),
                format!("3{trader:02}{:011}", any(0, 9_999_999_999)),
                format!("{bank}{:012}", any(0, 9_999_999_999)),
            ] {
                let number = with_check_digit(&digits);
                for text in [number.clone(), format!("Order {number} of 26.11.2026"), format!("a={number}&b=1")] {
                    assert!(!looks_like_card_number(&text), "{text}");
                }
            }
        }
    }
}
