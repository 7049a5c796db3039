//! Kyrgyz. A sentence follows the field's name and a colon. Numbers get no endings, because those change with how the
//! number is read aloud.

use crate::{
    i18n::{Limit, Typed},
    rule::{AdviceTopic, Rule},
};

pub(super) fn name(typed: Typed) -> &'static str {
    match typed {
        Typed::CardNumber => "Картанын номери",
        Typed::ExpiryMonth => "Картанын мөөнөтү, айы",
        Typed::ExpiryYear => "Картанын мөөнөтү, жылы",
        Typed::Cvc => "CVC",
        Typed::HolderName => "Карта ээсинин аты-жөнү",
        Typed::Phone => "Телефон номери",
        Typed::WalletPhone => "Капчыктын телефону",
        Typed::Otp => "СМС менен келген код",
        Typed::Pin => "СМС менен келген ПИН-код",
    }
}

pub(super) fn sentence(typed: Option<Typed>, rule: Rule, limit: Option<&str>) -> String {
    let fixed = match (rule, limit) {
        (Rule::Length, Some(limit)) => return length(typed, limit),
        (Rule::Minimum, Some(limit)) => return format!("кеминде {limit} болушу керек"),
        (Rule::Month, Some(limit)) => return format!("ай {} болушу керек", numbers(limit)),
        (Rule::OneOf, Some(limit)) => return format!("булардын бири гана болушу керек: {limit}"),
        (Rule::Format, Some(limit)) if typed.is_some_and(Typed::is_phone) => return phone(limit),
        (Rule::Format, Some(limit)) => return format!("мындай жазылышы керек: {limit}"),
        (Rule::State, Some(state)) => return format!("{state} абалына туура келбейт"),
        (Rule::Exact, Some(limit)) => return decimals(limit),
        (Rule::Required, _) => "толтуруу керек",
        (Rule::Length, None) => "узундугу туура эмес",
        (Rule::Minimum, None) => "өтө аз",
        (Rule::Digits, _) => "цифралар гана болушу керек",
        (Rule::Letters, _) => "латын тамгалары гана болушу керек, мисалы KGS",
        (Rule::Month, None) => "мындай ай жок",
        (Rule::HttpUrl, _) => "http:// же https:// менен башталган толук дарек керек",
        (Rule::ReturnUri, _) => "толук дарек (URI) керек; javascript:, data:, file: жана ушул сыяктуулар болбойт",
        (Rule::IpAddress, _) => "IPv4 же IPv6 дареги керек",
        (Rule::OneOf, None) => "мындай маани болбойт",
        (Rule::Luhn, _) => advice(AdviceTopic::CardNumberMistyped),
        (Rule::Format, None) => "туура эмес жазылган",
        (Rule::Signature, _) => "кол тамга бул ачкыч менен коюлган эмес же башка максат үчүн коюлган",
        (Rule::Exact, None) => "бул маанини тегеректебестен берүүгө болбойт",
        (Rule::State, None) => "абалына туура келбейт",
        (Rule::Expired, _) => advice(AdviceTopic::CardExpired),
    };
    fixed.to_owned()
}

fn length(typed: Option<Typed>, limit: &str) -> String {
    let noun = if typed.is_some_and(Typed::has_digits) { "цифра" } else { "белги" };
    let exactly = if matches!(Limit::of(limit), Limit::One(_)) { "так " } else { "" };
    format!("{exactly}{} {noun} болушу керек", numbers(limit))
}

fn numbers(limit: &str) -> String {
    match Limit::of(limit) {
        Limit::Range(least, most) => format!("{least}–{most}"),
        Limit::Choice(others, last) => format!("{others} же {last}"),
        Limit::One(only) => only.to_owned(),
    }
}

fn phone(limit: &str) -> String {
    let numbers = numbers(limit);
    format!("номер {numbers} цифра болушу керек, мисалы 0700 000 001; башка өлкөнүн номери өлкөнүн кодунан башталат")
}

fn decimals(most: &str) -> String {
    format!("үтүрдөн кийин эң көп дегенде {most} цифра болушу керек, валютадагыдай")
}

pub(super) fn advice(topic: AdviceTopic) -> &'static str {
    match topic {
        AdviceTopic::OrderNumberCharacters => {
            "A-Z a-z 0-9 - _ белгилеринен башкалары да бар, алар жөнөтүүдө же сактоодо ката чыгарышы мүмкүн"
        }
        AdviceTopic::MegaPayMinimum => "5 KGS суммасынан аз, ошондуктан баракча MegaPay сунуштабайт",
        AdviceTopic::CardNumberMistyped => "бир цифрасы туура эмес терилген окшойт",
        AdviceTopic::CardExpired => "картанын мөөнөтү бүткөн",
        AdviceTopic::PhoneFormat => "Кыргызстандын номери эмес (996XXXXXXXXX)",
        AdviceTopic::ReturnUrlFragment => {
            "даректе # белгиси бар: шлюз параметрлерин андан кийин кошушу мүмкүн, аларды сервер көрбөйт"
        }
        AdviceTopic::Dialect => {
            "диалект муну айтпайт, ошондуктан төлөмдүн жыйынтыгы белгисиз калышы мүмкүн: диалектте көрсөтүңүз"
        }
    }
}
