//! The nine endpoints of the gateway.

use http::Method;

/// Where a request goes. The order is that of the interface's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Endpoint {
    CardPayment,
    PaymentStatus,
    MbankPayment,
    MbankConfirm,
    PayForm,
    ProviderStatus,
    QrImage,
    QrData,
    QrStatus,
}

impl Endpoint {
    pub(crate) const ALL: [Self; 9] = [
        Self::CardPayment,
        Self::PaymentStatus,
        Self::MbankPayment,
        Self::MbankConfirm,
        Self::PayForm,
        Self::ProviderStatus,
        Self::QrImage,
        Self::QrData,
        Self::QrStatus,
    ];

    /// The name in a dialect, in logs and in errors.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::CardPayment => "card_payment",
            Self::PaymentStatus => "payment_status",
            Self::MbankPayment => "mbank_payment",
            Self::MbankConfirm => "mbank_confirm",
            Self::PayForm => "pay_form",
            Self::ProviderStatus => "provider_status",
            Self::QrImage => "qr_image",
            Self::QrData => "qr_data",
            Self::QrStatus => "qr_status",
        }
    }

    pub(crate) fn method(self) -> Method {
        match self {
            Self::PaymentStatus | Self::QrStatus => Method::GET,
            _ => Method::POST,
        }
    }

    /// Relative to the base address.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::CardPayment => "api/v1.1.0/payment",
            Self::PaymentStatus => "api/v1.1.0/status",
            Self::MbankPayment => "api/v1.1.0/mbank/pay",
            Self::MbankConfirm => "api/v1.1.0/mbank/confirm",
            Self::PayForm => "api/v1.1.0/pay-form",
            Self::ProviderStatus => "api/v1.1.0/get-status",
            Self::QrImage => "gen/qr/dynamic",
            Self::QrData => "gen/qr/dynamic/data",
            Self::QrStatus => "gen/qr/transaction/status",
        }
    }
}
