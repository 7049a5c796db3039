//! Endpoints: where a request goes, and how its response is read: fields, codes and words, with a dialect's overrides. Each operation
//! defines its endpoint in its own file.

use std::{collections::BTreeMap, fmt};

use http::Method;
use strum::{EnumIter, EnumString, IntoEnumIterator, IntoStaticStr};

/// One endpoint of the gateway.
pub(crate) struct Endpoint {
    /// The name in a dialect, in logs and in errors.
    pub(crate) name: &'static str,
    pub(crate) method: Method,
    /// Relative to the base address.
    pub(crate) path: &'static str,
    /// The fields that are read in its response.
    pub(crate) response_fields: &'static [ResponseField],
    /// The success codes that the interface shows (`docs/interface.md#status-values-and-codes`). If it shows none,
    /// every code that is in no other list is a success, and so is a missing code.
    pub(crate) success_codes: &'static [&'static str],
}

impl Endpoint {
    /// Whether its response is a report on a payment's status.
    pub(crate) fn is_status_query(&self) -> bool {
        self.response_fields == STATUS_FIELDS
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

// Fields of responses, with the JSON pointers into the envelope that find them (`docs/interface.md#envelope`).

/// A field of a response. Its name in the JSON form of a dialect is the variant's name in snake case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ResponseField {
    Code,
    Reason,
    Status,
    OrderNumber,
    Amount,
    Currency,
    GatewayNumber,
    ConfirmationUrl,
    PayFormUrl,
    Image,
    QrPayload,
    TransactionId,
    Commission,
    PinLifetime,
}

/// The prefix of a QR code's tag as a place of the transaction, such as `elqr:32.11`.
pub(crate) const ELQR: &str = "elqr:";

/// The fields of every status query.
pub(crate) const STATUS_FIELDS: &[ResponseField] = &[
    ResponseField::Code,
    ResponseField::Reason,
    ResponseField::Status,
    ResponseField::OrderNumber,
    ResponseField::Amount,
    ResponseField::Currency,
];

impl ResponseField {
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// JSON pointers (RFC 6901), tried in order unless a dialect names others.
    pub(crate) fn shown_pointers(self) -> &'static [&'static str] {
        match self {
            Self::Code => &["/code"],
            Self::Reason => &["/message"],
            Self::Status => &["/data/status"],
            Self::OrderNumber => &["/data/orderNumber"],
            Self::Amount => &["/data/amount"],
            Self::Currency => &["/data/currency"],
            // The interface shows no field for it: the `token` in the ConfirmationUrl is used, or else the field that a
            // dialect names.
            Self::GatewayNumber => &[],
            Self::ConfirmationUrl => &["/data/ConfirmationUrl"],
            Self::PayFormUrl => &["/payFormUrl", "/data/payFormUrl"],
            Self::Image => &["", "/data", "/data/image", "/data/qr", "/image", "/qr"],
            Self::QrPayload => &["/data/qr_data", "/data/qrData", "/data/payload", "/data/qr"],
            Self::TransactionId => &["/data/transaction_id", "/data/transactionId"],
            Self::Commission => &["/data/commission"],
            // In seconds.
            Self::PinLifetime => &["/data/sms_lifetime"],
        }
    }
}

// Overrides of one endpoint: a dialect's JSON pointers, codes and words in place of the defaults.

/// A dialect's overrides for one endpoint. It stores only differences from the defaults, so that two dialects with the
/// same meaning compare as equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Overrides {
    pointers: BTreeMap<ResponseField, Vec<String>>,
    codes: BTreeMap<CodeList, Vec<String>>,
    words: BTreeMap<WordList, Vec<String>>,
    any_number: bool,
}

impl Overrides {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn set_pointers(&mut self, field: ResponseField, pointers: Vec<String>) {
        // A default value removes the override of a base.
        self.pointers.remove(&field);
        if pointers != field.shown_pointers() {
            self.pointers.insert(field, pointers);
        }
    }

    pub(super) fn set_codes(&mut self, endpoint: &Endpoint, list: CodeList, codes: Vec<String>) {
        self.codes.remove(&list);
        if codes != shown_codes(endpoint, list) {
            self.codes.insert(list, codes);
        }
    }

    /// This endpoint's own words, in place of the dialect's.
    pub(super) fn set_words(&mut self, list: WordList, words: Vec<String>) {
        self.words.insert(list, words);
    }

    pub(super) fn set_any_number(&mut self, any_number: bool) {
        self.any_number = any_number;
    }
}

/// One endpoint's defaults, with a dialect's overrides on top.
#[derive(Clone, Copy)]
pub(crate) struct EndpointDialect<'a> {
    pub(super) endpoint: &'static Endpoint,
    pub(super) overrides: Option<&'a Overrides>,
}

impl<'a> EndpointDialect<'a> {
    /// The JSON pointers to try for a field; none if this endpoint's response has no such field.
    pub(crate) fn pointers(self, field: ResponseField) -> impl Iterator<Item = &'a str> {
        let named = self.overrides.and_then(|overrides| overrides.pointers.get(&field));
        let is_shown = named.is_none() && self.endpoint.response_fields.contains(&field);
        let shown = if is_shown { field.shown_pointers() } else { &[] };
        named.into_iter().flatten().map(String::as_str).chain(shown.iter().copied())
    }

    pub(crate) fn codes(self, list: CodeList) -> impl Iterator<Item = &'a str> {
        let named = self.overrides.and_then(|overrides| overrides.codes.get(&list));
        let shown = if named.is_some() { &[] } else { shown_codes(self.endpoint, list) };
        named.into_iter().flatten().map(String::as_str).chain(shown.iter().copied())
    }

    /// This endpoint's own words; `None` if the whole dialect's words apply.
    pub(crate) fn words(self, list: WordList) -> Option<&'a [String]> {
        self.overrides.and_then(|overrides| overrides.words.get(&list)).map(Vec::as_slice)
    }

    /// Whether a number in its report need not be one of the payment's.
    pub(crate) fn any_number(self) -> bool {
        self.overrides.is_some_and(|overrides| overrides.any_number)
    }

    pub(crate) fn lists(self, list: CodeList, code: &str) -> bool {
        self.codes(list).any(|listed| listed == code)
    }

    /// With an empty list of success codes, every code that is in no other list is a success, and so is a missing code.
    pub(crate) fn is_success(self, code: Option<&str>) -> bool {
        let any_will_do = self.codes(CodeList::Success).next().is_none();
        let Some(code) = code else { return any_will_do };
        let mut others = CodeList::iter().filter(|list| *list != CodeList::Success);
        (any_will_do || self.lists(CodeList::Success, code)) && !others.any(|list| self.lists(list, code))
    }
}

fn shown_codes(endpoint: &Endpoint, list: CodeList) -> &'static [&'static str] {
    if list == CodeList::Success { endpoint.success_codes } else { &[] }
}

// Lists of codes and of status words: the meanings that a dialect can give them.

/// A list of codes of one endpoint, with its name in the JSON form of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumIter, EnumString, IntoStaticStr)]
pub(crate) enum CodeList {
    /// The request succeeded.
    #[strum(serialize = "success_codes")]
    Success,
    /// The gateway refused the request, and nothing happened.
    #[strum(serialize = "refusal_codes")]
    Refusal,
    /// The gateway itself does not know the outcome of the payment, such as after a timeout of the card's issuer.
    #[strum(serialize = "unknown_codes")]
    Unknown,
    /// The order number was used before (idempotency conflict), so a payment with this number may exist.
    #[strum(serialize = "duplicate_codes")]
    Duplicate,
}

impl CodeList {
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}

/// A list of status words, with its name in the JSON form of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr)]
pub(crate) enum WordList {
    /// The money was taken.
    #[strum(serialize = "charged_words")]
    Charged,
    /// The payment ended without a charge.
    #[strum(serialize = "rejected_words")]
    Rejected,
}

impl WordList {
    pub(crate) const ALL: [Self; 2] = [Self::Charged, Self::Rejected];

    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}
