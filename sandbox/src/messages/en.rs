//! English.

use super::Message;
use crate::problem::Problem;

pub(super) fn say(message: Message) -> String {
    let text = match message {
        Message::NotJson => "The request body is not JSON",
        Message::NotObject => "The request body is not a JSON object",
        Message::BodyTooLarge => "The request body is larger than 1 MiB",
        Message::BodyTooSlow => "The request body did not arrive in time",
        Message::WrongCredentials => "Wrong login or password",
        Message::WrongMethod(allowed) => return format!("Use the method {allowed} here"),
        Message::ReusedOrderNumber => "This order number was used before",
        Message::PaymentNotFound => "Payment not found",
        Message::WrongOtp(left) => {
            return format!("Wrong one-time password, attempts left: {left}");
        }
        Message::NotAwaitingOtp => "This payment awaits no one-time password",
        Message::ProcessingError => "The provider failed while processing the payment",
        Message::InternalError => "The sandbox failed; its log says why",
        Message::Declined => "The payment was declined",
        Message::InsufficientFunds => "Insufficient funds",
        Message::CancelledByPayer => "The payer cancelled the payment",
        Message::OtpAttemptsExhausted => "Too many wrong one-time passwords",
        Message::ConfirmTitle => "Confirm the payment",
        Message::PayTitle => "Payment",
        Message::QrTitle => "Payment by QR code",
        Message::Amount => "Amount",
        Message::Order => "Order",
        Message::CardNumber => "Card number",
        Message::Phone => "Phone number",
        Message::EnterOtp => "One-time password",
        Message::AttemptsLeft(left) => return format!("Attempts left: {left}"),
        Message::Confirm => "Confirm",
        Message::Cancel => "Cancel the payment",
        Message::ChooseMethod => "Choose how to pay",
        Message::Method => "Payment method",
        Message::BankCard => "Bank card",
        Message::ExpiryMonth => "Expiry month (MM)",
        Message::ExpiryYear => "Expiry year (YYYY)",
        Message::Cvc => "CVC",
        Message::HolderName => "Cardholder name",
        Message::Pay => "Pay",
        Message::MegaPayMinimum => "MegaPay takes payments from 5 KGS",
        Message::Description => "Description",
        Message::Merchant => "Merchant",
        Message::AmountInSom => "Amount in som",
        Message::Approve => "Approve",
        Message::Decline => "Decline",
        Message::PaidTitle => "Paid",
        Message::PaidText => "The payment was successful",
        Message::RejectedTitle => "Not paid",
        Message::PendingTitle => "In progress",
        Message::PendingText => "The payment is being processed; the merchant will be told how it ends",
        Message::AlreadyFinished => "This payment is finished; nothing was changed",
        Message::BackToMerchant => "Back to the merchant",
        Message::PageNotFoundTitle => "Page not found",
        Message::PageNotFoundText => "There is no payment under this link",
        Message::TestMode => "Sandbox: no real money moves here",
        Message::UnreadableForm => "The form could not be read",
    };
    text.to_owned()
}

pub(super) fn explain(problem: Problem) -> String {
    let text = match problem {
        Problem::Missing => "is required",
        Problem::Unknown => "is not a field of this request",
        Problem::Repeated => "is given more than once",
        Problem::NotText => "must be a string",
        Problem::Blank => "must not be empty",
        Problem::NotNumber => "must be a number",
        Problem::NotInteger => "must be a whole number",
        Problem::TooManyDigits => "has more digits than can be kept exactly",
        Problem::Minimum(minimum) => return format!("must be at least {minimum}"),
        Problem::Length(length) => return format!("must be exactly {length} characters long"),
        Problem::PanLength => "must be 13 to 20 digits long",
        Problem::NotDigits => "must consist of digits",
        Problem::Month => "must be a month from 01 to 12",
        Problem::FourDigitYear => "must be a year of 4 digits",
        Problem::Expired => "the card's expiry must be later than today",
        Problem::Currency => "must be a currency code of 3 letters",
        Problem::LanguageCode => "must be a language code of 2 letters",
        Problem::WebUrl => "must be an absolute http or https URL",
        Problem::ReturnUrl => "must be an absolute URL a browser can safely be sent to",
        Problem::IpAddress => "must be an IP address",
        Problem::Email => "must be an e-mail address",
        Problem::Phone => "must be a phone number",
        Problem::Provider => "must be Cards, MegaPay or MBank",
        Problem::MismatchedPaymentId => "belongs to another payment",
        Problem::UnknownTestCard => "is not a test card; use one from the sandbox's table",
        Problem::UnknownTestPhone => "is not a test phone of this provider; use one from the sandbox's table",
        Problem::MegaPayMinimum => "MegaPay takes payments from 5 KGS",
    };
    text.to_owned()
}
