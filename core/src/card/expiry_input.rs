//! A card's expiry as a payer types it: month and year, with a separator or without, and the year of two digits or four.

use zeroize::Zeroizing;

use crate::text::{ascii_digit, is_invisible};

/// Month and year, as far as they are typed.
pub(crate) struct ExpiryInput {
    month: Zeroizing<String>,
    year: Zeroizing<String>,
}

impl ExpiryInput {
    /// Reads `08/31`, `8/31`, `0831`, `831`, `08-31`, `08 / 2031`, and any beginning of them.
    pub(crate) fn read(typed: &str) -> Self {
        let (mut month, mut year, is_separated) = parts(typed);
        // No month begins with 2 to 9, so such a digit is the whole month.
        let is_whole = month.starts_with(|first: char| matches!(first, '2'..='9'));
        if is_whole || (is_separated && *month == "1") {
            month.insert(0, '0');
        }
        if month.len() > 2 {
            let rest = Zeroizing::new(month.split_off(2));
            year.insert_str(0, &rest);
        }
        if year.len() == 4 && year.starts_with("20") {
            year.drain(..2);
        }
        Self { month, year }
    }

    /// `08/31`, or as much of it as there is. No slash is at the end, because it could not be deleted.
    pub(crate) fn text(&self) -> String {
        if self.year.is_empty() { self.month.to_string() } else { format!("{}/{}", *self.month, *self.year) }
    }

    /// The digits of the month, at most two.
    pub(crate) fn month_digits(&self) -> &str {
        &self.month
    }

    /// The digits of the year.
    pub(crate) fn year_digits(&self) -> &str {
        &self.year
    }

    /// The month, 1 to 12.
    pub(crate) fn month(&self) -> Option<u8> {
        let month = Some(&self.month).filter(|month| month.len() == 2)?;
        month.parse().ok().filter(|month| (1..=12).contains(month))
    }

    /// The year, with its century.
    pub(crate) fn year(&self) -> Option<i32> {
        let year = Some(&self.year).filter(|year| year.len() == 2)?;
        year.parse().ok().map(|year: i32| 2000 + year)
    }

    /// True if more typing can still make it a valid expiry. `20` may be the beginning of a four-digit year, and a
    /// deleted month may be typed after the year.
    pub(crate) fn can_go_on(&self) -> bool {
        let year_can = self.year.len() < 2 || (self.year.len() < 4 && self.year.starts_with("20"));
        if self.month.len() < 2 { year_can || self.year().is_some() } else { year_can && self.month().is_some() }
    }
}

/// The digits before the first separator, those behind it, and whether there is one.
fn parts(typed: &str) -> (Zeroizing<String>, Zeroizing<String>, bool) {
    let part = || Zeroizing::new(String::with_capacity(typed.len() + 1));
    let (mut month, mut year, mut is_separated) = (part(), part(), false);
    let visible = typed.chars().filter(|c| !is_invisible(*c));
    for c in visible.skip_while(|c| c.is_whitespace()) {
        match ascii_digit(c) {
            Some(digit) if is_separated => year.push(digit),
            Some(digit) => month.push(digit),
            None => is_separated = true,
        }
    }
    year.reserve(typed.len() + 1);
    (month, year, is_separated)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_formatted_stays_as_it_is(typed in "[ 0-9٣/.\\-\u{200f}]{0,9}|.{0,9}") {
            let once = ExpiryInput::read(&typed).text();
            prop_assert_eq!(ExpiryInput::read(&once).text(), once);
        }
    }
}
