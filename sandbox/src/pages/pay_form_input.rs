//! What the payer typed into the pay-form, checked: a known test card or a known test phone.

use rust_decimal::Decimal;
use time::Date;

use crate::{
    domain::{
        Payment, Provider, clock,
        test_data::{self, TestCard},
    },
    encoding::FormPairs,
    messages::Message,
    payments::submit_pay_form::Payer,
    rules,
};

/// A field, by its name in the form, and what the payer is told about it.
pub(super) type Mistake = (&'static str, Message);

/// MegaPay's smallest payment.
const MEGAPAY_MINIMUM: Decimal = Decimal::from_parts(5, 0, 0, false, 0);

/// Whether the amount is enough for MegaPay.
pub(super) fn megapay_takes(payment: &Payment) -> bool {
    payment.amount.is_some_and(|amount| amount >= MEGAPAY_MINIMUM)
}

/// The payer the form names, or everything that is wrong with it.
pub(super) fn read(form: &FormPairs, payment: &Payment, today: Date) -> Result<Payer, Vec<Mistake>> {
    let provider = Provider::parse(form.get("provider")).ok_or_else(|| vec![("provider", Message::ChooseMethod)])?;
    if provider == Provider::MegaPay && !megapay_takes(payment) {
        return Err(vec![("provider", Message::MegaPayMinimum)]);
    }
    match provider {
        Provider::Cards => card(form, today).map(Payer::Card),
        Provider::MBank | Provider::MegaPay => {
            let digits = rules::phone_of(form.get("phone")).map_err(|_| vec![("phone", Message::WrongPhone)])?;
            test_data::phone_of(provider, &digits)
                .map(Payer::Wallet)
                .ok_or_else(|| vec![("phone", Message::NoTestPhone(provider.as_str()))])
        }
    }
}

fn card(form: &FormPairs, today: Date) -> Result<&'static TestCard, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let card = test_card(form).map_err(|message| mistakes.push(("pan", message))).ok();
    let month = rules::month_of(two_digits(form.get("expiryMonth")))
        .map_err(|_| mistakes.push(("expiryMonth", Message::WrongMonth)));
    let year = year(form.get("expiryYear")).ok_or_else(|| mistakes.push(("expiryYear", Message::WrongYear)));
    if let (Ok(month), Ok(year)) = (month, year)
        && !clock::ends_after(year, month, today)
    {
        mistakes.push(("expiryYear", Message::CardExpired));
    }
    if rules::cvc_of(form.get("cvc").to_owned()).is_err() {
        mistakes.push(("cvc", Message::WrongCvc));
    }
    if form.get("name").is_empty() {
        mistakes.push(("name", Message::MissingName));
    }
    card.filter(|_| mistakes.is_empty()).ok_or(mistakes)
}

/// People type card numbers in groups.
fn test_card(form: &FormPairs) -> Result<&'static TestCard, Message> {
    let pan = rules::pan_of(form.get("pan").replace([' ', '-'], "")).map_err(|_| Message::WrongPan)?;
    test_data::card_of(&pan).ok_or(Message::NoTestCard)
}

/// People leave the nought of a month out.
fn two_digits(month: &str) -> String {
    format!("{month:0>2}")
}

/// Cards show two digits of the year, and so do people.
fn year(text: &str) -> Option<i32> {
    let year: i64 = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    rules::year_of(if text.len() == 2 { year + 2000 } else { year }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_has_two_or_four_digits() {
        for (text, expected) in [
            ("2031", Some(2031)),
            ("31", Some(2031)),
            ("00", Some(2000)),
            ("1", None),
            ("+31", None),
            ("031", None),
            ("", None),
        ] {
            assert_eq!(year(text), expected, "{text}");
        }
    }

    #[test]
    fn a_month_may_have_one_digit() {
        for (text, is_month) in [("1", true), ("09", true), ("12", true), ("", false), ("0", false), ("13", false)] {
            assert_eq!(rules::month_of(two_digits(text)).is_ok(), is_month, "{text}");
        }
    }
}
