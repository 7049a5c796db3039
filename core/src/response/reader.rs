//! Parsing of responses: finds fields by a dialect's JSON pointers, and masks text for the caller.

use std::{borrow::Cow, time::Duration};

use rust_decimal::Decimal;
use url::Url;

use crate::{
    config::{
        dialect::Dialect,
        endpoint::{CodeList, Endpoint, EndpointDialect, ResponseField},
    },
    currency::same_currency,
    json::{Document, Json},
    money::read_amount,
    payment_ref::report::{PaymentStatus, StatusReport},
    response::{
        Response,
        redact::{Redactor, TextKind},
    },
};

/// Why a response with a success status is not an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotAnAnswer {
    pub(crate) detail: String,
}

impl NotAnAnswer {
    pub(crate) fn because(detail: impl Into<String>) -> Self {
        Self { detail: detail.into() }
    }
}

/// A status report, with facts that only the original response has.
pub(crate) struct ParsedStatus {
    pub(crate) report: StatusReport,
    /// True if the response has an amount that could not be read exactly.
    pub(crate) has_unreadable_amount: bool,
    /// Whether a number in it must be one of the payment's; otherwise the report is about another payment.
    pub(crate) compares_numbers: bool,
}

/// The values of a request that reveal a response to another request, such as from a cache or a mixed-up connection.
#[derive(Default, PartialEq)]
pub(crate) struct Sent<'a> {
    /// The numbers that the payment may have; empty if the request had no number.
    pub(crate) order_numbers: Vec<Cow<'a, str>>,
    /// The amount, in each unit in which the response may have it; empty if the request had none.
    pub(crate) amounts: Vec<Decimal>,
    pub(crate) currency: Option<&'a str>,
}

/// Reads one response. Typed values are read from the raw response; text for the caller is masked.
pub(crate) struct ResponseReader<'a> {
    response: &'a Response,
    text: &'a str,
    document: Result<Document<'a>, String>,
    endpoint: EndpointDialect<'a>,
    dialect: &'a Dialect,
    redactor: &'a Redactor,
    /// Nothing in it is a secret, so nothing is masked.
    has_no_secret: bool,
}

impl<'a> ResponseReader<'a> {
    pub(crate) fn new(
        response: &'a Response,
        text: &'a Cow<'a, str>,
        endpoint: &'static Endpoint,
        dialect: &'a Dialect,
        redactor: &'a Redactor,
    ) -> Self {
        let document = if response.over_limit {
            Err("the response is longer than 1 MiB".to_owned())
        } else {
            let is_utf_8 = matches!(text, Cow::Borrowed(_));
            let document = if is_utf_8 { Document::parse(text) } else { Err("the response is not UTF-8".to_owned()) };
            document.map_err(|problem| compressed(response).unwrap_or_else(|| why_not_json(text, problem)))
        };
        let has_no_secret = redactor.finds_nothing_in(text);
        Self { response, text, document, endpoint: dialect.endpoint(endpoint), dialect, redactor, has_no_secret }
    }

    pub(crate) fn dialect(&self) -> &Dialect {
        self.dialect
    }

    /// The bytes of a response that is not JSON, if they are complete.
    pub(crate) fn bytes(&self) -> Result<&[u8], NotAnAnswer> {
        if self.response.over_limit {
            return Err(NotAnAnswer::because("the response is longer than 1 MiB"));
        }
        Ok(self.response.body.as_ref())
    }

    /// The error for a compressed body, which cannot be read.
    pub(crate) fn compressed(&self) -> Option<NotAnAnswer> {
        self.document.as_ref().err().and_then(|_| compressed(self.response)).map(|why| unreadable(&why))
    }

    /// The whole body, masked.
    pub(crate) fn raw(&self) -> String {
        if self.has_no_secret {
            return self.text.to_owned();
        }
        let is_object_or_array = |document: &Document<'_>| document.root().source().starts_with(['{', '[']);
        if self.document.as_ref().is_ok_and(is_object_or_array) {
            self.redactor.json_body(self.text)
        } else {
            self.redactor.body(self.text)
        }
    }

    /// The code, for the caller: a card number in it is masked, but three digits that happen to equal the CVC are kept.
    pub(crate) fn code(&self) -> Option<String> {
        let code = self.find(ResponseField::Code)?;
        Some(if self.has_no_secret { code.into_owned() } else { self.redactor.code(&code).into_owned() })
    }

    /// The gateway's message, masked.
    pub(crate) fn reason(&self) -> Option<String> {
        self.shown(ResponseField::Reason)
    }

    /// A text to show, masked. A currency is a code, too: the number 417 of the som is not a CVC.
    pub(crate) fn shown(&self, field: ResponseField) -> Option<String> {
        let text = self.find(field)?;
        if self.has_no_secret {
            return Some(text.into_owned());
        }
        let is_code = field == ResponseField::Currency && text.len() == 3;
        let shown = if is_code { self.redactor.code(&text) } else { self.redactor.text(&text) };
        Some(shown.into_owned())
    }

    /// An identifier to send again or store. Masking would change it, so an identifier that contains a secret counts as
    /// absent.
    pub(crate) fn identifier(&self, field: ResponseField) -> Option<String> {
        self.identifier_at(self.endpoint.pointers(field))
    }

    pub(crate) fn identifier_at<'p>(&self, pointers: impl Iterator<Item = &'p str>) -> Option<String> {
        self.find_at(pointers).find(|text| self.is_clean(text)).map(Cow::into_owned)
    }

    /// An identifier that is sent again in its original JSON type: a quoted string, or a number.
    pub(crate) fn json_identifier_at<'p>(&self, mut pointers: impl Iterator<Item = &'p str>) -> Option<String> {
        pointers.find_map(|pointer| {
            let value = self.at(pointer)?;
            let text = value.text().filter(|text| !text.trim().is_empty() && self.is_clean(text))?;
            let is_text = value.source().starts_with('"');
            Some(if is_text { serde_json::Value::from(text).to_string() } else { text.into_owned() })
        })
    }

    pub(crate) fn is_clean(&self, text: &str) -> bool {
        self.has_no_secret || self.redactor.is_clean(text)
    }

    /// Whether a list of the dialect names the response's code.
    pub(crate) fn is_listed(&self, list: CodeList) -> bool {
        self.find(ResponseField::Code).is_some_and(|code| self.endpoint.lists(list, &code))
    }

    /// True if a URL contains no secret, and may be opened.
    pub(crate) fn is_clean_page(&self, page: &Url) -> bool {
        self.redactor.is_clean_page(page)
    }

    /// True if the body is the gateway's envelope, an object with a code, and not the error page of a proxy or web
    /// server in front of it. A message alone proves nothing: many web servers send one.
    pub(crate) fn has_envelope(&self) -> bool {
        self.object().is_ok() && self.find(ResponseField::Code).is_some()
    }

    /// Checks that the body is a JSON object with a code that the dialect counts as success.
    pub(crate) fn accepted(&self) -> Result<(), NotAnAnswer> {
        self.object()?;
        if self.endpoint.is_success(self.find(ResponseField::Code).as_deref()) {
            return Ok(());
        }
        Err(NotAnAnswer::because(match self.code() {
            Some(code) => format!("the response has code {code}, which is not known as a success"),
            None => "the response has no code".to_owned(),
        }))
    }

    fn object(&self) -> Result<Json<'_>, NotAnAnswer> {
        let document = self.document()?;
        if document.is_object() { Ok(document) } else { Err(NotAnAnswer::because("the response is not a JSON object")) }
    }

    /// Any JSON document, an object or not.
    pub(crate) fn document(&self) -> Result<Json<'_>, NotAnAnswer> {
        self.document.as_ref().map(Document::root).map_err(|problem| unreadable(problem))
    }

    pub(crate) fn at(&self, pointer: &str) -> Option<Json<'_>> {
        self.document.as_ref().ok()?.root().at(pointer)
    }

    /// The first text or number that the pointers of a field find.
    pub(crate) fn find(&self, field: ResponseField) -> Option<Cow<'_, str>> {
        self.find_all(field).next()
    }

    /// The pointers of a field.
    pub(crate) fn pointers(&self, field: ResponseField) -> impl Iterator<Item = &'a str> {
        self.endpoint.pointers(field)
    }

    pub(crate) fn find_all(&self, field: ResponseField) -> impl Iterator<Item = Cow<'_, str>> {
        self.find_at(self.endpoint.pointers(field))
    }

    fn find_at<'p>(&self, pointers: impl Iterator<Item = &'p str>) -> impl Iterator<Item = Cow<'_, str>> {
        self.found_at(pointers).map(|(_, text)| text)
    }

    /// The texts and numbers that pointers find, each with its pointer.
    pub(crate) fn found_at<'p>(
        &self,
        pointers: impl Iterator<Item = &'p str>,
    ) -> impl Iterator<Item = (&'p str, Cow<'_, str>)> {
        let found = pointers.filter_map(|pointer| Some((pointer, self.at(pointer)?.text()?)));
        found.filter(|(_, text)| !text.trim().is_empty())
    }

    pub(crate) fn amount(&self) -> Option<Decimal> {
        self.decimal(ResponseField::Amount)
    }

    pub(crate) fn decimal(&self, field: ResponseField) -> Option<Decimal> {
        // A card number in its place is not an amount.
        let is_amount = |text: &str| self.has_no_secret || self.redactor.holds_none(text, TextKind::Address);
        let text = self.find(field).filter(|text| is_amount(text))?;
        read_amount(&text)
    }

    /// A time span in whole seconds.
    pub(crate) fn seconds(&self, field: ResponseField) -> Option<Duration> {
        self.find(field)?.parse().ok().map(Duration::from_secs)
    }

    /// True if a field is present, but neither a string nor a number.
    pub(crate) fn is_of_another_kind(&self, field: ResponseField) -> bool {
        let found = |pointer: &str| self.at(pointer).filter(|value| !value.is_null());
        let mut values = self.endpoint.pointers(field).filter_map(found);
        values.any(|value| value.text().is_none())
    }

    /// The fields in which a response contradicts the request, as the interface spells them. An absent or unreadable field is not a
    /// mismatch.
    pub(crate) fn mismatches(&self, sent: &Sent<'_>) -> Vec<&'static str> {
        if *sent == Sent::default() {
            return Vec::new();
        }
        let number = self.find(ResponseField::OrderNumber);
        let amount = self.amount();
        let currency = self.find(ResponseField::Currency);
        let differing = [
            ("orderNumber", differs(&sent.order_numbers, number.as_deref(), |sent, reported| *sent == reported)),
            ("amount", differs(&sent.amounts, amount, |sent, reported| *sent == reported)),
            (
                "currency",
                differs(sent.currency.as_slice(), currency.as_deref(), |sent, reported| same_currency(sent, reported)),
            ),
        ];
        differing.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
    }

    /// The answer of every query. A response without a status word is not an answer.
    pub(crate) fn status_report(&self) -> Result<ParsedStatus, NotAnAnswer> {
        self.accepted()?;
        let word =
            self.find(ResponseField::Status).ok_or_else(|| NotAnAnswer::because("the response has no status"))?;
        let report = StatusReport {
            status: match self.dialect.status_at(self.endpoint, &word) {
                PaymentStatus::Other(word) if !self.has_no_secret => {
                    PaymentStatus::Other(self.redactor.text(&word).into_owned())
                }
                status => status,
            },
            code: self.code(),
            reason: self.reason(),
            order_number: self.identifier(ResponseField::OrderNumber),
            amount: self.amount(),
            currency: self.shown(ResponseField::Currency),
            raw: self.raw(),
        };
        let has_unreadable_amount = report.amount.is_none() && self.has_something(ResponseField::Amount);
        Ok(ParsedStatus { report, has_unreadable_amount, compares_numbers: !self.endpoint.any_number() })
    }

    /// True if a field is present, whatever its value.
    fn has_something(&self, field: ResponseField) -> bool {
        let given = |pointer: &str| self.at(pointer).filter(|value| !value.is_null() && !value.is_blank());
        self.endpoint.pointers(field).any(|pointer| given(pointer).is_some())
    }
}

fn unreadable(problem: &str) -> NotAnAnswer {
    NotAnAnswer::because(format!("the response is not readable: {problem}"))
}

/// Why a compressed body is not read. Some gateways declare compression without compressing: a readable body is read.
fn compressed(response: &Response) -> Option<String> {
    let coding = response.coding.filter(|_| !response.body.as_ref().is_empty())?;
    Some(format!(
        "it is compressed ({coding}), which Kassa does not request and cannot read: disable compression at the gateway, or at any proxy in between"
    ))
}

/// How pages in HTML and the like begin.
const PAGES: [&str; 5] = ["html", "!doctype", "head", "body", "?xml"];

/// Why a text is not JSON, as a hint about its sender. Redaction: only a tag that many pages begin with is quoted.
fn why_not_json(text: &str, problem: String) -> String {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.is_empty() {
        return "it is empty".to_owned();
    }
    let Some(tag) = text.strip_prefix('<') else { return problem };
    let begins = |name: &&&str| tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let shown = match PAGES.iter().find(begins) {
        Some(name) => format!("<{name}>"),
        None => "a tag".to_owned(),
    };
    format!("it begins with {shown} and is not JSON: check base_url (KASSA_URL), and any proxy in between")
}

/// Whether a reported value is not one of those that were sent.
fn differs<S, T: Copy>(sent: &[S], reported: Option<T>, is_same: impl Fn(&S, T) -> bool) -> bool {
    reported.is_some_and(|reported| !sent.is_empty() && !sent.iter().any(|sent| is_same(sent, reported)))
}
