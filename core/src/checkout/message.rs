//! What a payer reads beside a state: the topics of messages, and their texts in each language.

use strum::Display;

use crate::i18n::Language;

/// What a payer reads beside a state, in their language.
///
/// ```
/// use kassa::{CheckoutMessage, Language, MessageTopic};
///
/// let message = CheckoutMessage::new(MessageTopic::CodeRefused);
/// assert_eq!(message.text_in(Language::English), "This code was not accepted. Enter it again.");
/// assert_eq!(message.text_in(Language::Russian), "Этот код не подошёл. Введите его ещё раз.");
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CheckoutMessage {
    /// What it is about.
    pub topic: MessageTopic,
    /// More words, as they came, in any language: of the gateway, which refused; of the server, which says what is wrong. What is
    /// in the way of reaching the server is told for developers, and is not for a payer to read.
    pub reason: Option<String>,
}

impl CheckoutMessage {
    /// A message without more words.
    pub fn new(topic: MessageTopic) -> Self {
        Self { topic, reason: None }
    }

    pub(crate) fn with_reason(self, reason: Option<String>) -> Self {
        Self { reason, ..self }
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl CheckoutMessage {
    /// What it says to the payer, in a language. The reason is not part of it.
    pub fn text_in(&self, language: Language) -> String {
        text(language, self.topic).to_owned()
    }
}

// What there is to say to a payer.

/// What a message is about.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(test, derive(strum::EnumIter))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum MessageTopic {
    /// The server is not reached. It is tried again by itself, and nothing is lost.
    NoNetwork,
    /// The server sent `Retry-After`, or failed. The call is retried automatically.
    ServerBusy,
    /// What answered is not the merchant's server: the page of a network that wants a login, a wrong address, a certificate
    /// that fails. It is tried again by itself.
    NotTheServer,
    /// The certificate of the server is not valid yet by this device's clock: the payer checks its date and time. It is tried again by
    /// itself.
    WrongClock,
    /// The app's own function gave no new client token. It is called again automatically.
    TokenNotRenewed,
    /// The outcome of the payment is unknown, and it is polled. **The payer must not pay again.**
    OutcomeUnknown,
    /// The gateway did not take the one-time password.
    CodeRefused,
    /// The one-time password did not reach the gateway: the payer enters it again.
    CodeNotSent,
    /// The gateway refused to make the payment: no money moved.
    Refused,
    /// The payment was not made: no money moved, and the payer can try again.
    NotMade,
    /// The gateway reported that the payment was rejected: no money moved.
    Rejected,
    /// The server refused what was typed; the reason says which rule it breaks.
    InputRefused,
    /// So many tries are not allowed.
    TooManyTries,
    /// The server began no other payment instead of the one that was open: that one has gone on, was replaced elsewhere already, or
    /// too many were replaced. The state shows how it stands now.
    ChangeRefused,
    /// The gateway's report does not match the request: the merchant's staff decide.
    Mismatch,
    /// The shop cancelled it.
    Cancelled,
}

// Localization: what messages say, in each language.

pub(super) fn text(language: Language, topic: MessageTopic) -> &'static str {
    match language {
        Language::English => english(topic),
        Language::Russian => russian(topic),
        Language::Kyrgyz => kyrgyz(topic),
    }
}

fn english(topic: MessageTopic) -> &'static str {
    match topic {
        MessageTopic::NoNetwork => "There is no connection. Nothing is lost: we keep trying.",
        MessageTopic::ServerBusy => "The shop is busy. Nothing is lost: we keep trying.",
        MessageTopic::NotTheServer => {
            "The shop cannot be reached from this network. If it asks you to log in, do so; nothing is lost."
        }
        MessageTopic::WrongClock => {
            "Check the date and time of this device: the shop cannot be reached with them. Nothing is lost."
        }
        MessageTopic::TokenNotRenewed => "The app cannot reach the shop right now. Nothing is lost: we keep trying.",
        MessageTopic::OutcomeUnknown => {
            "The bank has not answered yet. Please do not pay again: we are finding out what happened."
        }
        MessageTopic::CodeRefused => "This code was not accepted. Enter it again.",
        MessageTopic::CodeNotSent => "The code did not arrive. Enter it again.",
        MessageTopic::Refused => "The bank did not accept this payment. No money was taken.",
        MessageTopic::NotMade => "The payment was not made. No money was taken: try again.",
        MessageTopic::Rejected => "The payment was declined. No money was taken.",
        MessageTopic::InputRefused => "Something that was entered is not right. No money was taken.",
        MessageTopic::TooManyTries => "There were too many tries. Choose another way to pay.",
        MessageTopic::ChangeRefused => "This payment can no longer be changed. Continue with what is shown here.",
        MessageTopic::Mismatch => {
            "The bank's answer does not match this order. Please do not pay again: the shop will look into it."
        }
        MessageTopic::Cancelled => "The shop has cancelled this order.",
    }
}

fn russian(topic: MessageTopic) -> &'static str {
    match topic {
        MessageTopic::NoNetwork => "Нет связи. Ничего не потеряно: мы пробуем снова.",
        MessageTopic::ServerBusy => "Магазин сейчас занят. Ничего не потеряно: мы пробуем снова.",
        MessageTopic::NotTheServer => {
            "Магазин недоступен из этой сети. Если она просит войти, войдите; ничего не потеряно."
        }
        MessageTopic::WrongClock => {
            "Проверьте дату и время на устройстве: из-за них магазин недоступен. Ничего не потеряно."
        }
        MessageTopic::TokenNotRenewed => {
            "Приложение сейчас не может связаться с магазином. Ничего не потеряно: мы пробуем снова."
        }
        MessageTopic::OutcomeUnknown => {
            "Банк ещё не ответил. Пожалуйста, не платите второй раз: мы выясняем, что произошло."
        }
        MessageTopic::CodeRefused => "Этот код не подошёл. Введите его ещё раз.",
        MessageTopic::CodeNotSent => "Код не дошёл. Введите его ещё раз.",
        MessageTopic::Refused => "Банк не принял этот платёж. Деньги не списаны.",
        MessageTopic::NotMade => "Платёж не создан. Деньги не списаны: попробуйте ещё раз.",
        MessageTopic::Rejected => "Платёж отклонён. Деньги не списаны.",
        MessageTopic::InputRefused => "Что-то введено неверно. Деньги не списаны.",
        MessageTopic::TooManyTries => "Слишком много попыток. Выберите другой способ оплаты.",
        MessageTopic::ChangeRefused => "Этот платёж уже нельзя изменить. Продолжайте с тем, что показано здесь.",
        MessageTopic::Mismatch => {
            "Ответ банка не совпадает с этим заказом. Пожалуйста, не платите второй раз: магазин разберётся."
        }
        MessageTopic::Cancelled => "Магазин отменил этот заказ.",
    }
}

fn kyrgyz(topic: MessageTopic) -> &'static str {
    match topic {
        MessageTopic::NoNetwork => "Байланыш жок. Эч нерсе жоголгон жок: кайра аракет кылып жатабыз.",
        MessageTopic::ServerBusy => "Дүкөн азыр бош эмес. Эч нерсе жоголгон жок: кайра аракет кылып жатабыз.",
        MessageTopic::NotTheServer => {
            "Бул тармактан дүкөнгө жетүүгө болбой жатат. Эгер ал кирүүнү сураса, кириңиз; эч нерсе жоголгон жок."
        }
        MessageTopic::WrongClock => {
            "Түзмөктүн күнүн жана убактысын текшериңиз: алардан улам дүкөнгө жетүүгө болбой жатат. Эч нерсе жоголгон жок."
        }
        MessageTopic::TokenNotRenewed => {
            "Колдонмо азыр дүкөн менен байланыша албай жатат. Эч нерсе жоголгон жок: кайра аракет кылып жатабыз."
        }
        MessageTopic::OutcomeUnknown => {
            "Банк азырынча жооп бере элек. Сураныч, экинчи жолу төлөбөңүз: эмне болгонун тактап жатабыз."
        }
        MessageTopic::CodeRefused => "Бул код туура келген жок. Аны кайра киргизиңиз.",
        MessageTopic::CodeNotSent => "Код жеткен жок. Аны кайра киргизиңиз.",
        MessageTopic::Refused => "Банк бул төлөмдү кабыл алган жок. Акча алынган жок.",
        MessageTopic::NotMade => "Төлөм түзүлгөн жок. Акча алынган жок: кайра аракет кылыңыз.",
        MessageTopic::Rejected => "Төлөм четке кагылды. Акча алынган жок.",
        MessageTopic::InputRefused => "Бир нерсе туура эмес киргизилген. Акча алынган жок.",
        MessageTopic::TooManyTries => "Аракеттер өтө көп болду. Төлөөнүн башка жолун тандаңыз.",
        MessageTopic::ChangeRefused => "Бул төлөмдү эми өзгөртүүгө болбойт. Бул жерде көрсөтүлгөн менен улантыңыз.",
        MessageTopic::Mismatch => {
            "Банктын жообу бул буйрутмага дал келбейт. Сураныч, экинчи жолу төлөбөңүз: дүкөн тактайт."
        }
        MessageTopic::Cancelled => "Дүкөн бул буйрутманы жокко чыгарды.",
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator;

    use super::*;

    #[test]
    fn messages_are_unique_in_every_language() {
        let mut said = std::collections::HashSet::new();
        for (language, topic) in
            Language::iter().flat_map(|language| MessageTopic::iter().map(move |topic| (language, topic)))
        {
            let text = text(language, topic);
            assert!(text.ends_with('.') && said.insert(text), "{language} {topic}: {text}");
            let is_cyrillic = text.chars().any(|c| ('а'..='я').contains(&c));
            assert_eq!(is_cyrillic, language != Language::English, "{language} {topic}: {text}");
        }
    }
}
