//! The fake gateway's endpoints (`docs/interface.md#endpoints`): each request is applied to the ledger. It checks no
//! field: requests have passed the rules of the core.

use rust_decimal::Decimal;

use super::{
    State,
    responses::{Object, created, envelope, refused, response},
};
use crate::{
    currency::KGS_DECIMALS,
    fake::books::{Books, Entry, status_word},
    json::Document,
    money::tyiyn_to_som,
    operations::{
        card_payment, mbank_confirm, mbank_payment, megapay, pay_form, qr_data, qr_image,
        status_queries::{PAYMENT_STATUS, PROVIDER_STATUS, QR_STATUS},
    },
    payment_ref::{
        PaymentKind,
        report::{PaymentStatus, Provider},
    },
    qr_code::{QR_PNG_SIDE, QrCode, QrLevel},
    response::Response,
    transport::Request,
};

/// The one-time password of every payer, and the PIN of every wallet.
pub(super) const OTP: &str = "123456";

/// The payer's commission: two percent of the amount.
const COMMISSION: Decimal = Decimal::from_parts(2, 0, 0, false, 2);

/// In seconds.
const PIN_LIFETIME: &str = "180";

impl State {
    pub(super) fn carry_out(&self, request: &Request) -> Response {
        let now = self.clock.passed();
        let mut books = self.books();
        books.catch_up(now);
        let fields = Fields::of(request);
        // By the path alone: no two endpoints have the same path.
        match &*request.path {
            path if path == card_payment::ENDPOINT.path => books.make_card_payment(&fields, now),
            path if path == mbank_payment::ENDPOINT.path => books.make_mbank_payment(&fields, now),
            path if path == mbank_confirm::ENDPOINT.path => books.confirm(&fields, PaymentKind::Mbank, "otp"),
            path if path == megapay::CHECK.path => books.make_megapay_payment(&fields, now),
            path if path == megapay::PAY.path => books.confirm(&fields, PaymentKind::Megapay, "pinCode"),
            path if path == pay_form::ENDPOINT.path => books.make_pay_form(&fields, now),
            path if path == qr_image::ENDPOINT.path => picture(&books.make_qr(&fields, now)),
            path if path == qr_data::ENDPOINT.path => data_of_code(&books.make_qr(&fields, now)),
            path if path == PAYMENT_STATUS.path => {
                let number = fields.text("orderNumber");
                books.status(|entry| entry.payment.gateway_number == number)
            }
            path if path == PROVIDER_STATUS.path => {
                let (number, provider) = (fields.text("orderNumber"), fields.text("provider"));
                let is_by = |entry: &Entry| entry.provider.as_ref().map(Provider::name) == provider.as_deref();
                books.status(|entry| entry.payment.order_number == number && is_by(entry))
            }
            path if path == QR_STATUS.path => {
                let id = fields.text("transaction_id");
                books.status(|entry| entry.payment.transaction_id == id)
            }
            _ => refused(404, "404", "NO_SUCH_ENDPOINT"),
        }
    }
}

/// The fields of a request, from its body or its query.
struct Fields<'a> {
    body: &'a str,
    query: &'a str,
}

impl<'a> Fields<'a> {
    fn of(request: &'a Request) -> Self {
        let body = request.body.as_deref().and_then(|body| std::str::from_utf8(body).ok());
        Self { body: body.unwrap_or_default(), query: request.query.as_deref().unwrap_or_default() }
    }

    fn text(&self, name: &str) -> Option<String> {
        let in_body = Document::parse(self.body)
            .ok()
            .and_then(|body| Some(body.root().at(&format!("/{name}"))?.text()?.into_owned()));
        let mut query = form_urlencoded::parse(self.query.as_bytes());
        in_body.or_else(|| query.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()))
    }

    fn amount(&self, name: &str) -> Option<Decimal> {
        self.text(name)?.parse().ok()
    }
}

impl Books {
    fn make_card_payment(&mut self, fields: &Fields<'_>, now: std::time::Duration) -> Response {
        let mut entry = Entry::open(PaymentKind::Card, fields.amount("amount"));
        let token = format!("gateway-{}", self.next_number());
        let page_url = format!("https://fake.example/3ds?token={token}");
        entry.payment.order_number = fields.text("orderNumber");
        entry.payment.currency = fields.text("currency").unwrap_or_default();
        entry.payment.callback_url = fields.text("callbackUrl");
        entry.return_url = fields.text("returnUrl");
        entry.provider = Some(Provider::Cards);
        entry.payment.gateway_number = Some(token);
        entry.payment.page_url = Some(page_url.clone());
        let data = numbered(&entry).text("ConfirmationUrl", &page_url);
        self.make_once(entry, data, now)
    }

    fn make_mbank_payment(&mut self, fields: &Fields<'_>, now: std::time::Duration) -> Response {
        let mut entry = Entry::open(PaymentKind::Mbank, fields.amount("amount"));
        entry.payment.order_number = fields.text("orderNumber");
        entry.payment.callback_url = fields.text("callbackUrl");
        entry.provider = Some(Provider::MBank);
        let data = numbered(&entry);
        self.make_once(entry, data, now)
    }

    fn make_megapay_payment(&mut self, fields: &Fields<'_>, now: std::time::Duration) -> Response {
        let mut entry = Entry::open(PaymentKind::Megapay, fields.amount("amount"));
        entry.payment.order_number = fields.text("orderNumber");
        entry.provider = Some(Provider::MegaPay);
        let commission = (entry.payment.amount.unwrap_or_default() * COMMISSION).round_dp(KGS_DECIMALS);
        let data = Object::default().json("commission", &commission.to_string());
        let data = data.json("amount", &entry.amount_text()).json("sms_lifetime", PIN_LIFETIME);
        self.make_once(entry, data, now)
    }

    /// A number that was used before is a conflict, whatever the outcome was.
    fn make_once(&mut self, entry: Entry, data: Object, now: std::time::Duration) -> Response {
        let is_used = |other: &Entry| other.payment.order_number == entry.payment.order_number;
        if self.entries.iter().any(is_used) {
            return refused(409, "409", "ORDER_NUMBER_USED");
        }
        self.add(entry, now);
        created(data)
    }

    fn confirm(&mut self, fields: &Fields<'_>, kind: PaymentKind, password: &str) -> Response {
        let (number, otp) = (fields.text("orderNumber"), fields.text(password));
        let is_meant = |entry: &Entry| {
            let payment = &entry.payment;
            payment.kind == kind && payment.order_number == number && !payment.status.is_final()
        };
        let Some((index, entry)) = self.entries.iter_mut().enumerate().find(|(_, entry)| is_meant(entry)) else {
            return refused(404, "404", "NOT_FOUND");
        };
        if otp.as_deref() != Some(OTP) {
            return refused(400, "400", "WRONG_OTP");
        }
        if let Some(callback_url) = fields.text("callbackUrl") {
            entry.payment.callback_url = Some(callback_url);
        }
        entry.complete(index + 1, PaymentStatus::Charged);
        envelope("200", "ACCEPTED", Object::default().optional("orderNumber", number.as_deref()))
    }

    fn make_pay_form(&mut self, fields: &Fields<'_>, now: std::time::Duration) -> Response {
        let mut entry = Entry::open(PaymentKind::PayForm, fields.amount("amount"));
        let page_url = format!("https://fake.example/pay-form?token=form-{}", self.next_number());
        entry.payment.page_url = Some(page_url.clone());
        entry.payment.callback_url = fields.text("callbackURL");
        entry.return_url = fields.text("returnURL");
        self.add(entry, now);
        created(Object::default().text("payFormUrl", &page_url))
    }

    /// The text of the code, and its transaction id.
    fn make_qr(&mut self, fields: &Fields<'_>, now: std::time::Duration) -> (String, String) {
        let sum = fields.text("sum").and_then(|sum| sum.parse().ok());
        let mut entry = Entry::open(PaymentKind::Qr, sum.map(tyiyn_to_som));
        let transaction = format!("transaction-{}", self.next_number());
        let text = format!("https://fake.example/qr/{transaction}");
        entry.payment.transaction_id = Some(transaction.clone());
        entry.payment.qr_text = Some(text.clone());
        entry.payment.callback_url = fields.text("callback_url");
        entry.requisite = Some(fields.text("requisite").unwrap_or_else(|| "Fake shop".to_owned()));
        self.add(entry, now);
        (text, transaction)
    }

    fn status(&self, is_meant: impl Fn(&Entry) -> bool) -> Response {
        let Some(entry) = self.entries.iter().find(|entry| is_meant(entry)) else {
            return refused(404, "404", "NOT_FOUND");
        };
        envelope("200", "STATUS", numbered(entry).text("status", status_word(&entry.payment.status)))
    }
}

/// The fields that responses have for every payment.
fn numbered(entry: &Entry) -> Object {
    let payment = &entry.payment;
    let data = Object::default().optional("orderNumber", payment.order_number.as_deref());
    data.json("amount", &entry.amount_text()).text("currency", &payment.currency)
}

fn data_of_code((text, transaction): &(String, String)) -> Response {
    created(Object::default().text("qr_data", text).text("transaction_id", transaction))
}

fn picture((text, _): &(String, String)) -> Response {
    match QrCode::encode(text, QrLevel::Medium).and_then(|code| code.png(QR_PNG_SIDE)) {
        Ok(png) => response(200, &png),
        Err(problem) => refused(500, "500", &problem.to_string()),
    }
}
