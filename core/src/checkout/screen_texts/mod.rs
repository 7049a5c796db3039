//! Localization: the texts of a payment screen's states, the labels of its buttons and fields, and amounts, in each language.

mod english;
mod kyrgyz;
mod russian;
mod tables;

use rust_decimal::Decimal;

use crate::{
    checkout::{
        message::CheckoutMessage,
        screen_texts::tables::{LabelTable, StateTable},
        state::{CheckoutDetails, CheckoutState, PaymentMethod},
    },
    currency::KGS,
    i18n::Language,
    validation::phone_and_otp::{COUNTRY, NATIONAL, normalized_phone},
};

pub use tables::CheckoutLabels;

/// A space at which a line does not break.
pub(super) const NO_BREAK: char = '\u{a0}';

const GROUP: usize = 3;

/// The texts of a payment screen's state, in one language.
///
/// ```
/// use kassa::{CheckoutState, CheckoutTexts, Language};
///
/// let texts = CheckoutTexts::of(&CheckoutState::Expired, false, Language::English);
/// assert_eq!(texts.title, "The time to pay is over");
/// assert!(texts.explanation.is_some_and(|text| text.ends_with("Go back to the shop and order again.")));
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CheckoutTexts {
    /// The title, in a few words.
    pub title: String,
    /// The payer's next step, or what the state means for their money; absent if the title says it.
    pub explanation: Option<String>,
    /// The total that the payer agrees to by entering the code, if it is or may be more than the amount. **Show it above the field for the
    /// code.**
    pub cost: Option<String>,
    /// The result of the last attempt, or the problem with the server.
    pub message: Option<String>,
    /// Why the gateway declined, in this language. It never contains the gateway's or the server's own message.
    pub reason: Option<String>,
}

impl CheckoutTexts {
    /// The texts for a state. `may_have_paid` is true if something that the payer saw can still be paid: a page whose checkout has ended,
    /// or a QR code that was abandoned for another method. **Then the text that suggests a new order includes a warning.**
    pub fn of(state: &CheckoutState, may_have_paid: bool, language: Language) -> Self {
        let (title, explanation, message) = about(state, may_have_paid, language);
        Self {
            title: title.to_owned(),
            explanation,
            cost: cost(state, language),
            message: message.map(|message| message.text_in(language)),
            reason: message.and_then(|message| message.reason_in(language)),
        }
    }
}

impl CheckoutLabels {
    /// The labels in a language.
    pub fn of(language: Language) -> Self {
        labels(language).into()
    }

    /// The name of a method.
    pub fn name_of(&self, method: PaymentMethod) -> &str {
        match method {
            PaymentMethod::PayForm => &self.pay_form,
            PaymentMethod::Qr => &self.qr,
            PaymentMethod::Mbank => &self.mbank,
            PaymentMethod::Megapay => &self.megapay,
            PaymentMethod::Card => &self.card,
        }
    }

    /// The hint about a method.
    pub fn hint_of(&self, method: PaymentMethod) -> &str {
        match method {
            PaymentMethod::PayForm => &self.pay_form_hint,
            PaymentMethod::Qr => &self.qr_hint,
            PaymentMethod::Mbank => &self.mbank_hint,
            PaymentMethod::Megapay => &self.megapay_hint,
            PaymentMethod::Card => &self.card_hint,
        }
    }
}

/// The text below the field for a phone: the number that receives the code, by the rule of [`normalized_phone`]. `None` if the typed text
/// is not a phone number; show [`CheckoutLabels::phone_example`] then. **Show it**: the payer notices a mistake before the code is sent to
/// someone else.
///
/// ```
/// use kassa::{Language, phone_hint};
///
/// let hint = phone_hint("0555 000-101", Language::English);
/// assert_eq!(hint.as_deref(), Some("The code goes to +996\u{a0}555\u{a0}000\u{a0}101"));
/// assert_eq!(phone_hint("0555", Language::English), None);
/// ```
pub fn phone_hint(typed: &str, language: Language) -> Option<String> {
    let (phone, texts) = (normalized_phone(typed)?, states(language));
    Some([texts.phone_goes_to, shown_phone(&phone).as_str(), texts.phone_goes_to_end].concat())
}

/// A number as people write it. Numbers of other countries are not grouped, because each country groups differently.
fn shown_phone(phone: &str) -> String {
    let mut shown = String::from("+");
    match phone.strip_prefix(COUNTRY).filter(|national| national.len() == NATIONAL) {
        None => shown.push_str(phone),
        Some(national) => {
            shown.push_str(COUNTRY);
            for (index, digit) in national.chars().enumerate() {
                if index.is_multiple_of(GROUP) {
                    shown.push(NO_BREAK);
                }
                shown.push(digit);
            }
        }
    }
    shown
}

/// Title, explanation and message of a state.
fn about(
    state: &CheckoutState,
    may_have_paid: bool,
    language: Language,
) -> (&'static str, Option<String>, Option<&CheckoutMessage>) {
    let (texts, more) = (states(language), |text: &str| Some(text.to_owned()));
    match state {
        CheckoutState::Opening { message } => (texts.opening, more(texts.opening_more), message.as_ref()),
        CheckoutState::Ready { methods, message, can_keep_method } => {
            let explanation = match (*can_keep_method, may_have_paid, methods.is_empty()) {
                (true, _, _) => more(texts.choose_again),
                (false, true, _) => more(texts.left_code),
                (false, false, true) => more(texts.no_way),
                (false, false, false) => None,
            };
            (texts.choose, explanation, message.as_ref())
        }
        CheckoutState::Sending { message } => (texts.sending, more(texts.sending_more), message.as_ref()),
        CheckoutState::EnterOtp { method, attempts_left, message, phone_last2, .. } => {
            let sent = match phone_last2 {
                Some(digits) => [texts.code_sent_to, digits.as_str(), texts.code_sent_to_end].concat(),
                None => texts.code_sent.to_owned(),
            };
            let labels = CheckoutLabels::of(language);
            let explanation = format!("{} {sent} {}{attempts_left}", labels.name_of(*method), texts.attempts_left);
            (texts.code, Some(explanation), message.as_ref())
        }
        CheckoutState::OpenPage { message, .. } => (texts.page, more(texts.page_more), message.as_ref()),
        CheckoutState::ShowQr { message, .. } => (texts.scan, more(texts.scan_more), message.as_ref()),
        CheckoutState::Waiting { message, .. } => (texts.waiting, more(texts.waiting_more), message.as_ref()),
        CheckoutState::Paid { .. } => (texts.paid, more(texts.paid_more), None),
        CheckoutState::NotPaid { reason } => {
            (texts.not_paid, may_have_paid.then(|| texts.late_more.to_owned()), Some(reason))
        }
        CheckoutState::PersonNeeded { message } => (texts.person, more(texts.person_more), Some(message)),
        CheckoutState::Expired => {
            (texts.expired, more(if may_have_paid { texts.late_more } else { texts.expired_more }), None)
        }
        CheckoutState::TokenExpired => (texts.token_expired, more(texts.token_expired_more), None),
    }
}

/// The text about the total, if it is more than the amount, or unknown.
fn cost(state: &CheckoutState, language: Language) -> Option<String> {
    let CheckoutState::EnterOtp { method, commission, total, .. } = state else { return None };
    let texts = states(language);
    // A wallet pays only in KGS.
    let shown = |amount: Decimal| amount_text(amount, KGS, language);
    let amount = total.zip(*commission).and_then(|(total, commission)| total.checked_sub(commission));
    match (amount, commission, total) {
        (Some(amount), Some(commission), Some(total)) => Some(
            [
                texts.total,
                &shown(*total),
                texts.total_of,
                &shown(amount),
                texts.total_and,
                &shown(*commission),
                texts.total_end,
            ]
            .concat(),
        ),
        _ if *method == PaymentMethod::Megapay => Some(texts.commission_unknown.to_owned()),
        _ => None,
    }
}

fn labels(language: Language) -> &'static LabelTable {
    match language {
        Language::English => &english::LABELS,
        Language::Russian => &russian::LABELS,
        Language::Kyrgyz => &kyrgyz::LABELS,
    }
}

fn states(language: Language) -> &'static StateTable {
    match language {
        Language::English => &english::STATES,
        Language::Russian => &russian::STATES,
        Language::Kyrgyz => &kyrgyz::STATES,
    }
}

// Localization: amounts as people write them.

/// An amount with its currency, as people write it in a language. It has no decimals, or at least two, and does not break over two lines.
///
/// ```
/// use kassa::{Decimal, Language, amount_text};
///
/// let amount = Decimal::new(139_050, 2);
/// assert_eq!(amount_text(amount, "KGS", Language::English), "1,390.50\u{a0}som");
/// assert_eq!(amount_text(amount, "KGS", Language::Kyrgyz), "1\u{a0}390,50\u{a0}сом");
/// ```
pub fn amount_text(amount: Decimal, currency: &str, language: Language) -> String {
    let (group, point) = if language == Language::English { (',', '.') } else { (NO_BREAK, ',') };
    let digits = amount.abs().normalize().to_string();
    let (whole, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
    let mut text = String::new();
    if amount < Decimal::ZERO {
        text.push('-');
    }
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && index % GROUP == whole.len() % GROUP {
            text.push(group);
        }
        text.push(digit);
    }
    if !decimals.is_empty() {
        text.push(point);
        text.push_str(decimals);
        if decimals.len() == 1 {
            text.push('0');
        }
    }
    text.push(NO_BREAK);
    text.push_str(match (currency, language) {
        (KGS, Language::English) => "som",
        (KGS, _) => "сом",
        _ => currency,
    });
    text
}

/// The button that pays, with the amount: `Pay 390.50 som`. Before the amount is known, use
/// [`CheckoutLabels::pay`](crate::CheckoutLabels::pay).
///
/// ```
/// use kassa::{Decimal, Language, pay_text};
///
/// assert_eq!(pay_text(Decimal::from(390), "KGS", Language::Kyrgyz), "390\u{a0}сом төлөө");
/// ```
pub fn pay_text(amount: Decimal, currency: &str, language: Language) -> String {
    let amount = amount_text(amount, currency, language);
    match language {
        Language::English => format!("Pay {amount}"),
        Language::Russian => format!("Оплатить {amount}"),
        Language::Kyrgyz => format!("{amount} төлөө"),
    }
}

impl CheckoutDetails {
    /// The amount, as people write it: [`amount_text`].
    pub fn amount_text(&self, language: Language) -> String {
        amount_text(self.amount, &self.currency, language)
    }

    /// The button that pays, with the amount: [`pay_text`].
    pub fn pay_text(&self, language: Language) -> String {
        pay_text(self.amount, &self.currency, language)
    }
}

#[cfg(test)]
mod tests;
