//! The column mapping of a gateway's export: the names of its columns, their separator, and the words for taken money. The last
//! used one is stored, for all staff of the merchant.

use super::fields::{FormFields, query};

/// The longest name of a column.
const LONGEST_NAME: usize = 60;
const LONGEST_WORDS: usize = 120;
/// The default status words for taken money.
const CHARGED: [&str; 33] = [
    "charge",
    "charged",
    "paid",
    "success",
    "payment_success",
    "succeeded",
    "successful",
    "approved",
    "completed",
    "оплачен",
    "оплачена",
    "оплачено",
    "успех",
    "успешен",
    "успешно",
    "успешная",
    "успешный",
    "проведен",
    "проведена",
    "проведено",
    "исполнен",
    "исполнена",
    "исполнено",
    "выполнен",
    "выполнена",
    "выполнено",
    "завершен",
    "завершена",
    "завершено",
    "төлөндү",
    "төлөнгөн",
    "ийгиликтүү",
    "аткарылды",
];
/// The beginnings of status words for refunds.
const REFUNDED: [&str; 14] = [
    "refund",
    "refunded",
    "reversal",
    "reversed",
    "chargeback",
    "возврат",
    "возвращен",
    "возвращена",
    "возвращено",
    "сторно",
    "кайтаруу",
    "кайтарылды",
    "кайтарылган",
    "акча кайтаруу",
];
/// The beginnings of words for refunds, in a kind of operation or a title.
const REFUND_STEMS: [&str; 14] = [
    "refund",
    "revers",
    "chargeback",
    "cancel",
    "void",
    "возврат",
    "возвращ",
    "сторн",
    "отмен",
    "аннулир",
    "чарджбек",
    "чарджбэк",
    "кайтар",
    "жокко",
];

/// The person's entries; empty if left open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) separator: Option<char>,
    /// Whether amounts are in hundredths of the currency's unit.
    pub(super) is_hundredths: bool,
    pub(super) order_number: String,
    pub(super) gateway_number: String,
    pub(super) amount: String,
    pub(super) date: String,
    pub(super) fee: String,
    pub(super) status: String,
    pub(super) charged: String,
}

/// The separators of columns, by their names in the form.
pub(super) const SEPARATORS: [(&str, char); 4] = [("comma", ','), ("semicolon", ';'), ("tab", '\t'), ("bar", '|')];

impl Mapping {
    /// Reads a form, or a stored mapping. Nothing that looks like a card number is accepted as a column's name.
    pub(super) fn read(fields: &FormFields) -> Self {
        let name = |name: &str| cut(fields.shown(name), LONGEST_NAME);
        let separator = fields.get("separator");
        Self {
            separator: SEPARATORS.iter().find(|(word, _)| *word == separator).map(|(_, separator)| *separator),
            is_hundredths: fields.get("unit") == "hundredths",
            order_number: name("order_number"),
            gateway_number: name("gateway_number"),
            amount: name("amount"),
            date: name("date"),
            fee: name("fee"),
            status: name("status"),
            charged: cut(fields.shown("charged"), LONGEST_WORDS),
        }
    }

    /// The form in which it is stored.
    pub(super) fn stored(&self) -> String {
        query(&[
            ("separator", self.separator_word()),
            ("unit", if self.is_hundredths { "hundredths" } else { "" }),
            ("order_number", &self.order_number),
            ("gateway_number", &self.gateway_number),
            ("amount", &self.amount),
            ("date", &self.date),
            ("fee", &self.fee),
            ("status", &self.status),
            ("charged", &self.charged),
        ])
    }

    pub(super) fn separator_word(&self) -> &'static str {
        SEPARATORS.iter().find(|(_, known)| Some(*known) == self.separator).map_or("", |(word, _)| *word)
    }

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a status says that money was taken.
    pub(super) fn is_charged(&self, status: &str) -> bool {
        let status = lower(status);
        if self.charged.is_empty() {
            return CHARGED.contains(&status.as_str());
        }
        self.charged.split(',').any(|word| lower(word) == status)
    }
}

/// Whether a status says that money went back.
pub(super) fn is_refund(word: &str) -> bool {
    let word = lower(word);
    let is_end = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    REFUNDED.iter().any(|known| word.strip_prefix(known).is_some_and(is_end))
}

/// Whether any word of a kind of operation, or of a title, says that money went back: `Частичный возврат`, `PartialRefund`.
pub(super) fn names_refund(text: &str) -> bool {
    let (mut words, mut before) = (String::with_capacity(text.len()), ' ');
    for c in text.chars() {
        if before.is_lowercase() && c.is_uppercase() {
            words.push(' ');
        }
        words.push(c);
        before = c;
    }
    let says_refund = |word: &str| REFUND_STEMS.iter().any(|stem| word.starts_with(stem));
    lower(&words).split(|c: char| !c.is_alphanumeric()).any(says_refund)
}

fn lower(word: &str) -> String {
    word.trim().to_lowercase().replace('ё', "е")
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_mapping_round_trips_through_its_text() {
        let long = "Ж".repeat(200);
        let fields =
            [("separator", "semicolon"), ("unit", "hundredths"), ("amount", "Сумма; всего"), ("charged", &long)];
        let mapping = Mapping::read(&FormFields::parse(query(&fields).as_bytes()));
        assert_eq!(Mapping::read(&FormFields::parse(mapping.stored().as_bytes())), mapping);
        assert_eq!((mapping.separator, mapping.amount.as_str()), (Some(';'), "Сумма; всего"));
        let cut = Mapping::read(&FormFields::parse(query(&[("fee", long.as_str())]).as_bytes()));
        assert_eq!(cut.fee.chars().count(), LONGEST_NAME);
        assert!(Mapping::read(&FormFields::parse(b"amount=4000000000002016")).is_default());
    }

    #[test]
    fn charged_words_are_case_insensitive() {
        let own = Mapping { charged: "Оплачен, Проведён".to_owned(), ..Mapping::default() };
        let known = ["Charged", "Оплачен", "ПРОВЕДЁН", "Успешно", "Төлөндү"];
        assert!(known.iter().all(|status| Mapping::default().is_charged(status)));
        assert!(
            ["Refund", "ВОЗВРАТ", "Возврат по заказу", "Возвращён"].iter().all(|status| is_refund(status))
                && !is_refund("Возвратный")
        );
        for kind in [
            "Возврат",
            "Частичный возврат",
            "Операция возврата",
            "Оплата (возвращённая)",
            "Отмена оплаты",
            "Аннулирование",
            "Сторнирование",
            "Partial refund",
            "partial_refund",
            "PartialRefund",
            "PAYMENT-REVERSAL",
            "Cancelled payment",
            "Void",
            "Chargeback",
            "Акчаны кайтаруу",
            "Төлөмдү жокко чыгаруу",
        ] {
            assert!(names_refund(kind), "{kind}");
        }
        assert!(["", "Оплата", "Безвозвратный", "Payment", "Avoided", "Төлөм"].iter().all(|kind| !names_refund(kind)));
        assert!(!is_refund("Частичный возврат"), "a status has to begin with the word");
        assert!(["Отказ", "Не оплачен", "Возврат"].iter().all(|status| !Mapping::default().is_charged(status)));
        assert!(own.is_charged("ОПЛАЧЕН") && own.is_charged("проведён") && !own.is_charged("charged"));
        assert!(Mapping::default().is_charged("Charged") && !Mapping::default().is_charged("rejected"));
    }
}
