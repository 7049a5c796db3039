//! Answers of a person about a recording: the meaning of words and codes, places, and paid orders.

use std::{collections::BTreeMap, str::FromStr};

use super::endpoint::{Endpoint, Field, FieldOf};

/// The meaning of a word or code, given by a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Meaning {
    /// Of a status word: charged.
    Charged,
    /// Of a status word: not charged, and final.
    Rejected,
    /// Of a status word: neither.
    Open,
    /// Of a code: the request was accepted.
    Success,
    /// Of a code: it was refused, and no money can move.
    Refusal,
    /// Of a code: the gateway does not know the outcome.
    Unknown,
    /// Of a code: the order number was used before.
    Duplicate,
    /// Of `ENDPOINT.numbers`.
    Any,
    /// Of `qr_numbers`.
    None,
}

impl Meaning {
    fn is_of_word(self) -> bool {
        matches!(self, Self::Charged | Self::Rejected | Self::Open)
    }

    fn is_of_code(self) -> bool {
        matches!(self, Self::Success | Self::Refusal | Self::Unknown | Self::Duplicate)
    }
}

/// A confirmation, in the form of `--confirm`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    pub(super) endpoint: Option<Endpoint>,
    /// A word, a code, or a key of the dialect.
    pub(super) subject: String,
    pub(super) meaning: Meaning,
    pub(super) is_key: bool,
}

/// The key of the numbers by which `get-status` finds QR payments.
pub(super) const QR_NUMBERS: &str = "qr_numbers";
/// The key of an endpoint that allows its reports to have any number.
pub(super) const NUMBERS: &str = "numbers";

impl FromStr for Confirmation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = "must be WORD=charged, WORD=rejected, WORD=open, ENDPOINT:WORD=…, ENDPOINT:CODE=success, =refusal, =unknown \
            or =duplicate, ENDPOINT.numbers=any, or qr_numbers=none";
        let (what, meaning) = text.rsplit_once('=').ok_or(shape)?;
        let meaning: Meaning = meaning.parse().map_err(|_| shape)?;
        let plain = |subject: &str, endpoint| Self { endpoint, subject: subject.to_owned(), meaning, is_key: false };
        let parsed = if (what, meaning) == (QR_NUMBERS, Meaning::None) {
            Self { is_key: true, ..plain(what, None) }
        } else if let (Some(name), Meaning::Any) = (what.strip_suffix(".numbers"), meaning) {
            let endpoint = name.parse().ok().filter(|endpoint| Endpoint::QUERIES.contains(endpoint));
            let known = endpoint.ok_or("must name a status query, such as payment_status.numbers=any")?;
            Self { is_key: true, ..plain(NUMBERS, Some(known)) }
        } else if let Some((endpoint, subject)) =
            what.split_once(':').and_then(|(name, subject)| Some((name.parse::<Endpoint>().ok()?, subject)))
        {
            if meaning.is_of_word() && !Endpoint::QUERIES.contains(&endpoint) {
                return Err(format!("{endpoint} is not a status query: its words decide nothing"));
            }
            plain(subject, Some(endpoint))
        } else {
            plain(what, None)
        };
        let is_known = parsed.is_key || meaning.is_of_word() || (meaning.is_of_code() && parsed.endpoint.is_some());
        if parsed.subject.trim().is_empty() || !is_known {
            return Err(shape.to_owned());
        }
        for (word, own) in [("CHARGE", Meaning::Charged), ("Reject", Meaning::Rejected)] {
            let is_opposite = matches!(meaning, Meaning::Charged | Meaning::Rejected) && meaning != own;
            if is_opposite && same_word(&parsed.subject, word) {
                return Err(format!("{word:?} has the opposite meaning in the interface, so no dialect can say this"));
            }
        }
        Ok(parsed)
    }
}

/// A place given by a person, in the form of `--place`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPlace {
    pub(super) field: FieldOf,
    pub(super) pointer: String,
}

impl FromStr for NamedPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (field, pointer) = text.split_once('=').ok_or("must be ENDPOINT.FIELD=POINTER")?;
        let field: FieldOf = field.parse()?;
        let is_tag = field.1 == Field::TransactionId && pointer.starts_with("elqr:");
        if !(pointer.is_empty() || pointer.starts_with('/') || is_tag) {
            return Err(format!("{pointer:?} is not a JSON pointer, such as /data/amount"));
        }
        Ok(Self { field, pointer: pointer.to_owned() })
    }
}

/// All answers of a person.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) confirmations: Vec<Confirmation>,
    pub(super) places: BTreeMap<FieldOf, String>,
}

impl Answers {
    /// The meaning that a person gave a word of a query.
    pub(super) fn word(&self, endpoint: Endpoint, word: &str) -> Option<Meaning> {
        let is_it = |answer: &&Confirmation| {
            answer.meaning.is_of_word()
                && same_word(&answer.subject, word)
                && answer.endpoint.is_none_or(|known| known == endpoint)
        };
        // An answer about the endpoint itself has priority.
        let said = self.confirmations.iter().filter(is_it).max_by_key(|answer| answer.endpoint.is_some());
        said.map(|answer| answer.meaning)
    }

    pub(super) fn code(&self, endpoint: Endpoint, code: &str) -> Option<Meaning> {
        let is_it = |answer: &&Confirmation| {
            answer.meaning.is_of_code() && answer.subject == code && answer.endpoint == Some(endpoint)
        };
        self.confirmations.iter().find(is_it).map(|answer| answer.meaning)
    }

    pub(super) fn key(&self, endpoint: Option<Endpoint>, key: &str) -> bool {
        self.confirmations.iter().any(|answer| answer.is_key && answer.endpoint == endpoint && answer.subject == key)
    }
}

/// Letter case is ignored, as in the core.
pub(super) fn same_word(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_others_refused() {
        let word: Confirmation = "PAID=charged".parse().expect("an answer");
        assert_eq!((word.endpoint, word.subject.as_str(), word.meaning), (None, "PAID", Meaning::Charged));
        let word: Confirmation = "qr_status:A=B=open".parse().expect("an answer");
        assert_eq!((word.endpoint, word.subject.as_str()), (Some(Endpoint::QrStatus), "A=B"));
        let code: Confirmation = "card_payment:E51=refusal".parse().expect("an answer");
        assert_eq!((code.endpoint, code.meaning), (Some(Endpoint::CardPayment), Meaning::Refusal));
        assert!("payment_status.numbers=any".parse::<Confirmation>().expect("an answer").is_key);
        assert!("qr_numbers=none".parse::<Confirmation>().expect("an answer").is_key);
        for wrong in [
            "PAID",
            "PAID=paid",
            "=charged",
            "E51=refusal",
            "card_payment:OK=charged",
            "card_payment.numbers=any",
            "PAID=any",
            "PAID=none",
            "reject=charged",
            "CHARGE=rejected",
        ] {
            assert!(wrong.parse::<Confirmation>().is_err(), "{wrong}");
        }
        for wrong in ["pay_form.status=/a", "qr_status.amount=a", "qr_status.amount"] {
            assert!(wrong.parse::<NamedPlace>().is_err(), "{wrong}");
        }
        assert!("qr_data.transaction_id=elqr:32.11".parse::<NamedPlace>().is_ok());
    }

    #[test]
    fn answer_for_an_endpoint_counts_first() {
        let confirmations = ["qr_status:OK=open", "OK=charged"].map(|text| text.parse().expect("an answer")).to_vec();
        let answers = Answers { confirmations, ..Answers::default() };
        assert_eq!(answers.word(Endpoint::QrStatus, "ok"), Some(Meaning::Open));
        assert_eq!(answers.word(Endpoint::PaymentStatus, "Ok"), Some(Meaning::Charged));
        assert_eq!(answers.word(Endpoint::PaymentStatus, "no"), None);
    }
}
