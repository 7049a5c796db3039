//! Request for a dynamic QR code, the same for image and data.

use rust_decimal::Decimal;
use serde::Serialize;

use crate::{
    config::dialect::{Dialect, QrAmountUnit},
    currency::KGS,
    error::PaymentError,
    money::tyiyn_to_som,
    operations::RequestParts,
    payment_ref::PaymentRef,
    response::reader::Sent,
    validation::Checks,
    violation::Rule,
};

/// A request for a dynamic QR code.
///
/// The picture's answer carries no identifier. To know which order a QR payment belongs to, **put a reference of your
/// own into the query of `callback_url`**, store [`payment_ref`](Self::payment_ref) under it and verify the callback with
/// that; or request the data instead ([`create_qr_data`](crate::Gateway::create_qr_data)) and draw it with
/// [`QrCode`](crate::QrCode).
///
/// ```
/// use kassa::QrPayment;
///
/// let payment = QrPayment::new(39_000).with_callback_url("https://shop.example.kg/callbacks?ref=cart-17");
/// assert_eq!(payment.sum_tyiyn, Some(39_000));
/// assert_eq!(QrPayment::of_open_amount().sum_tyiyn, None);
/// ```
///
/// Source: the dynamic QR request (`docs/interface.md#dynamic-qr-request`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QrPayment {
    /// The amount in **whole tyiyn**, above zero; [`som_to_tyiyn`](crate::som_to_tyiyn) converts. The picture needs it,
    /// the data does not.
    pub sum_tyiyn: Option<i64>,
    /// The payee: a phone number, or the name of the enterprise or branch.
    pub requisite: Option<String>,
    /// Where the gateway sends its callbacks (webhooks): an absolute http or https URL.
    pub callback_url: Option<String>,
    /// The name of its entry in the gateway's [`Journal`](crate::Journal), one of its own for each code; one is made
    /// unless it is given or the gateway returns a transaction. The gateway never sees it.
    #[cfg_attr(feature = "uniffi", uniffi(default = None))]
    pub entry_id: Option<String>,
}

#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requisite: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callback_url: Option<&'a str>,
}

impl QrPayment {
    /// A request for a code of an amount in **whole tyiyn**; [`som_to_tyiyn`](crate::som_to_tyiyn) converts.
    pub fn new(sum_tyiyn: i64) -> Self {
        Self { sum_tyiyn: Some(sum_tyiyn), requisite: None, callback_url: None, entry_id: None }
    }

    /// A request for a code without an amount, which the payer enters. Only as data: the picture needs an amount.
    pub fn of_open_amount() -> Self {
        Self { sum_tyiyn: None, requisite: None, callback_url: None, entry_id: None }
    }

    /// The same with the payee: a phone number, or the name of the enterprise or branch.
    #[must_use]
    pub fn with_requisite(self, requisite: impl Into<String>) -> Self {
        Self { requisite: Some(requisite.into()), ..self }
    }

    /// The same with where the gateway sends its callbacks (webhooks).
    #[must_use]
    pub fn with_callback_url(self, callback_url: impl Into<String>) -> Self {
        Self { callback_url: Some(callback_url.into()), ..self }
    }

    /// The same with a name for its entry in the gateway's journal, as
    /// [`PayForm::with_entry_id`](crate::PayForm::with_entry_id).
    #[must_use]
    pub fn with_entry_id(self, entry_id: impl Into<String>) -> Self {
        Self { entry_id: Some(entry_id.into()), ..self }
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl QrPayment {
    /// What to store before sending: the requested amount. Only the response to
    /// [`create_qr_data`](crate::Gateway::create_qr_data) adds the transaction to query with.
    pub fn payment_ref(&self) -> PaymentRef {
        PaymentRef { entry_id: self.entry_id.clone(), ..PaymentRef::qr(self.sum_tyiyn) }
    }
}

impl QrPayment {
    pub(super) fn check(&self, checks: &mut Checks, sum_is_required: bool) {
        match self.sum_tyiyn {
            Some(sum) => checks.minimum("sum", sum.into(), Decimal::ONE),
            None if sum_is_required => checks.break_rule("sum", Rule::Required, None),
            None => {}
        }
        if let Some(callback_url) = &self.callback_url {
            checks.http_url("callback_url", callback_url);
        }
        checks.entry_id(self.entry_id.as_deref());
    }

    /// The unit of amounts in QR responses is not shown, so both count unless the dialect names it.
    pub(super) fn sent(&self, dialect: &Dialect) -> Sent<'_> {
        let amounts = self.sum_tyiyn.map(|sum| match dialect.qr_amount_unit() {
            Some(QrAmountUnit::Som) => vec![tyiyn_to_som(sum)],
            Some(QrAmountUnit::Tyiyn) => vec![sum.into()],
            None => vec![sum.into(), tyiyn_to_som(sum)],
        });
        Sent { amounts: amounts.unwrap_or_default(), currency: Some(KGS), ..Sent::default() }
    }

    pub(super) fn parts(&self) -> Result<RequestParts, PaymentError> {
        RequestParts::json(&Body {
            sum: self.sum_tyiyn,
            requisite: self.requisite.as_deref(),
            callback_url: self.callback_url.as_deref(),
        })
    }
}
