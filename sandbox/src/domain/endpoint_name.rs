//! The endpoints by name.

use std::fmt;

use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::domain::all;

/// One of the endpoints. Its name is its path without the prefix `/api/v1.1.0/` or `/gen/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumCount, IntoStaticStr, VariantArray)]
pub enum EndpointName {
    /// `payment`: POST /api/v1.1.0/payment.
    #[strum(serialize = "/api/v1.1.0/payment")]
    Payment,
    /// `status`: GET /api/v1.1.0/status.
    #[strum(serialize = "/api/v1.1.0/status")]
    Status,
    /// `mbank/pay`: POST /api/v1.1.0/mbank/pay.
    #[strum(serialize = "/api/v1.1.0/mbank/pay")]
    MbankPay,
    /// `mbank/confirm`: POST /api/v1.1.0/mbank/confirm.
    #[strum(serialize = "/api/v1.1.0/mbank/confirm")]
    MbankConfirm,
    /// `pay-form`: POST /api/v1.1.0/pay-form.
    #[strum(serialize = "/api/v1.1.0/pay-form")]
    PayForm,
    /// `get-status`: POST /api/v1.1.0/get-status.
    #[strum(serialize = "/api/v1.1.0/get-status")]
    GetStatus,
    /// `qr/dynamic`: POST /gen/qr/dynamic.
    #[strum(serialize = "/gen/qr/dynamic")]
    QrDynamic,
    /// `qr/dynamic/data`: POST /gen/qr/dynamic/data.
    #[strum(serialize = "/gen/qr/dynamic/data")]
    QrDynamicData,
    /// `qr/transaction/status`: GET /gen/qr/transaction/status.
    #[strum(serialize = "/gen/qr/transaction/status")]
    QrTransactionStatus,
    /// `mega/check`: POST or GET /api/v1.1.0/mega/check.
    #[strum(serialize = "/api/v1.1.0/mega/check")]
    MegaCheck,
    /// `mega/pay`: POST /api/v1.1.0/mega/pay.
    #[strum(serialize = "/api/v1.1.0/mega/pay")]
    MegaPay,
}

impl EndpointName {
    /// All endpoints.
    pub const ALL: [Self; Self::COUNT] = all();

    /// The name.
    pub fn as_str(self) -> &'static str {
        let path = self.path();
        path.strip_prefix("/api/v1.1.0/").or(path.strip_prefix("/gen/")).unwrap_or(path)
    }

    /// The path under the base URL.
    pub fn path(self) -> &'static str {
        self.into()
    }

    /// Whether its request has a number of the payment.
    pub(crate) fn names_the_payment(self) -> bool {
        !matches!(self, Self::PayForm | Self::QrDynamic | Self::QrDynamicData)
    }

    /// Whether its request has the payer's one-time password or PIN.
    pub(crate) fn takes_password(self) -> bool {
        matches!(self, Self::MbankConfirm | Self::MegaPay)
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
