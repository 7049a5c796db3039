//! Kyrgyz.

use super::Message;
use crate::problem::Problem;

pub(super) fn say(message: Message) -> String {
    let text = match message {
        Message::NotJson => "Сурамдын мазмуну JSON эмес",
        Message::NotObject => "Сурамдын мазмуну JSON объектиси эмес",
        Message::BodyTooLarge => "Сурамдын мазмуну 1 МиБден чоң",
        Message::BodyTooSlow => "Сурамдын мазмуну убагында келген жок",
        Message::WrongCredentials => "Логин же сырсөз туура эмес",
        Message::WrongMethod(allowed) => return format!("Бул жерде {allowed} ыкмасы керек"),
        Message::ReusedOrderNumber => "Бул заказ номери мурда колдонулган",
        Message::PaymentNotFound => "Төлөм табылган жок",
        Message::WrongOtp(left) => return format!("Бир жолку сырсөз туура эмес, калган аракет: {left}"),
        Message::NotAwaitingOtp => "Бул төлөм бир жолку сырсөздү күтпөйт",
        Message::ProcessingError => "Төлөмдү иштетүүдө провайдердин катасы чыкты",
        Message::InternalError => "Сыноо чөйрөсүндө ката чыкты; себеби анын журналында",
        Message::Declined => "Төлөм четке кагылды",
        Message::InsufficientFunds => "Каражат жетишсиз",
        Message::CancelledByPayer => "Төлөөчү төлөмдү жокко чыгарды",
        Message::OtpAttemptsExhausted => "Туура эмес бир жолку сырсөз өтө көп киргизилди",
        Message::ConfirmTitle => "Төлөмдү ырастаңыз",
        Message::PayTitle => "Төлөм",
        Message::QrTitle => "QR-код менен төлөө",
        Message::Amount => "Сумма",
        Message::Order => "Заказ",
        Message::CardNumber => "Картанын номери",
        Message::Phone => "Телефон номери",
        Message::EnterOtp => "Бир жолку сырсөз",
        Message::AttemptsLeft(left) => return format!("Калган аракет: {left}"),
        Message::Confirm => "Ырастоо",
        Message::Cancel => "Төлөмдү жокко чыгаруу",
        Message::ChooseMethod => "Төлөө ыкмасын тандаңыз",
        Message::Method => "Төлөө ыкмасы",
        Message::BankCard => "Банк картасы",
        Message::ExpiryMonth => "Мөөнөтү бүткөн ай (АА)",
        Message::ExpiryYear => "Мөөнөтү бүткөн жыл (ЖЖЖЖ)",
        Message::Cvc => "CVC",
        Message::HolderName => "Карта ээсинин аты",
        Message::Pay => "Төлөө",
        Message::MegaPayMinimum => "MegaPay төлөмдөрдү 5 KGSтен баштап кабыл алат",
        Message::Description => "Сүрөттөмө",
        Message::Merchant => "Сатуучу",
        Message::AmountInSom => "Сумма, сом менен",
        Message::Approve => "Төлөө",
        Message::Decline => "Баш тартуу",
        Message::PaidTitle => "Төлөндү",
        Message::PaidText => "Төлөм ийгиликтүү өттү",
        Message::RejectedTitle => "Төлөнгөн жок",
        Message::PendingTitle => "Иштетилүүдө",
        Message::PendingText => "Төлөм иштетилүүдө; анын жыйынтыгы сатуучуга билдирилет",
        Message::AlreadyFinished => "Бул төлөм аяктаган; эч нерсе өзгөргөн жок",
        Message::BackToMerchant => "Сатуучуга кайтуу",
        Message::PageNotFoundTitle => "Барак табылган жок",
        Message::PageNotFoundText => "Бул шилтемеде төлөм жок",
        Message::TestMode => "Сыноо чөйрөсү: бул жерде чыныгы акча жок",
        Message::UnreadableForm => "Форманы окууга мүмкүн болгон жок",
    };
    text.to_owned()
}

pub(super) fn explain(problem: Problem) -> String {
    let text = match problem {
        Problem::Missing => "милдеттүү талаа",
        Problem::Unknown => "бул сурамда мындай талаа жок",
        Problem::Repeated => "бир нече жолу көрсөтүлгөн",
        Problem::NotText => "сап болушу керек",
        Problem::Blank => "бош болбошу керек",
        Problem::NotNumber => "сан болушу керек",
        Problem::NotInteger => "бүтүн сан болушу керек",
        Problem::TooManyDigits => "так сактоого мүмкүн болгондон көп цифра",
        Problem::Minimum(minimum) => return format!("{minimum} же андан көп болушу керек"),
        Problem::Length(length) => return format!("узундугу так {length} белги болушу керек"),
        Problem::PanLength => "13төн 20га чейин цифра болушу керек",
        Problem::NotDigits => "цифралардан турушу керек",
        Problem::Month => "01ден 12ге чейинки ай болушу керек",
        Problem::FourDigitYear => "4 цифралуу жыл болушу керек",
        Problem::Expired => "картанын мөөнөтү бүгүнкү күндөн кийин бүтүшү керек",
        Problem::Currency => "3 тамгалуу валюта коду болушу керек",
        Problem::LanguageCode => "2 тамгалуу тил коду болушу керек",
        Problem::WebUrl => "http же https толук дареги болушу керек",
        Problem::ReturnUrl => "браузерди коопсуз жөнөтүүгө боло турган толук дарек болушу керек",
        Problem::IpAddress => "IP-дарек болушу керек",
        Problem::Email => "электрондук почта дареги болушу керек",
        Problem::Phone => "телефон номери болушу керек",
        Problem::Provider => "Cards, MegaPay же MBank болушу керек",
        Problem::MismatchedPaymentId => "башка төлөмгө таандык",
        Problem::UnknownTestCard => "сыноо картасы эмес; картаны сыноо чөйрөсүнүн таблицасынан алыңыз",
        Problem::UnknownTestPhone => {
            "бул провайдердин сыноо телефону эмес; номерди сыноо чөйрөсүнүн таблицасынан алыңыз"
        }
        Problem::MegaPayMinimum => "MegaPay төлөмдөрдү 5 KGSтен баштап кабыл алат",
    };
    text.to_owned()
}
