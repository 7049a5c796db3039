//! Russian. A sentence follows the field's name and a colon, so that nothing has to agree with the name.

use crate::{
    i18n::{Limit, Typed},
    rule::{AdviceTopic, Rule},
};

pub(super) fn name(typed: Typed) -> &'static str {
    match typed {
        Typed::CardNumber => "Номер карты",
        Typed::ExpiryMonth => "Месяц срока действия карты",
        Typed::ExpiryYear => "Год срока действия карты",
        Typed::Cvc => "CVC",
        Typed::HolderName => "Имя владельца карты",
        Typed::Phone => "Номер телефона",
        Typed::WalletPhone => "Телефон кошелька",
        Typed::Otp => "Код из СМС",
        Typed::Pin => "ПИН-код из СМС",
    }
}

pub(super) fn sentence(typed: Option<Typed>, rule: Rule, limit: Option<&str>) -> String {
    let fixed = match (rule, limit) {
        (Rule::Length, Some(limit)) => return length(typed, limit),
        (Rule::Minimum, Some(limit)) => return format!("не меньше {limit}"),
        (Rule::Month, Some(limit)) => return format!("нужен месяц {}", range(limit)),
        (Rule::OneOf, Some(limit)) => return format!("допустимо только одно из значений: {limit}"),
        (Rule::Format, Some(limit)) if typed.is_some_and(Typed::is_phone) => return phone(limit),
        (Rule::Format, Some(limit)) => return format!("нужен вид {limit}"),
        (Rule::State, Some(state)) => return format!("не подходит к состоянию {state}"),
        (Rule::Exact, Some(limit)) => return decimals(limit),
        (Rule::Required, _) => "обязательно для заполнения",
        (Rule::Length, None) => "неверная длина",
        (Rule::Minimum, None) => "слишком мало",
        (Rule::Digits, _) => "допустимы только цифры",
        (Rule::Letters, _) => "допустимы только латинские буквы, например KGS",
        (Rule::Month, None) => "такого месяца нет",
        (Rule::HttpUrl, _) => "нужен полный адрес, который начинается с http:// или https://",
        (Rule::ReturnUri, _) => "нужен полный адрес (URI), но не javascript:, data:, file: и подобные",
        (Rule::IpAddress, _) => "нужен адрес IPv4 или IPv6",
        (Rule::OneOf, None) => "такое значение недопустимо",
        (Rule::Luhn, _) => advice(AdviceTopic::CardNumberMistyped),
        (Rule::Format, None) => "неверный формат",
        (Rule::Signature, _) => "подпись сделана не этим ключом или для другой цели",
        (Rule::Exact, None) => "значение нельзя передать без округления",
        (Rule::State, None) => "не подходит к состоянию",
        (Rule::Expired, _) => advice(AdviceTopic::CardExpired),
    };
    fixed.to_owned()
}

fn length(typed: Option<Typed>, limit: &str) -> String {
    let nouns = match typed {
        Some(typed) if typed.has_digits() => ["цифра", "цифры", "цифр"],
        _ => ["символ", "символа", "символов"],
    };
    let noun = inflected(Limit::of(limit).last(), nouns);
    match Limit::of(limit) {
        // After "from" and "to" the noun is always in the genitive.
        Limit::Range(least, most) => format!("нужно от {least} до {most} {}", nouns[2]),
        Limit::Choice(others, last) => format!("нужно {others} или {last} {noun}"),
        Limit::One(count) => format!("нужно ровно {count} {noun}"),
    }
}

/// Plural: the forms for one, for two to four, and for more.
fn inflected<'a>(count: &str, [one, few, many]: [&'a str; 3]) -> &'a str {
    let is_teen = count.len() >= 2 && count.as_bytes()[count.len() - 2] == b'1';
    match count.as_bytes().last() {
        Some(b'1') if !is_teen => one,
        Some(b'2'..=b'4') if !is_teen => few,
        _ => many,
    }
}

fn range(limit: &str) -> String {
    match Limit::of(limit) {
        Limit::Range(least, most) => format!("от {least} до {most}"),
        Limit::Choice(others, last) => format!("{others} или {last}"),
        Limit::One(only) => only.to_owned(),
    }
}

fn phone(limit: &str) -> String {
    format!("нужен номер {} цифр, например 0700 000 001; номер другой страны начинается с её кода", of_digits(limit))
}

/// A number consists of digits: "from 9 to 15".
fn of_digits(limit: &str) -> String {
    match Limit::of(limit) {
        Limit::Range(least, most) => format!("из {least}–{most}"),
        _ => format!("из {limit}"),
    }
}

fn decimals(most: &str) -> String {
    let noun = inflected(most, ["знака", "знаков", "знаков"]);
    format!("не больше {most} {noun} после запятой, как у валюты")
}

pub(super) fn advice(topic: AdviceTopic) -> &'static str {
    match topic {
        AdviceTopic::OrderNumberCharacters => {
            "есть символы кроме A-Z a-z 0-9 - _, из-за них возможны сбои при передаче или хранении"
        }
        AdviceTopic::MegaPayMinimum => "меньше 5 KGS, поэтому страница не предложит MegaPay",
        AdviceTopic::CardNumberMistyped => "похоже, одна из цифр введена неверно",
        AdviceTopic::CardExpired => "срок действия карты истёк",
        AdviceTopic::PhoneFormat => "это не номер Кыргызстана (996XXXXXXXXX)",
        AdviceTopic::ReturnUrlFragment => {
            "в адресе есть #: шлюз может дописать свои параметры после него, и сервер их не увидит"
        }
        AdviceTopic::Dialect => {
            "диалект этого не называет, поэтому платёж может остаться без итога: укажите это в диалекте"
        }
    }
}
