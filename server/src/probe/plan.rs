//! The plan of a probe: steps and test values.

use std::time::Duration;

use kassa::Dialect;
use strum::{EnumIter, EnumString, IntoEnumIterator, IntoStaticStr};

use super::proposal::{Proposal, same_word};

/// The test cards that FINIPAY's pages publish, with their description of each.
const PUBLISHED_CARDS: [(&str, &str); 4] = [
    ("4047300000007550", WITHOUT_3DS),
    ("2200112611773794", "3DS 2.0"),
    ("4439970000000007", "3DS 2.0"),
    ("5136914521003242", "3DS 1.0"),
];
/// By those pages, a payment by such a card may end in an error.
pub(super) const WITHOUT_3DS: &str = "without 3DS";
/// The longest status word that a person may name.
const LONGEST_WORD: usize = 64;
const PUBLISHED_PHONE: &str = "996772140014";
pub(super) const PUBLISHED_OTP: &str = "0000";

/// A flow that the probe runs. They run in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum ProbeStep {
    /// Creates and confirms a mobile-bank payment.
    Mbank,
    /// Creates a payment by each test card.
    Card,
    /// Creates a pay-form.
    PayForm,
    /// Creates a QR code as the gateway's picture.
    QrImage,
    /// Creates a QR code as data, and queries its status.
    Qr,
}

impl ProbeStep {
    /// All steps, in their order.
    pub fn all() -> Vec<Self> {
        Self::iter().collect()
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The plan of a probe: steps and test values. It is never printed, because it holds cards, phones and one-time passwords.
#[derive(Clone)]
pub struct ProbePlan {
    /// The flows to run.
    pub steps: Vec<ProbeStep>,
    /// The amount of each payment, in whole som.
    pub amount_som: i64,
    /// The mobile bank's test phone.
    pub phone: String,
    /// The one-time password of that phone.
    pub otp: String,
    /// The test cards.
    pub cards: Vec<String>,
    /// The address for callbacks of these payments.
    pub callback_url: String,
    /// The address to which the gateway's page sends the payer.
    pub return_url: String,
    /// Status words that a person knows to mean charged.
    pub charged_words: Vec<String>,
    /// Status words that a person knows to mean rejected.
    pub rejected_words: Vec<String>,
    /// A number of an existing payment: only its status is queried, and nothing is created.
    pub status_query: Option<String>,
    /// The time for which a payment that must end is polled.
    pub patience: Duration,
    /// The pause between two queries.
    pub pause: Duration,
    /// Other texts that must not be printed, such as the merchant's login.
    pub secrets: Vec<String>,
}

impl Default for ProbePlan {
    /// Everything, with the published test values and the smallest amount.
    fn default() -> Self {
        Self {
            steps: ProbeStep::all(),
            amount_som: 1,
            phone: PUBLISHED_PHONE.to_owned(),
            otp: PUBLISHED_OTP.to_owned(),
            cards: PUBLISHED_CARDS.iter().map(|(number, _)| (*number).to_owned()).collect(),
            callback_url: "https://kassa-probe.invalid/callback".to_owned(),
            return_url: "https://kassa-probe.invalid/return".to_owned(),
            charged_words: Vec::new(),
            rejected_words: Vec::new(),
            status_query: None,
            patience: Duration::from_secs(60),
            pause: Duration::from_secs(10),
            secrets: Vec::new(),
        }
    }
}

impl ProbePlan {
    /// Checks the status words that a person has named, before anything is sent.
    ///
    /// # Errors
    /// A sentence that names the word and the rule that it breaks.
    pub fn check_words(&self, given: &Dialect) -> Result<(), String> {
        let lists = [("charged_words", &self.charged_words), ("rejected_words", &self.rejected_words)];
        for word in self.charged_words.iter().chain(&self.rejected_words) {
            if word.trim().is_empty() {
                return Err(format!("the status word {word:?} is blank: name a word that the gateway sends"));
            }
            if !word.chars().any(char::is_alphanumeric) {
                return Err(format!("the status word {word:?} has neither a letter nor a digit"));
            }
            if word.chars().count() > LONGEST_WORD {
                return Err(format!("the status word {word:?} is longer than {LONGEST_WORD} characters"));
            }
        }
        for word in &self.charged_words {
            if self.rejected_words.iter().any(|other| same_word(word, other)) {
                return Err(format!("the status word {word:?} cannot mean both charged and rejected"));
            }
        }
        let mut proposal = Proposal::new(given);
        for (list, words) in lists {
            for word in words {
                if !proposal.has_word(list, word) && !proposal.put_word(list, word) {
                    let meaning = if list == "charged_words" { "rejected" } else { "charged" };
                    return Err(format!("the status word {word:?} means {meaning} in the given dialect already"));
                }
            }
        }
        Ok(())
    }
}

/// A published test card's outcome; `as given` for any other card.
pub(super) fn card_label(number: &str) -> &'static str {
    PUBLISHED_CARDS.iter().find(|(known, _)| *known == number).map_or("as given", |(_, label)| label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_status_word_error_names_word_and_rule() {
        let check = |charged: &[&str], rejected: &[&str]| {
            let all = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
            let plan = ProbePlan { charged_words: all(charged), rejected_words: all(rejected), ..ProbePlan::default() };
            plan.check_words(&Dialect::default())
        };
        let long = "w".repeat(65);
        for (charged, rejected, word, rule) in [
            ("", "NO", "\"\"", "is blank"),
            ("  ", "NO", "\"  \"", "is blank"),
            ("OK", "--", "\"--\"", "neither a letter nor a digit"),
            (&*long, "NO", "wwww", "longer than 64"),
            ("Done", "DONE", "\"Done\"", "both charged and rejected"),
            ("reject", "NO", "\"reject\"", "means rejected in the given dialect"),
            ("OK", "charge", "\"charge\"", "means charged in the given dialect"),
        ] {
            let sentence = check(&[charged], &[rejected]).unwrap_err();
            assert!(sentence.contains(word) && sentence.contains(rule), "{sentence}");
        }
        assert_eq!(check(&["PAID", "charge"], &["NO"]), Ok(()));
    }
}
