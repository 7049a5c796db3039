//! Payments: attempts to pay a checkout, their state machine, the exchanges with the gateway, and a payer's card in transit.

mod decoded;
mod detect;
pub mod exchange;
pub mod machine;
pub(crate) mod response;

use std::net::IpAddr;

use exchange::Exchange;
use kassa::{Advice, Card, CardInput, Decimal, DeclineReason, Dialect, PaymentError, PaymentRef, QrData};
use response::{Secrets, words};

use crate::values::{
    CheckoutId, Hidden, Method, Millis, PaymentId, PaymentState,
    error::{Checks, Rule, ServerError},
};

// A payment, as it is stored.

/// The advice on the place of a QR code's text, by its field.
const ADVICE_ON_PAYLOAD: &str = "dialect.endpoints.qr_data.qr_payload";

/// The most payments of a checkout that may be replaced: each of them sends a message to a phone.
pub(crate) const MOST_REPLACED: usize = 5;

/// One attempt to pay a checkout, by one method, with one payment at the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Payment {
    /// Its identifier.
    pub id: PaymentId,
    /// Its checkout.
    pub checkout: CheckoutId,
    /// Its number among the checkout's payments, from 1.
    pub number: u32,
    /// The payment method.
    pub method: Method,
    /// Its state.
    pub state: PaymentState,
    /// The reference for status queries.
    pub reference: PaymentRef,
    /// The page that the payer opens.
    pub page_url: Option<String>,
    /// The text of the QR code.
    pub qr_text: Option<String>,
    /// The last four digits of the card, if it is paid by card. Nothing else of a card is stored.
    pub card_last4: Option<String>,
    /// The last two digits of the phone, if a code confirms it. Nothing else of a mobile bank's phone is stored.
    pub phone_last2: Option<String>,
    /// The phone of a MegaPay wallet, which the request with the PIN repeats: stored as long as a PIN may be sent.
    pub(crate) payer_phone: Option<Hidden>,
    /// The wallet's commission in addition to the amount, in KGS, if the gateway's response had one.
    pub commission: Option<Decimal>,
    /// The total that the wallet pays, in KGS: the amount and the commission, if the gateway's response had one.
    pub total: Option<Decimal>,
    /// When the wallet's PIN expires, if the gateway's response had its lifetime.
    pub code_expires_at: Option<Millis>,
    /// Why it was not made or rejected, or the last confirmation was not; for an awaited pay-form, why the gateway declined the
    /// payer's last attempt on its page.
    pub failure: Option<Failure>,
    /// The number of remaining attempts at the one-time password.
    pub attempts_left: u32,
    /// Whether a person should review it: it has been open for three days, or may have been paid by a code that cannot be
    /// queried, or a callback about such a code had a status that the dialect does not know.
    pub is_stuck: bool,
    /// Whether the gateway reported a charge that cannot be trusted, and no person has decided yet.
    pub is_in_doubt: bool,
    /// Whether another payment was begun instead of it: it accepts no one-time password any more, and does not block others.
    pub is_replaced: bool,
    /// When it was recorded.
    pub begun_at: Millis,
    /// When its payer last claimed to have paid, by returning from the gateway's page or by requesting the result; or when a
    /// callback said so. It proves nothing, but its payer is not asked to pay again.
    pub claimed_at: Option<Millis>,
    /// When the server learned of its charge: from the gateway's report, or from a person.
    pub charged_at: Option<Millis>,
}

impl Payment {
    /// Whether its checkout may neither expire nor be cancelled. A card payment that needs no confirmation has probably been
    /// charged by the gateway; its outcome is not known yet.
    pub(crate) fn is_under_way(&self) -> bool {
        let is_for_gateway = self.method == Method::Card && self.page_url.is_none();
        PaymentState::UNDER_WAY.contains(&self.state) || (self.state == PaymentState::Awaiting && is_for_gateway)
    }

    /// Whether another payment may be begun instead of it. Its payer has not paid it: a refused one-time password did nothing.
    /// After one that is in flight, or has an unknown outcome, the gateway's report decides. A replaced QR code can still be
    /// paid late, like a pay-form's page.
    pub fn can_be_replaced(&self) -> bool {
        let awaits_payer = match self.method {
            Method::Mbank | Method::Megapay => self.attempts_left > 0,
            Method::Qr => true,
            Method::PayForm | Method::Card => false,
        };
        self.state == PaymentState::Awaiting && awaits_payer && !self.is_replaced
    }

    /// Whether the gateway declined the payer's attempts on its page, as far as callbacks reported
    /// them. The page can still be paid.
    pub fn is_declined_on_page(&self) -> bool {
        let is_awaited = self.method == Method::PayForm && self.state == PaymentState::Awaiting;
        is_awaited && self.failure.as_ref().is_some_and(|failure| failure.kind == Failure::REJECTED)
    }

    /// Why the gateway declined the payment, or the last one-time password while another one can be entered: for a text in the
    /// payer's language. The gateway's own message is for the shop and the staff.
    pub(crate) fn decline_reason(&self, dialect: &Dialect) -> Option<DeclineReason> {
        let failure = self.failure.as_ref()?;
        let reason = dialect.decline_reason(failure.code.as_deref(), failure.reason.as_deref())?;
        let is_of_code = failure.kind == Failure::REFUSED && self.state == PaymentState::Awaiting;
        let is_of_end = failure.kind == Failure::REJECTED || self.state == PaymentState::NotMade;
        // A refused code was corrected, unless it was the last one: the payment was then rejected for another reason.
        let is_last_code = reason == DeclineReason::WrongCode && self.attempts_left == 0;
        (is_of_code || is_of_end || is_last_code).then_some(reason)
    }

    /// Whether the payer's code may still be sent, now or later. After that, data that only this request needs is removed.
    pub(crate) fn may_be_confirmed(&self) -> bool {
        let has_not_ended = !self.state.is_final();
        self.method.is_confirmed_by_code() && has_not_ended && !self.is_replaced && self.attempts_left > 0
    }

    /// The fields that the dialect does not find in the response about a QR code, by [`QrData::advice`]. Empty for every other payment.
    pub fn advice(&self) -> Vec<Advice> {
        if self.method != Method::Qr {
            return Vec::new();
        }
        let mut response = QrData::new(self.reference.clone());
        response.payload.clone_from(&self.qr_text);
        let has_no_code = self.failure.as_ref().is_some_and(|failure| failure.kind == Failure::NO_CODE);
        match (&self.qr_text, has_no_code) {
            (Some(_), _) => response.advice(),
            // Without a text, nothing else of the response is stored, so it is not known whether it had a transaction.
            (None, true) => response.advice().into_iter().filter(|advice| advice.field == ADVICE_ON_PAYLOAD).collect(),
            (None, false) => Vec::new(),
        }
    }

    pub(crate) fn new(id: PaymentId, checkout: CheckoutId, method: Method, reference: PaymentRef) -> Self {
        let (page_url, qr_text, card_last4, phone_last2, failure) = (None, None, None, None, None);
        let (payer_phone, commission, total, code_expires_at) = (None, None, None, None);
        let (number, attempts_left, begun_at) = (0, 0, 0);
        let (claimed_at, charged_at) = (None, None);
        let (is_stuck, is_in_doubt, is_replaced) = (false, false, false);
        let state = PaymentState::Prepared;
        let (id, checkout) = (id, checkout);
        Self {
            id,
            checkout,
            number,
            method,
            state,
            reference,
            page_url,
            qr_text,
            card_last4,
            phone_last2,
            payer_phone,
            commission,
            total,
            code_expires_at,
            failure,
            attempts_left,
            is_stuck,
            is_in_doubt,
            is_replaced,
            begun_at,
            claimed_at,
            charged_at,
        }
    }
}

/// Why nothing happened, with the gateway's message if there was one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The kind of error, such as `Refused`, `Unavailable`; `Interrupted` if the server itself gave up; `Rejected` if the
    /// gateway's report has the reason of a rejection.
    pub kind: String,
    /// The gateway's code.
    pub code: Option<String>,
    /// The gateway's message, with secrets masked.
    pub reason: Option<String>,
}

impl Failure {
    /// The kind of a response without the text of a QR code.
    pub(crate) const NO_CODE: &str = "NoCode";

    /// The kind of a refusal: nothing was done.
    pub(crate) const REFUSED: &str = "Refused";

    /// The kind of a rejection that the gateway reported.
    pub(crate) const REJECTED: &str = "Rejected";

    /// A failure with only a kind.
    pub fn of_kind(kind: &str) -> Self {
        Self { kind: kind.to_owned(), code: None, reason: None }
    }

    /// The text of a gateway's error. It is shown to the payer, the shop and the staff, so it is masked
    /// like everything from the gateway.
    pub(crate) fn of(error: &PaymentError, secrets: &Secrets) -> Self {
        let clean = |text: Option<&str>| text.map(|text| words(text, secrets));
        let reason = match error {
            PaymentError::Refused { reason, .. } => reason.as_deref(),
            _ => None,
        };
        Self { kind: error.kind().to_owned(), code: clean(error.code()), reason: clean(reason) }
    }

    /// The gateway reports that the payment was rejected, with its code and message, which are already masked.
    pub(crate) fn rejected(exchange: &Exchange) -> Self {
        Self::with(Self::REJECTED.to_owned(), exchange.code.clone(), exchange.words.clone())
    }

    pub(crate) fn with(kind: String, code: Option<String>, reason: Option<String>) -> Self {
        Self { kind, code, reason }
    }
}

// A payer's card on its way through memory: it lives for one call and is wiped after it (zeroization).

pub(crate) const LONGEST_NAME: usize = 100;
/// The default language of the gateway's page for the payer.
pub(crate) const LANGUAGE: &str = "ru";
pub(crate) const LANGUAGE_RULE: &str = "must be two small letters, such as ky";

/// A card as its payer typed it, with the payer's data that the gateway requires.
///
/// `Debug` prints nothing of it. The number and the security code are wiped with the last copy; only the
/// last four digits are ever stored.
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

    /// Sets the payer's language, two letters such as `ky`. Default: `ru`.
    #[must_use]
    pub fn with_language(self, language: impl Into<String>) -> Self {
        Self { language: language.into(), ..self }
    }

    /// Checks all rules. They are the core's ([`CardInput::card`]), with the field names of the server.
    ///
    /// # Errors
    /// [`ServerError::Invalid`] with all that is wrong. No value is part of it.
    pub fn check(&self) -> Result<(), ServerError> {
        let mut checks = Checks::default();
        if let Err(PaymentError::Invalid { violations, .. }) = self.typed.card() {
            for violation in violations {
                let (field, rule, sentence) = translated(&violation);
                checks.fail(field, rule, sentence);
            }
        }
        checks.text("card.holder_name", self.typed.holder_name(), LONGEST_NAME);
        if !is_language(&self.language) {
            checks.fail("language", Rule::Format, LANGUAGE_RULE);
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

pub(crate) fn is_language(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The part of a card that may be shown and stored.
pub(crate) fn last4(card: &Card) -> Option<String> {
    card.masked_number().strip_prefix("**** ").map(str::to_owned)
}

/// A rule of the core, with the server's names.
fn translated(violation: &kassa::Violation) -> (&'static str, Rule, &'static str) {
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
mod payer_card_tests {
    use super::*;

    fn broken(typed: CardInput) -> Vec<(String, Rule)> {
        let Err(ServerError::Invalid { violations }) = PayerCard::new(typed, [127, 0, 0, 1].into()).check() else {
            return Vec::new();
        };
        violations.into_iter().map(|violation| (violation.field, violation.rule)).collect()
    }

    #[test]
    fn card_violations_use_api_field_names() {
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
    fn card_view_shows_last_four_digits_only() {
        let card = Card::new("4000 0000 0000 2016", "08", 2031, "737", "Aibek Usenov");
        assert_eq!(last4(&card).as_deref(), Some("2016"));
        assert_eq!(last4(&Card::new("2016", "08", 2031, "737", "Aibek Usenov")), None);
    }
}
