//! Messages to the payer: their topics, the reasons for a decline, and the texts of both in each language.

use strum::Display;

use crate::{config::dialect::decline_reason::DeclineReason, i18n::Language};

/// A message that the payer reads in addition to the state, in their language.
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
    /// The topic.
    pub topic: MessageTopic,
    /// Details for developers and logs, in any language: the server's explanation, or why it cannot be reached. **It is not for a payer to
    /// read.**
    pub reason: Option<String>,
    /// Why the gateway declined the payment or the code, if that is known. [`reason_in`](Self::reason_in) is the sentence for the payer.
    pub decline: Option<DeclineReason>,
}

impl CheckoutMessage {
    /// A message with only a topic.
    pub fn new(topic: MessageTopic) -> Self {
        Self { topic, reason: None, decline: None }
    }

    pub(crate) fn with_reason(self, reason: Option<String>) -> Self {
        Self { reason, ..self }
    }

    pub(crate) fn declined_for(self, decline: Option<DeclineReason>) -> Self {
        Self { decline, ..self }
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl CheckoutMessage {
    /// The message for the payer, in a language, without [`reason_in`](Self::reason_in).
    pub fn text_in(&self, language: Language) -> String {
        text(language, self.topic).to_owned()
    }

    /// Why the gateway declined, in a language; absent if that is not known.
    pub fn reason_in(&self, language: Language) -> Option<String> {
        self.decline.map(|decline| decline.text_in(language).to_owned())
    }
}

impl DeclineReason {
    /// A sentence for the payer, in their language.
    ///
    /// ```
    /// use kassa::{DeclineReason, Language};
    ///
    /// let sentence = DeclineReason::InsufficientFunds.text_in(Language::English);
    /// assert_eq!(sentence, "There is not enough money on your card or account.");
    /// ```
    pub fn text_in(self, language: Language) -> &'static str {
        let [english, russian, kyrgyz] = sentences(self);
        match language {
            Language::English => english,
            Language::Russian => russian,
            Language::Kyrgyz => kyrgyz,
        }
    }
}

fn sentences(reason: DeclineReason) -> [&'static str; 3] {
    match reason {
        DeclineReason::InsufficientFunds => [
            "There is not enough money on your card or account.",
            "На вашей карте или счёте недостаточно денег.",
            "Картаңызда же эсебиңизде акча жетишсиз.",
        ],
        DeclineReason::LimitExceeded => [
            "The amount exceeds the limit of your card or account.",
            "Сумма превышает лимит вашей карты или счёта.",
            "Сумма картаңыздын же эсебиңиздин лимитинен ашып кетти.",
        ],
        DeclineReason::WrongCode => ["The code was wrong.", "Введён неверный код.", "Код туура эмес киргизилди."],
        DeclineReason::CodeExpired => ["The code has expired.", "Срок действия кода истёк.", "Коддун мөөнөтү бүттү."],
        DeclineReason::UnknownPayer => [
            "The bank has no account with this number.",
            "В банке нет счёта, привязанного к этому номеру.",
            "Банкта бул номерге байланган эсеп жок.",
        ],
        DeclineReason::DeclinedByBank => [
            "Ask your bank for the reason.",
            "Причину можно узнать в вашем банке.",
            "Себебин банкыңыздан сурасаңыз болот.",
        ],
    }
}

// The topics of messages to a payer.

/// The topic of a message.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(test, derive(strum::EnumIter))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum MessageTopic {
    /// The server cannot be reached. The call is retried automatically, and nothing is lost.
    NoNetwork,
    /// The server sent `Retry-After`, or failed. The call is retried automatically.
    ServerBusy,
    /// The response is not from the merchant's server: a captive portal, a wrong address, or an invalid certificate. The call is retried
    /// automatically.
    NotTheServer,
    /// The certificate of the server is not valid yet by this device's clock: the payer has to check its date and time. The call is retried
    /// automatically.
    WrongClock,
    /// The app's own function gave no new client token. It is called again automatically.
    TokenNotRenewed,
    /// The outcome of the payment is unknown, and it is polled. **The payer must not pay again.**
    OutcomeUnknown,
    /// The gateway refused the code (one-time password or PIN).
    CodeRefused,
    /// The one-time password did not reach the gateway: the payer enters it again.
    CodeNotSent,
    /// The gateway refused the payment: no money moved.
    Refused,
    /// The payment was not made: no money moved, and the payer can try again.
    NotMade,
    /// The gateway reported that the payment was rejected: no money moved.
    Rejected,
    /// The server rejected the payer's input; the message's `reason` names the rule for developers.
    InputRefused,
    /// There were too many attempts.
    TooManyTries,
    /// The server did not replace the open payment: the payment progressed, was replaced elsewhere, or too many were replaced. The state shows its
    /// current status.
    ChangeRefused,
    /// The gateway's report does not match the request. The merchant's staff decide.
    Mismatch,
    /// The shop cancelled it.
    Cancelled,
}

// Localization: the texts of messages, in each language.

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
            "The bank's data does not match the order. Please do not pay again: the shop will look into it."
        }
        MessageTopic::Cancelled => "The shop has cancelled this order.",
    }
}

fn russian(topic: MessageTopic) -> &'static str {
    match topic {
        MessageTopic::NoNetwork => "Нет связи. Ничего не потеряно: мы пробуем снова.",
        MessageTopic::ServerBusy => "Магазин сейчас не отвечает. Ничего не потеряно: мы пробуем снова.",
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
            "Данные банка не совпадают с заказом. Пожалуйста, не платите второй раз: магазин разберётся."
        }
        MessageTopic::Cancelled => "Магазин отменил этот заказ.",
    }
}

fn kyrgyz(topic: MessageTopic) -> &'static str {
    match topic {
        MessageTopic::NoNetwork => "Байланыш жок. Эч нерсе жоголгон жок: кайра аракет кылып жатабыз.",
        MessageTopic::ServerBusy => {
            "Дүкөн азыр жооп бере албай жатат. Эч нерсе жоголгон жок: кайра аракет кылып жатабыз."
        }
        MessageTopic::NotTheServer => {
            "Бул тармактан дүкөнгө жетүүгө болбой жатат. Эгер ал кирүүнү сураса, кириңиз; эч нерсе жоголгон жок."
        }
        MessageTopic::WrongClock => {
            "Түзмөктүн күнүн жана убактысын текшериңиз: алардан улам дүкөнгө жетүүгө болбой жатат. Эч нерсе жоголгон жок."
        }
        MessageTopic::TokenNotRenewed => {
            "Тиркеме азыр дүкөн менен байланыша албай жатат. Эч нерсе жоголгон жок: кайра аракет кылып жатабыз."
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
            "Банктын маалыматтары буйрутмага дал келбейт. Сураныч, экинчи жолу төлөбөңүз: дүкөн тактайт."
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
        for (language, reason) in
            Language::iter().flat_map(|language| DeclineReason::iter().map(move |reason| (language, reason)))
        {
            let text = reason.text_in(language);
            assert!(text.ends_with('.') && said.insert(text), "{language} {reason}: {text}");
        }
    }
}
