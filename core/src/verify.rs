//! Asks the gateway whether a callback is true.

use rust_decimal::Decimal;

use crate::{
    callback::Callback,
    dialect::{Dialect, QrAmountUnit},
    engine::Engine,
    error::PaymentError,
    flows::{provider_status::ProviderStatusQuery, qr_status::QrStatusQuery},
    money::TYIYN_IN_A_SOM,
    provider::Provider,
    status::{PaymentStatus, StatusReport},
};

/// What a merchant knows of an order, to be compared with a callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedPayment {
    /// The order number that the payment was made with; `None` for a pay-form, whose number the gateway makes.
    pub order_number: Option<String>,
    /// The amount in units of the currency (for KGS: som).
    pub amount: Decimal,
    /// The currency's three letters.
    pub currency: String,
}

/// What the gateway says about a callback.
///
/// Only [`Confirmed`](Self::Confirmed) with a report that says charged is a reason to ship: see
/// [`is_charged`](Self::is_charged).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallbackVerdict {
    /// The payment is final, and nothing in the callback contradicts the gateway. **Act on the report's status.** A callback
    /// that tells of an earlier, open status is confirmed too: it was overtaken.
    Confirmed {
        /// The gateway's own report.
        report: StatusReport,
    },
    /// The gateway says that the payment is still open. Watch it.
    Pending {
        /// The gateway's own report.
        report: StatusReport,
    },
    /// The callback says something else than the gateway, or than the merchant expects. Do not act on it.
    Contradicted {
        /// The fields that differ, as the interface spells them.
        fields: Vec<String>,
        /// The gateway's own report, where it was asked.
        report: Option<StatusReport>,
    },
    /// There is nothing to ask the gateway with: a QR callback without a transaction id, or a provider that is not known.
    Unverifiable,
}

impl CallbackVerdict {
    /// True where the gateway itself says that the money was taken, and nothing contradicts it.
    pub fn is_charged(&self) -> bool {
        matches!(self, Self::Confirmed { report } if report.status == PaymentStatus::Charged)
    }
}

pub(crate) async fn verify(
    engine: &Engine,
    callback: &Callback,
    expected: Option<&ExpectedPayment>,
) -> Result<CallbackVerdict, PaymentError> {
    // The words are the dialect's here; a callback is parsed before there is one.
    let claimed = claimed_status(engine.dialect(), callback);
    let fields = differs_from_expected(engine.dialect(), callback, expected);
    if !fields.is_empty() {
        return Ok(CallbackVerdict::Contradicted { fields, report: None });
    }
    let Some(report) = ask(engine, callback).await? else { return Ok(CallbackVerdict::Unverifiable) };
    let fields = differs_from_report(engine.dialect(), callback, &claimed, &report);
    if !fields.is_empty() {
        return Ok(CallbackVerdict::Contradicted { fields, report: Some(report) });
    }
    Ok(if report.status.is_final() {
        CallbackVerdict::Confirmed { report }
    } else {
        CallbackVerdict::Pending { report }
    })
}

fn claimed_status(dialect: &Dialect, callback: &Callback) -> PaymentStatus {
    let word = callback.find(&["/status".to_owned()]).unwrap_or_default();
    dialect.status(&word)
}

async fn ask(engine: &Engine, callback: &Callback) -> Result<Option<StatusReport>, PaymentError> {
    let report = if callback.is_qr() {
        let Some(id) = callback.find(engine.dialect().callback_transaction_id()) else { return Ok(None) };
        engine.perform(QrStatusQuery::new(&id)).await?
    } else if matches!(callback.provider, Provider::Other(_)) {
        return Ok(None);
    } else {
        engine.perform(ProviderStatusQuery::new(&callback.order_number, callback.provider.clone())).await?
    };
    Ok(Some(report))
}

fn differs_from_expected(dialect: &Dialect, callback: &Callback, expected: Option<&ExpectedPayment>) -> Vec<String> {
    let Some(expected) = expected else { return Vec::new() };
    let mut fields = Vec::new();
    // The order number in a QR callback is the gateway's own: the request has none.
    let order_differs = expected.order_number.as_ref().is_some_and(|number| *number != callback.order_number);
    note(&mut fields, "orderNumber", order_differs && !callback.is_qr());
    note(&mut fields, "amount", in_som(dialect, callback).is_some_and(|amount| amount != expected.amount));
    note(&mut fields, "currency", differ(callback.currency.as_deref(), Some(expected.currency.as_str())));
    fields
}

fn differs_from_report(
    dialect: &Dialect,
    callback: &Callback,
    claimed: &PaymentStatus,
    report: &StatusReport,
) -> Vec<String> {
    let mut fields = Vec::new();
    // A gateway that answers with a number of its own needs a dialect without this pointer; an answer about another order
    // must never confirm this one.
    let order_differs = report.order_number.as_ref().is_some_and(|number| *number != callback.order_number);
    note(&mut fields, "orderNumber", order_differs && !callback.is_qr());
    let comparable = !callback.is_qr() || dialect.qr_amount_unit().is_some();
    note(&mut fields, "amount", comparable && report.amount.is_some_and(|amount| amount != callback.amount));
    note(&mut fields, "currency", differ(callback.currency.as_deref(), report.currency.as_deref()));
    let both_final = claimed.is_final() && report.status.is_final();
    note(&mut fields, "status", both_final && *claimed != report.status);
    fields
}

/// `None` where the unit of a QR amount is not known, so that som are never compared with tyiyn.
fn in_som(dialect: &Dialect, callback: &Callback) -> Option<Decimal> {
    if !callback.is_qr() {
        return Some(callback.amount);
    }
    match dialect.qr_amount_unit()? {
        QrAmountUnit::Som => Some(callback.amount),
        QrAmountUnit::Tyiyn => callback.amount.checked_div(TYIYN_IN_A_SOM),
    }
}

/// An absent field contradicts nothing.
fn differ(one: Option<&str>, other: Option<&str>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if !one.eq_ignore_ascii_case(other))
}

fn note(fields: &mut Vec<String>, field: &str, differs: bool) {
    if differs {
        fields.push(field.to_owned());
    }
}
