//! What can be wrong with one field of a request.

/// What is wrong with a field. The words for it are in `messages`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    Missing,
    Unknown,
    Repeated,
    NotText,
    Blank,
    NotNumber,
    NotInteger,
    TooManyDigits,
    Minimum(u32),
    Maximum(i64),
    Length(usize),
    PanLength,
    NotDigits,
    Month,
    FourDigitYear,
    Expired,
    Currency,
    LanguageCode,
    WebUrl,
    ReturnUrl,
    IpAddress,
    Email,
    Phone,
    Provider,
    MismatchedPaymentId,
    UnknownTestCard,
    UnknownTestPhone,
}

/// A field and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) field: String,
    pub(crate) problem: Problem,
}

impl Violation {
    pub(crate) fn new(field: &str, problem: Problem) -> Self {
        Self { field: field.to_owned(), problem }
    }
}
