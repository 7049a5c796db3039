//! Shows which values a dialect reads in a response, field by field, for authors of dialects.
//!
//! The operations themselves read the response, so that the result is what a call would read.

use std::{collections::HashSet, iter::once, sync::Arc};

use rust_decimal::Decimal;
use strum::IntoEnumIterator;

use super::{
    Operation,
    card_payment::CardPayment,
    dialect::ENDPOINTS,
    mbank_confirm::MbankConfirm,
    mbank_payment::MbankPayment,
    megapay::{MegapayCheck, MegapayPay, MegapayPayment},
    pay_form::PayForm,
    qr_data::QrDataRequest,
    qr_image::{QrImageRequest, decode},
    qr_payment::QrPayment,
};
use crate::{
    card::Card,
    config::{
        dialect::Dialect,
        endpoint::{CodeList, ELQR, Endpoint, ResponseField},
    },
    elqr::Elqr,
    error::PaymentError,
    json::Json,
    payment_ref::{PaymentKind, PaymentRef, report::PaymentStatus},
    response::{
        Response,
        reader::{NotAnAnswer, ResponseReader},
        redact::{HiddenCredentials, Redactor},
    },
    violation::Rule,
};

/// The limit on the pointers that are listed as unread, in bytes.
const MOST_UNREAD: usize = 64 * 1024;

/// The values that a dialect reads in a response: the result of [`Dialect::explain`].
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialectReading {
    /// The fields that were found, in the order of the endpoint's fields.
    pub fields: Vec<DialectField>,
    /// The list that has the response's code: `success`, `refusal`, `unknown` or `duplicate`. Absent if no list has it, or the response has
    /// no code. A code in no list is a success if the list of success codes is empty.
    pub code_means: Option<String>,
    /// The meaning of a status query's status word: `charged`, `rejected` or `pending`. Absent if the response is not an answer, and for
    /// every other endpoint: only a status query decides a payment.
    pub status_means: Option<String>,
    /// JSON pointers of the strings, numbers and booleans that the dialect does not read. For a very long response only the first ones.
    pub unread: Vec<String>,
    /// Why the response is not an answer: it is not JSON, its code is not known as a success, or a value that the endpoint needs is
    /// missing. Absent if it is one.
    pub problem: Option<String>,
}

/// One thing that a dialect finds in a response, and where.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialectField {
    /// The name of the field in the JSON form of a dialect, such as `status`.
    pub name: String,
    /// Where it was found: a JSON pointer such as `/data/status`, or a tag of the response's QR code such as `elqr:32.11`.
    pub pointer: String,
    /// The value, as in the response. For the gateway's number of a card payment, the number in its confirmation page.
    pub value: String,
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Dialect {
    /// Shows which values this dialect reads in the body of an endpoint's response with a success status (HTTP 2xx). Nothing is sent. Use
    /// it to write a dialect: try it on responses of your gateway until nothing that matters is unread.
    ///
    /// The request is not known, so no secret is masked, and nothing is compared with the request. Pass the `raw` of an
    /// answer or the `body` of an error, in which secrets are masked.
    ///
    /// ```
    /// use kassa::Dialect;
    ///
    /// let response = r#"{"code": "200", "data": {"state": "CHARGE", "amount": 100.10}}"#;
    /// let reading = Dialect::default().explain("provider_status", response)?;
    /// assert_eq!(reading.problem.as_deref(), Some("the response has no status"));
    /// assert_eq!(reading.unread, ["/data/state"]);
    ///
    /// let dialect = Dialect::from_json(r#"{"endpoints": {"provider_status": {"status": ["/data/state"]}}}"#)?;
    /// let reading = dialect.explain("provider_status", response)?;
    /// assert_eq!(reading.status_means.as_deref(), Some("charged"));
    /// assert_eq!(reading.fields[1].pointer, "/data/state");
    /// assert_eq!(reading.problem, None);
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if there is no such endpoint; it names the existing endpoints (`docs/dialect.md`).
    pub fn explain(&self, endpoint: &str, response: &str) -> Result<DialectReading, PaymentError> {
        let Some(endpoint) = ENDPOINTS.iter().copied().find(|known| known.name == endpoint) else {
            let names = ENDPOINTS.iter().map(|known| known.name).collect::<Vec<_>>().join(", ");
            let sentence = format!("must be one of {names}");
            return Err(PaymentError::invalid("endpoint", Rule::OneOf, Some(&names), &sentence));
        };
        let response = Response::of_body(response);
        let redactor = Redactor::new(Arc::new(HiddenCredentials::none()));
        let text = response.text();
        let reader = ResponseReader::new(&response, &text, endpoint, self, &redactor);
        Ok(Explained { endpoint, dialect: self, reader: &reader }.reading())
    }
}

/// The result of reading a response with the endpoint's operation.
#[derive(Default)]
struct Answered {
    /// The reference of the payment, with the numbers from the response.
    payment: Option<PaymentRef>,
    /// The status, if the endpoint is a status query.
    status: Option<PaymentStatus>,
}

fn payment_of<O: Operation>(operation: &O, reader: &ResponseReader<'_>) -> Result<Answered, NotAnAnswer> {
    let mut answer = operation.read(reader)?;
    Ok(Answered { payment: O::payment(&mut answer).cloned(), status: None })
}

/// The requests are never sent: an operation needs one to read a response.
fn answered(endpoint: &Endpoint, reader: &ResponseReader<'_>) -> Result<Answered, NotAnAnswer> {
    match endpoint.name {
        "card_payment" => {
            let card = Card::new("", "", 0, "", "");
            payment_of(&CardPayment::new("", 1.into(), "KGS", card, ""), reader)
        }
        "mbank_payment" => payment_of(&MbankPayment::new("", 1, "", ""), reader),
        "mbank_confirm" => payment_of(&MbankConfirm::new(&PaymentRef::mbank("", 1), ""), reader),
        "megapay_check" => payment_of(&MegapayCheck(MegapayPayment::new("", Decimal::ONE, "", "")), reader),
        "megapay_pay" => payment_of(&MegapayPay::new(MegapayPayment::new("", Decimal::ONE, "", ""), ""), reader),
        "pay_form" => payment_of(&PayForm::new(1.into(), "", ""), reader),
        "qr_image" => payment_of(&QrImageRequest(QrPayment::of_open_amount()), reader),
        "qr_data" => payment_of(&QrDataRequest(request_for_code(reader)), reader),
        // The three status queries.
        _ => Ok(Answered { payment: None, status: Some(reader.status_report()?.report.status) }),
    }
}

/// A request for the amount of the code in the response: values read from a code can depend on it.
fn request_for_code(reader: &ResponseReader<'_>) -> QrPayment {
    let sum_tyiyn = code_in(reader).and_then(|code| code.amount_tyiyn).filter(|sum| *sum > 0);
    QrPayment { sum_tyiyn, ..QrPayment::of_open_amount() }
}

fn code_in(reader: &ResponseReader<'_>) -> Option<Elqr> {
    reader.find(ResponseField::QrPayload).and_then(|text| Elqr::parse(&text).ok())
}

/// One response that is explained.
struct Explained<'a> {
    endpoint: &'static Endpoint,
    dialect: &'a Dialect,
    reader: &'a ResponseReader<'a>,
}

impl<'a> Explained<'a> {
    fn reading(&self) -> DialectReading {
        let (answered, problem) = match answered(self.endpoint, self.reader) {
            Ok(answered) => (answered, None),
            Err(problem) => (Answered::default(), Some(problem.detail)),
        };
        let listed = CodeList::iter().find(|list| self.reader.is_listed(*list));
        let status_means = answered.status.as_ref().map(|status| match status {
            PaymentStatus::Charged => "charged",
            PaymentStatus::Rejected => "rejected",
            _ => "pending",
        });
        DialectReading {
            fields: self.fields(answered.payment.as_ref()),
            code_means: listed.map(|list| list.name().trim_end_matches("_codes").to_owned()),
            status_means: status_means.map(str::to_owned),
            unread: self.unread(),
            problem,
        }
    }

    fn fields(&self, payment: Option<&PaymentRef>) -> Vec<DialectField> {
        let found = self.endpoint.response_fields.iter().filter_map(|field| {
            let (pointer, value) = self.found(*field, payment)?;
            Some(DialectField { name: field.name().to_owned(), pointer: pointer.to_owned(), value })
        });
        let is_read = payment.is_none_or(|payment| payment.confirm_identifier.is_some());
        let identifier = self.reader.found_at(self.identifier_pointers()).next().filter(|_| is_read);
        let identifier = identifier.map(|(pointer, value)| DialectField {
            name: "mbank_identifier".to_owned(),
            pointer: pointer.to_owned(),
            value: value.into_owned(),
        });
        found.chain(identifier).collect()
    }

    /// Where a field was found, and its value.
    fn found(&self, field: ResponseField, payment: Option<&PaymentRef>) -> Option<(&'a str, String)> {
        let mut found = self.reader.found_at(self.pointers(field)).map(|(pointer, text)| (pointer, text.into_owned()));
        match (field, payment) {
            // A value that is not an amount is not reported as one.
            (ResponseField::Amount, _) => found.next().filter(|_| self.reader.amount().is_some()),
            (ResponseField::Image, _) => {
                found.find(|(_, text)| decode(text).is_some()).or_else(|| self.whole_picture())
            }
            (ResponseField::GatewayNumber, Some(payment)) => {
                let number = payment.gateway_number.clone()?;
                // If no pointer finds it, it was in the URL of the confirmation page.
                found.find(|(_, text)| *text == number).or_else(|| {
                    let page = self.reader.found_at(self.pointers(ResponseField::ConfirmationUrl)).next();
                    page.map(|(pointer, _)| (pointer, number))
                })
            }
            // The number of a wallet's operation is not a number of its payment.
            (ResponseField::TransactionId, Some(payment)) if payment.kind == PaymentKind::Qr => {
                let id = payment.transaction_id.clone()?;
                let code = code_in(self.reader);
                let pointer = self.pointers(field).find(|place| match place.strip_prefix(ELQR) {
                    Some(tag) => code.as_ref().and_then(|code| code.field(tag)) == Some(id.as_str()),
                    None => self.reader.found_at(once(*place)).any(|(_, text)| text == id),
                })?;
                Some((pointer, id))
            }
            _ => found.next(),
        }
    }

    /// A body that is a picture in base64 and not JSON.
    fn whole_picture(&self) -> Option<(&'a str, String)> {
        let body = str::from_utf8(self.reader.bytes().ok()?).ok()?;
        let is_picture = self.reader.document().is_err() && decode(body).is_some();
        is_picture.then(|| ("", body.trim().to_owned()))
    }

    fn pointers(&self, field: ResponseField) -> impl Iterator<Item = &'a str> + use<'a> {
        self.dialect.endpoint(self.endpoint).pointers(field)
    }

    /// The pointers to the identifier that a confirmation carries.
    fn identifier_pointers(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let named = self.dialect.mbank_identifier().filter(|_| self.endpoint.name == "mbank_payment");
        named.into_iter().flat_map(|identifier| &identifier.pointers).map(String::as_str)
    }

    fn unread(&self) -> Vec<String> {
        let Ok(document) = self.reader.document() else { return Vec::new() };
        let is_read = |field: &&ResponseField| **field != ResponseField::Amount || self.reader.amount().is_some();
        let fields = self.endpoint.response_fields.iter().filter(is_read);
        let pointers = fields.flat_map(|field| self.pointers(*field)).chain(self.identifier_pointers());
        let read = pointers.filter_map(|pointer| self.reader.at(pointer)).map(Json::place).collect();
        let mut unread = Unread { read, pointer: String::new(), room: MOST_UNREAD, found: Vec::new() };
        unread.visit(document);
        unread.found
    }
}

/// Collects the values that the dialect does not read.
struct Unread {
    /// The places that the dialect reads.
    read: HashSet<usize>,
    /// The pointer of the visited value.
    pointer: String,
    room: usize,
    found: Vec<String>,
}

impl Unread {
    fn visit(&mut self, value: Json<'_>) {
        if let Some(items) = value.items() {
            for (index, item) in items.enumerate() {
                self.visit_inside(&index.to_string(), item);
            }
        } else if value.is_object() {
            for (name, member) in value.members() {
                self.visit_inside(&name.replace('~', "~0").replace('/', "~1"), member);
            }
        } else if !value.is_null() && !value.is_blank() && !self.read.contains(&value.place()) {
            self.add();
        }
    }

    fn visit_inside(&mut self, name: &str, value: Json<'_>) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(name);
        self.visit(value);
        self.pointer.truncate(length);
    }

    fn add(&mut self) {
        if let Some(room) = self.room.checked_sub(self.pointer.len() + 1) {
            self.room = room;
            self.found.push(self.pointer.clone());
        }
    }
}

#[cfg(test)]
mod tests;
