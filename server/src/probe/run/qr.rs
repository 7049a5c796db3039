//! QR codes: the picture, and the data with its transaction.

use kassa::{Elqr, PaymentRef, QrPayment};

use super::{Probe, responses::Sent, status::Question};
use crate::probe::proposal::{Known, field};

/// The places where an ELQR code may contain its transaction, the most probable first.
const ELQR_PLACES: [&str; 2] = ["32.11", "34"];

impl Probe<'_> {
    pub(super) async fn qr_image(&mut self) {
        let Some((at, payment)) = self.begin_qr("QR picture").await else { return };
        let answer = self.gateway.create_qr_image(payment).await;
        let request = self.qr_request();
        let sent = Sent::of("QR picture: create", "qr_image", request, &answer, |image| {
            (format!("a PNG of {} bytes", image.png.len()), image.raw.as_str())
        });
        let raw = sent.raw.clone().unwrap_or_default();
        let finding = self.look(sent, &Known::default());
        let payment = self.keep_made(at, finding, answer.map(|image| image.payment), false);
        self.accept_made("qr_image", "image", &raw, at);
        if payment.is_some() {
            self.leave_pending(at, "a picture has no number, and nobody has paid it");
        }
    }

    pub(super) async fn qr(&mut self) {
        let Some((at, payment)) = self.begin_qr("QR code").await else { return };
        let sum = payment.sum_tyiyn.unwrap_or_default();
        let answer = self.gateway.create_qr_data(payment).await;
        let request = self.qr_request();
        let sent = Sent::of("QR code: create", "qr_data", request, &answer, |data| {
            let text = if data.payload.is_some() { "a code's text" } else { "no text of a code" };
            let transaction = if data.transaction_id.is_some() { "a transaction" } else { "no transaction" };
            (format!("{text}, {transaction}"), data.raw.as_str())
        });
        let raw = sent.raw.clone().unwrap_or_default();
        let mut finding = self.look(sent, &Known::default());
        let payload = match &answer {
            Ok(data) => data.payload.clone(),
            Err(_) => None,
        };
        let payload = payload.or_else(|| field(self.proposal.dialect(), "qr_data", &raw, "qr_payload"));
        let code = payload.as_deref().map(Elqr::parse);
        match &code {
            Some(Ok(code)) => match code.check(sum) {
                Ok(()) => {
                    finding.notes.push("its text is ELQR, with a right checksum, the som and the amount".to_owned())
                }
                Err(problem) => {
                    finding.problems.push(format!("its text is ELQR, and does not match the request: {problem}"))
                }
            },
            Some(Err(_)) => finding.notes.push("its text is not ELQR: its amount cannot be checked".to_owned()),
            None => {}
        }
        let payment = self.keep_made(at, finding, answer.map(|data| data.payment), false);
        self.accept_made("qr_data", "qr_payload", &raw, at);
        let Some(payment) = payment else { return };
        let code = code.and_then(Result::ok);
        let payment = match payment.transaction_id {
            Some(_) => payment,
            None => self.with_transaction(payment, &raw, code.as_ref()).await,
        };
        self.update(at, &payment);
        let Some(transaction) = payment.transaction_id.clone() else {
            let problem = "no transaction was found, so its status cannot be queried: set qr_data.transaction_id";
            self.problem("QR code: status", "qr_status", problem);
            return self.leave_pending(at, "it has no number to query by, and nobody has paid it");
        };
        let known = Known { order_number: Some(transaction.clone()), ..Known::default() };
        let answer = self.query_by_transaction(&transaction, &known).await;
        let request = format!("the status of transaction {transaction}");
        let sent = Sent::of_status("QR code: status", "qr_status", request, &answer);
        let mut finding = self.look(sent, &known);
        match &answer {
            Ok(_) => {
                self.distrust("qr_status", &mut finding);
            }
            Err(problem) => {
                finding.problems.push(format!("it cannot be queried by its transaction: {problem}"));
            }
        }
        self.keep(finding);
        self.leave_pending(at, "nobody has paid it: the test environment has no payment by QR");
    }

    /// Queries by each number that the transaction may have: only one that the gateway knows is adopted.
    async fn with_transaction(&mut self, payment: PaymentRef, raw: &str, code: Option<&Elqr>) -> PaymentRef {
        let mut candidates: Vec<(String, String)> =
            self.numbers_in("qr_data", raw, "").into_iter().map(|leaf| (leaf.pointer, leaf.text)).collect();
        // Nothing is adopted from a code whose amount the payer may change: the paid amount would not be known.
        if let Some(code) = code.filter(|code| code.amount_editable != Some(true)) {
            let texts = [&code.transaction, &code.recipient, &code.merchant_id, &code.comment];
            for (tag, text) in ELQR_PLACES.iter().zip(texts) {
                candidates.extend(text.iter().map(|text| (format!("elqr:{tag}"), text.clone())));
            }
        }
        for (place, number) in candidates {
            let before = self.proposal.clone();
            let answer = self.query_by_transaction(&number, &Known::default()).await;
            let request = format!("the status of what stands at {place}");
            let mut finding =
                self.try_number("QR code: which number is its transaction?", "qr_status", request, &answer);
            let is_one = answer.is_ok() && self.proves_a_number(Question::Transaction).await;
            if is_one {
                finding
                    .problems
                    .push(format!("its transaction stands at {place}, which the given dialect does not read"));
                self.proposal.put("qr_data", "transaction_id", &place);
                self.renew();
            } else {
                finding.notes.append(&mut finding.problems);
                self.forget(before);
            }
            self.keep(finding);
            if is_one {
                return payment.with_transaction_id(number);
            }
        }
        payment
    }

    /// Asks for permission, and records the code before it is created.
    async fn begin_qr(&mut self, what: &str) -> Option<(usize, QrPayment)> {
        let payment =
            QrPayment::new(self.plan.amount_som.saturating_mul(100)).with_callback_url(&self.plan.callback_url);
        let question = format!("Create a {what} of {}? No money moves by it.", self.qr_request());
        if !self.may(&question).await {
            self.skip(what);
            return None;
        }
        let at = self.begin(what, payment.payment_ref());
        Some((at, payment))
    }

    fn qr_request(&self) -> String {
        format!("{} tyiyn", self.plan.amount_som.saturating_mul(100))
    }
}
