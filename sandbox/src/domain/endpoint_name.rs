//! The nine endpoints by name.

use std::fmt;

/// One of the nine endpoints. Its name is its path without what comes before the endpoint's own part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndpointName {
    /// `payment`: POST /api/v1.1.0/payment.
    Payment,
    /// `status`: GET /api/v1.1.0/status.
    Status,
    /// `mbank/pay`: POST /api/v1.1.0/mbank/pay.
    MbankPay,
    /// `mbank/confirm`: POST /api/v1.1.0/mbank/confirm.
    MbankConfirm,
    /// `pay-form`: POST /api/v1.1.0/pay-form.
    PayForm,
    /// `get-status`: POST /api/v1.1.0/get-status.
    GetStatus,
    /// `qr/dynamic`: POST /gen/qr/dynamic.
    QrDynamic,
    /// `qr/dynamic/data`: POST /gen/qr/dynamic/data.
    QrDynamicData,
    /// `qr/transaction/status`: GET /gen/qr/transaction/status.
    QrTransactionStatus,
}

impl EndpointName {
    /// Every endpoint there is.
    pub const ALL: [Self; 9] = [
        Self::Payment,
        Self::Status,
        Self::MbankPay,
        Self::MbankConfirm,
        Self::PayForm,
        Self::GetStatus,
        Self::QrDynamic,
        Self::QrDynamicData,
        Self::QrTransactionStatus,
    ];

    /// The name.
    pub fn as_str(self) -> &'static str {
        let path = self.path();
        path.strip_prefix("/api/v1.1.0/").or(path.strip_prefix("/gen/")).unwrap_or(path)
    }

    /// The path under the base URL.
    pub fn path(self) -> &'static str {
        match self {
            Self::Payment => "/api/v1.1.0/payment",
            Self::Status => "/api/v1.1.0/status",
            Self::MbankPay => "/api/v1.1.0/mbank/pay",
            Self::MbankConfirm => "/api/v1.1.0/mbank/confirm",
            Self::PayForm => "/api/v1.1.0/pay-form",
            Self::GetStatus => "/api/v1.1.0/get-status",
            Self::QrDynamic => "/gen/qr/dynamic",
            Self::QrDynamicData => "/gen/qr/dynamic/data",
            Self::QrTransactionStatus => "/gen/qr/transaction/status",
        }
    }

    /// True where its request carries a number that the payment is known by.
    pub(crate) fn names_the_payment(self) -> bool {
        !matches!(self, Self::PayForm | Self::QrDynamic | Self::QrDynamicData)
    }

    pub(crate) fn of_path(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|endpoint| endpoint.path() == path)
    }
}

impl fmt::Display for EndpointName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
