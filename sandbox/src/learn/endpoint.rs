//! The endpoints and the fields of their responses: their names in a dialect, and their places in the interface.

use std::{fmt, str::FromStr};

use strum::{EnumString, IntoStaticStr, VariantArray};

/// An endpoint of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Endpoint {
    CardPayment,
    PaymentStatus,
    MbankPayment,
    MbankConfirm,
    PayForm,
    ProviderStatus,
    QrImage,
    QrData,
    QrStatus,
    MegapayCheck,
    MegapayPay,
}

/// The effect of a request on a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Creates,
    Confirms,
    Queries,
}

/// A value in a response whose place a dialect can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Field {
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

impl Endpoint {
    /// The queries, whose status words decide a payment.
    pub(super) const QUERIES: [Self; 3] = [Self::PaymentStatus, Self::ProviderStatus, Self::QrStatus];

    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    fn path(self) -> &'static str {
        match self {
            Self::CardPayment => "/api/v1.1.0/payment",
            Self::PaymentStatus => "/api/v1.1.0/status",
            Self::MbankPayment => "/api/v1.1.0/mbank/pay",
            Self::MbankConfirm => "/api/v1.1.0/mbank/confirm",
            Self::PayForm => "/api/v1.1.0/pay-form",
            Self::ProviderStatus => "/api/v1.1.0/get-status",
            Self::QrImage => "/gen/qr/dynamic",
            Self::QrData => "/gen/qr/dynamic/data",
            Self::QrStatus => "/gen/qr/transaction/status",
            Self::MegapayCheck => "/api/v1.1.0/mega/check",
            Self::MegapayPay => "/api/v1.1.0/mega/pay",
        }
    }

    /// The endpoint of a request. The gateway's base address may have a path, so only the end of the path counts.
    pub(super) fn of(target: &str) -> Option<Self> {
        let path = target.split('?').next().unwrap_or(target);
        Self::VARIANTS.iter().copied().find(|endpoint| path.ends_with(endpoint.path()))
    }

    pub(super) fn role(self) -> Role {
        match self {
            Self::PaymentStatus | Self::ProviderStatus | Self::QrStatus => Role::Queries,
            Self::MbankConfirm | Self::MegapayPay => Role::Confirms,
            _ => Role::Creates,
        }
    }

    /// Whether it handles QR payments, whose amounts may be in tyiyn.
    pub(super) fn is_qr(self) -> bool {
        matches!(self, Self::QrImage | Self::QrData | Self::QrStatus)
    }

    /// Whether a dialect can set the place of this field in its responses.
    pub(super) fn has(self, field: Field) -> bool {
        match field {
            Field::Code | Field::Reason => true,
            Field::Status => !matches!(self, Self::PayForm | Self::QrImage | Self::QrData | Self::MegapayCheck),
            Field::OrderNumber => !matches!(self, Self::PayForm | Self::QrImage | Self::QrData),
            Field::Amount => {
                !matches!(self, Self::MbankConfirm | Self::MegapayCheck | Self::MegapayPay | Self::QrImage)
            }
            Field::Currency => !matches!(self, Self::MbankConfirm | Self::QrImage),
            Field::GatewayNumber => matches!(self, Self::CardPayment | Self::MbankPayment | Self::MbankConfirm),
            Field::ConfirmationUrl => self == Self::CardPayment,
            Field::PayFormUrl => self == Self::PayForm,
            Field::Image => self == Self::QrImage,
            Field::QrPayload => self == Self::QrData,
            Field::TransactionId => matches!(self, Self::QrData | Self::MegapayPay),
        }
    }

    /// The success codes that the interface shows.
    pub(super) fn shown_codes(self) -> &'static [&'static str] {
        if self == Self::CardPayment { &["110"] } else { &[] }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Field {
    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// The places that the core reads by default.
    pub(super) fn shown(self) -> &'static [&'static str] {
        match self {
            Self::Code => &["/code"],
            Self::Reason => &["/message"],
            Self::Status => &["/data/status"],
            Self::OrderNumber => &["/data/orderNumber"],
            Self::Amount => &["/data/amount"],
            Self::Currency => &["/data/currency"],
            Self::GatewayNumber => &[],
            Self::ConfirmationUrl => &["/data/ConfirmationUrl"],
            Self::PayFormUrl => &["/payFormUrl", "/data/payFormUrl"],
            Self::Image => &["", "/data", "/data/image", "/data/qr", "/image", "/qr"],
            Self::QrPayload => &["/data/qr_data", "/data/qrData", "/data/payload", "/data/qr"],
            Self::TransactionId => &["/data/transaction_id", "/data/transactionId"],
        }
    }
}

/// A field of an endpoint, such as `qr_status.amount`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FieldOf(pub(super) Endpoint, pub(super) Field);

impl fmt::Display for FieldOf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.0.name(), self.1.name())
    }
}

impl FromStr for FieldOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (endpoint, field) = text.split_once('.').ok_or("must be ENDPOINT.FIELD, such as qr_status.amount")?;
        let endpoint: Endpoint =
            endpoint.parse().map_err(|_| format!("{endpoint:?} is not an endpoint of a dialect"))?;
        let known = field.parse().ok().filter(|field| endpoint.has(*field));
        known
            .map(|field| Self(endpoint, field))
            .ok_or_else(|| format!("{endpoint} has no field {field:?} that is learned"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_found_by_the_end_of_the_path() {
        assert_eq!(Endpoint::of("/test/api/v1.1.0/status?orderNumber=1"), Some(Endpoint::PaymentStatus));
        assert_eq!(Endpoint::of("/gen/qr/dynamic/data"), Some(Endpoint::QrData));
        assert_eq!(Endpoint::of("/xapi/v1.1.0/status"), None);
        assert_eq!("qr_status.amount".parse(), Ok(FieldOf(Endpoint::QrStatus, Field::Amount)));
        for wrong in ["amount", "qr.amount", "pay_form.status", "qr_status.amounts"] {
            assert!(wrong.parse::<FieldOf>().is_err(), "{wrong}");
        }
    }
}
