//! The input of a card form, formatted and validated while the payer types.

use std::fmt;

use time::OffsetDateTime;
use zeroize::Zeroizing;

use crate::{
    card::{Card, CardBrand, expiry_input::ExpiryInput, is_past, passes_luhn},
    error::PaymentError,
    secret::Secret,
    text::ascii_digit,
    violation::{Rule, Violation},
};

/// How many digits a security code has (`docs/interface.md#card-payment-request`).
const CVC_LENGTH: usize = 3;

/// The text that a payer has typed into a card form so far. With it no app needs its own parser of `08/31`.
///
/// Each `with_` method takes **the whole text of a field** and returns a new input; the old one is unchanged. Call it at every change, put
/// the formatted text back into the field, and show the field's state. Formatting is idempotent. The app manages the cursor.
///
/// * Digits of any script are read (Arabic ones, for example); spaces, hyphens and other pasted characters are removed from number, expiry
///   and CVC.
/// * A number is Luhn-checked if its brand is known to have a check digit.
/// * An expiry is compared with today's month (UTC), or with the one set by [`as_of`](Self::as_of). A card is good until the end of its
///   month.
/// * **A CVC has three digits, because that is what the gateway takes.** American Express prints four, and such a card
///   cannot be paid with here.
///
/// It is never printed: `Debug` shows no digit at all, because a log of every keystroke's last digits would be the whole number. The text
/// is wiped from memory with the last copy. Handling card numbers puts the merchant under PCI DSS: see [`Card`].
///
/// ```
/// use kassa::{CardBrand, CardInput, FieldState};
///
/// let typed = CardInput::new().as_of(2026, 11).with_number("4111-1111 11111111").with_expiry("8/2031");
/// assert_eq!((typed.number(), typed.expiry()), ("4111 1111 1111 1111", "08/31"));
/// assert_eq!(typed.brand(), CardBrand::Visa);
/// assert_eq!(typed.number_state(), FieldState::Complete);
/// assert_eq!(typed.cvc_state(), FieldState::Incomplete);
///
/// let card = typed.with_cvc("123").with_holder_name("Aibek Usenov").card().unwrap();
/// assert_eq!(card.masked_number(), "**** 1111");
/// ```
///
/// Source: `pan`, `expiryMonth`, `expiryYear`, `cvc` and `name` of `docs/interface.md#card-payment-request`; lengths and
/// groups are those of the brand ([`CardBrand`]).
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct CardInput {
    number: Secret,
    expiry: Secret,
    cvc: Secret,
    holder_name: Secret,
    as_of: Option<(i32, u8)>,
}

/// The state of a form field while the payer types.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldState {
    /// Nothing is wrong yet, but something is missing.
    Incomplete,
    /// The field can be sent as it is. A number of a brand with several lengths may still get more digits.
    Complete,
    /// No typing at the end can make it valid.
    #[non_exhaustive]
    Wrong {
        /// The rule that is broken, with its text.
        violation: Violation,
    },
}

impl Default for CardInput {
    fn default() -> Self {
        let empty = || Secret::new("");
        Self { number: empty(), expiry: empty(), cvc: empty(), holder_name: empty(), as_of: None }
    }
}

impl CardInput {
    /// An empty form.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a copy with this number: the whole text of the field.
    pub fn with_number(&self, typed: impl Into<String>) -> Self {
        let digits = digits_of(&Zeroizing::new(typed.into()));
        Self { number: Secret::new(grouped(&digits)), ..self.clone() }
    }

    /// Returns a copy with this expiry, month first: `08/31`, `8/31`, `0831`, `08-31`, `08 / 2031`, or a beginning of it.
    pub fn with_expiry(&self, typed: impl Into<String>) -> Self {
        let typed = Zeroizing::new(typed.into());
        Self { expiry: Secret::new(ExpiryInput::read(&typed).text()), ..self.clone() }
    }

    /// Returns a copy with this security code (CVC, CVV).
    pub fn with_cvc(&self, typed: impl Into<String>) -> Self {
        let digits = digits_of(&Zeroizing::new(typed.into()));
        Self { cvc: Secret::new(digits.as_str()), ..self.clone() }
    }

    /// Returns a copy with this holder's name, unchanged.
    pub fn with_holder_name(&self, typed: impl Into<String>) -> Self {
        Self { holder_name: Secret::new(typed), ..self.clone() }
    }

    /// The number, with spaces between groups as the brand prints them.
    pub fn number(&self) -> &str {
        self.number.expose()
    }

    /// The expiry as `08/31`, or as much of it as was typed.
    pub fn expiry(&self) -> &str {
        self.expiry.expose()
    }

    /// The digits of the security code.
    pub fn cvc(&self) -> &str {
        self.cvc.expose()
    }

    /// The holder's name as it was typed.
    pub fn holder_name(&self) -> &str {
        self.holder_name.expose()
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl CardInput {
    /// Returns a copy that compares the expiry with this month and not with today's: for tests, or if the device's clock is not trusted.
    /// The month is 1 to 12.
    pub fn as_of(&self, year: i32, month: u8) -> Self {
        Self { as_of: Some((year, month)), ..self.clone() }
    }

    /// The brand, as soon as the digits determine it.
    pub fn brand(&self) -> CardBrand {
        CardBrand::of(&self.digits())
    }

    /// How many digits a number of this brand can have, the fewest first. For an unknown brand 13 to 20, as the gateway accepts them.
    pub fn number_lengths(&self) -> Vec<u32> {
        self.brand().number_lengths().into_iter().filter_map(|length| length.try_into().ok()).collect()
    }

    /// The state of the number.
    pub fn number_state(&self) -> FieldState {
        let (brand, digits) = (self.brand(), self.digits());
        let most = brand.number_lengths().last().copied().unwrap_or_default();
        let is_mistyped = digits.len() == brand.usual_length() && brand.has_check_digit() && !passes_luhn(&digits);
        state(self.number_violation(), digits.len() < most && !is_mistyped)
    }

    /// The state of the expiry.
    pub fn expiry_state(&self) -> FieldState {
        state(self.expiry_violations().into_iter().next(), ExpiryInput::read(self.expiry()).can_go_on())
    }

    /// The state of the security code. It has three digits, whatever the brand: the gateway accepts no more.
    pub fn cvc_state(&self) -> FieldState {
        state(self.cvc_violation(), self.cvc().len() < CVC_LENGTH)
    }

    /// The state of the holder's name: it must not be blank.
    pub fn holder_name_state(&self) -> FieldState {
        state(self.holder_name_violation(), true)
    }

    /// The card.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] with all violations at once, by the names of the fields in a card payment: `pan`, `expiryMonth`,
    /// `expiryYear`, `cvc` and `name`.
    pub fn card(&self) -> Result<Card, PaymentError> {
        let single = [self.cvc_violation(), self.holder_name_violation()];
        let violations: Vec<_> = self
            .number_violation()
            .into_iter()
            .chain(self.expiry_violations())
            .chain(single.into_iter().flatten())
            .collect();
        if !violations.is_empty() {
            return Err(PaymentError::Invalid { violations });
        }
        let expiry = ExpiryInput::read(self.expiry());
        let year = expiry.year().unwrap_or_default();
        Ok(Card::new(self.number(), expiry.month_digits(), year, self.cvc(), self.holder_name().trim()))
    }
}

impl CardInput {
    fn digits(&self) -> Zeroizing<String> {
        digits_of(self.number())
    }

    fn number_violation(&self) -> Option<Violation> {
        let (brand, digits) = (self.brand(), self.digits());
        let lengths = brand.number_lengths();
        if digits.is_empty() {
            Some(missing("pan"))
        } else if !lengths.contains(&digits.len()) {
            let limit = listed(&lengths);
            Some(Violation::of("pan", Rule::Length, Some(&limit)))
        } else if brand.has_check_digit() && !passes_luhn(&digits) {
            Some(Violation::of("pan", Rule::Luhn, None))
        } else {
            None
        }
    }

    /// Violations of the month, then of the year.
    fn expiry_violations(&self) -> Vec<Violation> {
        let expiry = ExpiryInput::read(self.expiry());
        let month = match expiry.month() {
            Some(_) => None,
            None if expiry.month_digits().is_empty() => Some(missing("expiryMonth")),
            None => Some(Violation::of("expiryMonth", Rule::Month, Some("01 to 12"))),
        };
        let year = match expiry.year() {
            Some(year) => self.expired(year, expiry.month()),
            None if expiry.year_digits().is_empty() => Some(missing("expiryYear")),
            None => Some(Violation::of("expiryYear", Rule::Length, Some("2"))),
        };
        month.into_iter().chain(year).collect()
    }

    fn expired(&self, year: i32, month: Option<u8>) -> Option<Violation> {
        let today = self.as_of.unwrap_or_else(this_month);
        let is_past = is_past((year, month.unwrap_or(12)), today);
        is_past.then(|| Violation::of("expiryYear", Rule::Expired, None))
    }

    fn cvc_violation(&self) -> Option<Violation> {
        match self.cvc().len() {
            CVC_LENGTH => None,
            0 => Some(missing("cvc")),
            _ => Some(Violation::of("cvc", Rule::Length, Some("3"))),
        }
    }

    fn holder_name_violation(&self) -> Option<Violation> {
        self.holder_name().trim().is_empty().then(|| missing("name"))
    }
}

impl fmt::Debug for CardInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CardInput(***)")
    }
}

impl fmt::Display for CardInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

fn state(violation: Option<Violation>, can_go_on: bool) -> FieldState {
    match violation {
        None => FieldState::Complete,
        Some(_) if can_go_on => FieldState::Incomplete,
        Some(violation) => FieldState::Wrong { violation },
    }
}

fn missing(field: &str) -> Violation {
    Violation::of(field, Rule::Required, None)
}

fn this_month() -> (i32, u8) {
    let today = OffsetDateTime::now_utc();
    (today.year(), today.month().into())
}

/// Zeroization: capacity is reserved first, because a string that grows leaves a copy behind.
fn digits_of(typed: &str) -> Zeroizing<String> {
    let mut digits = Zeroizing::new(String::with_capacity(typed.len()));
    digits.extend(typed.chars().filter_map(ascii_digit));
    digits
}

fn grouped(digits: &str) -> String {
    let brand = CardBrand::of(digits);
    let mut text = String::with_capacity(digits.len() * 2);
    for (place, digit) in digits.chars().enumerate() {
        if brand.has_gap_after(place) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// `16`, `16 to 19` or `13, 16 or 19`.
fn listed(lengths: &[usize]) -> String {
    match lengths {
        [] => String::new(),
        [only] => only.to_string(),
        [first, .., last] if last - first + 1 == lengths.len() => format!("{first} to {last}"),
        [others @ .., last] => {
            let others: Vec<_> = others.iter().map(usize::to_string).collect();
            format!("{} or {last}", others.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed() -> CardInput {
        CardInput::new().as_of(2026, 11)
    }

    fn rule(state: FieldState) -> Option<Rule> {
        if let FieldState::Wrong { violation } = state { Some(violation.rule) } else { None }
    }

    #[test]
    fn card_has_what_was_typed() {
        let input = typed().with_number("٤١١١ 1111-1111 1111").with_expiry("8 / 2031").with_cvc(" 12 3");
        let card = input.with_holder_name(" Aibek Usenov ").card().unwrap();
        assert_eq!((card.pan(), card.expiry_month(), card.expiry_year()), ("4111111111111111", "08", 2031));
        assert_eq!((card.cvc(), card.holder_name()), ("123", "Aibek Usenov"));
    }

    #[test]
    fn card_is_good_until_the_end_of_its_month() {
        assert_eq!(typed().with_expiry("11/26").expiry_state(), FieldState::Complete);
        assert_eq!(rule(typed().with_expiry("10/26").expiry_state()), Some(Rule::Expired));
        // Without a date, today counts, and no card of today's expired before this was written.
        assert_eq!(rule(CardInput::new().with_expiry("01/25").expiry_state()), Some(Rule::Expired));
        assert_eq!(CardInput::new().with_expiry("12/99").expiry_state(), FieldState::Complete);
    }

    /// A form that is typed from left to right is never called wrong on its way to a card that is right.
    #[test]
    fn no_beginning_of_a_card_that_is_right_is_wrong() {
        for number in
            ["4111111111111111", "5555555555554444", "378282246310005", "6200000000000005", "9417000000000001"]
        {
            let wrong =
                (0..=number.len()).find(|end| rule(typed().with_number(&number[..*end]).number_state()).is_some());
            assert_eq!(wrong, None, "{number}");
        }
        for expiry in ["08/31", "0831", "8/31", "12 / 2031", "1/27", "12/2099"] {
            let wrong =
                (0..=expiry.len()).find(|end| rule(typed().with_expiry(&expiry[..*end]).expiry_state()).is_some());
            assert_eq!(wrong, None, "{expiry}");
        }
    }

    #[test]
    fn nothing_of_it_is_printed() {
        let input =
            typed().with_number("4111111111111111").with_expiry("08/31").with_cvc("737").with_holder_name("Aibek");
        assert_eq!(format!("{input:?} {input:#?} {input}"), "CardInput(***) CardInput(***) ***");
    }

    proptest! {
        #[test]
        fn what_is_formatted_stays_as_it_is(text in "[0-9 -]{0,24}|\\PC{0,24}") {
            let once = typed().with_number(text.as_str()).with_expiry(text.as_str()).with_cvc(text.as_str());
            let twice = typed().with_number(once.number()).with_expiry(once.expiry()).with_cvc(once.cvc());
            prop_assert_eq!((twice.number(), twice.expiry(), twice.cvc()), (once.number(), once.expiry(), once.cvc()));
            prop_assert_eq!(twice.number_state(), once.number_state());
            prop_assert_eq!(twice.expiry_state(), once.expiry_state());
        }
    }
}
