//! Localization: all texts for people, one file per language. A missing translation does not compile.

mod en;
mod ky;
mod ru;

use crate::{
    domain::{Language, RejectReason},
    rules::Problem,
};

impl Language {
    /// The message in this language.
    pub(crate) fn say(self, message: Message) -> String {
        match self {
            Self::English => en::say(message),
            Self::Russian => ru::say(message),
            Self::Kyrgyz => ky::say(message),
        }
    }

    /// What is wrong with a field, in this language.
    pub(crate) fn explain(self, problem: Problem) -> String {
        match self {
            Self::English => en::explain(problem),
            Self::Russian => ru::explain(problem),
            Self::Kyrgyz => ky::explain(problem),
        }
    }
}

/// A sentence or a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Message {
    // Answers of the endpoints.
    NotJson,
    NotObject,
    BodyTooLarge,
    BodyTooSlow,
    WrongCredentials,
    WrongMethod(&'static str),
    ReusedOrderNumber,
    PaymentNotFound,
    WrongOtp(u32),
    NotAwaitingOtp,
    PinExpired,
    ProcessingError,
    TooManyRequests,
    Unavailable,
    InternalError,
    // How payments end.
    Declined,
    InsufficientFunds,
    CancelledByPayer,
    OtpAttemptsExhausted,
    // Pages.
    ConfirmTitle,
    PayTitle,
    QrTitle,
    Amount,
    Order,
    CardNumber,
    Phone,
    EnterOtp,
    AttemptsLeft(u32),
    Confirm,
    Cancel,
    ChooseMethod,
    BankCard,
    Cvc,
    HolderName,
    Pay,
    MegaPayMinimum,
    Description,
    Merchant,
    TestMerchant,
    Recipient,
    Transaction,
    PaymentSystem,
    InventedProvider,
    AmountInSom,
    Approve,
    Decline,
    PaidTitle,
    PaidText,
    RejectedTitle,
    PendingTitle,
    PendingText,
    AlreadyFinished,
    StillHere,
    BackToMerchant,
    PageNotFoundTitle,
    PageNotFoundText,
    ExpiryDate,
    ExpiryMonth,
    ExpiryYear,
    MonthPlaceholder,
    YearPlaceholder,
    OtpOfBank,
    OtpByPhone,
    WrongPassword,
    YouCancelled,
    PayerCard,
    PayerPhone,
    MayClose,
    MissingOtp,
    MissingPan,
    WrongPan,
    NoTestCard,
    WrongMonth,
    WrongYear,
    CardExpired,
    WrongCvc,
    MissingName,
    WrongPhone,
    WrongAmount,
    NoDecision,
    TestData,
    TestDataHint,
    TestDataFilled,
    CardsWith3ds2,
    CardsWith3ds1,
    CardsWithout3ds,
    OutcomeApproved,
    OutcomeDeclined,
    OutcomeInsufficientFunds,
    OutcomeStuckPending,
    OutcomeError,
    LanguageSwitch,
    TestMode,
    NoTestPhone(&'static str),
    UnreadableForm,
}

impl From<RejectReason> for Message {
    fn from(reason: RejectReason) -> Self {
        match reason {
            RejectReason::Declined => Self::Declined,
            RejectReason::InsufficientFunds => Self::InsufficientFunds,
            RejectReason::CancelledByPayer => Self::CancelledByPayer,
            RejectReason::OtpAttemptsExhausted => Self::OtpAttemptsExhausted,
            RejectReason::ProcessingError => Self::ProcessingError,
        }
    }
}
