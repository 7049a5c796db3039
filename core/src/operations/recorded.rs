//! Parsing of recorded requests: the endpoint, and the payment. The inverse of each operation's wire form (`docs/interface.md#endpoints`).

use rust_decimal::Decimal;
use url::form_urlencoded;

use super::{
    card_payment, dialect::ENDPOINTS, mbank_confirm, mbank_payment, megapay, pay_form, qr_data, qr_image,
    status_queries::QR_STATUS,
};
use crate::{
    config::endpoint::Endpoint,
    error::PaymentError,
    json::Document,
    money::read_amount,
    payment_ref::{PaymentKind, PaymentRef, report::Provider},
    rule::Rule,
};

/// The content of a recorded request.
#[derive(Clone, Debug)]
pub(crate) struct RecordedRequest {
    pub(crate) endpoint: &'static Endpoint,
    /// The number that identifies its payment: an order number, or the transaction id of a QR payment.
    pub(crate) number: Option<String>,
    /// The payment that it creates; for a confirmation, the payment without its amount.
    pub(crate) payment: Option<PaymentRef>,
}

impl RecordedRequest {
    /// Reads a request. The base address of the gateway may have a path, so only the end of the path counts. The method is ignored: a
    /// merchant's own program may have used another one.
    pub(crate) fn read(target: &str, body: &str) -> Result<Self, PaymentError> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let is_at = |known: &&&'static Endpoint| path.strip_suffix(known.path).is_some_and(|base| base.ends_with('/'));
        let Some(endpoint) = ENDPOINTS.iter().find(is_at).copied() else {
            return Err(PaymentError::invalid(
                "target",
                Rule::OneOf,
                None,
                "is the path of no endpoint of the gateway",
            ));
        };
        let fields = Fields { query, body: Document::parse(body).ok() };
        let payment = fields.payment(endpoint)?;
        let number = fields.text(if *endpoint.name == *QR_STATUS.name { "transaction_id" } else { "orderNumber" });
        Ok(Self { endpoint, number, payment })
    }

    /// A request of which only the endpoint and the payment are known.
    pub(crate) fn about(endpoint: &str, payment: PaymentRef) -> Result<Self, PaymentError> {
        let Some(endpoint) = ENDPOINTS.iter().copied().find(|known| known.name == endpoint) else {
            return Err(PaymentError::invalid("endpoint", Rule::OneOf, None, "is not an endpoint of the gateway"));
        };
        let is_qr = payment.kind == PaymentKind::Qr;
        let number = if is_qr { payment.transaction_id.clone() } else { payment.order_number.clone() };
        Ok(Self { endpoint, number, payment: Some(payment) })
    }
}

struct Fields<'a> {
    query: &'a str,
    body: Option<Document<'a>>,
}

impl Fields<'_> {
    /// A field of the JSON body, or of the query.
    fn text(&self, name: &str) -> Option<String> {
        let in_body = || Some(self.body.as_ref()?.root().at(&format!("/{name}"))?.text()?.into_owned());
        let in_query = || {
            let mut pairs = form_urlencoded::parse(self.query.as_bytes());
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        in_body().or_else(in_query).filter(|text| !text.trim().is_empty())
    }

    fn needed(&self, name: &str) -> Result<String, PaymentError> {
        let missing =
            || PaymentError::invalid(name, Rule::Required, None, "is not in the recorded request, or cannot be read");
        self.text(name).ok_or_else(missing)
    }

    fn amount(&self) -> Result<Decimal, PaymentError> {
        let unreadable =
            || PaymentError::invalid("amount", Rule::Format, None, "of the recorded request cannot be read");
        read_amount(&self.needed("amount")?).ok_or_else(unreadable)
    }

    /// A whole number of som or tyiyn.
    fn whole(&self, name: &str) -> Result<i64, PaymentError> {
        let unreadable =
            |_| PaymentError::invalid(name, Rule::Format, None, "of the recorded request is not a whole number");
        self.needed(name)?.parse().map_err(unreadable)
    }

    fn payment(&self, endpoint: &'static Endpoint) -> Result<Option<PaymentRef>, PaymentError> {
        let is = |known: &Endpoint| endpoint.name == known.name;
        Ok(Some(if is(&card_payment::ENDPOINT) {
            PaymentRef::card(self.needed("orderNumber")?, self.amount()?, self.needed("currency")?)
        } else if is(&mbank_payment::ENDPOINT) {
            PaymentRef::mbank(self.needed("orderNumber")?, self.whole("amount")?)
        } else if is(&mbank_confirm::ENDPOINT) {
            let (order_number, provider) = (Some(self.needed("orderNumber")?), Some(Provider::MBank));
            PaymentRef { order_number, provider, ..PaymentRef::bare(PaymentKind::Mbank) }
        } else if is(&megapay::CHECK) || is(&megapay::PAY) {
            PaymentRef::megapay(self.needed("orderNumber")?, self.amount()?)
        } else if is(&pay_form::ENDPOINT) {
            PaymentRef::pay_form(self.amount()?)
        } else if is(&qr_image::ENDPOINT) || is(&qr_data::ENDPOINT) {
            // A code of an open amount has no sum.
            PaymentRef::qr(self.text("sum").map(|_| self.whole("sum")).transpose()?)
        } else {
            return Ok(None);
        }))
    }
}
