//! Endpoints: where a request goes, and which fields are looked for in its response. Each operation has one of its own, in its own file.

use std::fmt;

use http::Method;
use strum::IntoStaticStr;

/// One endpoint of the gateway.
pub(crate) struct Endpoint {
    /// The name in a dialect, in logs and in errors.
    pub(crate) name: &'static str,
    pub(crate) method: Method,
    /// Relative to the base address.
    pub(crate) path: &'static str,
    /// The fields that mean something in its response.
    pub(crate) response_fields: &'static [ResponseField],
    /// The success codes that the interface shows (`docs/interface.md#status-values-and-codes`). Where it shows none,
    /// any code will do that is not a refusal.
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

// Fields of responses: what is looked for, and where, by JSON pointers into the envelope (`docs/interface.md#envelope`).

/// A thing that is looked for in a response. Its name in the JSON form of a dialect is that of the variant in snake case.
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
}

/// What stands before the tag of a QR code's field, such as `elqr:32.11`, where a transaction is looked for.
pub(crate) const ELQR: &str = "elqr:";

/// What every status query looks for.
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
            // The interface shows no field for it: the `token` in the ConfirmationUrl is taken, else what a dialect
            // names.
            Self::GatewayNumber => &[],
            Self::ConfirmationUrl => &["/data/ConfirmationUrl"],
            Self::PayFormUrl => &["/payFormUrl", "/data/payFormUrl"],
            Self::Image => &["", "/data", "/data/image", "/data/qr", "/image", "/qr"],
            Self::QrPayload => &["/data/qr_data", "/data/qrData", "/data/payload", "/data/qr"],
            Self::TransactionId => &["/data/transaction_id", "/data/transactionId"],
        }
    }
}
