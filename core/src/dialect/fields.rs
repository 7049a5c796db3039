//! What is looked for in a reply, and where.

use crate::endpoint::Endpoint;

/// A thing that is looked for in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
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

impl Field {
    pub(crate) const ALL: [Self; 12] = [
        Self::Code,
        Self::Reason,
        Self::Status,
        Self::OrderNumber,
        Self::Amount,
        Self::Currency,
        Self::GatewayNumber,
        Self::ConfirmationUrl,
        Self::PayFormUrl,
        Self::Image,
        Self::QrPayload,
        Self::TransactionId,
    ];

    /// The name in the JSON form of a dialect.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Reason => "reason",
            Self::Status => "status",
            Self::OrderNumber => "order_number",
            Self::Amount => "amount",
            Self::Currency => "currency",
            Self::GatewayNumber => "gateway_number",
            Self::ConfirmationUrl => "confirmation_url",
            Self::PayFormUrl => "pay_form_url",
            Self::Image => "image",
            Self::QrPayload => "qr_payload",
            Self::TransactionId => "transaction_id",
        }
    }

    /// What the envelope that the interface shows suggests.
    fn shown_pointers(self) -> &'static [&'static str] {
        match self {
            Self::Code => &["/code"],
            Self::Reason => &["/message"],
            Self::Status => &["/data/status"],
            Self::OrderNumber => &["/data/orderNumber"],
            Self::Amount => &["/data/amount"],
            Self::Currency => &["/data/currency"],
            // Not shown at all: the token of the ConfirmationUrl is the gateway's number, unless a dialect knows better.
            Self::GatewayNumber => &[],
            Self::ConfirmationUrl => &["/data/ConfirmationUrl"],
            Self::PayFormUrl => &["/payFormUrl", "/data/payFormUrl"],
            Self::Image => &["", "/data", "/data/image", "/data/qr", "/image", "/qr"],
            Self::QrPayload => &["/data/qr_data", "/data/qrData", "/data/payload", "/data/qr"],
            Self::TransactionId => &["/data/transaction_id", "/data/transactionId"],
        }
    }
}

impl Endpoint {
    /// The fields that mean something in the endpoint's reply.
    pub(crate) fn fields(self) -> &'static [Field] {
        use Field::{
            Amount, Code, ConfirmationUrl, Currency, GatewayNumber, Image, OrderNumber, PayFormUrl, QrPayload, Reason,
            Status, TransactionId,
        };
        match self {
            Self::CardPayment => &[Code, Reason, Status, Amount, Currency, GatewayNumber, ConfirmationUrl],
            Self::MbankPayment => &[Code, Reason, Status, GatewayNumber],
            Self::MbankConfirm => &[Code, Reason, Status, GatewayNumber],
            Self::PayForm => &[Code, Reason, PayFormUrl],
            Self::QrImage => &[Code, Reason, Image],
            Self::QrData => &[Code, Reason, QrPayload, TransactionId],
            Self::PaymentStatus | Self::ProviderStatus | Self::QrStatus => {
                &[Code, Reason, Status, OrderNumber, Amount, Currency]
            }
        }
    }
}

/// How one endpoint's replies are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndpointDialect {
    pointers: [Vec<String>; Field::ALL.len()],
    pub(crate) success_codes: Vec<String>,
    pub(crate) refusal_codes: Vec<String>,
}

impl EndpointDialect {
    pub(super) fn shown_envelope(endpoint: Endpoint) -> Self {
        let pointers = Field::ALL.map(|field| {
            let used = endpoint.fields().contains(&field);
            let shown = if used { field.shown_pointers() } else { &[] };
            shown.iter().map(|pointer| (*pointer).to_owned()).collect()
        });
        let success_codes = if endpoint == Endpoint::CardPayment { vec!["110".to_owned()] } else { Vec::new() };
        Self { pointers, success_codes, refusal_codes: Vec::new() }
    }

    pub(crate) fn pointers(&self, field: Field) -> &[String] {
        &self.pointers[field as usize]
    }

    pub(super) fn set_pointers(&mut self, field: Field, pointers: Vec<String>) {
        self.pointers[field as usize] = pointers;
    }

    pub(crate) fn is_refusal(&self, code: &str) -> bool {
        self.refusal_codes.iter().any(|refusal| refusal == code)
    }

    /// An empty list of success codes means that any code will do that is not a refusal.
    pub(crate) fn is_success(&self, code: Option<&str>) -> bool {
        match code {
            Some(code) => {
                let listed = self.success_codes.is_empty() || self.success_codes.iter().any(|success| success == code);
                listed && !self.is_refusal(code)
            }
            None => self.success_codes.is_empty(),
        }
    }
}
