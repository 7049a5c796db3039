//! What the query of a page's address says.

use url::form_urlencoded;

use crate::{domain::Language, encoding::FormPairs};

/// The query of a page's address.
#[derive(Default)]
pub(crate) struct Query {
    /// Which payment.
    pub(super) token: String,
    /// The language the payer switched to.
    pub(super) language: Option<Language>,
    /// The test payer to fill the form with, for browsers without scripts.
    pub(super) fill: Option<String>,
}

impl Query {
    /// Reads it; of a name given twice the first one counts.
    pub(super) fn parse(text: &str) -> Self {
        let pairs = FormPairs::parse(text.as_bytes());
        Self {
            token: pairs.first("token").unwrap_or_default().to_owned(),
            language: pairs.first("language").and_then(Language::from_code),
            fill: pairs.first("fill").map(str::to_owned),
        }
    }

    /// The query of the same page in a language.
    pub(super) fn in_language(&self, language: Language) -> String {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("token", &self.token)
            .append_pair("language", language.code())
            .finish();
        format!("?{query}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_of_language_keeps_the_payment_and_drops_the_rest() {
        let query = Query::parse("token=a%26b&language=KY&fill=card-1&token=other");
        assert_eq!((query.token.as_str(), query.language), ("a&b", Some(Language::Kyrgyz)));
        assert_eq!(query.in_language(Language::Russian), "?token=a%26b&language=ru");
    }

    #[test]
    fn a_language_that_is_not_spoken_here_is_none() {
        assert_eq!(Query::parse("language=de").language, None);
    }
}
